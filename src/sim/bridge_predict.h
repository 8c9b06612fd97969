/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts the results of the source's bridge (S-04 .. S-09; bridge_source.h names the source). The
 * shipped bridge runs in virtual time. Each stage has the rate that the source measured for this
 * stage alone. */
#ifndef SIM_BRIDGE_PREDICT_H
#define SIM_BRIDGE_PREDICT_H

#include "bridge/bridge.h"
#include "model/parameter.h"
#include "model/row.h"
#include "sim/bridge_stages.h"

/* The limits of the DMA that a prediction includes; each value is a column of the table. */
enum bridge_limit {
	BRIDGE_LIMIT_LINK,        /* only the PCIe link */
	BRIDGE_LIMIT_CONTROLLERS, /* also the rates that the source measured for the controllers */
	BRIDGE_LIMIT_CONTROL,     /* also a control time for each piece */
	BRIDGE_LIMITS
};

/* Returns the rate in bytes/s at which p->transfer_bytes move over a path, in ring buffers of
 * `buffer_bytes`. A negative value is a status. */
double bridge_predict(const struct model_parameters *p, enum bridge_path path,
		      enum bridge_limit limit, uint32_t buffer_bytes);

/* Returns the same rate for stages that the caller chooses. `direct`: the step of a BRIDGE_DIRECT
 * transfer. */
double bridge_rate(const struct model_parameters *p, const struct stages_options *stages,
		   enum bridge_path path, enum stages_step direct, uint32_t buffer_bytes);

/* Emits four groups of rows: all paths with each limit; ring buffers of 64 KiB .. 16 MiB; the naive
 * method; the share of payload in PCIe's packets. */
int bridge_predict_rows(const struct model_parameters *p, const struct model_sink *sink);

#endif
