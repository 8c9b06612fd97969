/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses and matches measured values. */
#include "model/judge.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/published.h"

#define LINE_BYTES 160 /* quantity, x and value with blanks */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Cuts the last word off a text. Returns NULL if nothing is before it. */
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

/* Accepts only plain decimal numbers. */
static bool value_parse(const char *text, double *out)
{
	char *end;

	if (text[strspn(text, "0123456789.eE+-")] || !isdigit((unsigned char)text[0]))
		return false;
	*out = strtod(text, &end);
	return *end == '\0' && isfinite(*out);
}

static int line_parse(char *text, unsigned number, struct model_judged *out)
{
	char *value = last_word(text), *x = value ? last_word(text) : NULL;
	char *quantity = text;

	while (is_blank(*quantity))
		quantity++;
	for (size_t end = strlen(quantity); end > 0 && is_blank(quantity[end - 1]);)
		quantity[--end] = '\0';
	if (!x || !*quantity)
		return error_set(DXP_EINVAL,
				 "line %u: expected QUANTITY X VALUE, such as: latency PUT 64 1900",
				 number);
	if (!value_parse(value, &out->value))
		return error_set(DXP_EINVAL, "line %u: the value is not a number of 0 or more",
				 number);
	if (strlen(quantity) >= sizeof(out->quantity) || strlen(x) >= sizeof(out->x))
		return error_set(DXP_EINVAL, "line %u: name or x is too long", number);
	if (strcmp(x, "-") == 0)
		x++;
	memcpy(out->quantity, quantity, strlen(quantity) + 1);
	memcpy(out->x, x, strlen(x) + 1);
	out->line = number;
	out->used = false;
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
		if (model_name_same(j->lines[i].quantity, line->quantity) &&
		    model_name_same(j->lines[i].x, line->x))
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
	for (unsigned i = 0; i < j->count; i++)
		if (model_name_same(j->lines[i].quantity, row->quantity) &&
		    model_name_same(j->lines[i].x, row->x)) {
			j->lines[i].used = true;
			return j->lines[i].value;
		}
	return NAN;
}

int model_judge_unused(const struct model_judge *j)
{
	for (unsigned i = 0; i < j->count; i++)
		if (!j->lines[i].used)
			return error_set(DXP_EINVAL,
					 "line %u: there is no row '%s' at x '%s'; `dxp model "
					 "check --list` prints the names",
					 j->lines[i].line, j->lines[i].quantity, j->lines[i].x);
	return DXP_OK;
}

int model_judged_case(const struct model_judged *line, struct model_allreduce *of, double *us)
{
	char name[40], rest;

	for (int way = 0; way < MODEL_WAYS; way++) {
		snprintf(name, sizeof(name), "allreduce %s", model_way_name((enum model_way)way));
		if (!model_name_same(line->quantity, name))
			continue;
		of->way = (enum model_way)way;
		if (sscanf(line->x, "%4ux%3ux%7u%c", &of->hosts, &of->ranks, &of->bytes, &rest) !=
		    3)
			return error_set(DXP_EINVAL,
					 "line %u: x is HOSTSxRANKSxBYTES, such as 9x32x64, not "
					 "'%s'",
					 line->line, line->x);
		if (line->value <= 0)
			return error_set(DXP_EINVAL, "line %u: a time must be above 0", line->line);
		*us = line->value;
		return DXP_OK;
	}
	return error_set(DXP_EINVAL,
			 "line %u: '%s' is not a time of allreduce; expected: allreduce "
			 "host|node|socket HOSTSxRANKSxBYTES MICROSECONDS",
			 line->line, line->quantity);
}
