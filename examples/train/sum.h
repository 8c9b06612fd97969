/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces the gradients at each replica by their sum over all, bucket by bucket. Integers give the
 * same bits in every order. */
#ifndef LEARN_SUM_H
#define LEARN_SUM_H

#include <stdbool.h>

#include "network.h"

/* A further way is a further row of sum_ways. */
struct sum_way {
	const char *name;
	const char *help;
	void (*open)(struct sum *s);
	/* Starts after computed[i] of each replica i, without waiting. */
	void (*begin)(struct sum *s, uint32_t bucket, const cl_event *computed);
	/* Sets summed[i], after which replica i has the bucket's sums. NULL: it has them. May
	 * wait. */
	void (*end)(struct sum *s, uint32_t bucket, cl_event *summed);
	void (*close)(struct sum *s);
	cl_uint hint; /* CL_WAY_*_DXP of an allreduce; 0: the library chooses */
	bool apart;   /* nothing is added, so replicas differ */
};

extern const struct sum_way sum_ways[];
extern const uint32_t sum_way_count;

/* NULL: no such way. */
const struct sum_way *sum_way_find(const char *name);

struct sum *sum_open(const struct sum_way *way, struct network *n);
void sum_close(struct sum *s);
void sum_begin(struct sum *s, uint32_t bucket, const cl_event *computed);
/* One event per replica; the caller releases those that are not NULL. */
void sum_end(struct sum *s, uint32_t bucket, cl_event *summed);

/* What happened since the last call. */
struct sum_totals {
	uint64_t host_bytes;                  /* gradients read or written by the program */
	uint64_t by_switch, by_ring, by_tree; /* allreduces that started so */
};
struct sum_totals sum_totals(struct sum *s);

#endif
