/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a random mix of PUT, GET and NAP between two simulated hosts, drawn from a seed. It predicts
 * each byte of memory and the order of NAPs, and checks that each operation completes exactly once
 * and in order. */
#ifndef TEST_SUPPORT_WORKLOAD_H
#define TEST_SUPPORT_WORKLOAD_H

#include "sim/sim.h"

struct workload_options {
	uint32_t operations; /* number of operations that each host posts */
	uint32_t bytes_max;  /* largest length of one PUT or GET in bytes */
};

struct workload;

/* Returns NULL if out of memory. */
struct workload *workload_create(struct sim *s, uint64_t seed,
				 const struct workload_options *options);
void workload_destroy(struct workload *w);

/* Condition for sim_run: posts the operations that are allowed now, and dequeues and checks
 * completions and events. Returns true when all operations have completed or one was wrong. */
bool workload_step(void *w);

/* Returns NULL if everything was as predicted, otherwise the first difference. */
const char *workload_verdict(struct workload *w);

#endif
