/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/rv32_edit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "engine/rv32_edit_internal.h"
#include "rv32/image.h"

static bool starts(struct edit_span s, const char *with)
{
	return s.bytes >= strlen(with) && memcmp(s.at, with, strlen(with)) == 0;
}

/* Sets *line to the next line without its newline, and advances *rest. Returns false if no line is
 * left. */
static bool line_next(struct edit_span *rest, struct edit_span *line)
{
	if (rest->bytes == 0)
		return false;
	const char *newline = memchr(rest->at, '\n', rest->bytes);
	size_t bytes = newline ? (size_t)(newline - rest->at) : rest->bytes;
	*line = (struct edit_span){rest->at, bytes};
	bytes += newline != NULL;
	rest->at += bytes;
	rest->bytes -= bytes;
	return true;
}

/* Reads a decimal number and sets *at behind it. False: there is no number. */
static bool number_read(const char **at, const char *end, size_t *out)
{
	size_t value = 0;
	const char *from = *at;

	while (*at < end && isdigit((unsigned char)**at) && value < SIZE_MAX / 16)
		value = 10 * value + (size_t)(*(*at)++ - '0');
	*out = value;
	return *at > from;
}

/* ---- the first reading: metadata and numbers ---- */

static void metadata_note(struct edit *e, struct edit_span line)
{
	const char *at = line.at + 1, *end = line.at + line.bytes;
	size_t number;

	if (!number_read(&at, end, &number) || number >= e->metadata_count)
		return;
	const struct edit_span rest = {at, (size_t)(end - at)};
	if (starts(rest, " = !{"))
		e->metadata[number] = (struct edit_span){at + 5, (size_t)(end - at) - 5};
	else if (starts(rest, " = distinct !DISubprogram("))
		e->metadata[number] = (struct edit_span){at + 3, (size_t)(end - at) - 3};
}

static void attributes_note(struct edit *e, struct edit_span line)
{
	const char *at = line.at + strlen("attributes #");
	size_t number;

	if (number_read(&at, line.at + line.bytes, &number) && number < 1000000 &&
	    number >= e->attribute_next)
		e->attribute_next = (unsigned)number + 1;
}

static bool numbers_read(struct edit *e, struct edit_span ir)
{
	struct edit_span rest = ir, line;

	/* A metadata node has its own line, so its number is less than that of lines. */
	for (e->metadata_count = 1; line_next(&rest, &line);)
		e->metadata_count++;
	e->metadata_next = e->metadata_count;
	e->metadata = calloc(e->metadata_count, sizeof(*e->metadata));
	if (!e->metadata)
		return false;
	for (rest = ir; line_next(&rest, &line);) {
		if (starts(line, "!"))
			metadata_note(e, line);
		else if (starts(line, "attributes #"))
			attributes_note(e, line);
	}
	return true;
}

/* ---- the copy ---- */

static const char *const conventions[] = {"spir_kernel ", "spir_func "};
static const char *const targets[] = {"\"target-cpu\"=\"", "\"target-features\"=\"",
				      "\"tune-cpu\"=\""};

/* 0: none begins here. */
static size_t convention_bytes(struct edit_span rest)
{
	for (size_t i = 0; i < ARRAY_COUNT(conventions); i++)
		if (starts(rest, conventions[i]))
			return strlen(conventions[i]);
	return 0;
}

/* Omits calling conventions: words between blanks, outside of strings. */
static void line_copy(struct edit *e, struct edit_span line)
{
	const char *end = line.at + line.bytes, *copied = line.at;
	bool quoted = false;

	for (const char *at = line.at; at < end; at++) {
		quoted ^= *at == '"';
		if (quoted || *at != ' ')
			continue;
		size_t skip = convention_bytes((struct edit_span){at + 1, (size_t)(end - at) - 1});
		if (skip == 0)
			continue;
		fwrite(copied, 1, (size_t)(at + 1 - copied), e->out);
		copied = at + 1 + skip;
		at += skip - 1;
	}
	fwrite(copied, 1, (size_t)(end - copied), e->out);
	fputc('\n', e->out);
}

