/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce by switches: one step of each member. */
#include "collective/build.h"

int through_make(const struct plan_request *r, struct plan *p)
{
	for (uint32_t m = 0; m < r->members; m++) {
		const struct plan_step step = {.kind = PLAN_THROUGH,
					       .member = m,
					       .from = build_place(PLAN_FROM, 0),
					       .to = build_place(PLAN_TO, 0),
					       .bytes = r->count * r->element_bytes};
		p->ends[m] = build_step(p, &step, &p->ends[m], 1);
	}
	/* A result contains the contribution of every member, so all have begun. */
	p->synchronizing = true;
	return DXP_OK;
}
