/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures fairness (C-37): up to eight functions of host 0 PUT random sizes through its port, each
 * to its own peers' function of the same number. Whole NICs run on net.h; bytes count as they leave
 * the port. */
#ifndef SIM_FAIR_H
#define SIM_FAIR_H

#include "nic/limits.h"
#include "sim/sim.h"

struct fair_function {
	/* hosts from 1 on; queue pair i sends to peers[i] */
	uint32_t peers[NIC_QPS_PER_FUNCTION];
	uint32_t peer_count; /* 0: it sends nothing */
	uint32_t bytes_max;  /* lengths are uniform in 1 .. bytes_max */
	/* messages per queue pair, 1 .. NIC_OUTSTANDING_MAX */
	uint32_t outstanding;
	uint32_t weight; /* 0 stands for 1 */
	uint64_t limit;  /* bytes/s; 0: none */
};

struct fair_options {
	struct sim_options sim;
	struct fair_function functions[NIC_FUNCTIONS];
};

struct fair;

/* DXP_ENOMEM, DXP_EINVAL. */
int fair_open(const struct fair_options *options, struct fair **out);
void fair_close(struct fair *f);

/* Runs until all functions together have sent `bytes` more, or `limit_ns` have passed. */
void fair_run(struct fair *f, uint64_t bytes, uint64_t limit_ns);

/* Payload, headers and retransmissions since the start. */
struct fair_sample {
	uint64_t time_ns; /* since the start */
	uint64_t bytes[NIC_FUNCTIONS];
	double jain; /* Jain's index of bytes / weight of sending functions; 1: all equal */
};
void fair_sample(const struct fair *f, struct fair_sample *out);

/* fair_stop stops posting; fair_ended returns true when all posted operations are complete. */
void fair_stop(struct fair *f);
bool fair_ended(const struct fair *f);

/* Operations with an error. */
uint64_t fair_failed(const struct fair *f, uint32_t function);

/* Returns the simulator, so that tests can change limits, weights or peers. */
struct sim *fair_sim(struct fair *f);

#endif
