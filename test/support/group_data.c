/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of simulated groups: their buffers, inputs and expected results. Shares no code with
 * plans and kernels. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "test/support/group_sim.h"

#define UNTOUCHED 0xa5

static const enum dxp_type types[] = {DXP_INT32, DXP_INT64, DXP_FLOAT, DXP_DOUBLE};

uint64_t gsim_scratch(void)
{
	return (uint64_t)GSIM_SLOTS * 2 * GSIM_AREA;
}

uint64_t gsim_memory_bytes(const struct gsim *g)
{
	return gsim_scratch() + g->options.scratch_bytes;
}

static bool in_place(const struct gsim_operation *o, uint32_t member)
{
	return o->request.in_place >> member & 1;
}

/* In place, the shorter buffer is the member's part of the longer one. */
uint64_t gsim_to(const struct gsim_operation *o, uint32_t member)
{
	const uint64_t base = (uint64_t)o->slot * 2 * GSIM_AREA + GSIM_AREA;
	const bool part = in_place(o, member) && o->request.operation == PLAN_REDUCE_SCATTER;

	return base + (part ? member * o->request.count * o->request.element_bytes : 0);
}

uint64_t gsim_from(const struct gsim_operation *o, uint32_t member)
{
	const uint64_t base = (uint64_t)o->slot * 2 * GSIM_AREA;
	const bool part = o->request.operation == PLAN_ALL_GATHER;

	if (!in_place(o, member))
		return base;
	return base + GSIM_AREA + (part ? member * o->request.count * o->request.element_bytes : 0);
}

/* Lengths in bytes of a member's input and output; 0: it has none. */
static uint64_t from_bytes(const struct gsim_operation *o, uint32_t member)
{
	const struct plan_request *r = &o->request;
	const uint64_t one = r->count * r->element_bytes;

	switch (r->operation) {
	case PLAN_BARRIER: return 0;
	case PLAN_BROADCAST: return member == r->root ? one : 0;
	case PLAN_REDUCE_SCATTER:
	case PLAN_ALL_TO_ALL: return one * r->members;
	default: return one;
	}
}

static uint64_t to_bytes(const struct gsim_operation *o, uint32_t member)
{
	const struct plan_request *r = &o->request;
	const uint64_t one = r->count * r->element_bytes;

	switch (r->operation) {
	case PLAN_BARRIER: return 0;
	case PLAN_REDUCE: return member == r->root ? one : 0;
	case PLAN_ALL_GATHER:
	case PLAN_ALL_TO_ALL: return one * r->members;
	default: return one;
	}
}

static bool combines(enum plan_operation operation)
{
	return operation <= PLAN_REDUCE_SCATTER;
}

void gsim_operation_draw(struct gsim_host *h, struct gsim_operation *o)
{
	const uint32_t n = h->sim->options.members;
	struct rng *r = &h->rng;
	struct plan_request *q = &o->request;

	o->number = h->started;
	o->slot = h->started % GSIM_SLOTS;
	o->data_seed = rng_next(r);
	o->type = types[rng_below(r, ARRAY_COUNT(types))];
	o->reduction = (enum dxp_reduction)rng_below(r, DXP_REDUCTIONS);
	*q = (struct plan_request){.members = n,
				   .element_bytes = (uint32_t)dxp_type_bytes(o->type)};
	/* Half of the operations are allreduces. */
	q->operation = rng_below(r, 2) ? PLAN_ALLREDUCE
				       : (enum plan_operation)rng_below(r, PLAN_OPERATIONS);
	const bool all = q->operation == PLAN_REDUCE_SCATTER || q->operation >= PLAN_ALL_GATHER;
	const uint64_t most = GSIM_BYTES / q->element_bytes / (all ? n : 1);
	q->count = 1 + rng_below(r, rng_below(r, 3) ? most : min_u64(most, 8));
	q->root = (uint32_t)rng_below(r, n);
	q->average = o->reduction == DXP_AVERAGE && combines(q->operation);
	q->scratch_bytes = h->sim->options.scratch_bytes;
	if (q->operation != PLAN_ALL_TO_ALL && rng_below(r, 2))
		q->in_place = rng_next(r);
	if (q->operation == PLAN_BARRIER)
		q->count = 0;
	if (q->operation == PLAN_BROADCAST)
		q->in_place &= 1ull << q->root;
	if (q->operation == PLAN_REDUCE)
		q->in_place &= 1ull << q->root;
}

