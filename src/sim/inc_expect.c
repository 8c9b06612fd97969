/* SPDX-License-Identifier: BSD-3-Clause */
/* Folds (combines) the contributions of each leaf switch, then of the next level, along the
 * members' NOTIFYs. */
#include "sim/inc_expect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"

struct value_index {
	double value;
	int32_t index, zero;
};

#define FOLD(name, type, expression)                                 \
	static void name(void *into, const void *from, size_t count) \
	{                                                            \
		type *x = into;                                      \
		const type *y = from;                                \
		for (size_t i = 0; i < count; i++) {                 \
			type a = x[i], b = y[i];                     \
			x[i] = (type)(expression);                   \
		}                                                    \
	}
FOLD(sum_double, double, a + b)
FOLD(prod_double, double, a *b)
FOLD(max_double, double, a < b ? b : a)
FOLD(sum_float, float, a + b)
FOLD(min_float, float, b < a ? b : a)
FOLD(sum_int32, uint32_t, a + b)
FOLD(min_int32, int32_t, b < a ? b : a)
FOLD(land_int32, int32_t, a &&b)
FOLD(sum_int64, uint64_t, a + b)
FOLD(max_int64, int64_t, a < b ? b : a)
FOLD(bxor_uint64, uint64_t, a ^ b)
FOLD(bor_uint8, uint8_t, a | b)
#undef FOLD

static void maxloc_double(void *into, const void *from, size_t count)
{
	struct value_index *x = into;
	const struct value_index *y = from;

	for (size_t i = 0; i < count; i++)
		if (x[i].value < y[i].value ||
		    (x[i].value <= y[i].value && y[i].index < x[i].index))
			x[i] = y[i];
}

static const struct kind {
	enum dxp_inc_op op;
	enum dxp_inc_type type;
	void (*fold)(void *into, const void *from, size_t count);
} kinds[] = {
	{DXP_INC_SUM, DXP_INC_DOUBLE, sum_double},
	{DXP_INC_PROD, DXP_INC_DOUBLE, prod_double},
	{DXP_INC_MAX, DXP_INC_DOUBLE, max_double},
	{DXP_INC_SUM, DXP_INC_FLOAT, sum_float},
	{DXP_INC_MIN, DXP_INC_FLOAT, min_float},
	{DXP_INC_SUM, DXP_INC_INT32, sum_int32},
	{DXP_INC_MIN, DXP_INC_INT32, min_int32},
	{DXP_INC_LAND, DXP_INC_INT32, land_int32},
	{DXP_INC_SUM, DXP_INC_INT64, sum_int64},
	{DXP_INC_MAX, DXP_INC_INT64, max_int64},
	{DXP_INC_BXOR, DXP_INC_UINT64, bxor_uint64},
	{DXP_INC_BOR, DXP_INC_UINT8, bor_uint8},
	{DXP_INC_MAXLOC, DXP_INC_DOUBLE_INT, maxloc_double},
};

bool inc_expect_kind(uint32_t index, enum dxp_inc_op *op, enum dxp_inc_type *type)
{
	if (index >= ARRAY_COUNT(kinds))
		return false;
	*op = kinds[index].op;
	*type = kinds[index].type;
	return true;
}

/* Returns a number of random magnitude, so that another order gives another sum. */
static double number(struct rng *r)
{
	double mantissa = (double)(int64_t)rng_next(r) / 9.2e18;

	return ldexp(mantissa, (int)rng_below(r, 12));
}

void inc_expect_fill(const struct inc_spec *spec, uint32_t member, void *out)
{
	struct rng r = {spec->seed ^ (member + 1) * 0x9e3779b97f4a7c15ull};
	size_t bytes = spec->elements * dxp_inc_type_bytes(spec->type);
	uint8_t *at = out;

	switch (spec->type) {
	case DXP_INC_DOUBLE:
		for (uint32_t i = 0; i < spec->elements; i++)
			((double *)out)[i] = spec->op == DXP_INC_PROD
						     ? 1 + (double)rng_below(&r, 999) / 65536
						     : number(&r);
		return;
	case DXP_INC_FLOAT:
		for (uint32_t i = 0; i < spec->elements; i++)
			((float *)out)[i] = (float)number(&r);
		return;
	case DXP_INC_DOUBLE_INT:
		for (uint32_t i = 0; i < spec->elements; i++)
			((struct value_index *)out)[i] = (struct value_index){
				.value = (double)rng_below(&r, 16), .index = (int32_t)member};
		return;
	default:
		for (size_t i = 0; i < bytes; i++)
			at[i] = (uint8_t)(rng_next(&r) >> 32);
	}
}

/* Partial fold; its first member's path gives its position in the tree. */
struct partial {
	const struct inc_control *way;
	uint32_t ip; /* of the switch that has folded it */
	uint8_t *data;
};

/* Combines partial folds into the first of each switch of this level. Returns the number left. */
static uint32_t level_fold(uint8_t level, struct partial *p, uint32_t count,
			   const struct kind *kind, uint32_t elements)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t ip = p[i].way->path[level].ip, k = 0;
		while (k < left && p[k].ip != ip)
			k++;
		if (k < left) {
			kind->fold(p[k].data, p[i].data, elements);
			continue;
		}
		p[left] = p[i];
		p[left++].ip = ip;
	}
	return left;
}

static const struct kind *kind_find(const struct inc_spec *spec)
{
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		if (kinds[i].op == spec->op && kinds[i].type == spec->type)
			return &kinds[i];
	return NULL;
}

int inc_expect_result(const struct inc_job *job, const struct inc_spec *spec, void *out)
{
	size_t bytes = spec->elements * dxp_inc_type_bytes(spec->type);
	uint32_t count = job->options.count;

	if (spec->collective == INC_BROADCAST)
		inc_expect_fill(spec, spec->root, out);
	if (spec->collective == INC_BROADCAST || bytes == 0)
		return DXP_OK;
	struct partial *p = calloc(count, sizeof(*p));
	uint8_t *data = malloc(count * bytes);
	const struct kind *kind = kind_find(spec);
	int status = p && data ? kind ? DXP_OK : DXP_EUNSUPPORTED : DXP_ENOMEM;
	for (uint32_t i = 0; status == DXP_OK && i < count; i++) {
		p[i] = (struct partial){.way = &job->seats[i].notice, .data = data + i * bytes};
		inc_expect_fill(spec, i, p[i].data);
	}
	for (uint8_t level = 0; status == DXP_OK && level < p[0].way->path_count; level++)
		count = level_fold(level, p, count, kind, spec->elements);
	if (status == DXP_OK)
		memcpy(out, p[0].data, bytes);
	free(data);
	free(p);
	return status;
}