/* __local variables get external linkage: with internal linkage, the optimizer treats one as
 * private if a kernel stores it before loading it. The section name identifies its kernel to the
 * loader. */
static void local_copy(struct edit *e, struct edit_span line)
{
	static const char word[] = " = internal ";
	const char *at = rv32_edit_find(line, word), *rest = at + sizeof(word) - 1;
	const char *end = line.at + line.bytes;
	const char *align = memmem(rest, (size_t)(end - rest), ", align ", 8);

	align = align ? align : end;
	fprintf(e->out, "%.*s = hidden %.*s, section \".bss.%.*s\"%.*s\n", (int)(at - line.at),
		line.at, (int)(align - rest), rest, (int)(at - line.at) - 1, line.at + 1,
		(int)(end - align), align);
}

static bool is_local(struct edit_span line)
{
	return starts(line, "@") && line.at[1] != '"' && rv32_edit_find(line, " = internal ") &&
	       rv32_edit_find(line, " undef") &&
	       (rv32_edit_find(line, " = internal global ") ||
		rv32_edit_find(line, " = internal unnamed_addr global "));
}

/* Omits the attributes of the target. */
static void attributes_copy(struct edit *e, struct edit_span line)
{
	const char *end = line.at + line.bytes, *copied = line.at;

	for (const char *at = line.at; at < end; at++) {
		const struct edit_span rest = {at, (size_t)(end - at)};
		for (size_t i = 0; i < ARRAY_COUNT(targets); i++) {
			if (!starts(rest, targets[i]))
				continue;
			const char *from = at + strlen(targets[i]);
			const char *quote = memchr(from, '"', (size_t)(end - from));
			if (!quote)
				break;
			fwrite(copied, 1, (size_t)(at - copied), e->out);
			copied = quote + 1;
			at = quote;
			break;
		}
	}
	fwrite(copied, 1, (size_t)(end - copied), e->out);
	fputc('\n', e->out);
}

/* kernels[]: their `define` lines. */
static bool lines_copy(struct edit *e, struct edit_span ir, struct edit_span *kernels,
		       size_t *count)
{
	struct edit_span line;

	while (line_next(&ir, &line)) {
		if (starts(line, "target ") || starts(line, "!llvm.ident"))
			continue;
		if (starts(line, "attributes #")) {
			attributes_copy(e, line);
			continue;
		}
		if (is_local(line)) {
			local_copy(e, line);
			continue;
		}
		line_copy(e, line);
		if (!starts(line, "define ") || !rv32_edit_find(line, " spir_kernel void @"))
			continue;
		if (*count == RV32_KERNELS_MAX) {
			snprintf(e->text, ENGINE_TEXT_BYTES,
				 "a program has %d kernels at most; split it", RV32_KERNELS_MAX);
			return false;
		}
		kernels[(*count)++] = line;
	}
	return true;
}

static bool edit_all(struct edit *e, struct edit_span ir)
{
	struct edit_span *kernels = calloc(RV32_KERNELS_MAX, sizeof(*kernels));
	size_t count = 0;
	bool done = kernels && numbers_read(e, ir) && lines_copy(e, ir, kernels, &count);

	for (size_t i = 0; done && i < count; i++)
		done = rv32_edit_kernel(e, kernels[i]);
	if (done && count > 0)
		fprintf(e->out,
			"attributes #%u = { nounwind }\n"
			"attributes #%u = { alwaysinline nounwind }\n",
			e->attribute_next, e->attribute_next + 1);
	free(kernels);
	return done;
}

char *rv32_edit(const char *ir, size_t bytes, size_t *out_bytes, char text[ENGINE_TEXT_BYTES])
{
	struct edit e = {.text = text};
	char *made = NULL;

	text[0] = '\0';
	e.out = open_memstream(&made, out_bytes);
	if (!e.out)
		return NULL;
	const bool done = edit_all(&e, (struct edit_span){ir, bytes});
	free(e.metadata);
	if (fclose(e.out) == 0 && done)
		return made;
	free(made);
	return NULL;
}
