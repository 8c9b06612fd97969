/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts the source's bridge (S-04 .. S-09): the shipped bridge in virtual time, with stages at
 * the rates that the source measured for each alone. */
#ifndef SIM_BRIDGE_PREDICT_H
#define SIM_BRIDGE_PREDICT_H

#include "bridge/bridge.h"
#include "model/parameter.h"
#include "model/row.h"
#include "sim/bridge_stages.h"

/* Limits of the DMA: columns of the table. */
enum bridge_limit {
	BRIDGE_LIMIT_LINK,        /* PCIe alone */
	BRIDGE_LIMIT_CONTROLLERS, /* plus the controllers' measured rates */
	BRIDGE_LIMIT_CONTROL,     /* plus a control time per piece */
	BRIDGE_LIMITS
};

/* Returns bytes/s of p->transfer_bytes over a path, in entries of `buffer_bytes`; negative: a
 * status. */
double bridge_predict(const struct model_parameters *p, enum bridge_path path,
		      enum bridge_limit limit, uint32_t buffer_bytes);

/* Returns the same rate for stages of the caller. `direct`: the step of BRIDGE_DIRECT. */
double bridge_rate(const struct model_parameters *p, const struct stages_options *stages,
		   enum bridge_path path, enum stages_step direct, uint32_t buffer_bytes);

/* Emits all paths with each limit, entries of 64 KiB .. 16 MiB, the naive method, and the share of
 * payload in PCIe's packets. */
int bridge_predict_rows(const struct model_parameters *p, const struct model_sink *sink);

#endif
