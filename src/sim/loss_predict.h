/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts bandwidth against loss for three methods of loss recovery. Also emits known facts
 * about the xPU's latency and bandwidth. The source is the publication whose
 * statements are X-15, ... (docs/reference/seeds.md). */
#ifndef SIM_LOSS_PREDICT_H
#define SIM_LOSS_PREDICT_H

#include "model/parameter.h"
#include "model/row.h"

int loss_predict_rows(const struct model_parameters *p, uint64_t seed,
		      const struct model_sink *sink);

#endif
