/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts results of the source's bridge (S-04 .. S-09; bridge_source.h): the shipped bridge in
 * virtual time, each stage at the rate that the source measured for it alone. */
#ifndef SIM_BRIDGE_PREDICT_H
#define SIM_BRIDGE_PREDICT_H

#include "bridge/bridge.h"
#include "model/parameter.h"
#include "model/row.h"
#include "sim/bridge_stages.h"

/* Which limits of the DMA count; each value is a column. */
enum bridge_limit {
	BRIDGE_LIMIT_LINK,        /* the PCIe link */
	BRIDGE_LIMIT_CONTROLLERS, /* also the source's rates of the controllers */
	BRIDGE_LIMIT_CONTROL,     /* also a control time per piece */
	BRIDGE_LIMITS
};

/* Returns bytes/s of p->transfer_bytes over a path, or a negative status. */
double bridge_predict(const struct model_parameters *p, enum bridge_path path,
		      enum bridge_limit limit, uint32_t buffer_bytes);

/* Returns the rate of stages that the caller chooses. `direct`: step of a BRIDGE_DIRECT
 * transfer. */
double bridge_rate(const struct model_parameters *p, const struct stages_options *stages,
		   enum bridge_path path, enum stages_step direct, uint32_t buffer_bytes);

/* Emits rows: all paths by limit; ring buffers of 64 KiB .. 16 MiB; the naive method; payload in
 * PCIe's packets. */
int bridge_predict_rows(const struct model_parameters *p, const struct model_sink *sink);

#endif
