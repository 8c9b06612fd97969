/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows about the source's bridge (bridge_source.h) besides its main results: pipeline against naive
 * (S-05), READs in flight (S-06), each component alone (S-07), local DMA (S-08). */
#ifndef SIM_BRIDGE_ALONE_H
#define SIM_BRIDGE_ALONE_H

#include "model/parameter.h"
#include "model/row.h"

/* DXP_ENOMEM, DXP_EINVAL, DXP_ETIMEDOUT; error_text() has the reason. */
int bridge_alone_rows(const struct model_parameters *p, const struct model_sink *sink);

#endif
