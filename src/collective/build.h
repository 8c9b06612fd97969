/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers that the makers of plans share. */
#ifndef COLLECTIVE_BUILD_H
#define COLLECTIVE_BUILD_H

#include <stddef.h>

#include "collective/limits.h"
#include "collective/plan.h"

#define BUILD_NONE UINT32_MAX /* no step; skipped in lists of waits */

/* Adds a step after the given ones; returns its number. After a lack of memory, does nothing and
 * returns 0. */
uint32_t build_step(struct plan *p, const struct plan_step *step, const uint32_t *waits,
		    uint32_t wait_count);
uint32_t build_mark(struct plan *p, uint32_t member, const uint32_t *waits, uint32_t wait_count);

/* Waits collected for each member, until a mark combines them. */
struct build_lap {
	uint32_t count;
	uint32_t waits[3 * DXP_GROUP_MEMBERS_MAX];
};
void build_lap_add(struct build_lap *lap, uint32_t step);
/* Adds the mark of a lap after `before`, and empties the lap. */
uint32_t build_lap_mark(struct plan *p, uint32_t member, struct build_lap *lap, uint32_t before);

/* The range of a chunk: member c's share of the elements. */
struct build_chunk {
	uint64_t first, count; /* elements */
};

/* Elements are processed in segments, each of which uses one half of the scratch memory, in turn.
 * A segment has up to `slice` elements of each chunk. */
struct build_segments {
	uint64_t slice, slices;
	uint64_t pitch;  /* bytes of one input in scratch memory */
	uint32_t inputs; /* inputs of one half */
};
/* Divides chunks of up to `most` elements. DXP_ENOMEM: scratch memory is too short. */
int build_segments(const struct plan_request *r, uint64_t most, uint32_t inputs,
		   struct build_segments *out);

static inline struct plan_place build_place(enum plan_space space, uint64_t offset)
{
	return (struct plan_place){space, offset};
}

/* Returns the place of an input in the half of a segment. */
static inline struct plan_place build_input(const struct build_segments *s, uint64_t segment,
					    uint32_t input)
{
	return build_place(PLAN_SCRATCH, (segment % 2 * s->inputs + input) * s->pitch);
}

/* The makers. Begin marks exist; each sets `ends`. */
int ring_make(const struct plan_request *r, struct plan *p);
int tree_make(const struct plan_request *r, struct plan *p);
int spread_make(const struct plan_request *r, struct plan *p);

#endif
