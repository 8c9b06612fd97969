/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures fairness (C-37). Up to eight functions of host 0 PUT messages of random sizes through
 * its port, each to the same function of its own peers. Whole NICs on the network of net.h; bytes
 * are counted as packets leave the port. */
#ifndef SIM_FAIR_H
#define SIM_FAIR_H

#include "nic/limits.h"
#include "sim/sim.h"

struct fair_function {
	uint32_t peers[NIC_QPS_PER_FUNCTION]; /* hosts 1 ..; each has its own queue pair */
	uint32_t peer_count;                  /* 0: the function sends nothing */
	uint32_t bytes_max;                   /* of a message: 1 .. bytes_max, uniform */
	uint32_t outstanding; /* messages in flight of each queue pair, 1 .. NIC_OUTSTANDING_MAX */
	uint32_t weight;      /* 0: 1 */
	uint64_t limit;       /* bytes per second; 0: none */
};

struct fair_options {
	struct sim_options sim; /* hosts, rate, backlog, faults, tuning, seed */
	struct fair_function functions[NIC_FUNCTIONS];
};

struct fair;

/* Creates the experiment; fair_close frees it. DXP_ENOMEM, DXP_EINVAL. */
int fair_open(const struct fair_options *options, struct fair **out);
void fair_close(struct fair *f);

/* Runs until all functions together have sent `bytes` more, or `limit_ns` have passed. */
void fair_run(struct fair *f, uint64_t bytes, uint64_t limit_ns);

/* Bytes sent so far: payload and headers, retransmissions included. Samples between runs show the
 * shares over time. */
struct fair_sample {
	uint64_t time_ns; /* since the start */
	uint64_t bytes[NIC_FUNCTIONS];
	double jain; /* index of bytes / weight over active functions; 1: equal shares */
};
void fair_sample(const struct fair *f, struct fair_sample *out);

/* fair_stop stops posting; fair_ended returns whether all posted operations have completed. */
void fair_stop(struct fair *f);
bool fair_ended(const struct fair *f);

/* Returns how many operations completed with an error. */
uint64_t fair_failed(const struct fair *f, uint32_t function);

/* Returns the simulator, for tests that change limits, weights or peers. */
struct sim *fair_sim(struct fair *f);

#endif
