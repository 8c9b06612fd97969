/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates allreduce for up to 4,096 hosts. Compares switches that compute with recursive doubling
 * over the same wires. The costs of a packet in hosts and switches were measured on real ones
 * (docs/reference/performance.md "In-network allreduce: `dxp bench inc`"). */
#ifndef BENCH_INC_SIM_H
#define BENCH_INC_SIM_H

#include "bench/options.h"
#include "sim/inc_net.h"

struct inc_sim_costs {
	struct inc_cost host; /* host that uses the switches: UDP and the member's state machine */
	struct inc_cost tcp;  /* host that runs MPI over TCP */
	struct inc_cost kernel; /* switch in XDP */
	struct inc_cost user;   /* switch in user space */
	uint64_t wire_ns;       /* delay of a wire */
	uint64_t forward_ns;    /* ns; delay of a switch that only forwards a packet */
	uint64_t rate_bps;
	/* number of hosts below a leaf switch, and of switches below each higher switch */
	uint64_t leaf_hosts;
	uint64_t hosts_max;
};
extern const struct inc_sim_costs inc_sim_costs_default;

/* Prints the table, after report_begin. Returns an exit status. */
int inc_sim_table(const struct inc_sim_costs *costs, const struct bench_options *options);

/* Prints the table of inc_sim_table with the default costs, for `dxp bench inc`. */
int bench_inc_sim(const struct bench_options *options);

#endif
