/* SPDX-License-Identifier: BSD-3-Clause */
/* Equation (1) of C-05 (docs/reference/seeds.md), the time of a message: T = Oc + Ods + (M - 1) G +
 * H r + Odr. */
#ifndef MODEL_LOGGP_H
#define MODEL_LOGGP_H

#include <stdint.h>

struct model_loggp {
	int64_t start_ps;      /* Oc: store to the doorbell */
	int64_t descriptor_ps; /* Ods: doorbell, and read of the descriptor */
	int64_t byte_ps;       /* G */
	int64_t hop_ps;        /* r: processing and wire of one hop */
	int64_t receive_ps;    /* Odr: processing at the receiver */
	int64_t bytes;         /* M: bytes of the message, at least 1 */
};

/* Returns T in ps by the equation, for a mean distance of `hops` (H). */
double model_loggp_closed(const struct model_loggp *g, double hops);

/* Returns T in ps by model_ranks; negative: DXP_ENOMEM. */
int64_t model_loggp_simulated(const struct model_loggp *g, uint32_t hops);

#endif
