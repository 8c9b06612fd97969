/* SPDX-License-Identifier: BSD-3-Clause */
/* printf of OpenCL C 1.2, 6.12.13. In the ABI ilp32, variable arguments are in a1 to a7, then on
 * the stack; an 8-byte value uses an even pair. Floats are not widened, because the device has no
 * double. */
#include "engine/rv32_print.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "wire/limits.h"

#define REGISTER_SP   2
#define REGISTER_T0   5
#define REGISTER_A0   10
#define REGISTERS     8                /* a0 to a7 */
#define FORMAT_BYTES  4096             /* longest format */
#define STRING_BYTES  65536            /* longest text for %s */
#define CALL_BYTES    WIRE_PRINT_BYTES /* longest text of a call */
#define WIDTH_MAX     1024             /* limits the text of one conversion */
#define LANES_MAX     16
#define ELEMENT_BYTES (2 * WIDTH_MAX + 64)

/* Such as "%-5.2v4hlf". */
struct conversion {
	char flags[6];
	int width, precision; /* -1: not stated */
	unsigned lanes;       /* of a vector; 0: a scalar */
	unsigned bytes;       /* of an element; 0: no length modifier */
	char letter;
};

struct cursor {
	struct rv32_item *item;
	unsigned slot; /* next argument word; word 0 is the format */
	FILE *out;
	const char *wrong; /* first error */
};

static bool fail(struct cursor *c, const char *wrong)
{
	if (!c->wrong)
		c->wrong = wrong;
	return false;
}

static uint32_t word_next(struct cursor *c)
{
	const unsigned slot = c->slot++;
	uint32_t word = 0;

	if (slot < REGISTERS)
		return rv32_item_get(c->item, REGISTER_A0 + slot);
	const uint32_t at = rv32_item_get(c->item, REGISTER_SP) + 4 * (slot - REGISTERS);
	if (!rv32_item_read(c->item, at, &word, sizeof(word)))
		fail(c, "printf reads arguments behind its stack");
	return word;
}

static uint64_t pair_next(struct cursor *c)
{
	c->slot += c->slot & 1;
	const uint64_t low = word_next(c);

	return low | (uint64_t)word_next(c) << 32;
}

/* `count` elements of 4 or 8 bytes in memory. */
static bool elements_load(struct cursor *c, uint64_t *to, unsigned count, unsigned bytes)
{
	const uint32_t at = word_next(c);

	for (unsigned i = 0; i < count; i++) {
		to[i] = 0;
		if (!rv32_item_read(c->item, at + i * bytes, &to[i], bytes))
			return fail(c, "printf cannot read a vector");
	}
	return true;
}

/* Extends each element to 4 or 8 bytes. The code generator passes floats one by one, two integers
 * of up to 4 bytes in two words, and larger vectors by address. */
static bool vector_next(struct cursor *c, uint64_t to[LANES_MAX], unsigned lanes, unsigned bytes,
			bool floats)
{
	if (!floats && (lanes > 2 || bytes == 8))
		return elements_load(c, to, lanes, bytes == 8 ? 8 : 4);
	/* In registers, an 8-byte value starts at an even word. */
	if (lanes == 2 && bytes == 4 && (c->slot < REGISTERS || !floats))
		c->slot += c->slot & 1;
	for (unsigned i = 0; i < lanes; i++)
		to[i] = word_next(c);
	return true;
}

/* False: not readable, or `space` bytes or more. */
static bool text_read(struct rv32_item *item, uint32_t at, char *to, size_t space)
{
	for (size_t i = 0; i < space; i++) {
		if (!rv32_item_read(item, at + (uint32_t)i, to + i, 1))
			return false;
		if (to[i] == '\0')
			return true;
	}
	return false;
}

static bool number_read(const char **at, int *out)
{
	char *end;
	long value = strtol(*at, &end, 10);

	*at = end;
	*out = (int)value;
	return value >= 0 && value <= WIDTH_MAX;
}

static bool vector_read(const char **at, struct conversion *v)
{
	int lanes;

	if (**at != 'v')
		return true;
	++*at;
	if (**at < '1' || **at > '9' || !number_read(at, &lanes))
		return false;
	v->lanes = (unsigned)lanes;
	return lanes == 2 || lanes == 3 || lanes == 4 || lanes == 8 || lanes == 16;
}

static void length_read(const char **at, struct conversion *v)
{
	static const struct {
		const char *name;
		unsigned bytes;
	} lengths[] = {{"hh", 1}, {"hl", 4}, {"h", 2}, {"l", 8}};

	for (size_t i = 0; i < ARRAY_COUNT(lengths); i++) {
		const size_t letters = strlen(lengths[i].name);
		if (strncmp(*at, lengths[i].name, letters) != 0)
			continue;
		v->bytes = lengths[i].bytes;
		*at += letters;
		return;
	}
}

/* After a '%'; advances *at. False: invalid. */
static bool conversion_read(const char **at, struct conversion *v)
{
	size_t flags = strspn(*at, "-+ #0");

	*v = (struct conversion){.width = -1, .precision = -1};
	if (flags >= sizeof(v->flags))
		return false;
	memcpy(v->flags, *at, flags);
	*at += flags;
	if (**at >= '1' && **at <= '9' && !number_read(at, &v->width))
		return false;
	if (**at == '.') {
		++*at;
		v->precision = 0;
		if (**at >= '0' && **at <= '9' && !number_read(at, &v->precision))
			return false;
	}
	if (!vector_read(at, v))
		return false;
	length_read(at, v);
	v->letter = **at;
	if (v->letter == '\0' || !strchr("diouxXfFeEgGaAcsp", v->letter))
		return false;
	++*at;
	return !(v->lanes && strchr("csp", v->letter));
}

