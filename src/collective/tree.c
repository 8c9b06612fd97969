/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees. Each member sends to its parent. The parent combines its own contribution with the
 * contributions of all its children at once. The root then has the result; an allreduce sends the
 * result down the same tree. Positions count from the root: position v has the children B v + 1 ..
 * B v + B, where B is COLLECTIVE_BRANCHES. A barrier has the same shape, without data. */
#include <stdlib.h>

#include "base/util.h"
#include "collective/build.h"

struct tree {
	const struct plan_request *r;
	struct plan *p;
	struct build_segments segments;
	uint64_t segment;
	/* elements of this segment: the first one, and their number */
	uint64_t first, count;
	/* for each position, the step that sends to its parent */
	uint32_t sent[DXP_GROUP_MEMBERS_MAX];
	/* for each position, the step after which it has the result */
	uint32_t arrived[DXP_GROUP_MEMBERS_MAX];
	uint32_t laps[2][DXP_GROUP_MEMBERS_MAX]; /* marks of the last two segments, by member */
	struct build_lap collected[DXP_GROUP_MEMBERS_MAX];
};

static uint32_t member_of(const struct plan_request *r, uint32_t position)
{
	uint32_t root = r->operation == PLAN_REDUCE ? r->root : 0;

	return (position + root) % r->members;
}

static uint32_t first_child(uint32_t position)
{
	return position * COLLECTIVE_BRANCHES + 1;
}

static uint32_t child_count(const struct plan_request *r, uint32_t position)
{
	uint32_t first = first_child(position);

	return first < r->members ? (uint32_t)min_u64(COLLECTIVE_BRANCHES, r->members - first) : 0;
}

static uint32_t parent_of(uint32_t position)
{
	return (position - 1) / COLLECTIVE_BRANCHES;
}

static uint64_t bytes_of(const struct tree *t, uint64_t elements)
{
	return elements * t->r->element_bytes;
}

/* Combines the contributions of a position and its children. Returns the step that combines, or the
 * begin mark for a leaf. */
static uint32_t position_combine(struct tree *t, uint32_t v)
{
	const uint32_t m = member_of(t->r, v), children = child_count(t->r, v);
	const struct plan_place at = build_place(PLAN_TO, bytes_of(t, t->first));
	const struct plan_place input = build_input(&t->segments, t->segment, 0);
	const struct plan_step combine = {.kind = PLAN_COMBINE,
					  .member = m,
					  .from = build_place(PLAN_FROM, at.offset),
					  .to = v ? input : at,
					  .bytes = bytes_of(t, t->count),
					  .inputs = input,
					  .input_count = children,
					  .input_pitch = t->segments.pitch,
					  .divide = v == 0 && t->r->average};
	uint32_t waits[COLLECTIVE_BRANCHES + 1] = {m};

	if (children == 0)
		return m;
	for (uint32_t i = 0; i < children; i++)
		waits[1 + i] = t->sent[first_child(v) + i];
	return build_step(t->p, &combine, waits, children + 1);
}

/* Sends a position's result to its parent, when the parent's half of the scratch memory is free. */
static void position_send(struct tree *t, uint32_t v, uint32_t combined)
{
	const uint32_t m = member_of(t->r, v), parent = member_of(t->r, parent_of(v));
	const bool known = t->segment < 2 ? !t->r->guarded : t->p->synchronizing;
	const uint32_t input = (v - 1) % COLLECTIVE_BRANCHES;
	const struct plan_step send = {
		.kind = PLAN_SEND,
		.member = m,
		.peer = parent,
		.from = child_count(t->r, v) ? build_input(&t->segments, t->segment, 0)
					     : build_place(PLAN_FROM, bytes_of(t, t->first)),
		.to = build_input(&t->segments, t->segment, input),
		.bytes = bytes_of(t, t->count)};

	t->sent[v] =
		build_step(t->p, &send,
			   (uint32_t[]){combined, t->laps[t->segment % 2][known ? m : parent]}, 2);
	if (!t->p->synchronizing)
		build_lap_add(&t->collected[m], t->sent[v]);
}

/* Sends the result to a position's children. */
static void position_spread(struct tree *t, uint32_t v)
{
	const struct plan_place at = build_place(PLAN_TO, bytes_of(t, t->first));
	const uint32_t m = member_of(t->r, v), children = child_count(t->r, v);

	for (uint32_t i = 0; i < children; i++) {
		const uint32_t child = first_child(v) + i;
		const struct plan_step send = {.kind = PLAN_SEND,
					       .member = m,
					       .peer = member_of(t->r, child),
					       .from = at,
					       .to = at,
					       .bytes = bytes_of(t, t->count)};
		t->arrived[child] = build_step(t->p, &send, &t->arrived[v], 1);
		build_lap_add(&t->collected[m], t->arrived[child]);
	}
	if (children == 0)
		build_lap_add(&t->collected[m], t->arrived[v]);
}

static void segment_make(struct tree *t)
{
	const uint32_t n = t->r->members;

	t->first = t->segment * t->segments.slice;
	t->count = min_u64(t->segments.slice, t->r->count - t->first);
	for (uint32_t v = n; v-- > 0;) {
		uint32_t combined = position_combine(t, v);
		if (v)
			position_send(t, v, combined);
		else
			t->arrived[0] = combined;
	}
	if (!t->p->synchronizing)
		build_lap_add(&t->collected[member_of(t->r, 0)], t->arrived[0]);
	for (uint32_t v = 0; v < n && t->p->synchronizing; v++)
		position_spread(t, v);
	for (uint32_t m = 0; m < n; m++) {
		t->p->ends[m] = build_lap_mark(t->p, m, &t->collected[m], t->p->ends[m]);
		t->laps[t->segment % 2][m] = t->p->ends[m];
	}
}

/* Makes a barrier: each position waits for its children. The end of each position waits for the end
 * of its parent. */
static void barrier_make(const struct plan_request *r, struct plan *p)
{
	uint32_t waits[COLLECTIVE_BRANCHES + 1];

	for (uint32_t v = r->members; v-- > 0;) {
		const uint32_t children = child_count(r, v);
		waits[0] = p->ends[v];
		for (uint32_t i = 0; i < children; i++)
			waits[1 + i] = p->ends[first_child(v) + i];
		if (children)
			p->ends[v] = build_mark(p, v, waits, children + 1);
	}
	for (uint32_t v = 1; v < r->members; v++)
		p->ends[v] = build_mark(p, v, &p->ends[parent_of(v)], 1);
}

int tree_make(const struct plan_request *r, struct plan *p)
{
	p->synchronizing = r->operation != PLAN_REDUCE;
	if (r->operation == PLAN_BARRIER) {
		barrier_make(r, p);
		return DXP_OK;
	}
	struct tree *t = calloc(1, sizeof(*t));
	if (!t)
		return DXP_ENOMEM;
	t->r = r;
	t->p = p;
	int status = build_segments(r, r->count, child_count(r, 0), &t->segments);
	for (uint32_t m = 0; m < r->members; m++)
		t->laps[0][m] = t->laps[1][m] = m;
	for (; status == DXP_OK && !p->failed && t->segment < t->segments.slices; t->segment++)
		segment_make(t);
	p->scratch_bytes =
		(t->segments.slices > 1 ? 2 : 1) * t->segments.inputs * t->segments.pitch;
	free(t);
	return status;
}
