/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts bandwidth against loss for three methods of recovery, and emits known latency and
 * bandwidth of the xPU; source: docs/reference/seeds.md. */
#ifndef SIM_LOSS_PREDICT_H
#define SIM_LOSS_PREDICT_H

#include "model/parameter.h"
#include "model/row.h"

int loss_predict_rows(const struct model_parameters *p, uint64_t seed,
		      const struct model_sink *sink);

#endif
