/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a seeded mix of PUT, GET and NAP between two simulated hosts, with an oracle. The oracle
 * predicts each byte of memory and the order of NAPs, and checks that each operation completes
 * exactly once and in order. */
#ifndef TEST_SUPPORT_WORKLOAD_H
#define TEST_SUPPORT_WORKLOAD_H

#include "sim/sim.h"

struct workload_options {
	uint32_t operations; /* operations of each host */
	uint32_t bytes_max;  /* bytes of one PUT or GET */
};

struct workload;

/* Returns NULL if out of memory. */
struct workload *workload_create(struct sim *s, uint64_t seed,
				 const struct workload_options *options);
void workload_destroy(struct workload *w);

/* For sim_run: posts the allowed operations, dequeues and checks completions and events. Returns
 * true when all operations have completed or one was wrong. */
bool workload_step(void *w);

/* Returns NULL if the run matches the oracle, otherwise the first difference. */
const char *workload_verdict(struct workload *w);

#endif
