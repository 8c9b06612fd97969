/* SPDX-License-Identifier: BSD-3-Clause */
/* Up to eight functions of host 0 that all PUT messages of random sizes through its port, each to
 * the same functions of peers of its own: what each gets of it, looked at as often as one likes
 * (C-37). Whole NICs on the network of net.h; counted by what leaves the port, packet by packet. */
#ifndef SIM_FAIR_H
#define SIM_FAIR_H

#include "sim/sim.h"

struct fair_function {
	uint32_t peers[NIC_QPS_PER_FUNCTION]; /* hosts 1 .. ; each has its own queue pair */
	uint32_t peer_count;                  /* 0: the function sends nothing */
	uint32_t bytes_max;                   /* of a message: 1 .. bytes_max, uniformly */
	uint32_t outstanding; /* messages of each queue pair under way, 1 .. NIC_OUTSTANDING_MAX */
	uint32_t weight;      /* 0: 1 */
	uint64_t limit;       /* bytes per second; 0: none */
};

struct fair_options {
	struct sim_options sim; /* hosts, rate, backlog, faults, tuning, seed */
	struct fair_function functions[NIC_FUNCTIONS];
};

struct fair;

/* DXP_ENOMEM, DXP_EINVAL. */
int fair_open(const struct fair_options *options, struct fair **out);
void fair_close(struct fair *f);

/* Goes on until so many bytes more have left, of all functions together, or this much time has
 * passed. */
void fair_run(struct fair *f, uint64_t bytes, uint64_t limit_ns);

/* What has left so far: payload and headers, repeats too. Samples taken between runs are share over
 * time, a row each. */
struct fair_sample {
	uint64_t time_ns; /* since the start */
	uint64_t bytes[NIC_FUNCTIONS];
	double jain; /* of the bytes over the weights, of those that send; 1: all alike */
};
void fair_sample(const struct fair *f, struct fair_sample *out);

/* Nothing more is posted; has all that was ended? */
void fair_stop(struct fair *f);
bool fair_ended(const struct fair *f);

/* Operations that ended with an error. */
uint64_t fair_failed(const struct fair *f, uint32_t function);

/* For what a test does to it meanwhile: limits, weights, peers that vanish. */
struct sim *fair_sim(struct fair *f);

#endif
