/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads signature and metadata of a kernel; writes its record and its entry function. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "engine/rv32_edit_internal.h"
#include "rv32/image.h"

#define NAME_BYTES 512

struct parameter {
	struct edit_span text; /* with attributes, without name */
	struct edit_span type; /* of the value in the table of arguments; byval: the struct */
	/* byval: a pointer from which the kernel copies the value */
	bool by_value;
	char space[12];              /* number as text */
	uint32_t access, qualifiers; /* enum rv32_access_qualifier, rv32_type_qualifier */
	struct edit_span type_name, name;
};

struct kernel {
	struct edit_span name, line, attributes; /* attributes: after the parameters */
	size_t count;
	struct parameter parameters[RV32_PARAMETERS_MAX];
	unsigned sizes[3], hints[3];
	char vector[48]; /* such as "vec_type_hint(float4)" */
};

static bool equal(struct edit_span s, const char *text)
{
	return s.bytes == strlen(text) && memcmp(s.at, text, s.bytes) == 0;
}

static struct edit_span trim(struct edit_span s)
{
	for (; s.bytes > 0 && *s.at == ' '; s.at++)
		s.bytes--;
	while (s.bytes > 0 && s.at[s.bytes - 1] == ' ')
		s.bytes--;
	return s;
}

/* Up to the next `separator` outside of brackets and strings. */
static struct edit_span part_next(struct edit_span *rest, char separator)
{
	bool quoted = false;
	int depth = 0;

	if (rest->bytes == 0) /* `at` may be NULL */
		return *rest;
	const char *from = rest->at, *end = rest->at + rest->bytes, *at;
	for (at = from; at < end && (depth > 0 || quoted || *at != separator); at++) {
		quoted ^= *at == '"';
		if (!quoted)
			depth += (strchr("([{<", *at) != NULL) - (strchr(")]}>", *at) != NULL);
	}
	struct edit_span part = {from, (size_t)(at - from)};
	at += at < end;
	rest->bytes = (size_t)(end - at);
	rest->at = at;
	return part;
}

/* Content of the bracket; empty if it does not close. */
static struct edit_span bracket(const char *open, const char *end)
{
	bool quoted = false;
	int depth = 0;

	for (const char *at = open; at < end; at++) {
		quoted ^= *at == '"';
		if (quoted)
			continue;
		depth += (strchr("([{<", *at) != NULL) - (strchr(")]}>", *at) != NULL);
		if (depth == 0)
			return (struct edit_span){open + 1, (size_t)(at - open) - 1};
	}
	return (struct edit_span){open, 0};
}

/* The node that the `define` line references as `name`; 0 bytes: none. */
static struct edit_span metadata_get(const struct edit *e, const struct kernel *k, const char *name)
{
	const char *at = rv32_edit_find(k->attributes, name);
	char *rest;

	if (!at || at[strlen(name)] != ' ' || at[strlen(name) + 1] != '!')
		return (struct edit_span){0};
	size_t number = strtoul(at + strlen(name) + 2, &rest, 10);
	struct edit_span none = {0};
	return number < e->metadata_count ? e->metadata[number] : none;
}

static bool parameter_read(struct parameter *p, struct edit_span text)
{
	struct edit_span rest = trim(text);
	const char *name = memrchr(rest.at, ' ', rest.bytes), *end;

	if (!name || name[1] != '%')
		return false;
	p->text = trim((struct edit_span){rest.at, (size_t)(name - rest.at)});
	rest = p->text;
	p->type = part_next(&rest, ' ');
	const char *by_value = rv32_edit_find(p->text, "byval(");
	end = p->text.at + p->text.bytes;
	p->by_value = by_value != NULL;
	if (by_value)
		p->type = bracket(by_value + strlen("byval"), end);
	return p->type.bytes > 0;
}

static bool signature_read(struct kernel *k, struct edit_span line)
{
	const char *end = line.at + line.bytes;
	const char *name = rv32_edit_find(line, "void @");

	k->line = line;
	if (!name)
		return false;
	name += strlen("void @");
	const char *open = memchr(name, '(', (size_t)(end - name));
	if (!open || *name == '"' || (size_t)(open - name) >= NAME_BYTES)
		return false;
	k->name = (struct edit_span){name, (size_t)(open - name)};
	struct edit_span rest = bracket(open, end);
	k->attributes =
		(struct edit_span){rest.at + rest.bytes, (size_t)(end - rest.at) - rest.bytes};
	while (rest.bytes > 0) {
		struct edit_span part = part_next(&rest, ',');
		if (k->count == RV32_PARAMETERS_MAX ||
		    !parameter_read(&k->parameters[k->count++], part))
			return false;
	}
	return true;
}

/* The text of !"...", with the compiler's escapes. */
static struct edit_span string_next(struct edit_span *rest)
{
	struct edit_span part = trim(part_next(rest, ','));

