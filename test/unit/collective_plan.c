/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs plans of collectives in memory, in random orders that their waits permit, several in one
 * group. A missing wait shows as a wrong result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/util.h"
#include "collective/limits.h"
#include "collective/plan.h"
#include "test/support/sanitizer.h"

#define OPERATIONS 6
#define ELEMENTS   600
#define SCRATCH    16384 /* bytes per member */
/* bytes; so small that an operation of few members has dozens of segments */
#define SCRATCH_FEW 1024

struct member {
	uint64_t from[OPERATIONS][ELEMENTS], to[OPERATIONS][ELEMENTS];
	uint64_t scratch[SCRATCH / 8];
};

struct run {
	struct rng rng;
	struct plan_request requests[OPERATIONS];
	struct plan plans[OPERATIONS];
	uint64_t inputs[DXP_GROUP_MEMBERS_MAX][OPERATIONS][ELEMENTS];
	bool *done[OPERATIONS];
	struct member *members;
};

/* A buffer of the program may be used only after its member's begin mark: the step with the
 * member's number. */
static uint64_t *place(struct run *r, uint32_t operation, uint32_t member,
		       const struct plan_place *at, uint64_t bytes)
{
	struct member *m = &r->members[member];
	const bool in_place = r->requests[operation].in_place >> member & 1;
	uint64_t *base = at->space == PLAN_SCRATCH             ? m->scratch
			 : at->space == PLAN_FROM && !in_place ? m->from[operation]
							       : m->to[operation];
	uint64_t space = at->space == PLAN_SCRATCH ? SCRATCH : ELEMENTS * 8;
	uint64_t shift = 0;

	assert_true(at->space == PLAN_SCRATCH || r->done[operation][member]);
	if (at->space != PLAN_SCRATCH && in_place) {
		const struct plan_request *q = &r->requests[operation];
		/* In place, the shorter buffer is a part of the longer buffer, which is in `to`. */
		if ((q->operation == PLAN_ALL_GATHER && at->space == PLAN_FROM) ||
		    (q->operation == PLAN_REDUCE_SCATTER && at->space == PLAN_TO))
			shift = member * q->count;
	}
	assert_true(at->offset % 8 == 0 && shift * 8 + at->offset + bytes <= space);
	return base + shift + at->offset / 8;
}

static void step_run(struct run *r, uint32_t operation, const struct plan_step *s)
{
	uint64_t *from, *to, *inputs;

	if (s->kind == PLAN_MARK)
		return;
	from = place(r, operation, s->member, &s->from, s->bytes);
	to = place(r, operation, s->kind == PLAN_SEND ? s->peer : s->member, &s->to, s->bytes);
	if (s->kind != PLAN_COMBINE) {
		memcpy(to, from, s->bytes);
		return;
	}
	inputs = place(r, operation, s->member, &s->inputs,
		       (s->input_count - 1) * s->input_pitch + s->bytes);
	for (uint64_t i = 0; i < s->bytes / 8; i++) {
		uint64_t sum = from[i];
		for (uint32_t k = 0; k < s->input_count; k++)
			sum += inputs[k * s->input_pitch / 8 + i];
		to[i] = s->divide ? sum / r->requests[operation].members : sum;
	}
}

static bool step_ready(const struct run *r, uint32_t operation, uint32_t index)
{
	const struct plan *p = &r->plans[operation];
	const struct plan_step *s = &p->steps[index];

	if (r->done[operation][index])
		return false;
	for (uint32_t i = 0; i < s->wait_count; i++)
		if (!r->done[operation][p->waits[s->first_wait + i]])
			return false;
	if (index >= p->members || operation == 0)
		return true;
	return r->done[operation - 1][r->plans[operation - 1].ends[index]];
}

/* A random operation is searched first, so newer ones may overtake; this finds missing waits
 * between operations. false: none is ready. */
static bool step_any(struct run *r)
{
	uint32_t shift = (uint32_t)rng_below(&r->rng, OPERATIONS);

	for (uint32_t i = 0; i < OPERATIONS; i++) {
		const uint32_t operation = (i + shift) % OPERATIONS;
		const struct plan *p = &r->plans[operation];
		const uint32_t first = (uint32_t)rng_below(&r->rng, p->step_count);
		for (uint32_t k = 0; k < p->step_count; k++) {
			const uint32_t index = (first + k) % p->step_count;
			if (!step_ready(r, operation, index))
				continue;
			step_run(r, operation, &p->steps[index]);
			r->done[operation][index] = true;
			return true;
		}
	}
	return false;
}

/* ---- the reference ---- */

