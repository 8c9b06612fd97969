/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives as computed schedules, so that 262,144 ranks need no memory. */
#ifndef MODEL_COLLECTIVE_H
#define MODEL_COLLECTIVE_H

#include "model/schedule.h"

/* operations of all ranks: 17 minutes at a million per second */
#define MODEL_COLLECTIVE_OPS_MAX (1ull << 30)

enum model_collective_kind {
	MODEL_DOUBLING, /* allreduce: recursive doubling after a fold to a power of two */
	MODEL_RING,     /* allreduce: reduce-scatter and allgather on a ring */
	MODEL_TREE,     /* allreduce: binomial reduce to rank 0, and broadcast */
	/* n - 1 steps: in step k, a rank sends to the k-th next rank and receives from the k-th
	 * previous one */
	MODEL_ALL_TO_ALL,
	MODEL_COLLECTIVES
};

struct model_collective {
	struct model_schedule schedule; /* first member */
	enum model_collective_kind kind;
	uint64_t bytes;  /* length of a rank's vector; all-to-all: bytes for each other rank */
	uint32_t power;  /* largest power of two <= ranks */
	uint32_t rounds; /* log2 of `power` */
};

const char *model_collective_name(enum model_collective_kind kind);
bool model_collective_parse(const char *text, enum model_collective_kind *out);

/* DXP_EINVAL with error_text(): ranks or bytes out of range, or more than MODEL_COLLECTIVE_OPS_MAX
 * operations. */
int model_collective_make(enum model_collective_kind kind, uint32_t ranks, uint64_t bytes,
			  struct model_collective *out);

/* A binomial tree of members 0 .. count - 1 with root 0; allreduce.c uses it within a host. Returns
 * how many members report to `member`: member + 2^i, i = 0, 1, ... */
uint32_t model_tree_children(uint32_t count, uint32_t member);
/* Returns the parent of a member other than 0. */
uint32_t model_tree_parent(uint32_t member);

#endif
