/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/package.h"

#include <string.h>

#include <dxp/status.h>

#include "wire/cursor.h"

/* Relative and printable, without "..": safe as a path. */
static bool name_valid(const char *name)
{
	if (name[0] == '\0' || name[0] == '/')
		return false;
	for (const char *c = name; *c; c++)
		if ((uint8_t)*c < 0x20 || *c == 0x7f)
			return false;
	for (const char *part = name; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
			return false;
	}
	return true;
}

/* NULL, or the fault. */
static const char *kind_fault(uint8_t kind, uint32_t files, uint32_t inputs)
{
	switch (kind) {
	case DXP_PROGRAM_SOURCE:
	case DXP_PROGRAM_COMPILE:
		return files == 0 ? "the source is missing" : inputs ? "a source has inputs" : NULL;
	case DXP_PROGRAM_BINARY:
		return files != 1 || inputs ? "a binary is one file without inputs" : NULL;
	case DXP_PROGRAM_LINK:
		return files || inputs == 0 ? "linking needs programs, not files" : NULL;
	default: return "unknown kind of program";
	}
}

/* The first file is the source and needs no name. NULL, or the fault. */
static const char *file_fault(const struct dxp_file *f, uint32_t index)
{
	if (f->bytes && !f->data)
		return "a file has no data";
	if (index == 0 && (!f->name || !*f->name))
		return NULL;
	if (!f->name || strnlen(f->name, PACKAGE_NAME_BYTES) == PACKAGE_NAME_BYTES)
		return "a file has no name, or one of more than 1023 bytes";
	return name_valid(f->name)
		       ? NULL
		       : "the name of a file is not relative, printable and without \"..\"";
}

static const char *options_of(const struct package_source *s)
{
	return s->options ? s->options : "";
}

const char *package_fault(const struct package_source *s)
{
	const char *fault = kind_fault(s->kind, s->file_count, s->input_count);

	if (fault)
		return fault;
	if (strnlen(options_of(s), PACKAGE_OPTIONS_BYTES) == PACKAGE_OPTIONS_BYTES)
		return "the options are longer than 65535 bytes";
	if (s->file_count > PACKAGE_FILES_MAX)
		return "there are more than 4096 files";
	if (s->input_count > PACKAGE_INPUTS_MAX)
		return "there are more than 4096 inputs";
	for (uint32_t i = 0; i < s->file_count && !fault; i++)
		fault = file_fault(&s->files[i], i);
	return fault;
}

static const char *name_of(const struct dxp_file *f)
{
	return f->name ? f->name : "";
}

uint64_t package_bytes(const struct package_source *s)
{
	uint64_t bytes = 1 + 4 + strlen(options_of(s)) + 1 + 4 + 4 + 4ull * s->input_count;

	for (uint32_t i = 0; i < s->file_count; i++)
		bytes += 2 + strlen(name_of(&s->files[i])) + 1 + 8 + s->files[i].bytes;
	return bytes;
}

static void put_file(struct put_cursor *p, const struct dxp_file *f)
{
	size_t name_bytes = strlen(name_of(f));

	put_16(p, (uint16_t)name_bytes);
	put_bytes(p, name_of(f), name_bytes + 1);
	put_64(p, f->bytes);
	if (f->bytes)
		put_bytes(p, f->data, f->bytes);
}

void package_encode(const struct package_source *s, uint8_t *out)
{
	struct put_cursor p = {.at = out, .end = out + package_bytes(s)};
	size_t options_bytes = strlen(options_of(s));

	put_8(&p, s->kind);
	put_32(&p, (uint32_t)options_bytes);
	put_bytes(&p, options_of(s), options_bytes + 1);
	put_32(&p, s->input_count);
	for (uint32_t i = 0; i < s->input_count; i++)
		put_32(&p, s->inputs[i]);
	put_32(&p, s->file_count);
	for (uint32_t i = 0; i < s->file_count; i++)
		put_file(&p, &s->files[i]);
}

/* `bytes` characters (below `space`) and a final zero, without another zero. */
static const char *get_string(struct get_cursor *g, size_t bytes, size_t space)
{
	const uint8_t *at = bytes < space ? get_raw(g, bytes + 1) : NULL;

	if (at && memchr(at, '\0', bytes + 1) == at + bytes)
		return (const char *)at;
	g->bad = true;
	return "";
}

static void get_file(struct get_cursor *g, struct dxp_file *out)
{
	out->name = get_string(g, get_16(g), PACKAGE_NAME_BYTES);
	uint64_t bytes = get_64(g);
	if (bytes > SIZE_MAX) {
		g->bad = true;
		return;
	}
	out->bytes = (size_t)bytes;
	out->data = get_raw(g, out->bytes);
}

int package_decode(const uint8_t *data, size_t bytes, struct package *out)
{
	struct get_cursor t = {.at = data, .end = data + bytes};
	struct package p = {.kind = get_8(&t), .end = data + bytes};

	p.options = get_string(&t, get_32(&t), PACKAGE_OPTIONS_BYTES);
	p.input_count = get_32(&t);
	if (p.input_count > PACKAGE_INPUTS_MAX)
		return DXP_EMALFORMED;
	p.inputs = get_raw(&t, 4ull * p.input_count);
	p.file_count = get_32(&t);
	p.files = t.at;
	if (p.file_count > PACKAGE_FILES_MAX || kind_fault(p.kind, p.file_count, p.input_count))
		return DXP_EMALFORMED;
	for (uint32_t i = 0; i < p.file_count && !t.bad; i++) {
		struct dxp_file file;
		get_file(&t, &file);
		if (!t.bad && file_fault(&file, i))
			return DXP_EMALFORMED;
	}
	if (!get_done(&t))
		return DXP_EMALFORMED;
	*out = p;
	return DXP_OK;
}

bool package_file(const struct package *p, const uint8_t **at, struct dxp_file *out)
{
	struct get_cursor t = {.at = *at ? *at : p->files, .end = p->end};

	if (t.at == t.end)
		return false;
	get_file(&t, out);
	*at = t.at;
	return true;
}

uint32_t package_input(const struct package *p, uint32_t index)
{
	return get_be32(p->inputs + 4ull * index);
}
