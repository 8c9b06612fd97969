/* SPDX-License-Identifier: BSD-3-Clause */
/* Calibrates allreduce from a file. */
#ifndef CMD_DXP_MODEL_CALIBRATE_H
#define CMD_DXP_MODEL_CALIBRATE_H

#include "model/parameter.h"
#include "model/row.h"

/* Changes the free parameters of *p. Emits which of them changed and how well each is determined.
 * Returns DXP_OK or a status with error_text(). */
int model_calibrate_file(const char *path, struct model_parameters *p,
			 const struct model_sink *sink);

#endif
