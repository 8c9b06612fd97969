/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes a pipeline's best possible speed from its single stages. Pure functions. */
#ifndef BENCH_BRIDGE_LIMIT_H
#define BENCH_BRIDGE_LIMIT_H

#include <stddef.h>
#include <stdint.h>

/* STAGE_NONE: the whole pipeline, not a limit of itself. */
enum bridge_stage { STAGE_NONE, STAGE_NETWORK, STAGE_DMA, STAGE_DMA_SECOND, STAGES };

struct bridge_alone {
	uint8_t stage; /* enum bridge_stage */
	const char *name;
	double gb_per_s;      /* GB/s; 0: the measurement failed */
	double cpu_ns_per_kb; /* all processes */
};

struct bridge_limit {
	/* slowest stage, run the fastest way; NULL: none measured */
	const char *name;
	double gb_per_s;
	/* GB/s if `processors` share the work of all stages evenly. 0: network or DMA was not
	 * measured. */
	double processors_gb_per_s;
};

struct bridge_limit bridge_limit_of(const struct bridge_alone *ways, size_t count,
				    unsigned processors);

#endif
