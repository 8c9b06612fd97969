/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements `dxp model bridge` and `dxp model loss`: the shipped code in virtual time. */
#include <stdio.h>

#include <dxp/status.h>

#include "cmd/dxp/model.h"
#include "sim/bridge_alone.h"
#include "sim/bridge_predict.h"
#include "sim/loss_predict.h"

static int bridge_run(const struct model_run *run)
{
	struct model_attach attach;

	const struct model_sink *sink = model_attach(&attach, run);
	int status = bridge_predict_rows(run->parameters, sink);

	return status == DXP_OK ? bridge_alone_rows(run->parameters, sink) : status;
}

static const struct model_shortcut bridge_shortcuts[] = {
	{"buffer", "buffer_bytes", "bytes of an entry: 1M,2M,8M"},
	{"bytes", "transfer_bytes", "bytes of a transfer: 64M,512M"},
	{"reads", "reads", "outstanding READ requests: 1,2,4"},
	{NULL, NULL, NULL},
};

const struct model_part model_part_bridge = {
	.name = "bridge",
	.summary = "the bridge to DMA between the source's stages",
	.text = "Runs the shipped bridge in virtual time. Columns: PCIe as the only limit of DMA; "
		"the controllers at the rates that the source measured of each alone; the same "
		"and a time of control for each piece.",
	.shortcuts = bridge_shortcuts,
	.groups = "bridge",
	.run = bridge_run,
};

static int loss_run(const struct model_run *run)
{
	struct model_attach attach;

	return loss_predict_rows(run->parameters, run->seed, model_attach(&attach, run));
}

static const struct model_shortcut loss_shortcuts[] = {
	{"loss", "loss_ppm", "packets lost: 1000ppm,1%"},
	{"timeout", "loss_timeout", "n of the time-out 4.096 us x 2^n: 8..16+1"},
	{NULL, NULL, NULL},
};

const struct model_part model_part_loss = {
	.name = "loss",
	.summary = "bandwidth against loss; what is known of the xPU's latency",
	.text = "Runs the shipped transport and its comparison protocols on a wire of 10 Gb/s in "
		"virtual time: selective repeat, go-back-N with NAK, and go-back-N by time-out.",
	.shortcuts = loss_shortcuts,
	.random = true,
	.groups = "loss",
	.run = loss_run,
};
