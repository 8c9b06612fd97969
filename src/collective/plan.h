/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of one collective, as a graph: which member sends, combines or copies what, after
 * which other steps. Pure: knows members by number and memory by offset; src/host/group.c posts the
 * steps in order.
 *
 * Invariants: steps 0 .. members - 1 are the begin marks of the members. A step waits only for
 * earlier steps. Each step that uses a member's input or output follows that member's begin mark,
 * directly or through other steps; its end follows all of them. */
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
	enum dxp_way way; /* RING or TREE: see plan_way() */
	uint32_t members, root;
	uint64_t count; /* elements, as in struct dxp_collective */
	uint32_t element_bytes;
	uint64_t scratch_bytes; /* limit of each member */
	uint64_t in_place;      /* bit i: member i's input is where its output has it */
	bool average;
	/* The operation before may still read scratch memory of a member whose neighbour has
	 * ended. */
	bool guarded;
};

enum plan_space { PLAN_FROM, PLAN_TO, PLAN_SCRATCH };

/* A place in the memory of a member: offset in bytes. */
struct plan_place {
	enum plan_space space;
	uint64_t offset;
};

enum plan_kind {
	PLAN_MARK,    /* no work */
	PLAN_SEND,    /* `bytes` from `from` of `member` to `to` of `peer` */
	PLAN_COPY,    /* `bytes` from `from` to `to` of `member` */
	PLAN_COMBINE, /* `to` = `from` combined with inputs, all of `member` */
};

struct plan_step {
	enum plan_kind kind;
	uint32_t member, peer;
	struct plan_place from, to;
	uint64_t bytes;
	struct plan_place inputs;
	uint32_t input_count;
	uint64_t input_pitch; /* bytes between two inputs */
	bool divide;          /* result is divided by the number of members */
	uint32_t first_wait, wait_count;
};

struct plan {
	uint32_t members;
	struct plan_step *steps;
	uint32_t step_count, step_space;
	uint32_t *waits; /* numbers of steps; each step has a range */
	uint32_t wait_count, wait_space;
	uint32_t ends[DXP_GROUP_MEMBERS_MAX]; /* step that ends each member */
	uint64_t scratch_bytes;               /* of each member */
	/* When one member has ended, no member's scratch memory is in use. */
	bool synchronizing;
	bool failed; /* out of memory */
};

/* Returns the way for AUTO: a fixed function of its arguments, so that results are reproducible. */
enum dxp_way plan_way(const struct plan_request *r);
/* Makes the graph; release it with plan_free(), also after a failure. DXP_ENOMEM: also if scratch
 * memory of its limit does not suffice. */
int plan_make(const struct plan_request *r, struct plan *out);
void plan_free(struct plan *p);

#endif
