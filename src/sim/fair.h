/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures fairness (C-37). Up to eight functions of host 0 PUT messages of random sizes through
 * its port. Each function sends to the same function of its own peers. Whole NICs run on the
 * network of net.h. Bytes are counted as packets leave the port. */
#ifndef SIM_FAIR_H
#define SIM_FAIR_H

#include "nic/limits.h"
#include "sim/sim.h"

struct fair_function {
	/* hosts to send to, from 1; each has its own queue pair */
	uint32_t peers[NIC_QPS_PER_FUNCTION];
	uint32_t peer_count;  /* 0: the function sends nothing */
	uint32_t bytes_max;   /* message size: uniform, 1 .. bytes_max */
	uint32_t outstanding; /* outstanding messages per queue pair, 1 .. NIC_OUTSTANDING_MAX */
	uint32_t weight;      /* 0 means 1 */
	uint64_t limit;       /* bytes/s; 0: none */
};

struct fair_options {
	struct sim_options sim; /* hosts, rate, backlog, faults, tuning, seed */
	struct fair_function functions[NIC_FUNCTIONS];
};

struct fair;

/* Creates the experiment. DXP_ENOMEM, DXP_EINVAL. */
int fair_open(const struct fair_options *options, struct fair **out);
void fair_close(struct fair *f);

/* Runs until the functions together have sent `bytes` more, or `limit_ns` have passed. */
void fair_run(struct fair *f, uint64_t bytes, uint64_t limit_ns);

/* Bytes sent so far: payload, headers and retransmissions. Samples between runs show shares over
 * time. */
struct fair_sample {
	uint64_t time_ns; /* since the start */
	uint64_t bytes[NIC_FUNCTIONS];
	double jain; /* index of bytes / weight over active functions; 1: equal */
};
void fair_sample(const struct fair *f, struct fair_sample *out);

/* fair_stop stops posting; fair_ended returns whether all posted operations are complete. */
void fair_stop(struct fair *f);
bool fair_ended(const struct fair *f);

/* Returns the number of operations that failed. */
uint64_t fair_failed(const struct fair *f, uint32_t function);

/* Returns the simulator; for tests that change limits, weights or peers. */
struct sim *fair_sim(struct fair *f);

#endif