/* ---- inputs ---- */

/* Returns element `i` of a member's input: small integers, so that products do not vanish. */
static int64_t integer_of(const struct gsim_operation *o, uint32_t member, uint64_t i)
{
	struct rng r = {o->data_seed ^ (member + 1) * 0x9e3779b97f4a7c15ull ^ i << 20};

	return (int64_t)(rng_next(&r) >> 40) - (1 << 23);
}

static double number_of(const struct gsim_operation *o, uint32_t member, uint64_t i)
{
	const double x = (double)integer_of(o, member, i) / (1 << 23);

	/* magnitudes that differ, so that another order gives another sum */
	return o->reduction == DXP_PRODUCT ? 1 + x / 256 : ldexp(x, (int)((i + member) % 12));
}

static void element_put(const struct gsim_operation *o, uint32_t member, uint64_t i, uint8_t *at)
{
	const int64_t whole = integer_of(o, member, i);
	const double number = number_of(o, member, i);

	switch (o->type) {
	case DXP_INT32: memcpy(at, &(int32_t){(int32_t)whole}, 4); break;
	case DXP_FLOAT: memcpy(at, &(float){(float)number}, 4); break;
	case DXP_DOUBLE: memcpy(at, &number, 8); break;
	default: memcpy(at, &whole, 8); break;
	}
}

static void input_put(const struct gsim_operation *o, uint32_t member, uint8_t *at)
{
	const uint64_t bytes = from_bytes(o, member);

	for (uint64_t i = 0; i < bytes / o->request.element_bytes; i++)
		element_put(o, member, i, at + i * o->request.element_bytes);
}

void gsim_fill(struct gsim *g, const struct gsim_operation *o, uint32_t member, bool input)
{
	uint8_t *memory = g->nodes[member].memory;

	memset(memory + (uint64_t)o->slot * 2 * GSIM_AREA, UNTOUCHED, (size_t)2 * GSIM_AREA);
	if (input)
		input_put(o, member, memory + gsim_from(o, member));
}

static bool all_untouched(const uint8_t *at, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		if (at[i] != UNTOUCHED)
			return false;
	return true;
}

void gsim_untouched(struct gsim *g, const struct gsim_operation *o, uint32_t member)
{
	const uint8_t *at = g->nodes[member].memory + (uint64_t)o->slot * 2 * GSIM_AREA;

	if (!all_untouched(at, (uint64_t)2 * GSIM_AREA))
		gsim_wrong(g, "operation %u: the memory of member %u is used before its wait list",
			   o->number, member);
}

/* ---- results ---- */

/* Returns which element of which member's input is element `i` of a copied result. */
static int64_t source_of(const struct gsim_operation *o, uint32_t member, uint64_t i,
			 uint32_t *source)
{
	const struct plan_request *q = &o->request;

	switch (q->operation) {
	case PLAN_BROADCAST: *source = q->root; return (int64_t)i;
	case PLAN_ALL_GATHER: *source = (uint32_t)(i / q->count); return (int64_t)(i % q->count);
	default:
		*source = (uint32_t)(i / q->count);
		return (int64_t)(member * q->count + i % q->count);
	}
}

static int64_t integer_fold(const struct gsim_operation *o, uint64_t i)
{
	const uint32_t n = o->request.members;
	int64_t value = integer_of(o, 0, i);

	for (uint32_t m = 1; m < n; m++) {
		const int64_t x = integer_of(o, m, i);
		switch (o->reduction) {
		case DXP_PRODUCT: value = (int64_t)((uint64_t)value * (uint64_t)x); break;
		case DXP_MIN: value = x < value ? x : value; break;
		case DXP_MAX: value = x > value ? x : value; break;
		default: value += x;
		}
	}
	return o->reduction == DXP_AVERAGE ? value / (int64_t)n : value;
}

/* Returns the exact result, up to the rounding of double; *scale is the size of rounding errors. */
static double number_fold(const struct gsim_operation *o, uint64_t i, double *scale)
{
	const uint32_t n = o->request.members;
	long double value = (long double)number_of(o, 0, i), size = fabsl(value);

	for (uint32_t m = 1; m < n; m++) {
		const long double x = (long double)number_of(o, m, i);
		size += fabsl(x);
		switch (o->reduction) {
		case DXP_PRODUCT: value *= x; break;
		case DXP_MIN: value = x < value ? x : value; break;
		case DXP_MAX: value = x > value ? x : value; break;
		default: value += x;
		}
	}
	*scale = (double)size;
	return (double)(o->reduction == DXP_AVERAGE ? value / n : value);
}

