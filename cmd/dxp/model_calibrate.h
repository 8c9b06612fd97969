/* SPDX-License-Identifier: BSD-3-Clause */
/* Calibrates allreduce from a file. */
#ifndef CMD_DXP_MODEL_CALIBRATE_H
#define CMD_DXP_MODEL_CALIBRATE_H

#include "model/judge.h"
#include "model/parameter.h"
#include "model/row.h"

/* Reads a file of --judge or --calibrate. Returns DXP_OK or a status with error_text(). */
int model_judge_load(const char *path, struct model_judge *out);

/* Changes the free parameters of *p so that they fit the rows that were read from `path`. Emits
 * which of them changed and how well each is determined. Returns DXP_OK or a status with
 * error_text(). */
int model_calibrate_rows(const char *path, const struct model_judge *rows,
			 struct model_parameters *p, const struct model_sink *sink);

/* Calibrates with the rows of a file, as model_calibrate_rows() does. */
int model_calibrate_file(const char *path, struct model_parameters *p,
			 const struct model_sink *sink);

#endif
