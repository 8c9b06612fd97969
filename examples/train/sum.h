/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds the gradients of all replicas, layer by layer. The sums replace the gradients at each
 * replica. Gradients are integers, so every way and every order gives the same bits. */
#ifndef LEARN_SUM_H
#define LEARN_SUM_H

#include "network.h"

/* One way to add. A further way is a further row of sum_ways. */
struct sum_way {
	const char *name;
	const char *help;
	void (*open)(struct sum *s);
	/* Starts after the event computed[i] of each replica i. Does not wait. */
	void (*begin)(struct sum *s, uint32_t layer, const cl_event *computed);
	/* Sets summed[i], after which replica i has the sums of this layer. May wait. */
	void (*end)(struct sum *s, uint32_t layer, cl_event *summed);
	void (*close)(struct sum *s);
};

extern const struct sum_way sum_ways[];
extern const uint32_t sum_way_count;

/* Returns the way, or NULL if there is none of this name. */
const struct sum_way *sum_way_find(const char *name);

struct sum *sum_open(const struct sum_way *way, struct network *n);
void sum_close(struct sum *s);
void sum_begin(struct sum *s, uint32_t layer, const cl_event *computed);
/* Gives one event for each replica; the caller releases them. */
void sum_end(struct sum *s, uint32_t layer, cl_event *summed);

/* Returns the bytes of gradients that the program read or wrote since the last call. */
uint64_t sum_host_bytes(struct sum *s);

#endif