static bool number_right(const struct gsim_operation *o, uint64_t i, double got)
{
	double scale;
	const double expected = number_fold(o, i, &scale);
	const double unit = o->type == DXP_FLOAT ? 0x1p-24 : 0x1p-53;

	return fabs(got - expected) <= unit * scale * o->request.members;
}

/* Checks element `i` of a combined result. */
static bool combined_right(const struct gsim_operation *o, uint64_t i, const uint8_t *at)
{
	int32_t whole;
	float number;
	double large;

	switch (o->type) {
	case DXP_INT32:
		memcpy(&whole, at, 4);
		/* Products wrap; the lower half of a wrapped product is the product's. Sums of
		 * 2^23 do not overflow. */
		return whole == (int32_t)(uint32_t)(uint64_t)integer_fold(o, i);
	case DXP_FLOAT: memcpy(&number, at, 4); return number_right(o, i, (double)number);
	case DXP_DOUBLE: memcpy(&large, at, 8); return number_right(o, i, large);
	default: return memcmp(at, &(int64_t){integer_fold(o, i)}, 8) == 0;
	}
}

static bool element_right(const struct gsim_operation *o, uint32_t member, uint64_t i,
			  const uint8_t *at)
{
	const struct plan_request *q = &o->request;
	uint8_t copied[8];
	uint32_t source;

	if (q->operation == PLAN_REDUCE_SCATTER)
		return combined_right(o, member * q->count + i, at);
	if (combines(q->operation))
		return combined_right(o, i, at);
	const int64_t index = source_of(o, member, i, &source);
	element_put(o, source, (uint64_t)index, copied);
	return memcmp(at, copied, q->element_bytes) == 0;
}

static void output_judge(struct gsim *g, const struct gsim_operation *o, uint32_t member)
{
	const uint8_t *at = g->nodes[member].memory + gsim_to(o, member);
	const uint32_t size = o->request.element_bytes;

	for (uint64_t i = 0; i < to_bytes(o, member) / size; i++)
		if (!element_right(o, member, i, at + i * size)) {
			gsim_wrong(g,
				   "operation %u (kind %d, type %d, reduction %d, %" PRIu64
				   " elements): member %u has a wrong result at element %" PRIu64,
				   o->number, (int)o->request.operation, (int)o->type,
				   (int)o->reduction, o->request.count, member, i);
			return;
		}
}

/* Checks that the operation has changed nothing but the output. */
static void rest_judge(struct gsim *g, const struct gsim_operation *o, uint32_t member)
{
	static uint8_t was[2 * GSIM_AREA];
	const uint64_t base = (uint64_t)o->slot * 2 * GSIM_AREA;
	const uint8_t *at = g->nodes[member].memory + base;
	const uint64_t output = gsim_to(o, member) - base;

	memset(was, UNTOUCHED, sizeof(was));
	input_put(o, member, was + (gsim_from(o, member) - base));
	memcpy(was + output, at + output, to_bytes(o, member));
	if (memcmp(was, at, sizeof(was)) != 0)
		gsim_wrong(
			g,
			"operation %u (kind %d): memory of member %u beyond its output is changed",
			o->number, (int)o->request.operation, member);
}

static bool results_equal(enum plan_operation operation)
{
	return operation == PLAN_ALLREDUCE || operation == PLAN_BROADCAST ||
	       operation == PLAN_ALL_GATHER;
}

void gsim_judge(struct gsim *g, const struct gsim_operation *o, uint64_t *digest)
{
	const uint8_t *first = NULL;

	for (uint32_t m = 0; m < g->options.members; m++) {
		const struct gsim_node *x = &g->nodes[m];
		const uint8_t *to = x->memory + gsim_to(o, m);
		if (x->dead)
			continue;
		output_judge(g, o, m);
		rest_judge(g, o, m);
		if (first && results_equal(o->request.operation) &&
		    memcmp(first, to, to_bytes(o, m)) != 0)
			gsim_wrong(g, "operation %u: member %u has other bits", o->number, m);
		first = first ? first : to;
		for (uint64_t i = 0; i < to_bytes(o, m); i++)
			*digest = (*digest ^ to[i]) * 0x100000001b3ull;
	}
}
