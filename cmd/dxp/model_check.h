/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares the parts of the table of `dxp model check`. */
#ifndef CMD_DXP_MODEL_CHECK_H
#define CMD_DXP_MODEL_CHECK_H

#include "model/check.h"

extern const struct model_check_part model_check_parts[];
extern const unsigned model_check_part_count;

/* model_xpu.c: rows of X-14 */
int model_xpu_rows(const struct model_parameters *p, uint64_t seed, const struct model_sink *sink);

#endif
