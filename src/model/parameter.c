/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of parameters. parameter_parse.c parses values; parameter_check.c has presets and
 * impossible combinations. */
#include "model/parameter.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"

static const struct model_parameter rows[] = {
#define ROW_N(g, n, u, v, l, h, m, i, t)                 \
	{.group = #g,                                    \
	 .name = #n,                                     \
	 .unit = (u),                                    \
	 .item = (i),                                    \
	 .text = (t),                                    \
	 .value = (v),                                   \
	 .low = (l),                                     \
	 .high = (h),                                    \
	 .offset = offsetof(struct model_parameters, n), \
	 .mark = (m)},
#define ROW_S(g, n, c, v, m, i, t)                       \
	{.group = #g,                                    \
	 .name = #n,                                     \
	 .unit = "",                                     \
	 .choices = (c),                                 \
	 .item = (i),                                    \
	 .text = (t),                                    \
	 .value = (v),                                   \
	 .high = -1, /* counted from choices */          \
	 .offset = offsetof(struct model_parameters, n), \
	 .mark = (m)},
	MODEL_PARAMETER_LIST(ROW_N, ROW_S)
#undef ROW_N
#undef ROW_S
};

const struct model_parameter *model_parameter_at(unsigned index)
{
	return index < ARRAY_COUNT(rows) ? &rows[index] : NULL;
}

/* Bytes of a name without its unit; 0: it has none. */
static size_t bare_bytes(const struct model_parameter *row)
{
	const char *suffix = strrchr(row->name, '_');

	return row->unit[0] && suffix ? (size_t)(suffix - row->name) : 0;
}

static bool same(const char *name, size_t name_bytes, const char *text, size_t bytes)
{
	return name_bytes == bytes && memcmp(name, text, bytes) == 0;
}

const struct model_parameter *model_parameter_find(const char *name, size_t name_bytes, bool *bare)
{
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		*bare = false;
		if (same(name, name_bytes, rows[i].name, strlen(rows[i].name)))
			return &rows[i];
		*bare = true;
		if (bare_bytes(&rows[i]) &&
		    same(name, name_bytes, rows[i].name, bare_bytes(&rows[i])))
			return &rows[i];
	}
	return NULL;
}

int64_t model_parameter_get(const struct model_parameters *p, const struct model_parameter *row)
{
	int64_t value;

	memcpy(&value, (const char *)p + row->offset, sizeof(value));
	return value;
}

static int64_t highest(const struct model_parameter *row)
{
	int64_t high = 0;

	if (!row->choices)
		return row->high;
	for (const char *c = row->choices; *c; c++)
		high += *c == '|';
	return high;
}

int model_parameter_put(struct model_parameters *p, const struct model_parameter *row,
			int64_t value)
{
	char low[32], high[32];

	if (value < row->low || value > highest(row))
		return error_set(DXP_EINVAL, "%s=%lld is out of range; allowed: %s to %s",
				 row->name, (long long)value,
				 model_parameter_print(row, row->low, low, sizeof(low)),
				 model_parameter_print(row, highest(row), high, sizeof(high)));
	memcpy((char *)p + row->offset, &value, sizeof(value));
	return DXP_OK;
}

const char *model_parameter_print(const struct model_parameter *row, int64_t value, char *out,
				  size_t out_bytes)
{
	const char *from = row->choices;

	if (!from) {
		snprintf(out, out_bytes, "%lld", (long long)value);
		return out;
	}
	for (; value > 0 && strchr(from, '|'); value--)
		from = strchr(from, '|') + 1;
	snprintf(out, out_bytes, "%.*s", (int)strcspn(from, "|"), from);
	return out;
}

void model_parameters_default(struct model_parameters *p)
{
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		memcpy((char *)p + rows[i].offset, &rows[i].value, sizeof(rows[i].value));
}

static bool listed(const char *list, const char *word)
{
	size_t bytes = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += bytes) {
		bool starts = at == list || at[-1] == ' ';
		if (starts && (at[bytes] == '\0' || at[bytes] == ' '))
			return true;
	}
	return false;
}

bool model_parameters_are_source(const struct model_parameters *p, const char *groups)
{
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		if (listed(groups, rows[i].group) &&
		    model_parameter_get(p, &rows[i]) != rows[i].value)
			return false;
	return true;
}

const char *model_assumptions(const char *groups, char *out, size_t out_bytes)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		if ((rows[i].mark != 'A' && rows[i].mark != 'F') ||
		    !listed(groups, rows[i].group) || at >= out_bytes)
			continue;
		at += (size_t)snprintf(out + at, out_bytes - at, "%s%s", at ? "," : "",
				       rows[i].name);
	}
	return out;
}
