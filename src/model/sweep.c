/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/sweep.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"

#define PART_BYTES 64 /* longest text of a value */

/* Parses a value within the row's range. */
static int parse_part(const struct model_parameter *row, bool bare, const char *text, size_t bytes,
		      int64_t *out)
{
	struct model_parameters scratch;
	char part[PART_BYTES];

	if (bytes >= sizeof(part))
		return error_set(DXP_EINVAL, "a value of %s is longer than %d bytes", row->name,
				 PART_BYTES - 1);
	memcpy(part, text, bytes);
	part[bytes] = '\0';
	int status = model_parameter_parse(row, bare, part, out);
	if (status)
		return status;
	if (row->choices)
		return DXP_OK;
	if (row->offset < sizeof(scratch))
		return model_parameter_put(&scratch, row, *out);
	if (*out < row->low || *out > row->high)
		return error_set(DXP_EINVAL, "%s=%s is out of range; allowed: %lld to %lld",
				 row->name, part, (long long)row->low, (long long)row->high);
	return DXP_OK;
}

static int too_many(const struct model_parameter *row, int64_t count)
{
	return error_set(DXP_EINVAL, "%s has %lld values; at most %d in one list", row->name,
			 (long long)count, MODEL_SWEEP_VALUES);
}

static int add_value(struct model_sweep *s, int64_t value)
{
	if (s->count == MODEL_SWEEP_VALUES)
		return too_many(s->row, (int64_t)s->count + 1);
	s->values[s->count++] = value;
	return DXP_OK;
}

/* Adds a range; `step`: "*k" multiplies by k, "+s" adds s, "" doubles. */
static int add_range(struct model_sweep *s, int64_t low, int64_t high, const char *step)
{
	bool adds = step[0] == '+';
	int64_t by = 2;
	char *rest;

	if (adds && model_parameter_parse(s->row, false, step + 1, &by))
		return DXP_EINVAL;
	if (step[0] == '*') {
		by = strtoll(step + 1, &rest, 10);
		if (!isdigit((unsigned char)step[1]) || *rest)
			by = 0;
	}
	if (by < (adds ? 1 : 2))
		return error_set(DXP_EINVAL, "'%s' is no step of %s: +N from 1 on or *N from 2 on",
				 step, s->row->name);
	if (low > high || (!adds && low < 1))
		return error_set(DXP_EINVAL, "%s: %lld..%lld is empty or starts below 1",
				 s->row->name, (long long)low, (long long)high);
	if (adds && (high - low) / by >= MODEL_SWEEP_VALUES)
		return too_many(s->row, (high - low) / by + 1);
	for (int64_t v = low; v <= high; v = adds ? v + by : v * by) {
		int status = add_value(s, v);
		if (status)
			return status;
		if (!adds && v > high / by)
			break;
	}
	return DXP_OK;
}

/* Adds what is between two commas: a value, or a range. */
static int add_part(struct model_sweep *s, bool bare, const char *part)
{
	const char *dots = strstr(part, "..");
	int64_t low, high;

	if (!dots || s->row->choices) {
		int status = parse_part(s->row, bare, part, strlen(part), &low);
		return status ? status : add_value(s, low);
	}
	size_t high_bytes = strcspn(dots + 2, "*+");
	int status = parse_part(s->row, bare, part, (size_t)(dots - part), &low);
	if (!status)
		status = parse_part(s->row, bare, dots + 2, high_bytes, &high);
	return status ? status : add_range(s, low, high, dots + 2 + high_bytes);
}

int model_sweep_parse(struct model_sweep *s, const struct model_parameter *row, bool bare,
		      const char *text)
{
	char part[2 * PART_BYTES];

	s->row = row;
	s->count = 0;
	for (;;) {
		size_t bytes = strcspn(text, ",");
		if (bytes >= sizeof(part))
			return error_set(DXP_EINVAL, "a value of %s is longer than %d bytes",
					 row->name, PART_BYTES - 1);
		memcpy(part, text, bytes);
		part[bytes] = '\0';
		int status = add_part(s, bare, part);
		if (status)
			return status;
		if (!text[bytes])
			return DXP_OK;
		text += bytes + 1;
	}
}

static bool grid_has(const struct model_grid *g, const struct model_parameter *row)
{
	for (unsigned i = 0; i < g->count; i++)
		if (g->lists[i].row == row)
			return true;
	return false;
}

static int refuse_row(const struct model_grid *g, const char *name, size_t bytes)
{
	bool bare;
	const struct model_parameter *row = model_parameter_find(name, bytes, &bare);

	if (!row || !grid_has(g, row))
		return DXP_OK;
	return error_set(DXP_EINVAL, "%s is both set and swept; drop one of them", row->name);
}

int model_grid_refuse(const struct model_grid *g, const char *assignment)
{
	/* pcie=4x16 sets both */
	static const char *const pcie[] = {"pcie_generation", "pcie_lanes"};
	size_t bytes;
	const char *name = model_assignment_name(assignment, &bytes);

	if (bytes != 4 || memcmp(name, "pcie", 4) != 0)
		return refuse_row(g, name, bytes);
	for (size_t i = 0; i < ARRAY_COUNT(pcie); i++) {
		int status = refuse_row(g, pcie[i], strlen(pcie[i]));
		if (status)
			return status;
	}
	return DXP_OK;
}

int model_grid_add(struct model_grid *g, const char *assignment)
{
	const char *equals = strchr(assignment, '=');
	bool bare;

	if (!equals || equals == assignment)
		return error_set(DXP_EINVAL, "'%.80s' is not NAME=VALUES", assignment);
	if (g->count == MODEL_SWEEP_LISTS)
		return error_set(DXP_EINVAL, "more than %d lists", MODEL_SWEEP_LISTS);
	const struct model_parameter *row =
		model_parameter_find(assignment, (size_t)(equals - assignment), &bare);
	if (!row)
		return model_parameter_unknown(assignment, (size_t)(equals - assignment));
	if (grid_has(g, row))
		return error_set(DXP_EINVAL, "%s is swept twice; give one list: %s=a,b,c",
				 row->name, row->name);
	int status = model_sweep_parse(&g->lists[g->count], row, bare, equals + 1);
	if (status)
		return status;
	uint64_t points = (uint64_t)model_grid_points(g) * g->lists[g->count].count;
	if (points > MODEL_SWEEP_POINTS)
		return error_set(DXP_EINVAL, "the grid has %llu points; at most %d",
				 (unsigned long long)points, MODEL_SWEEP_POINTS);
	g->count++;
	return DXP_OK;
}

unsigned model_grid_points(const struct model_grid *g)
{
	unsigned points = 1;

	for (unsigned i = 0; i < g->count; i++)
		points *= g->lists[i].count;
	return points;
}

int64_t model_grid_value(const struct model_grid *g, unsigned index, unsigned list)
{
	for (unsigned i = g->count - 1; i > list; i--)
		index /= g->lists[i].count;
	return g->lists[list].values[index % g->lists[list].count];
}

int model_grid_apply(const struct model_grid *g, unsigned index, struct model_parameters *p)
{
	for (unsigned i = 0; i < g->count; i++) {
		int status = model_parameter_put(p, g->lists[i].row, model_grid_value(g, index, i));
		if (status)
			return status;
	}
	return DXP_OK;
}