static uint64_t sum_of(const struct run *r, uint32_t operation, uint64_t element)
{
	const struct plan_request *q = &r->requests[operation];
	uint64_t sum = 0;

	for (uint32_t m = 0; m < q->members; m++)
		sum += r->inputs[m][operation][element];
	return q->average ? sum / q->members : sum;
}

static uint64_t expected(const struct run *r, uint32_t operation, uint32_t m, uint64_t i)
{
	const struct plan_request *q = &r->requests[operation];

	switch (q->operation) {
	case PLAN_REDUCE_SCATTER: return sum_of(r, operation, m * q->count + i);
	case PLAN_ALL_GATHER: return r->inputs[i / q->count][operation][i % q->count];
	case PLAN_BROADCAST: return r->inputs[q->root][operation][i];
	case PLAN_ALL_TO_ALL:
		return r->inputs[i / q->count][operation][m * q->count + i % q->count];
	default: return sum_of(r, operation, i);
	}
}

static void result_check(struct run *r, uint32_t operation)
{
	const struct plan_request *q = &r->requests[operation];
	const bool all = q->operation == PLAN_ALL_GATHER || q->operation == PLAN_ALL_TO_ALL;
	const uint64_t count = q->count * (all ? q->members : 1);

	for (uint32_t m = 0; m < q->members; m++) {
		if (q->operation == PLAN_REDUCE && m != q->root)
			continue;
		const struct plan_place at = {PLAN_TO, 0};
		const uint64_t *to = place(r, operation, m, &at, count * 8);
		for (uint64_t i = 0; i < count; i++)
			if (to[i] != expected(r, operation, m, i))
				fail_msg(
					"operation %u of kind %d, way %d, %u members, %u elements: "
					"member %u, element %u",
					operation, q->operation, q->way, q->members,
					(unsigned)q->count, m, (unsigned)i);
	}
}

/* ---- random groups ---- */

static uint64_t random_count(struct run *r, uint32_t members, bool parts)
{
	static const uint64_t counts[] = {0, 1, 2, 3, 7, 13, 64, 97};
	uint64_t count = counts[rng_below(&r->rng, ARRAY_COUNT(counts))];

	if (rng_below(&r->rng, 4) == 0)
		count = rng_below(&r->rng, ELEMENTS);
	return parts ? min_u64(count, ELEMENTS / members) : count;
}

static void request_make(struct run *r, uint32_t operation, uint32_t members, bool guarded)
{
	struct plan_request *q = &r->requests[operation];

	*q = (struct plan_request){
		.operation = (enum plan_operation)rng_below(&r->rng, PLAN_BARRIER),
		.way = rng_below(&r->rng, 2) ? DXP_WAY_RING : DXP_WAY_TREE,
		.members = members,
		.root = (uint32_t)rng_below(&r->rng, members),
		.element_bytes = 8,
		.scratch_bytes = members > 9 ? SCRATCH : SCRATCH_FEW,
		.average = rng_below(&r->rng, 3) == 0,
		.guarded = guarded,
	};
	q->count = random_count(r, members,
				q->operation == PLAN_REDUCE_SCATTER ||
					q->operation == PLAN_ALL_GATHER ||
					q->operation == PLAN_ALL_TO_ALL);
	if (q->operation != PLAN_ALL_TO_ALL)
		q->in_place = rng_next(&r->rng);
	/* only the root has both buffers */
	if (q->operation == PLAN_REDUCE || q->operation == PLAN_BROADCAST)
		q->in_place &= 1ull << q->root;
}

static void inputs_make(struct run *r, uint32_t operation)
{
	const struct plan_request *q = &r->requests[operation];

	for (uint32_t m = 0; m < q->members; m++) {
		struct member *to = &r->members[m];
		const bool in_place = q->in_place >> m & 1;
		uint64_t *from = in_place ? to->to[operation] : to->from[operation];
		if (q->operation == PLAN_ALL_GATHER && in_place)
			from += m * q->count;
		for (uint32_t i = 0; i < ELEMENTS; i++)
			r->inputs[m][operation][i] = rng_next(&r->rng) >> 32;
		memcpy(from, r->inputs[m][operation],
		       (ELEMENTS - (uint64_t)(from - to->to[operation]) * in_place) * 8);
	}
}

