/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that share one send engine: their doorbell FIFOs, the arbiter's policies, and the time
 * until the shares are level. */
#ifndef MODEL_SHARE_H
#define MODEL_SHARE_H

#include "model/parameter.h"
#include "model/row.h"

#define MODEL_FUNCTIONS 64

struct model_share {
	uint64_t cycles, total_bytes, quanta;
	uint64_t bytes[MODEL_FUNCTIONS];
	uint64_t settled;   /* cycle at which a share was last off by more than the tolerance */
	uint64_t swing_ppm; /* largest deviation after each function had one message */
	uint64_t jain_ppm;  /* at the end */
	bool level;         /* the last half of the run was within the tolerance */
};

/* Called at doubling times with the state so far; may be NULL. */
typedef void (*model_share_fn)(void *context, const struct model_share *s);

/* Simulates `quanta` decisions of the arbiter. DXP_ENOMEM. */
int model_share_run(const struct model_parameters *p, uint64_t seed, uint64_t quanta,
		    model_share_fn watch, void *context, struct model_share *out);

/* Returns the cycles until the shares are level, by the closed form: message by message, or with
 * random functions, F m / B (z cv / e)^2; else one quantum a function. With random functions it
 * holds where (z cv / e)^2 is far above the depth of a FIFO. */
uint64_t model_share_closed(const struct model_parameters *p);

/* Returns the decisions that a run needs to see the shares level. */
uint64_t model_share_quanta(const struct model_parameters *p);

/* Emits the time until the shares are level, simulated and closed, and the swing at the start. */
int model_share_rows(const struct model_parameters *p, uint64_t seed,
		     const struct model_sink *sink);

/* Emits that time for sizes x tolerances x policies. */
int model_share_grid(const struct model_parameters *p, uint64_t seed,
		     const struct model_sink *sink);

/* Emits the share of each function at doubling times. */
int model_share_curve(const struct model_parameters *p, uint64_t seed,
		      const struct model_sink *sink);

#endif
