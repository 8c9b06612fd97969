/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/plan.h"

#include <stdlib.h>
#include <string.h>

#include "collective/build.h"

/* Returns the size in bytes of the longest buffer of the operation. */
static uint64_t total_bytes(const struct plan_request *r)
{
	bool parts = r->operation == PLAN_REDUCE_SCATTER || r->operation == PLAN_ALL_GATHER ||
		     r->operation == PLAN_ALL_TO_ALL;

	return r->count * r->element_bytes * (parts ? r->members : 1);
}

enum dxp_way plan_way(const struct plan_request *r)
{
	if (r->way != DXP_WAY_AUTO)
		return r->way;
	bool reduces = r->operation == PLAN_ALLREDUCE || r->operation == PLAN_REDUCE;
	uint64_t limit = reduces ? r->members * COLLECTIVE_TREE_SHARE : COLLECTIVE_SHORT;

	return total_bytes(r) <= limit ? DXP_WAY_TREE : DXP_WAY_RING;
}

uint64_t plan_switched_bytes(uint32_t members)
{
	return members < COLLECTIVE_MANY ? COLLECTIVE_SWITCHED : members * COLLECTIVE_TREE_SHARE;
}

/* Makes the plan of a group with one member: its output is its input. */
static void alone_make(const struct plan_request *r, struct plan *p)
{
	const struct plan_step copy = {.kind = PLAN_COPY,
				       .from = {PLAN_FROM, 0},
				       .to = {PLAN_TO, 0},
				       .bytes = r->count * r->element_bytes};

	if (!(r->in_place & 1))
		p->ends[0] = build_step(p, &copy, (uint32_t[]){0}, 1);
}

static int make(const struct plan_request *r, struct plan *p)
{
	for (uint32_t m = 0; m < r->members; m++)
		p->ends[m] = build_mark(p, m, NULL, 0);
	if (r->operation == PLAN_BARRIER)
		return tree_make(r, p);
	if (r->count == 0)
		return DXP_OK;
	if (r->members == 1) {
		alone_make(r, p);
		return DXP_OK;
	}
	if (r->way == DXP_WAY_SWITCH)
		return through_make(r, p);
	switch (r->operation) {
	case PLAN_ALLREDUCE:
	case PLAN_REDUCE: return plan_way(r) == DXP_WAY_TREE ? tree_make(r, p) : ring_make(r, p);
	case PLAN_REDUCE_SCATTER: return ring_make(r, p);
	default: return spread_make(r, p);
	}
}

int plan_make(const struct plan_request *r, struct plan *out)
{
	memset(out, 0, sizeof(*out));
	out->members = r->members;
	out->way = r->operation == PLAN_BARRIER          ? DXP_WAY_TREE
		   : r->operation == PLAN_REDUCE_SCATTER ? DXP_WAY_RING
							 : plan_way(r);
	int status = make(r, out);
	return out->failed ? DXP_ENOMEM : status;
}

void plan_free(struct plan *p)
{
	free(p->steps);
	free(p->waits);
	p->steps = NULL;
	p->waits = NULL;
}
