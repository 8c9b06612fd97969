/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by inc_sim.c (nodes and simulation) and inc_job.c (jobs). */
#ifndef SIM_INC_SIM_INTERNAL_H
#define SIM_INC_SIM_INTERNAL_H

#include "base/rng.h"
#include "sim/inc_sim.h"

struct host {
	struct inc_sim *sim;
	uint32_t node;
	struct inc_seat *seats;
};

struct hop {
	struct inc_sim *sim;
	struct sw *core;
};

struct inc_sim {
	struct inc_sim_options options;
	struct inc_net *net;
	struct host *hosts;
	struct hop *hops;
	struct inc_job *jobs;
	struct inc_sim_tap *taps;
	struct inc_sim_rejections rejections;
	struct rng rng;
};

/* ---- inc_job.c: the state machines of a seat, during a poll of its host ---- */
void inc_seat_step(struct inc_seat *seat, uint64_t now_ns);
size_t inc_seat_send(struct inc_seat *seat, struct inc_batch *out, uint64_t now_ns);
uint64_t inc_seat_deadline(const struct inc_seat *seat);
void inc_job_free(struct inc_job *job);

#endif
