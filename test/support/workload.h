/* SPDX-License-Identifier: BSD-3-Clause */
/* A seeded mix of PUT, GET and NAP between two simulated hosts, with an oracle: what each byte of
 * each host's memory must be, which NAPs must arrive and in which order, and that each operation
 * completes exactly once and in order. */
#ifndef TEST_SUPPORT_WORKLOAD_H
#define TEST_SUPPORT_WORKLOAD_H

#include "sim/sim.h"

struct workload_options {
	uint32_t operations; /* per host */
	uint32_t bytes_max;  /* of one PUT or GET */
};

struct workload;

/* NULL when out of memory. */
struct workload *workload_create(struct sim *s, uint64_t seed,
				 const struct workload_options *options);
void workload_destroy(struct workload *w);

/* For sim_run: posts what is allowed, takes completions and events and checks each. True when all
 * operations have ended, or one was wrong. */
bool workload_step(void *w);

/* NULL when everything is as the oracle says, else what is wrong. */
const char *workload_verdict(struct workload *w);

#endif
