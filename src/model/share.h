/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that share a send engine: doorbell FIFOs, the arbiter's policies, and the time until
 * the functions' shares are level (equal to the fair shares, within a tolerance). */
#ifndef MODEL_SHARE_H
#define MODEL_SHARE_H

#include "model/parameter.h"
#include "model/row.h"

#define MODEL_FUNCTIONS 64

struct model_share {
	uint64_t cycles, total_bytes, quanta;
	uint64_t bytes[MODEL_FUNCTIONS];
	uint64_t settled; /* last cycle at which a share deviated by more than the tolerance */
	/* largest deviation at the moment when every function had sent a message */
	uint64_t swing_ppm;
	uint64_t jain_ppm; /* Jain's index at the end of the run */
	/* true: during the second half of the run, all shares were within the tolerance */
	bool level;
};

/* Called with the state after 4096 cycles, and then each time the number of cycles has doubled. May
 * be NULL. */
typedef void (*model_share_fn)(void *context, const struct model_share *s);

/* Simulates `quanta` decisions of the arbiter. DXP_ENOMEM. */
int model_share_run(const struct model_parameters *p, uint64_t seed, uint64_t quanta,
		    model_share_fn watch, void *context, struct model_share *out);

/* Returns the number of cycles until the shares are level, by the closed form. If whole messages
 * are served, or functions are random, it is F m / B (z cv / e)^2. F: number of functions; m: mean
 * bytes of a message; B: bytes per cycle. z: 2; cv: standard deviation of the sizes, divided by m;
 * e: the tolerance. Otherwise it is the time of 1 / e quanta for each function. With random
 * functions, the form is valid if (z cv / e)^2 is far above the depth of a FIFO. */
uint64_t model_share_closed(const struct model_parameters *p);

/* Returns the number of the arbiter's decisions in a run: 8 times as many as the closed form
 * predicts until the shares are level, but not fewer than QUANTA_LEAST and not more than
 * QUANTA_MOST. */
uint64_t model_share_quanta(const struct model_parameters *p);

/* Emits the time until the shares are level, simulated and by the closed form, and the largest
 * deviation at the start. */
int model_share_rows(const struct model_parameters *p, uint64_t seed,
		     const struct model_sink *sink);

/* Emits the time until the shares are level, for each combination of size, tolerance and policy. */
int model_share_grid(const struct model_parameters *p, uint64_t seed,
		     const struct model_sink *sink);

/* Emits the share of each function over time; the times double from point to point. */
int model_share_curve(const struct model_parameters *p, uint64_t seed,
		      const struct model_sink *sink);

#endif
