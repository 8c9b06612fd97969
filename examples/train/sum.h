/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces the gradients at each replica by their sum over all, layer by layer. Integers give the
 * same bits in every order. */
#ifndef LEARN_SUM_H
#define LEARN_SUM_H

#include "network.h"

/* A further way is a further row of sum_ways. */
struct sum_way {
	const char *name;
	const char *help;
	void (*open)(struct sum *s);
	/* Starts after computed[i] of each replica i, without waiting. */
	void (*begin)(struct sum *s, uint32_t layer, const cl_event *computed);
	/* Sets summed[i], after which replica i has the layer's sums. May wait. */
	void (*end)(struct sum *s, uint32_t layer, cl_event *summed);
	void (*close)(struct sum *s);
};

extern const struct sum_way sum_ways[];
extern const uint32_t sum_way_count;

/* NULL: no such way. */
const struct sum_way *sum_way_find(const char *name);

struct sum *sum_open(const struct sum_way *way, struct network *n);
void sum_close(struct sum *s);
void sum_begin(struct sum *s, uint32_t layer, const cl_event *computed);
/* One event per replica; the caller releases them. */
void sum_end(struct sum *s, uint32_t layer, cl_event *summed);

/* Returns the gradient bytes read or written by the program since the last call. */
uint64_t sum_host_bytes(struct sum *s);

#endif
