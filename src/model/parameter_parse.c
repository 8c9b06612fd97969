/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses values with units, "name=value", and texts of such lines. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/parameter.h"

#define LINE_BYTES 200 /* longest line, with blanks */

/* Units that a value may have, for rows whose unit is `of`: one `name` is `scale` times `of`. */
static const struct unit {
	const char *of, *name;
	int64_t scale;
} units[] = {
	{"MHz", "MHz", 1},      {"MHz", "GHz", 1000},    {"B", "B", 1},
	{"B", "KiB", 1 << 10},  {"B", "MiB", 1 << 20},   {"B", "K", 1 << 10},
	{"B", "M", 1 << 20},    {"cycles", "cycles", 1}, {"ns", "ns", 1},
	{"ns", "us", 1000},     {"ns", "ms", 1000000},   {"ps", "ps", 1},
	{"ps", "ns", 1000},     {"ps", "us", 1000000},   {"permille", "permille", 1},
	{"permille", "%", 10},  {"ppm", "ppm", 1},       {"ppm", "%", 10000},
	{"kB/s", "kB/s", 1},    {"kB/s", "MB/s", 1000},  {"kB/s", "GB/s", 1000000},
	{"MB/s", "MB/s", 1},    {"MB/s", "GB/s", 1000},  {"Mb/s", "Mb/s", 1},
	{"Mb/s", "Gb/s", 1000}, {"us", "us", 1},         {"us", "ms", 1000},
	{"us", "s", 1000000},
};

/* Returns 0 if the row cannot have this unit. */
static int64_t unit_scale(const struct model_parameter *row, const char *name, size_t bytes)
{
	for (size_t i = 0; i < ARRAY_COUNT(units); i++)
		if (strcmp(units[i].of, row->unit) == 0 && strlen(units[i].name) == bytes &&
		    memcmp(units[i].name, name, bytes) == 0)
			return units[i].scale;
	return 0;
}

/* Writes a row's units, such as "MHz GHz". */
static const char *unit_names(const struct model_parameter *row, char *out, size_t out_bytes)
{
	size_t at = 0;

	snprintf(out, out_bytes, "none");
	for (size_t i = 0; i < ARRAY_COUNT(units) && at < out_bytes; i++)
		if (strcmp(units[i].of, row->unit) == 0)
			at += (size_t)snprintf(out + at, out_bytes - at, "%s%s", at ? " " : "",
					       units[i].name);
	return out;
}

static int parse_choice(const struct model_parameter *row, const char *text, int64_t *out)
{
	int64_t index = 0;

	for (const char *c = row->choices;; index++) {
		size_t bytes = strcspn(c, "|");
		if (strlen(text) == bytes && memcmp(c, text, bytes) == 0) {
			*out = index;
			return DXP_OK;
		}
		if (!c[bytes])
			return error_set(DXP_EINVAL, "%s is one of %s, not '%s'", row->name,
					 row->choices, text);
		c += bytes + 1;
	}
}

/* Parses at most 6 decimals. Returns the bytes read; 0: no number. */
static size_t parse_millionths(const char *text, int64_t *out)
{
	int64_t value = 0, weight = 1000000;
	size_t at = 0, digits = 0;

	for (; isdigit((unsigned char)text[at]) && value < INT64_MAX / 10000000; at++, digits++)
		value = value * 10 + (text[at] - '0');
	value *= weight;
	if (digits && text[at] == '.')
		for (at++; isdigit((unsigned char)text[at]) && weight > 1; at++)
			value += (weight /= 10) * (text[at] - '0');
	*out = value;
	return digits ? at : 0;
}

