/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the parts of `dxp bench sim`. */
#ifndef BENCH_SIM_H
#define BENCH_SIM_H

#include "sim/crowd.h"

struct sim_bench_options {
	bool json, loss, rate, quick;
	bool one_topology, one_cc; /* false: all */
	enum crowd_pattern topology;
	enum cc_kind cc;
	uint32_t nodes; /* 0: the default table's numbers */
	uint64_t seed;
};

/* Each prints one table and returns an exit status. */
int sim_topologies(const struct sim_bench_options *o);
int sim_loss(const struct sim_bench_options *o);
int sim_rate(const struct sim_bench_options *o);

struct crowd_options sim_case(enum crowd_pattern topology, uint32_t nodes, enum cc_kind cc,
			      uint64_t seed);

#endif
