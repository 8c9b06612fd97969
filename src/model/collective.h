/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives as schedules computed when needed, so that 262,144 ranks need no memory. */
#ifndef MODEL_COLLECTIVE_H
#define MODEL_COLLECTIVE_H

#include "model/schedule.h"

/* of all ranks: 17 minutes at a million per second */
#define MODEL_COLLECTIVE_OPS_MAX (1ull << 30)

enum model_collective_kind {
	/* allreduce: extra ranks send their vectors, then recursive doubling */
	MODEL_DOUBLING,
	MODEL_RING, /* allreduce: reduce-scatter, then allgather */
	MODEL_TREE, /* allreduce: binomial tree, reduce to rank 0, then broadcast */
	/* n - 1 steps. In step k, a rank sends to the k-th rank after it, and receives from the
	 * k-th rank before it. */
	MODEL_ALL_TO_ALL,
	MODEL_COLLECTIVES
};

struct model_collective {
	struct model_schedule schedule; /* must be first */
	enum model_collective_kind kind;
	/* a rank's vector; all-to-all: for each other rank */
	uint64_t bytes;
	uint32_t power;  /* largest power of two up to the ranks */
	uint32_t rounds; /* log2 of `power` */
};

const char *model_collective_name(enum model_collective_kind kind);
bool model_collective_parse(const char *text, enum model_collective_kind *out);

/* Prepares a collective. DXP_EINVAL: ranks, bytes or more than MODEL_COLLECTIVE_OPS_MAX operations;
 * error_text() has the reason. */
int model_collective_make(enum model_collective_kind kind, uint32_t ranks, uint64_t bytes,
			  struct model_collective *out);

/* Returns the number of children in a binomial tree of 0 .. count - 1 with root 0: member + 2^i, i
 * = 0, 1, ... Also for allreduce.c. */
uint32_t model_tree_children(uint32_t count, uint32_t member);
uint32_t model_tree_parent(uint32_t member);

#endif
