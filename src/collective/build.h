/* SPDX-License-Identifier: BSD-3-Clause */
/* Helper functions for the files that make plans (ring.c, tree.c, spread.c). */
#ifndef COLLECTIVE_BUILD_H
#define COLLECTIVE_BUILD_H

#include <stddef.h>

#include "collective/limits.h"
#include "collective/plan.h"

#define BUILD_NONE UINT32_MAX /* stands for no step in a list of waits */

/* Adds a step that waits for the steps in `waits`; returns the number of the new step. If memory is
 * short, now or at an earlier step, does nothing and returns 0. build_mark adds a step without
 * work. */
uint32_t build_step(struct plan *p, const struct plan_step *step, const uint32_t *waits,
		    uint32_t wait_count);
uint32_t build_mark(struct plan *p, uint32_t member, const uint32_t *waits, uint32_t wait_count);

/* Steps collected for one member, until a mark waits for all of them. */
struct build_lap {
	uint32_t count;
	uint32_t waits[3 * DXP_GROUP_MEMBERS_MAX];
};
void build_lap_add(struct build_lap *lap, uint32_t step);
/* Adds a mark that waits for the steps of the lap and for step `before`, and empties the lap. */
uint32_t build_lap_mark(struct plan *p, uint32_t member, struct build_lap *lap, uint32_t before);

/* A chunk: the range of elements that one member combines, 1/n of all elements for n members. */
struct build_chunk {
	uint64_t first, count; /* first element, and number of elements */
};

/* Division of the elements into segments. Segments use the two halves of the scratch memory
 * alternately. A segment has up to `slice` elements of each chunk; there are `slices` segments. */
struct build_segments {
	uint64_t slice, slices;
	uint64_t pitch;  /* bytes that one input occupies in scratch memory */
	uint32_t inputs; /* number of inputs in one half of the scratch memory */
};
/* Divides chunks of up to `most` elements into segments with `inputs` inputs each. DXP_ENOMEM:
 * scratch memory is too short. */
int build_segments(const struct plan_request *r, uint64_t most, uint32_t inputs,
		   struct build_segments *out);

static inline struct plan_place build_place(enum plan_space space, uint64_t offset)
{
	return (struct plan_place){space, offset};
}

/* Returns the location of an input in that half of the scratch memory which `segment` uses. */
static inline struct plan_place build_input(const struct build_segments *s, uint64_t segment,
					    uint32_t input)
{
	return build_place(PLAN_SCRATCH, (segment % 2 * s->inputs + input) * s->pitch);
}

/* The functions that make plans. The begin marks exist when they are called. Each of them sets
 * `ends`. */
int ring_make(const struct plan_request *r, struct plan *p);
int tree_make(const struct plan_request *r, struct plan *p);
int spread_make(const struct plan_request *r, struct plan *p);
int through_make(const struct plan_request *r, struct plan *p);

#endif
