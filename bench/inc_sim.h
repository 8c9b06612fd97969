/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates allreduce for up to 4,096 hosts: switches that compute, beside recursive doubling over
 * the same wires. Costs of a packet in hosts and switches are measured on real ones
 * (docs/reference/performance.md "In-network allreduce: `dxp bench inc`"). */
#ifndef BENCH_INC_SIM_H
#define BENCH_INC_SIM_H

#include "bench/options.h"
#include "sim/inc_net.h"

struct inc_sim_costs {
	struct inc_cost host;   /* cost of a packet in a host: UDP and the member's state machine */
	struct inc_cost tcp;    /* cost in a host that runs MPI over TCP */
	struct inc_cost kernel; /* cost in a switch in XDP */
	struct inc_cost user;   /* cost in a switch in user space */
	uint64_t wire_ns;       /* delay of a wire */
	uint64_t forward_ns;    /* delay of a switch that only forwards a packet */
	uint64_t rate_bps;
	uint64_t leaf_hosts; /* hosts below a leaf, and switches below each higher switch */
	uint64_t hosts_max;
};
extern const struct inc_sim_costs inc_sim_costs_default;

/* Prints the table, after report_begin. Returns an exit status. */
int inc_sim_table(const struct inc_sim_costs *costs, const struct bench_options *options);

/* Prints the table of inc_sim_table with the default costs, for `dxp bench inc`. */
int bench_inc_sim(const struct bench_options *options);

#endif
