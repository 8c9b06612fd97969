/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/opencl/program/profile.h"

#include <dxp/about.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/descriptor.h"
#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/report.h"

#define ROW_BYTES 20 /* bytes of a line's record before its variable part */
/* bytes of a source line that are written; the rest would not fit in a terminal */
#define TEXT_BYTES 100

/* devices for which the file already has the note that their engine counts nothing */
static bool noted[OPENCL_DEVICES_MAX];

static FILE *file_open(void)
{
	char path[REPORT_PATH_BYTES];

	return report_path(settings_get()->profile, path) ? descriptor_fopen(path, "ae") : NULL;
}

bool profile_wanted(cl_device_id d)
{
	if (!settings_get()->profile)
		return false;
	if (device_uint(d, DXP_ABOUT_PROFILES, 0) == 1)
		return true;
	FILE *file = d->index < OPENCL_DEVICES_MAX && !noted[d->index] ? file_open() : NULL;
	if (file) {
		noted[d->index] = true;
		fprintf(file, "none\t%s\t%s\n", d->node, d->caps.engine);
		fclose(file);
	}
	return false;
}

bool profile_start(const struct dxp_program *node)
{
	size_t bytes;
	void *data;

	if (dxp_program_profile(node, &data, &bytes) != DXP_OK)
		return false;
	free(data);
	return true;
}

void profile_fetch(const struct dxp_program *node, void **data, size_t *bytes)
{
	*data = NULL;
	*bytes = 0;
	if (dxp_program_profile(node, data, bytes) != DXP_OK)
		*data = NULL;
}

/* Control characters become blanks, because they would end a field. */
static void text_put(FILE *file, const void *text, size_t bytes)
{
	const unsigned char *at = text;

	for (size_t i = 0; i < bytes; i++)
		fputc(at[i] < ' ' || at[i] == 0x7f ? ' ' : at[i], file);
}

/* Skips the line's indentation. Returns its length in bytes. */
static size_t line_find(const struct dxp_file *source, uint32_t number, const char **out)
{
	const char *at = source->data, *end = at + source->bytes, *next;

	for (uint32_t i = 1; i < number && at < end; i++) {
		next = memchr(at, '\n', (size_t)(end - at));
		at = next ? next + 1 : end;
	}
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	next = memchr(at, '\n', (size_t)(end - at));
	*out = at;
	const size_t bytes = (size_t)((next ? next : end) - at);
	return bytes < TEXT_BYTES ? bytes : TEXT_BYTES;
}

static void row_write(FILE *file, cl_device_id d, const struct dxp_file *source,
		      const struct dxp_about_record *r)
{
	const uint32_t line = dxp_about_u32(r->data);
	const char *text;

	fprintf(file, "row\t%s\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t", d->node, line,
		dxp_about_u64(r->data + 4), dxp_about_u64(r->data + 12));
	text_put(file, r->data + ROW_BYTES, r->bytes - ROW_BYTES);
	fputc('\t', file);
	if (line && source) {
		const size_t bytes = line_find(source, line, &text);
		text_put(file, text, bytes);
	}
	fputc('\n', file);
}

void profile_write(cl_device_id d, const struct dxp_file *source, const void *data, size_t bytes)
{
	struct dxp_about_record r;
	struct dxp_about a;
	FILE *file = data ? file_open() : NULL;

	if (!file)
		/* no message here: `dxp run` reads this file, and reports that it is missing */
		return;
	dxp_about_begin(&a, data, bytes);
	while (dxp_about_next(&a, &r))
		if (r.tag == DXP_ABOUT_PROFILE_LINE && r.bytes >= ROW_BYTES)
			row_write(file, d, source, &r);
	fclose(file);
}
