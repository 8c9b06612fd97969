/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses files of measured values, and finds a row's value. */
#include "model/judge.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/published.h"

#define LINE_BYTES 160 /* quantity, x and value, with blanks */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Cuts it off; NULL: no text is left before it. */
static char *last_word(char *text)
{
	size_t end = strlen(text);

	while (end > 0 && is_blank(text[end - 1]))
		text[--end] = '\0';
	while (end > 0 && !is_blank(text[end - 1]))
		end--;
	if (end == 0)
		return NULL;
	text[end - 1] = '\0';
	return text + end;
}

/* Units of one kind convert into each other; `scale`: in the kind's base unit. */
static const struct unit {
	const char *kind, *name;
	double scale;
} units[] = {
	{"time", "ps", 1e-12},   {"time", "ns", 1e-9},    {"time", "us", 1e-6},
	{"time", "ms", 1e-3},    {"time", "s", 1},        {"rate", "kB/s", 1e3},
	{"rate", "MB/s", 1e6},   {"rate", "GB/s", 1e9},   {"rate", "MiB/s", 1048576},
	{"rate", "Mb/s", 125e3}, {"rate", "Gb/s", 125e6}, {"share", "share", 1},
	{"share", "%", 0.01},    {"cycles", "cycles", 1}, {"links", "links", 1},
};

static const struct unit *unit_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(units); i++)
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	return NULL;
}

/* Converts a value; NAN: units of different kinds. */
static double unit_convert(double value, const char *from, const char *to)
{
	if (!from[0] || strcmp(from, to) == 0)
		return value;
	const struct unit *a = unit_find(from), *b = unit_find(to);
	if (!a || !b || strcmp(a->kind, b->kind) != 0)
		return NAN;
	return value * a->scale / b->scale;
}

/* Parses a plain decimal that is not negative, with a unit directly behind it or none. */
static bool value_parse(const char *text, struct model_judged *out)
{
	char *end;

	if (!isdigit((unsigned char)text[0]) || text[strspn(text, "0")] == 'x')
		return false;
	out->value = strtod(text, &end);
	if (*end && !unit_find(end))
		return false;
	if (*end)
		snprintf(out->unit, sizeof(out->unit), "%s", end);
	return isfinite(out->value);
}

/* Rewrites "4 x 2" as "4x2". */
static void products_join(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		bool joins = to > text && isdigit((unsigned char)to[-1]) &&
			     (strncmp(at, " x ", 3) == 0 || strncmp(at, " X ", 3) == 0) &&
			     isdigit((unsigned char)at[3]);
		*to++ = joins ? 'x' : *at;
		at += joins ? 2 : 0;
	}
	*to = '\0';
}

static const struct {
	const char *name;
	unsigned shift;
} suffixes[] = {{"B", 0}, {"K", 10}, {"KiB", 10}, {"M", 20}, {"MiB", 20}};

/* Rewrites "1KiB" as bytes. Returns true for a suffix without a number. */
static bool size_expand(char x[MODEL_ROW_X])
{
	char *end;
	unsigned long long value = strtoull(x, &end, 10);

	for (size_t i = 0; i < ARRAY_COUNT(suffixes); i++) {
		if (strcmp(end, suffixes[i].name) != 0)
			continue;
		if (isdigit((unsigned char)x[0]) && value < 1ull << 40)
			snprintf(x, MODEL_ROW_X, "%llu", value << suffixes[i].shift);
		return end == x;
	}
	return false;
}

/* Cuts the last word, or a size such as "1 KiB". Returns false if it is too long or missing. */
static bool x_cut(char *text, char out[MODEL_ROW_X])
{
	const char *word = last_word(text);

	if (!word || strlen(word) >= MODEL_ROW_X)
		return false;
	snprintf(out, MODEL_ROW_X, "%s", strcmp(word, "-") == 0 ? "" : word);
	if (out[0] && size_expand(out)) {
		char suffix[MODEL_ROW_X];
		memcpy(suffix, out, sizeof(suffix));
		word = last_word(text);
		if (!word || snprintf(out, MODEL_ROW_X, "%.20s%.4s", word, suffix) < 0)
			return false;
		size_expand(out);
	}
	return true;
}

/* Cuts the value, whose unit may be a separate word. */
static bool value_cut(char *text, struct model_judged *out)
{
	char *word = last_word(text);

	if (!word || value_parse(word, out))
		return word != NULL;
	if (!unit_find(word))
		return false;
	snprintf(out->unit, sizeof(out->unit), "%s", word);
	word = last_word(text);
	return word && value_parse(word, out) && strspn(word, "0123456789.eE+-") == strlen(word);
}

static unsigned words_count(const char *text)
{
	unsigned count = 0;

	for (size_t bytes; (text += strspn(text, " \t\r")), (bytes = strcspn(text, " \t\r"));
	     text += bytes)
		count++;
	return count;
}

static int line_parse(char *text, unsigned number, struct model_judged *out)
{
	struct model_judged line = {.line = number};
	char *quantity = text + strspn(text, " \t\r");

	products_join(quantity);
	if (words_count(quantity) < 3)
		return error_set(DXP_EINVAL,
				 "line %u: expected QUANTITY X VALUE, such as: latency PUT 64 1900",
				 number);
	if (!value_cut(quantity, &line))
		return error_set(DXP_EINVAL,
				 "line %u: the value is not a number of 0 or more, with or without "
				 "a unit such as ns, us, MB/s or %%",
				 number);
	bool fits = x_cut(quantity, line.x);
	for (size_t end = strlen(quantity); end > 0 && is_blank(quantity[end - 1]);)
		quantity[--end] = '\0';
	if (!fits || strlen(quantity) >= sizeof(line.quantity))
		return error_set(DXP_EINVAL, "line %u: name or x is missing or too long", number);
	snprintf(line.quantity, sizeof(line.quantity), "%s", quantity);
	*out = line;
	return DXP_OK;
}

