/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the rows of `dxp bench bridge-sim`. */
#ifndef BENCH_BRIDGE_SIM_ROWS_H
#define BENCH_BRIDGE_SIM_ROWS_H

#include "bench/bridge_sim.h"
#include "bridge/bridge.h"
#include "sim/bridge_lab.h"

struct bridge_sim_path {
	const char *name;
	enum bridge_path path;
	enum stages_step direct;
};

struct bridge_sim_case {
	const struct bridge_sim_settings *settings;
	struct stages_options stages;
	const struct bridge_sim_path *path;
	enum bridge_mode mode;
	uint64_t bytes;
	uint32_t buffer_bytes;
	uint32_t fills, dmas; /* 0: as in `settings` */
};

struct bridge_sim_result {
	double bytes_per_s;
	double bottleneck; /* bytes/s of the slowest stage; 0: unlimited */
	double us;
	struct bridge_lab_peaks peaks;
};

void bridge_sim_row_size(const struct bridge_sim_case *c, const struct bridge_sim_result *r);
/* `contender` names the stages. `reported`: the source's bytes/s; 0: none for these stages. */
void bridge_sim_row_source(const struct bridge_sim_case *c, const struct bridge_sim_result *r,
			   const char *contender, double reported);
void bridge_sim_row_naive(const char *name, const struct bridge_sim_case *c,
			  const struct bridge_sim_result *r, double naive);
void bridge_sim_row_mode(const struct bridge_sim_case *c, const struct bridge_sim_result *r);
void bridge_sim_row_reads(const struct bridge_sim_case *c, const struct bridge_sim_result *r);

#endif
