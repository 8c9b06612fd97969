/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of one collective, as a graph: which member sends, combines or copies which bytes, and
 * which other steps must complete before. Pure: a plan names members by number and memory by
 * offset. src/host/group.c posts the steps in order.
 *
 * Invariants: steps 0 .. members - 1 are the begin marks of the members. A step waits only for
 * earlier steps. Each step that uses a member's input or output follows the begin mark of that
 * member, directly or through other steps. The member's step in plan.ends follows all these
 * steps. */
#ifndef COLLECTIVE_PLAN_H
#define COLLECTIVE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <dxp/collective.h>

enum plan_operation {
	PLAN_ALLREDUCE,
	PLAN_REDUCE,
	PLAN_REDUCE_SCATTER,
	PLAN_ALL_GATHER,
	PLAN_BROADCAST,
	PLAN_ALL_TO_ALL,
	PLAN_BARRIER,
	PLAN_OPERATIONS
};

struct plan_request {
	enum plan_operation operation;
	/* AUTO: plan_way() chooses RING or TREE. SWITCH: only for an allreduce of two or more
	 * members and one or more elements. */
	enum dxp_way way;
	uint32_t members, root;
	uint64_t count; /* number of elements, as in struct dxp_collective */
	uint32_t element_bytes;
	uint64_t scratch_bytes; /* bytes of scratch memory that each member may use */
	/* bit i: the input of member i lies where its output has the same elements */
	uint64_t in_place;
	bool average;
	/* True: the previous operation may still use scratch memory of a member when a neighbour of
	 * this member has ended. */
	bool guarded;
};

enum plan_space { PLAN_FROM, PLAN_TO, PLAN_SCRATCH };

/* An offset in bytes in one of the memories of a member. */
struct plan_place {
	enum plan_space space;
	uint64_t offset;
};

enum plan_kind {
	PLAN_MARK, /* no work; only waits */
	PLAN_SEND, /* sends `bytes` from `from` of `member` to `to` of `peer` */
	PLAN_COPY, /* copies `bytes` from `from` to `to` of `member` */
	/* combines `from` with the inputs and stores the result at `to`, all of `member` */
	PLAN_COMBINE,
	/* combines `from` of all members by switches, and stores the result at `to` */
	PLAN_THROUGH,
};

struct plan_step {
	enum plan_kind kind;
	uint32_t member, peer;
	struct plan_place from, to;
	uint64_t bytes;
	struct plan_place inputs;
	uint32_t input_count;
	uint64_t input_pitch; /* bytes from one input to the next */
	bool divide;          /* true: the result is divided by the number of members */
	uint32_t first_wait, wait_count;
};

struct plan {
	enum dxp_way way; /* RING, TREE or SWITCH */
	uint32_t members;
	struct plan_step *steps;
	uint32_t step_count, step_space;
	/* numbers of steps; each step waits for a range of this array */
	uint32_t *waits;
	uint32_t wait_count, wait_space;
	/* for each member, the step after which the member has ended */
	uint32_t ends[DXP_GROUP_MEMBERS_MAX];
	uint64_t scratch_bytes; /* bytes of scratch memory that each member needs */
	/* True: when one member has ended, no step uses scratch memory of any member any more. */
	bool synchronizing;
	bool failed; /* true: out of memory while the plan was made */
};

/* Chooses a way for DXP_WAY_AUTO. It depends only on the arguments, so that results are
 * reproducible. */
enum dxp_way plan_way(const struct plan_request *r);
/* Returns the length in bytes of the longest allreduce for which DXP_WAY_AUTO uses switches. */
uint64_t plan_switched_bytes(uint32_t members);
/* Makes the graph. Release it with plan_free(), also after a failure. DXP_ENOMEM: out of memory, or
 * r->scratch_bytes does not suffice. */
int plan_make(const struct plan_request *r, struct plan *out);
void plan_free(struct plan *p);

#endif
