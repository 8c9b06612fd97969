/* SPDX-License-Identifier: BSD-3-Clause */
/* Expands #include lines: with headers of clCompileProgram(), PoCL 3.1 loses the information about
 * kernel arguments. */
#include "engine/ocl_include.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_NAME "dxp/device.h"
/* expansions of 30 KB: bounds the memory of a malicious program */
#define INCLUDES_MAX 64

enum inside { INSIDE_NOTHING, INSIDE_LINE_COMMENT, INSIDE_COMMENT, INSIDE_STRING, INSIDE_LETTER };

struct scan {
	const char *at, *end;
	enum inside inside;
	bool line_begins; /* only blanks precede */
	unsigned line;
};

static const char *blanks_skip(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* Returns the text behind `word`; NULL: `at` is not at this word. */
static const char *word_skip(const char *at, const char *end, const char *word)
{
	size_t bytes = strlen(word);

	return (size_t)(end - at) >= bytes && memcmp(at, word, bytes) == 0 ? at + bytes : NULL;
}

/* The same for a directive to expand. */
static const char *directive_skip(const char *at, const char *end)
{
	const char *quoted, *include;

	if (at == end || *at != '#')
		return NULL;
	include = word_skip(blanks_skip(at + 1, end), end, "include");
	if (!include)
		return NULL;
	include = blanks_skip(include, end);
	quoted = word_skip(include, end, "<" HEADER_NAME ">");
	return quoted ? quoted : word_skip(include, end, "\"" HEADER_NAME "\"");
}

/* One character, or two that form one token. */
static void character_consume(struct scan *s)
{
	char c = *s->at++, next = '\0';

	if (s->at < s->end)
		next = *s->at;
	if (c == '\\' && s->at < s->end) {
		s->line += next == '\n';
		s->at++;
		return;
	}
	if (c == '\n')
		s->line++;
	if (s->inside == INSIDE_NOTHING) {
		s->inside = c == '"'                  ? INSIDE_STRING
			    : c == '\''               ? INSIDE_LETTER
			    : c == '/' && next == '/' ? INSIDE_LINE_COMMENT
			    : c == '/' && next == '*' ? INSIDE_COMMENT
						      : INSIDE_NOTHING;
		if (s->inside == INSIDE_COMMENT)
			s->at++;
	} else if (s->inside == INSIDE_COMMENT) {
		if (c == '*' && next == '/') {
			s->inside = INSIDE_NOTHING;
			s->at++;
		}
	} else if (c == '\n' || (s->inside == INSIDE_STRING && c == '"') ||
		   (s->inside == INSIDE_LETTER && c == '\'')) {
		s->inside = INSIDE_NOTHING; /* literals and line comments end here */
	}
	s->line_begins = c == '\n' || (s->line_begins && (c == ' ' || c == '\t'));
}

/* NULL: none. */
static const char *directive_find(struct scan *s)
{
	while (s->at < s->end) {
		const char *begin = s->at;
		const char *behind = s->inside == INSIDE_NOTHING && s->line_begins
					     ? directive_skip(s->at, s->end)
					     : NULL;
		if (behind) {
			s->at = behind;
			s->line_begins = false;
			return begin;
		}
		character_consume(s);
	}
	return NULL;
}

static void expand(FILE *out, const char *text, size_t bytes)
{
	struct scan s = {.at = text, .end = text + bytes, .line_begins = true, .line = 1};
	const char *copied = text, *directive;

	for (int count = 1; (directive = directive_find(&s)); count++) {
		fwrite(copied, 1, (size_t)(directive - copied), out);
		if (count > INCLUDES_MAX) {
			fputs("#error \"" HEADER_NAME
			      "\" is included too often; add an include guard\n",
			      out);
			copied = s.end;
			break;
		}
		fprintf(out, "#line 1 \"" HEADER_NAME "\"\n%s\n#line %u \"program\"\n",
			ocl_device_header, s.line);
		copied = s.at;
	}
	fwrite(copied, 1, (size_t)(s.end - copied), out);
}

char *ocl_source_expand(const char *text, size_t bytes, size_t *out_bytes)
{
	char *expanded = NULL;
	FILE *out = open_memstream(&expanded, out_bytes);

	if (!out)
		return NULL;
	expand(out, text, bytes);
	if (fclose(out) == 0)
		return expanded;
	free(expanded);
	return NULL;
}
