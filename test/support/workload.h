/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a random mix of PUT, GET and NAP between two simulated hosts. It predicts each byte of
 * memory and the order of NAPs, and checks that each operation completes exactly once and in
 * order. */
#ifndef TEST_SUPPORT_WORKLOAD_H
#define TEST_SUPPORT_WORKLOAD_H

#include "sim/sim.h"

struct workload_options {
	uint32_t operations; /* of each host */
	uint32_t bytes_max;  /* of one PUT or GET */
};

struct workload;

/* NULL: out of memory. */
struct workload *workload_create(struct sim *s, uint64_t seed,
				 const struct workload_options *options);
void workload_destroy(struct workload *w);

/* Condition for sim_run: posts what is allowed now, and checks completions and events. True: all
 * operations have completed, or one was wrong. */
bool workload_step(void *w);

/* NULL, or the first difference from the prediction. */
const char *workload_verdict(struct workload *w);

#endif