static void run_once(uint64_t seed, uint32_t members)
{
	struct run *r = calloc(1, sizeof(*r));
	bool guarded = false;

	assert_non_null(r);
	r->rng = (struct rng){seed};
	r->members = calloc(members, sizeof(*r->members));
	assert_non_null(r->members);
	for (uint32_t o = 0; o < OPERATIONS; o++) {
		request_make(r, o, members, guarded);
		assert_int_equal(plan_make(&r->requests[o], &r->plans[o]), DXP_OK);
		assert_true(r->plans[o].scratch_bytes <= SCRATCH);
		r->done[o] = calloc(r->plans[o].step_count, sizeof(bool));
		assert_non_null(r->done[o]);
		guarded = !r->plans[o].synchronizing;
		inputs_make(r, o);
	}
	while (step_any(r))
		;
	for (uint32_t o = 0; o < OPERATIONS; o++) {
		for (uint32_t i = 0; i < r->plans[o].step_count; i++)
			assert_true(r->done[o][i]);
		result_check(r, o);
		plan_free(&r->plans[o]);
		free(r->done[o]);
	}
	free(r->members);
	free(r);
}

static void plan__random_orders(void **state)
{
	for (uint64_t seed = 1; seed <= (SANITIZED_ADDRESS ? 200 : 1500); seed++)
		run_once(seed, 1 + (uint32_t)(seed % 9));
}

static void plan__many_members(void **state)
{
	run_once(1, DXP_GROUP_MEMBERS_MAX);
	run_once(2, 19);
}

/* The last step of each member comes after all begin marks, steps 0 .. n - 1. */
static void plan__barrier(void **state)
{
	for (uint32_t n = 1; n <= DXP_GROUP_MEMBERS_MAX; n++) {
		struct plan_request q = {.operation = PLAN_BARRIER, .members = n};
		uint64_t reached[4 * DXP_GROUP_MEMBERS_MAX] = {0};
		struct plan p;
		assert_int_equal(plan_make(&q, &p), DXP_OK);
		for (uint32_t i = 0; i < p.step_count; i++) {
			if (i < n)
				reached[i] = 1ull << i;
			for (uint32_t k = 0; k < p.steps[i].wait_count; k++)
				reached[i] |= reached[p.waits[p.steps[i].first_wait + k]];
		}
		for (uint32_t m = 0; m < n; m++)
			assert_true(reached[p.ends[m]] == UINT64_MAX >> (64 - n));
		plan_free(&p);
	}
}

/* A reduction uses a tree up to a length that grows with the members, a broadcast up to one that
 * does not. A request that names a way gets it. */
static void plan__way(void **state)
{
	struct plan_request q = {.operation = PLAN_ALLREDUCE, .members = 4, .element_bytes = 4};

	q.count = 4 * COLLECTIVE_TREE_SHARE / 4;
	assert_int_equal(plan_way(&q), DXP_WAY_TREE);
	q.count++;
	assert_int_equal(plan_way(&q), DXP_WAY_RING);
	q.members = 5;
	assert_int_equal(plan_way(&q), DXP_WAY_TREE);
	q.operation = PLAN_BROADCAST;
	q.count = COLLECTIVE_SHORT / 4;
	assert_int_equal(plan_way(&q), DXP_WAY_TREE);
	q.count++;
	assert_int_equal(plan_way(&q), DXP_WAY_RING);
	q.way = DXP_WAY_TREE;
	assert_int_equal(plan_way(&q), DXP_WAY_TREE);
}

/* Few members use switches for short operations only. */
static void plan__switched_bytes(void **state)
{
	assert_true(plan_switched_bytes(2) == COLLECTIVE_SWITCHED);
	assert_true(plan_switched_bytes(COLLECTIVE_MANY - 1) == COLLECTIVE_SWITCHED);
	assert_true(plan_switched_bytes(COLLECTIVE_MANY) ==
		    COLLECTIVE_MANY * COLLECTIVE_TREE_SHARE);
}

static void plan__too_little_scratch(void **state)
{
	struct plan_request q = {.operation = PLAN_ALLREDUCE,
				 .way = DXP_WAY_RING,
				 .members = 64,
				 .count = 1000,
				 .element_bytes = 8,
				 .scratch_bytes = 4096};
	struct plan p;

	assert_int_equal(plan_make(&q, &p), DXP_ENOMEM);
	plan_free(&p);
}

/* Lengths up to the largest number end. */
static void plan__long_broadcast(void **state)
{
	struct plan_request q = {.operation = PLAN_BROADCAST, .members = 3, .element_bytes = 1};
	struct plan p;

	for (uint64_t i = 1; i < 10; i++) {
		q.count = UINT64_MAX - i * i;
		assert_int_equal(plan_make(&q, &p), DXP_OK);
		assert_true(p.step_count < 8 * COLLECTIVE_PIECES);
		plan_free(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan__random_orders),  cmocka_unit_test(plan__many_members),
		cmocka_unit_test(plan__barrier),        cmocka_unit_test(plan__way),
		cmocka_unit_test(plan__switched_bytes), cmocka_unit_test(plan__too_little_scratch),
		cmocka_unit_test(plan__long_broadcast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
