/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives as schedules that are computed when needed, so that 262,144 ranks need no memory. */
#ifndef MODEL_COLLECTIVE_H
#define MODEL_COLLECTIVE_H

#include "model/schedule.h"

/* operations of all ranks together: they take 17 minutes at a million operations per second */
#define MODEL_COLLECTIVE_OPS_MAX (1ull << 30)

enum model_collective_kind {
	/* allreduce by recursive doubling, after extra ranks have sent their vectors to others */
	MODEL_DOUBLING,
	MODEL_RING, /* allreduce on a ring: reduce-scatter, then allgather */
	MODEL_TREE, /* allreduce on a binomial tree: reduce to rank 0, then broadcast */
	/* n - 1 steps. In step k, a rank sends to the k-th rank after it, and receives from the
	 * k-th rank before it. */
	MODEL_ALL_TO_ALL,
	MODEL_COLLECTIVES
};

struct model_collective {
	struct model_schedule schedule; /* must be the first member */
	enum model_collective_kind kind;
	/* bytes of a rank's vector; for all-to-all, bytes for each other rank */
	uint64_t bytes;
	uint32_t power;  /* largest power of two that is not above the number of ranks */
	uint32_t rounds; /* log2 of `power` */
};

const char *model_collective_name(enum model_collective_kind kind);
bool model_collective_parse(const char *text, enum model_collective_kind *out);

/* Prepares a collective. DXP_EINVAL: ranks or bytes out of range, or more than
 * MODEL_COLLECTIVE_OPS_MAX operations; error_text() has the reason. */
int model_collective_make(enum model_collective_kind kind, uint32_t ranks, uint64_t bytes,
			  struct model_collective *out);

/* A binomial tree of members 0 .. count - 1, whose root is 0; allreduce.c uses it within a host.
 * Returns the number of children of `member`. They are member + 2^i, i = 0, 1, ... */
uint32_t model_tree_children(uint32_t count, uint32_t member);
/* Returns the parent of a member other than 0. */
uint32_t model_tree_parent(uint32_t member);

#endif
