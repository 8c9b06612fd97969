/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that share a send engine: doorbell FIFOs, the arbiter's policies, and the time until
 * the shares are level. */
#ifndef MODEL_SHARE_H
#define MODEL_SHARE_H

#include "model/parameter.h"
#include "model/row.h"

#define MODEL_FUNCTIONS 64

struct model_share {
	uint64_t cycles, total_bytes, quanta;
	uint64_t bytes[MODEL_FUNCTIONS];
	uint64_t settled;   /* last cycle at which a share was off by more than the tolerance */
	uint64_t swing_ppm; /* largest deviation after each function had one message */
	uint64_t jain_ppm;  /* Jain's index at the end */
	bool level;         /* the second half of the run was within the tolerance */
};

/* Called with the state after 4096 cycles, and then each time the cycles have doubled. May be
 * NULL. */
typedef void (*model_share_fn)(void *context, const struct model_share *s);

/* Simulates `quanta` decisions of the arbiter. DXP_ENOMEM. */
int model_share_run(const struct model_parameters *p, uint64_t seed, uint64_t quanta,
		    model_share_fn watch, void *context, struct model_share *out);

/* Returns the cycles until the shares are level, by the closed form. For service by messages, or
 * random functions: F m / B (z cv / e)^2, with F functions, m bytes per message and B bytes per
 * cycle. Otherwise the time of one quantum per function. With random functions the form holds if (z
 * cv / e)^2 is far above a FIFO's depth. */
uint64_t model_share_closed(const struct model_parameters *p);

/* Returns how many decisions a run needs until the shares are level. */
uint64_t model_share_quanta(const struct model_parameters *p);

/* Emits the time until the shares are level, simulated and closed, and the swing at the start. */
int model_share_rows(const struct model_parameters *p, uint64_t seed,
		     const struct model_sink *sink);

/* Emits the time until the shares are level, for sizes x tolerances x policies. */
int model_share_grid(const struct model_parameters *p, uint64_t seed,
		     const struct model_sink *sink);

/* Emits each function's share at doubling times. */
int model_share_curve(const struct model_parameters *p, uint64_t seed,
		      const struct model_sink *sink);

#endif