int model_parameter_parse(const struct model_parameter *row, bool bare, const char *text,
			  int64_t *out)
{
	char names[80];
	int64_t value, scale = 1;

	if (row->choices)
		return parse_choice(row, text, out);
	size_t at = parse_millionths(text, &value);
	if (at == 0)
		return error_set(DXP_EINVAL, "%s needs a number from %lld to %lld, not '%s'",
				 row->name, (long long)row->low, (long long)row->high, text);
	while (text[at] == ' ')
		at++;
	/* 0.05 may stand for 50 permille. */
	bool share = !text[at] && strcmp(row->unit, "permille") == 0 && memchr(text, '.', at);
	if (!text[at] && bare && !share)
		return error_set(DXP_EINVAL, "'%s' has no unit; write %s=%s, or one of: %s", text,
				 row->name, text, unit_names(row, names, sizeof(names)));
	if (share)
		scale = 1000;
	if (text[at]) {
		scale = unit_scale(row, text + at, strlen(text + at));
		if (!scale)
			return error_set(DXP_EINVAL, "'%s' is not a unit of %s; its units: %s",
					 text + at, row->name,
					 unit_names(row, names, sizeof(names)));
	}
	if (value > INT64_MAX / scale || value * scale % 1000000 != 0)
		return error_set(DXP_EINVAL, "%s=%s is not a whole number of %s", row->name, text,
				 row->unit[0] ? row->unit : "units");
	*out = value * scale / 1000000;
	return DXP_OK;
}

/* Copies text without blanks around it. Returns false if it does not fit. */
static bool trim(const char *text, size_t bytes, char *out, size_t out_bytes)
{
	while (bytes && isspace((unsigned char)*text)) {
		text++;
		bytes--;
	}
	while (bytes && isspace((unsigned char)text[bytes - 1]))
		bytes--;
	if (bytes >= out_bytes)
		return false;
	memcpy(out, text, bytes);
	out[bytes] = '\0';
	return true;
}

static int set_pcie(struct model_parameters *p, const char *text)
{
	unsigned generation, lanes;
	char rest;
	bool bare;

	if (sscanf(text, "%3ux%3u%c", &generation, &lanes, &rest) != 2)
		return error_set(DXP_EINVAL, "pcie is generation x lanes, such as 4x16, not '%s'",
				 text);
	int status = model_parameter_put(p, model_parameter_find("pcie_generation", 15, &bare),
					 generation);
	if (status)
		return status;
	return model_parameter_put(p, model_parameter_find("pcie_lanes", 10, &bare), lanes);
}

const char *model_assignment_name(const char *assignment, size_t *bytes)
{
	while (isspace((unsigned char)*assignment))
		assignment++;
	*bytes = strcspn(assignment, "= \t\r\n");
	return assignment;
}

int model_parameters_set(struct model_parameters *p, const char *assignment)
{
	char name[LINE_BYTES], text[LINE_BYTES];
	const char *equals = strchr(assignment, '=');
	int64_t value;
	bool bare;

	if (!equals || !trim(assignment, (size_t)(equals - assignment), name, sizeof(name)) ||
	    !trim(equals + 1, strlen(equals + 1), text, sizeof(text)) || !name[0])
		return error_set(DXP_EINVAL, "'%.80s' is not NAME=VALUE", assignment);
	if (strcmp(name, "pcie") == 0)
		return set_pcie(p, text);
	const struct model_parameter *row = model_parameter_find(name, strlen(name), &bare);
	if (!row)
		return model_parameter_unknown(name, strlen(name));
	if (!text[0])
		return error_set(DXP_EINVAL, "%s has no value", row->name);
	int status = model_parameter_parse(row, bare, text, &value);
	return status ? status : model_parameter_put(p, row, value);
}

/* Applies a line; *values counts lines with a value. */
static int apply_line(struct model_parameters *p, const char *text, size_t bytes, unsigned *values)
{
	const char *comment = memchr(text, '#', bytes);
	char line[LINE_BYTES];

	if (!trim(text, comment ? (size_t)(comment - text) : bytes, line, sizeof(line)))
		return error_set(DXP_EINVAL, "longer than %d bytes", LINE_BYTES - 1);
	*values += line[0] != '\0';
	return line[0] ? model_parameters_set(p, line) : DXP_OK;
}

int model_parameters_config(struct model_parameters *p, const char *text)
{
	unsigned values = 0;

	for (unsigned line = 1; *text; line++) {
		size_t bytes = strcspn(text, "\n");
		int status = apply_line(p, text, bytes, &values);
		if (status) {
			char reason[300];
			snprintf(reason, sizeof(reason), "%s", error_text());
			return error_set(status, "line %u: %s", line, reason);
		}
		text += bytes + (text[bytes] == '\n');
	}
	if (values == 0)
		return error_set(DXP_EINVAL, "no line has a value; write lines NAME = VALUE, "
					     "such as: clock = 300 MHz");
	return DXP_OK;
}
