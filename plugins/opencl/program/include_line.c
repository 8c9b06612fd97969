/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the lines of a source that include files. */
#include <string.h>

#include "plugins/opencl/program/include.h"

struct text {
	const char *at, *end; /* `at`: position in the line; `end`: position after it */
};

/* Skips blanks, and comments that end on the same line. */
static void skip(struct text *t)
{
	for (;;) {
		while (t->at < t->end && (*t->at == ' ' || *t->at == '\t' || *t->at == '\f' ||
					  *t->at == '\v' || *t->at == '\r'))
			t->at++;
		if (t->end - t->at < 4 || t->at[0] != '/' || t->at[1] != '*')
			return;
		const char *p = t->at + 2;
		while (p + 1 < t->end && (p[0] != '*' || p[1] != '/'))
			p++;
		if (p + 1 >= t->end)
			return;
		t->at = p + 2;
	}
}

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool word(struct text *t, const char *word)
{
	size_t bytes = strlen(word);

	if ((size_t)(t->end - t->at) < bytes || memcmp(t->at, word, bytes) != 0)
		return false;
	if ((size_t)(t->end - t->at) > bytes && letter(t->at[bytes]) && letter(word[bytes - 1]))
		return false;
	t->at += bytes;
	return true;
}

static bool name(struct text *t, struct include_line *out)
{
	if (t->at == t->end || (*t->at != '"' && *t->at != '<'))
		return false;
	char close = *t->at == '<' ? '>' : '"';
	const char *begin = t->at + 1;
	const char *end = memchr(begin, close, (size_t)(t->end - begin));
	if (!end || end == begin)
		return false;
	out->at = begin;
	out->bytes = (size_t)(end - begin);
	return true;
}

static bool directive(struct text t, struct include_line *out)
{
	bool define;

	skip(&t);
	if (!word(&t, "#"))
		return false;
	skip(&t);
	define = word(&t, "define");
	*out = (struct include_line){.kind = define ? INCLUDE_DEFINED : INCLUDE_LINE};
	if (word(&t, "include_next"))
		out->kind = INCLUDE_NEXT;
	else if (!define && !word(&t, "include") && !word(&t, "import"))
		return false;
	skip(&t);
	if (define) {
		while (t.at < t.end && letter(*t.at))
			t.at++;
		skip(&t);
		return name(&t, out);
	}
	if (name(&t, out))
		return true;
	out->kind = INCLUDE_COMPUTED;
	out->at = t.at;
	out->bytes = (size_t)(t.end - t.at);
	return t.at < t.end && letter(*t.at);
}

/* Returns the rest of a line on which a comment from an earlier line ends; NULL: none ends. */
static const char *behind_comment(const char *at, const char *end)
{
	const char *open = NULL;

	for (const char *p = at; p + 1 < end; p++) {
		if (p[0] == '/' && p[1] == '*')
			open = p;
		if (p[0] == '*' && p[1] == '/')
			return open ? NULL : p + 2;
	}
	return NULL;
}

bool include_line_next(const char **at, const char *end, struct include_line *out)
{
	while (*at < end) {
		const char *line = *at;
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		*at = stop ? stop + 1 : end;
		struct text t = {.at = line, .end = stop ? stop : end};
		if (directive(t, out))
			return true;
		t.at = behind_comment(t.at, t.end);
		if (t.at && directive(t, out))
			return true;
	}
	return false;
}
