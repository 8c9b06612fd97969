/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/slurm/xpus.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

#define USAGE "write --xpus=N[:engine=NAME][:mem=BYTES], such as --xpus=2:engine=ocl:mem=4G"

static const char digits[] = "0123456789";
static const char name_letters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

static int fail(char why[XPUS_WHY_BYTES], const char *format, ...) PRINTF_LIKE(2, 3);
static int fail(char why[XPUS_WHY_BYTES], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, XPUS_WHY_BYTES, format, arguments);
	va_end(arguments);
	return -1;
}

/* Copies `length` bytes unless they do not fit or `out` is set already. */
static bool copy(const char *from, size_t length, char out[XPUS_TEXT_BYTES])
{
	if (*out || length >= XPUS_TEXT_BYTES)
		return false;
	memcpy(out, from, length);
	out[length] = '\0';
	return true;
}

static int engine_parse(const char *value, size_t length, struct xpus *out,
			char why[XPUS_WHY_BYTES])
{
	if (length == 0 || strspn(value, name_letters) < length ||
	    !copy(value, length, out->engine))
		return fail(why, "engine= needs one name, as `dxp nodes` prints it; " USAGE);
	return 0;
}

static int memory_parse(const char *value, size_t length, struct xpus *out,
			char why[XPUS_WHY_BYTES])
{
	const size_t number = strspn(value, digits);
	const bool unit = number + 1 == length && strchr("KMG", value[number]);

	/* 10 digits of G are the largest memory that fits 64 bits. */
	if (number == 0 || number > 10 || *value == '0' || (number != length && !unit) ||
	    !copy(value, length, out->memory))
		return fail(why,
			    "mem= needs one size of at most 10 digits, with K, M or G; " USAGE);
	return 0;
}

static int count_parse(const char *text, struct xpus *out, char why[XPUS_WHY_BYTES])
{
	const size_t length = strspn(text, digits);

	for (size_t i = 0; i < length && out->count <= XPUS_MAX; i++)
		out->count = 10 * out->count + (unsigned)(text[i] - '0');
	if (out->count < 1 || out->count > XPUS_MAX || (text[length] && text[length] != ':'))
		return fail(why, "the number of xPUs is 1 to %d; " USAGE, XPUS_MAX);
	return 0;
}

int xpus_parse(const char *text, struct xpus *out, char why[XPUS_WHY_BYTES])
{
	struct xpus x = {0};

	if (!text || count_parse(text, &x, why) != 0)
		return text ? -1 : fail(why, USAGE);
	text += strspn(text, digits);
	while (*text == ':') {
		const char *part = text + 1;
		size_t length = strcspn(part, ":");
		int status;

		if (strncmp(part, "engine=", 7) == 0)
			status = engine_parse(part + 7, length - 7, &x, why);
		else if (strncmp(part, "mem=", 4) == 0)
			status = memory_parse(part + 4, length - 4, &x, why);
		else
			status = fail(why, "only engine= and mem= may follow the number; " USAGE);
		if (status != 0)
			return status;
		text = part + length;
	}
	*out = x;
	return 0;
}