/* Writes a format for the host's snprintf(): "%FLAGSWIDTH.PRECISION", then length and letter. */
static void host_format(const struct conversion *v, const char *length, char out[64])
{
	int used = snprintf(out, 64, "%%%s", v->flags);

	if (v->width >= 0)
		used += snprintf(out + used, 64 - (size_t)used, "%d", v->width);
	if (v->precision >= 0)
		used += snprintf(out + used, 64 - (size_t)used, ".%d", v->precision);
	snprintf(out + used, 64 - (size_t)used, "%s%c", length, v->letter);
}

static bool is_float(char letter)
{
	return strchr("fFeEgGaA", letter) != NULL;
}

static bool is_signed(char letter)
{
	return letter == 'd' || letter == 'i';
}

/* Cuts to `bytes`, then extends. */
static uint64_t integer_fit(uint64_t value, unsigned bytes, bool with_sign)
{
	const unsigned shift = 64 - 8 * bytes;

	return with_sign ? (uint64_t)((int64_t)(value << shift) >> shift) : value << shift >> shift;
}

/* host_format() makes these formats from checked conversions. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void element_print(struct cursor *c, const struct conversion *v, uint64_t value,
			  unsigned bytes)
{
	char format[64], text[ELEMENT_BYTES];
	uint32_t word = (uint32_t)value;
	float f;

	if (is_float(v->letter)) {
		memcpy(&f, &word, sizeof(f));
		host_format(v, "", format);
		snprintf(text, sizeof(text), format, (double)f);
	} else if (v->letter == 'c') {
		host_format(v, "", format);
		snprintf(text, sizeof(text), format, (int)(uint8_t)value);
	} else if (v->letter == 'p') {
		snprintf(text, sizeof(text), "0x%x", word);
	} else {
		host_format(v, "ll", format);
		snprintf(text, sizeof(text), format,
			 integer_fit(value, bytes, is_signed(v->letter)));
	}
	fputs(text, c->out);
}

static bool string_print(struct cursor *c, const struct conversion *v)
{
	char format[64], *text = malloc(STRING_BYTES);
	bool done = text && text_read(c->item, word_next(c), text, STRING_BYTES);

	if (done) {
		host_format(v, "", format);
		fprintf(c->out, format, text);
	}
	free(text);
	return done || fail(c, "printf cannot read the text of a %s");
}
#pragma GCC diagnostic pop

static bool vector_print(struct cursor *c, const struct conversion *v)
{
	const unsigned bytes = v->bytes ? v->bytes : 4;
	uint64_t values[LANES_MAX];

	if (is_float(v->letter) && bytes != 4)
		return fail(c, "printf: a vector of floats has the length hl");
	if (!vector_next(c, values, v->lanes, bytes, is_float(v->letter)))
		return false;
	for (unsigned i = 0; i < v->lanes; i++) {
		if (i > 0)
			fputc(',', c->out);
		element_print(c, v, values[i], bytes);
	}
	return true;
}

static bool conversion_print(struct cursor *c, const struct conversion *v)
{
	if (v->lanes)
		return vector_print(c, v);
	if (v->letter == 's')
		return string_print(c, v);
	const bool is_long = v->bytes == 8 && strchr("diouxX", v->letter);
	const uint64_t value = is_long ? pair_next(c) : word_next(c);
	element_print(c, v, value, v->bytes ? v->bytes : 4);
	return true;
}

static bool format_print(struct cursor *c, const char *format)
{
	struct conversion v;

	while (*format) {
		const size_t plain = strcspn(format, "%");
		fwrite(format, 1, plain, c->out);
		format += plain;
		if (*format == '\0')
			break;
		if (*++format == '%') {
			fputc('%', c->out);
			format++;
			continue;
		}
		if (!conversion_read(&format, &v))
			return fail(c, "printf has a conversion that OpenCL C 1.2 does not know");
		if (!conversion_print(c, &v) || c->wrong)
			return false;
		if (ftello(c->out) > CALL_BYTES)
			return fail(c, "printf prints more than 16 MiB in one call");
	}
	return true;
}

/* Collects the text of one call, so that calls do not mix. Returns an error text, or NULL. */
static const char *print(struct rv32_item *item)
{
	struct cursor c = {.item = item, .slot = 1};
	char format[FORMAT_BYTES], *text = NULL;
	size_t bytes;

	if (!text_read(item, rv32_item_get(item, REGISTER_A0), format, sizeof(format)))
		return "printf cannot read its format";
	c.out = open_memstream(&text, &bytes);
	if (!c.out)
		return "printf has no memory";
	const bool done = format_print(&c, format);
	fclose(c.out);
	if (done)
		fwrite(text, 1, bytes, stdout);
	free(text);
	rv32_item_set(item, REGISTER_A0, done ? 0 : ~0u);
	return done ? NULL : c.wrong;
}

void rv32_print_open(struct rv32_print *p)
{
	atomic_flag_clear(&p->failed);
	atomic_init(&p->printed, false);
	p->wrong[0] = '\0';
}

void rv32_print_close(struct rv32_print *p)
{
	if (atomic_load(&p->printed))
		fflush(stdout);
}

int rv32_print_ecall(void *context, struct rv32_item *item)
{
	struct rv32_print *p = context;
	const uint32_t number = rv32_item_get(item, REGISTER_T0);
	const char *wrong;

	if (number == RV32_ECALL_PRINT) {
		atomic_store(&p->printed, true);
		wrong = print(item);
	} else {
		wrong = "ecall with an unknown number in t0; 1 is printf";
	}
	if (!wrong)
		return DXP_OK;
	if (!atomic_flag_test_and_set(&p->failed))
		snprintf(p->wrong, sizeof(p->wrong), "%s", wrong);
	return DXP_EINVAL;
}