static int line_copy(const char *at, size_t bytes, unsigned number, char out[LINE_BYTES])
{
	const char *comment = memchr(at, '#', bytes);

	if (comment)
		bytes = (size_t)(comment - at);
	if (bytes >= LINE_BYTES)
		return error_set(DXP_EINVAL, "line %u: longer than %d bytes", number,
				 LINE_BYTES - 1);
	for (size_t i = 0; i < bytes; i++)
		if (!is_blank(at[i]) && (at[i] < ' ' || at[i] > '~'))
			return error_set(DXP_EINVAL, "line %u: has a byte that is no plain text",
					 number);
	memcpy(out, at, bytes);
	out[bytes] = '\0';
	return DXP_OK;
}

static int duplicate_check(const struct model_judge *j, const struct model_judged *line)
{
	for (unsigned i = 0; i < j->count; i++)
		if (model_name_same(j->lines[i].quantity, j->lines[i].x, line->quantity, line->x))
			return error_set(DXP_EINVAL, "line %u: line %u has the same name and x",
					 line->line, j->lines[i].line);
	return DXP_OK;
}

static int lines_read(const char *text, size_t text_bytes, struct model_judge *out)
{
	const char *at = text, *end = text + text_bytes;
	int status = DXP_OK;

	for (unsigned number = 1; at < end && status == DXP_OK; number++) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		char line[LINE_BYTES];
		line_end = line_end ? line_end : end;
		status = line_copy(at, (size_t)(line_end - at), number, line);
		at = line_end + 1;
		if (status != DXP_OK || !line[strspn(line, " \t\r")])
			continue;
		if (out->count == MODEL_JUDGE_LINES)
			return error_set(DXP_EINVAL, "line %u: more than %d values", number,
					 MODEL_JUDGE_LINES);
		status = line_parse(line, number, &out->lines[out->count]);
		if (status == DXP_OK)
			status = duplicate_check(out, &out->lines[out->count]);
		out->count += status == DXP_OK;
	}
	return status;
}

int model_judge_read(const char *text, size_t text_bytes, struct model_judge *out)
{
	struct model_judge j = {.lines = calloc(MODEL_JUDGE_LINES, sizeof(*j.lines))};

	if (!j.lines)
		return DXP_ENOMEM;
	int status = lines_read(text, text_bytes, &j);
	if (status == DXP_OK && j.count == 0)
		status = error_set(DXP_EINVAL, "no line has a value; write lines QUANTITY X VALUE, "
					       "such as: latency PUT 64 1900");
	if (status != DXP_OK) {
		free(j.lines);
		return status;
	}
	*out = j;
	return DXP_OK;
}

void model_judge_destroy(struct model_judge *j)
{
	free(j->lines);
	*j = (struct model_judge){0};
}

double model_judge_find(struct model_judge *j, const struct model_row *row)
{
	for (unsigned i = 0; i < j->count; i++) {
		struct model_judged *line = &j->lines[i];
		if (!model_name_same(line->quantity, line->x, row->quantity, row->x))
			continue;
		double value = unit_convert(line->value, line->unit, row->unit);
		line->used = true;
		line->wanted = isnan(value) ? row->unit : NULL;
		return value;
	}
	return NAN;
}

int model_judge_unused(const struct model_judge *j, bool some_rows)
{
	for (unsigned i = 0; i < j->count; i++) {
		const struct model_judged *line = &j->lines[i];
		if (line->wanted)
			return error_set(DXP_EINVAL,
					 "line %u: %s is no unit of '%s'; write the value in %s",
					 line->line, line->unit, line->quantity,
					 line->wanted[0] ? line->wanted : "no unit");
		if (!line->used && !some_rows)
			return error_set(DXP_EINVAL,
					 "line %u: there is no row '%s' at x '%s'; `dxp model "
					 "check --list` prints the names",
					 line->line, line->quantity, line->x);
	}
	return DXP_OK;
}

int model_judged_case(const struct model_judged *line, struct model_allreduce *of, double *us)
{
	char name[40], rest;

	for (int way = 0; way < MODEL_WAYS; way++) {
		snprintf(name, sizeof(name), "allreduce %s", model_way_name((enum model_way)way));
		if (!model_name_same(line->quantity, "", name, ""))
			continue;
		of->way = (enum model_way)way;
		if (sscanf(line->x, "%4ux%3ux%7u%c", &of->hosts, &of->ranks, &of->bytes, &rest) !=
		    3)
			return error_set(DXP_EINVAL,
					 "line %u: x is HOSTSxRANKSxBYTES, such as 9x32x64, not "
					 "'%s'",
					 line->line, line->x);
		*us = unit_convert(line->value, line->unit, "us");
		if (!(*us > 0))
			return error_set(DXP_EINVAL,
					 "line %u: a time must be above 0, in us, ns, ms or s",
					 line->line);
		return DXP_OK;
	}
	return error_set(DXP_EINVAL,
			 "line %u: '%s' is not a time of allreduce; expected: allreduce "
			 "host|node|socket HOSTSxRANKSxBYTES MICROSECONDS",
			 line->line, line->quantity);
}