	if (part.bytes < 3 || part.at[0] != '!' || part.at[1] != '"')
		return (struct edit_span){"", 0};
	const char *end = memchr(part.at + 2, '"', part.bytes - 2);
	return (struct edit_span){part.at + 2, end ? (size_t)(end - part.at) - 2 : 0};
}

/* The number of "i32 N". */
static unsigned number_next(struct edit_span *rest)
{
	struct edit_span part = trim(part_next(rest, ','));

	return part.bytes > 4 && memcmp(part.at, "i32 ", 4) == 0
		       ? (unsigned)strtoul(part.at + 4, NULL, 10)
		       : 0;
}

static uint32_t access_of(struct edit_span s)
{
	return equal(s, "read_only")    ? RV32_ACCESS_READ
	       : equal(s, "write_only") ? RV32_ACCESS_WRITE
	       : equal(s, "read_write") ? RV32_ACCESS_BOTH
					: RV32_ACCESS_NONE;
}

static uint32_t qualifiers_of(struct edit_span s)
{
	return (rv32_edit_find(s, "const") ? RV32_TYPE_CONST : 0u) |
	       (rv32_edit_find(s, "restrict") ? RV32_TYPE_RESTRICT : 0u) |
	       (rv32_edit_find(s, "volatile") ? RV32_TYPE_VOLATILE : 0u);
}

/* Such as "<4 x float> undef, i32 1"; 1 means signed. */
static void vector_read(struct kernel *k, struct edit_span hint)
{
	static const struct {
		const char *type, *is_signed, *is_unsigned;
	} names[] = {{"i8", "char", "uchar"},
		     {"i16", "short", "ushort"},
		     {"i32", "int", "uint"},
		     {"i64", "long", "ulong"},
		     {"float", "float", "float"}};
	struct edit_span rest = hint, type = trim(part_next(&rest, ','));
	const bool is_signed = number_next(&rest) == 1;
	unsigned long lanes = 1;

	if (type.bytes > 0 && *type.at == '<') {
		lanes = strtoul(type.at + 1, NULL, 10);
		const char *x = rv32_edit_find(type, " x ");
		if (!x)
			return;
		type.bytes -= (size_t)(x + 3 - type.at);
		type.at = x + 3;
	}
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		const size_t letters = strlen(names[i].type);
		if (type.bytes < letters || memcmp(type.at, names[i].type, letters) != 0 ||
		    isalnum((unsigned char)type.at[letters]))
			continue;
		int used = snprintf(k->vector, sizeof(k->vector), "vec_type_hint(%s",
				    is_signed ? names[i].is_signed : names[i].is_unsigned);
		if (lanes > 1)
			used += snprintf(k->vector + used, sizeof(k->vector) - (size_t)used, "%lu",
					 lanes);
		snprintf(k->vector + used, sizeof(k->vector) - (size_t)used, ")");
	}
}

static void metadata_read(const struct edit *e, struct kernel *k)
{
	struct edit_span spaces = metadata_get(e, k, "!kernel_arg_addr_space");
	struct edit_span accesses = metadata_get(e, k, "!kernel_arg_access_qual");
	struct edit_span types = metadata_get(e, k, "!kernel_arg_type");
	struct edit_span qualifiers = metadata_get(e, k, "!kernel_arg_type_qual");
	struct edit_span names = metadata_get(e, k, "!kernel_arg_name");
	struct edit_span sizes = metadata_get(e, k, "!reqd_work_group_size");
	struct edit_span hints = metadata_get(e, k, "!work_group_size_hint");

	for (size_t i = 0; i < k->count; i++) {
		struct parameter *p = &k->parameters[i];
		snprintf(p->space, sizeof(p->space), "%u", number_next(&spaces));
		p->access = access_of(string_next(&accesses));
		p->type_name = string_next(&types);
		p->qualifiers = qualifiers_of(string_next(&qualifiers));
		p->name = string_next(&names);
	}
	for (int d = 0; d < 3 && sizes.bytes; d++)
		k->sizes[d] = number_next(&sizes);
	for (int d = 0; d < 3 && hints.bytes; d++)
		k->hints[d] = number_next(&hints);
	vector_read(k, metadata_get(e, k, "!vec_type_hint"));
}

/* An escape \XX counts as one byte. */
static size_t escaped_bytes(struct edit_span s)
{
	size_t bytes = 0;

	for (size_t i = 0; i < s.bytes; i++, bytes++)
		if (s.at[i] == '\\')
			i += 2;
	return bytes;
}

static void string_write(FILE *out, struct edit_span s, size_t *bytes)
{
	fprintf(out, "%.*s\\00", (int)s.bytes, s.at);
	*bytes += escaped_bytes(s) + 1;
}

