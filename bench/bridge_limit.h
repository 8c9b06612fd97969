/* SPDX-License-Identifier: BSD-3-Clause */
/* What a pipeline could reach at best, from what its stages do alone. Pure. */
#ifndef BENCH_BRIDGE_LIMIT_H
#define BENCH_BRIDGE_LIMIT_H

#include <stddef.h>
#include <stdint.h>

/* STAGE_NONE: the whole pipeline, which is no limit of itself. */
enum bridge_stage { STAGE_NONE, STAGE_NETWORK, STAGE_DMA, STAGE_DMA_SECOND, STAGES };

/* One way of doing a stage alone. */
struct bridge_alone {
	uint8_t stage; /* enum bridge_stage */
	const char *name;
	double gb_per_s;      /* 0: it failed */
	double cpu_ns_per_kb; /* of all processes */
};

struct bridge_limit {
	const char *name; /* of the slowest stage's fastest way; NULL: no stage was measured */
	double gb_per_s;
	/* What `processors` could do of all stages' work, evenly shared; 0: unknown, as not both
	 * network and DMA were measured. */
	double processors_gb_per_s;
};

/* A stage is as fast as its fastest way, a pipeline as its slowest stage. */
struct bridge_limit bridge_limit_of(const struct bridge_alone *ways, size_t count,
				    unsigned processors);

#endif
