/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the best possible speed of a pipeline from the speeds of its single stages. Pure
 * functions. */
#ifndef BENCH_BRIDGE_LIMIT_H
#define BENCH_BRIDGE_LIMIT_H

#include <stddef.h>
#include <stdint.h>

/* STAGE_NONE means the whole pipeline, which is not a limit of itself. */
enum bridge_stage { STAGE_NONE, STAGE_NETWORK, STAGE_DMA, STAGE_DMA_SECOND, STAGES };

/* One way to run a stage alone. */
struct bridge_alone {
	uint8_t stage; /* enum bridge_stage */
	const char *name;
	double gb_per_s;      /* GB/s; 0: the measurement failed */
	double cpu_ns_per_kb; /* CPU time of all processes per KB */
};

struct bridge_limit {
	/* name of the slowest stage, with the fastest way to run it; NULL: no stage was measured */
	const char *name;
	double gb_per_s;
	/* GB/s if `processors` share the CPU work of all stages evenly. 0: unknown, because network
	 * or DMA was not measured. */
	double processors_gb_per_s;
};

/* Selects the fastest way of each stage, then the slowest of these stages. */
struct bridge_limit bridge_limit_of(const struct bridge_alone *ways, size_t count,
				    unsigned processors);

#endif
