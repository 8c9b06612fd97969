/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures fairness (C-37). Up to eight functions of host 0 PUT messages of random sizes through
 * the host's port. Each function has peers of its own, and sends to the peers' function with the
 * same number. Whole NICs run on the network of net.h. Bytes are counted when packets leave the
 * port. */
#ifndef SIM_FAIR_H
#define SIM_FAIR_H

#include "nic/limits.h"
#include "sim/sim.h"

struct fair_function {
	/* hosts to which the function sends, numbered from 1; queue pair i sends to peers[i] */
	uint32_t peers[NIC_QPS_PER_FUNCTION];
	uint32_t peer_count; /* 0: the function sends nothing */
	uint32_t bytes_max;  /* longest message; lengths are uniform in 1 .. bytes_max */
	/* messages of a queue pair that are outstanding at a time, 1 .. NIC_OUTSTANDING_MAX */
	uint32_t outstanding;
	uint32_t weight; /* weight of the function; 0 stands for 1 */
	uint64_t limit;  /* rate limit of the function in bytes/s; 0: none */
};

struct fair_options {
	/* number of hosts, rate, backlog, faults, tuning and seed */
	struct sim_options sim;
	struct fair_function functions[NIC_FUNCTIONS];
};

struct fair;

/* Creates the experiment. DXP_ENOMEM, DXP_EINVAL. */
int fair_open(const struct fair_options *options, struct fair **out);
void fair_close(struct fair *f);

/* Runs until all functions together have sent `bytes` more bytes, or until `limit_ns` have
 * passed. */
void fair_run(struct fair *f, uint64_t bytes, uint64_t limit_ns);

/* Bytes sent since the start: payload, headers and retransmissions. Samples between runs show how
 * the shares change over time. */
struct fair_sample {
	uint64_t time_ns; /* ns since the start */
	uint64_t bytes[NIC_FUNCTIONS];
	double jain; /* Jain's index of bytes / weight over functions that send; 1: all equal */
};
void fair_sample(const struct fair *f, struct fair_sample *out);

/* fair_stop stops posting. fair_ended returns true when all posted operations are complete. */
void fair_stop(struct fair *f);
bool fair_ended(const struct fair *f);

/* Returns the number of operations that failed. */
uint64_t fair_failed(const struct fair *f, uint32_t function);

/* Returns the simulator, so that tests can change limits, weights or peers. */
struct sim *fair_sim(struct fair *f);

#endif
