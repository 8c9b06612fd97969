/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures LogGP of this machine's software NIC. */
#ifndef CMD_DXP_MODEL_MEASURE_H
#define CMD_DXP_MODEL_MEASURE_H

#include "model/parameter.h"
#include "model/row.h"

/* Measures o, g, G and L between two processes over loopback, and emits them. Also emits the time
 * of NAPs as measured and by equation (1), with the source's values beside them. Returns DXP_OK or
 * a status with error_text(). */
int model_measure_rows(const struct model_parameters *p, const struct model_sink *sink);

#endif
