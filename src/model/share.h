/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that share a send engine: doorbell FIFOs, arbiter's policies, and the time until shares
 * are level (fair within a tolerance). */
#ifndef MODEL_SHARE_H
#define MODEL_SHARE_H

#include "model/parameter.h"
#include "model/row.h"

#define MODEL_FUNCTIONS 64

struct model_share {
	uint64_t cycles, total_bytes, quanta;
	uint64_t bytes[MODEL_FUNCTIONS];
	uint64_t settled; /* last cycle with a deviation above the tolerance */
	/* largest deviation when every function had sent a message */
	uint64_t swing_ppm;
	uint64_t jain_ppm; /* Jain's index at the end */
	/* within the tolerance during the second half of the run */
	bool level;
};

/* After 4096 cycles and at each doubling; may be NULL. */
typedef void (*model_share_fn)(void *context, const struct model_share *s);

/* Simulates `quanta` decisions of the arbiter. DXP_ENOMEM. */
int model_share_run(const struct model_parameters *p, uint64_t seed, uint64_t quanta,
		    model_share_fn watch, void *context, struct model_share *out);

/* Cycles until level. Whole messages, or random functions: F m / B (z cv / e)^2; F functions, m
 * mean bytes, B bytes per cycle, z 2, cv standard deviation of sizes by m, e tolerance. Else the
 * time of 1 / e quanta of each function. For random functions, (z cv / e)^2 must be far above a
 * FIFO's depth. */
uint64_t model_share_closed(const struct model_parameters *p);

/* Decisions in a run: 8 times what the closed form predicts, within QUANTA_LEAST .. QUANTA_MOST. */
uint64_t model_share_quanta(const struct model_parameters *p);

/* Emits the time until level, simulated and closed, and the largest deviation at the start. */
int model_share_rows(const struct model_parameters *p, uint64_t seed,
		     const struct model_sink *sink);

/* Emits the time until level by size, tolerance and policy. */
int model_share_grid(const struct model_parameters *p, uint64_t seed,
		     const struct model_sink *sink);

/* Emits each function's share over time, in doubling times. */
int model_share_curve(const struct model_parameters *p, uint64_t seed,
		      const struct model_sink *sink);

#endif
