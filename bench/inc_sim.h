/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates allreduce for up to 4,096 hosts: computing switches against recursive doubling over the
 * same wires. Costs per packet were measured (docs/reference/performance.md "In-network allreduce:
 * `dxp bench inc`"). */
#ifndef BENCH_INC_SIM_H
#define BENCH_INC_SIM_H

#include "bench/options.h"
#include "sim/inc_net.h"

struct inc_sim_costs {
	struct inc_cost host;   /* uses the switches: UDP and the member's state machine */
	struct inc_cost tcp;    /* MPI over TCP */
	struct inc_cost kernel; /* switch in XDP */
	struct inc_cost user;   /* switch in user space */
	uint64_t wire_ns;       /* delay of a wire */
	uint64_t forward_ns;    /* delay of a switch that only forwards */
	uint64_t rate_bps;
	/* hosts per leaf switch, and switches per higher switch */
	uint64_t leaf_hosts;
	uint64_t hosts_max;
};
extern const struct inc_sim_costs inc_sim_costs_default;

/* Call after report_begin. Returns an exit status. */
int inc_sim_table(const struct inc_sim_costs *costs, const struct bench_options *options);

/* The same with default costs, for `dxp bench inc`. */
int bench_inc_sim(const struct bench_options *options);

#endif