/* The caller frees them; *bytes excludes escapes. */
static char *texts_make(const struct kernel *k, size_t *bytes)
{
	char *texts = NULL;
	size_t length;
	FILE *out = open_memstream(&texts, &length);

	*bytes = 0;
	if (!out)
		return NULL;
	string_write(out, k->name, bytes);
	string_write(out, (struct edit_span){k->vector, strlen(k->vector)}, bytes);
	for (size_t i = 0; i < k->count; i++) {
		string_write(out, k->parameters[i].type_name, bytes);
		string_write(out, k->parameters[i].name, bytes);
	}
	while (*bytes % 4 != 0) {
		fputs("\\00", out);
		++*bytes;
	}
	if (fclose(out) == 0)
		return texts;
	free(texts);
	return NULL;
}

/* The code generator computes the size. */
static void size_write(FILE *out, struct edit_span type)
{
	fprintf(out, "i32 ptrtoint (ptr getelementptr (%.*s, ptr null, i32 1) to i32)",
		(int)type.bytes, type.at);
}

static bool record_write(struct edit *e, const struct kernel *k)
{
	const size_t words = RV32_KERNEL_HEAD_WORDS + RV32_PARAMETER_WORDS * k->count;
	size_t bytes;
	char *texts = texts_make(k, &bytes);

	if (!texts)
		return false;
	fprintf(e->out,
		"@dxp_kernel_%.*s = constant <{ [%zu x i32], [%zu x i8] }> <{ [%zu x i32] [",
		(int)k->name.bytes, k->name.at, words, bytes, words);
	fprintf(e->out, "i32 %u, i32 %zu, i32 %zu", RV32_KERNEL_MAGIC, 4 * words + bytes, k->count);
	for (int d = 0; d < 3; d++)
		fprintf(e->out, ", i32 %u", k->sizes[d]);
	for (int d = 0; d < 3; d++)
		fprintf(e->out, ", i32 %u", k->hints[d]);
	for (size_t i = 0; i < k->count; i++) {
		const struct parameter *p = &k->parameters[i];
		fputs(", ", e->out);
		size_write(e->out, p->type);
		fprintf(e->out, ", i32 %s, i32 %u, i32 %u", p->space, p->access, p->qualifiers);
	}
	fprintf(e->out, "], [%zu x i8] c\"%s\" }>, section \"" RV32_KERNEL_SECTION "\", align 4\n",
		bytes, texts);
	free(texts);
	return true;
}

/* Entry i of the argument table, at %a + 4 i, points to the value of parameter i. A DISubprogram
 * equal to the kernel's keeps line numbers when LLVM inlines the kernel. */
static void entry_write(struct edit *e, const struct kernel *k)
{
	const struct edit_span lines = metadata_get(e, k, "!dbg");
	const size_t subprogram = e->metadata_next, place = e->metadata_next + 1;
	char from[32] = "", at[32] = "";

	if (lines.bytes) {
		snprintf(from, sizeof(from), " !dbg !%zu", subprogram);
		snprintf(at, sizeof(at), ", !dbg !%zu", place);
	}
	fprintf(e->out, "define void @" RV32_ENTRY_PREFIX "%.*s(ptr %%a) #%u%s {\n",
		(int)k->name.bytes, k->name.at, e->attribute_next, from);
	for (size_t i = 0; i < k->count; i++) {
		const struct parameter *p = &k->parameters[i];
		fprintf(e->out,
			"  %%s%zu = getelementptr i8, ptr %%a, i32 %zu\n"
			"  %%p%zu = load ptr, ptr %%s%zu, align 4\n",
			i, 4 * i, i, i);
		if (!p->by_value)
			fprintf(e->out, "  %%v%zu = load %.*s, ptr %%p%zu\n", i, (int)p->type.bytes,
				p->type.at, i);
	}
	fprintf(e->out, "  call void @%.*s(", (int)k->name.bytes, k->name.at);
	for (size_t i = 0; i < k->count; i++) {
		const struct parameter *p = &k->parameters[i];
		fprintf(e->out, "%s%.*s %%%c%zu", i ? ", " : "", (int)p->text.bytes, p->text.at,
			p->by_value ? 'p' : 'v', i);
	}
	fprintf(e->out, ") #%u%s\n  ret void\n}\n", e->attribute_next + 1, at);
	if (!lines.bytes)
		return;
	fprintf(e->out, "!%zu = %.*s\n!%zu = !DILocation(line: 0, scope: !%zu)\n", subprogram,
		(int)lines.bytes, lines.at, place, subprogram);
	e->metadata_next += 2;
}

bool rv32_edit_kernel(struct edit *e, struct edit_span line)
{
	struct kernel *k = calloc(1, sizeof(*k));

	if (!k)
		return false;
	bool done = signature_read(k, line);
	if (!done)
		snprintf(e->text, ENGINE_TEXT_BYTES,
			 "cannot read the signature that the compiler gave to a kernel: %.120s; "
			 "install clang-15",
			 line.at);
	if (done) {
		metadata_read(e, k);
		done = record_write(e, k);
	}
	if (done)
		entry_write(e, k);
	free(k);
	return done;
}
