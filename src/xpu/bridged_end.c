/* SPDX-License-Identifier: BSD-3-Clause */
/* Failures of bridge transfers, as status, text and log line. */
#include <dxp/status.h>

#include "base/log.h"
#include "wire/ids.h"
#include "xpu/bridged_internal.h"

/* log lines; the register DMA_FAILED counts all failures */
#define COMPLAINTS_MAX 20

bool bridged_silent(const struct bridged *b, uint16_t node)
{
	return b->nic && node != 0 && node != WIRE_NODE_NONE && b->silent &&
	       b->silent(b->silent_context, node);
}

int bridged_end_status(const struct bridge_end *end)
{
	if (end->status != DXP_ETIMEDOUT)
		return end->status;
	return end->step == BRIDGE_FILL || end->step == BRIDGE_DRAIN ? DXP_EPEERLOST : DXP_EDEVICE;
}

const char *bridged_end_text(const struct bridge_end *end)
{
	if (end->status == DXP_ETIMEDOUT)
		return "no progress within the time limit";
	return dxp_status_text(bridged_end_status(end));
}

const char *bridged_step_name(uint8_t step)
{
	static const char *const names[BRIDGE_STEPS] = {
		[BRIDGE_FILL] = "the read from the network",
		[BRIDGE_DMA_IN] = "the DMA to the device",
		[BRIDGE_DMA_OUT] = "the DMA from the device",
		[BRIDGE_DMA_THROUGH] = "the DMA through the core",
		[BRIDGE_DMA_DIRECT] = "the DMA",
		[BRIDGE_DRAIN] = "the write to the network",
	};

	return step < BRIDGE_STEPS ? names[step] : "nothing";
}

void bridged_complain(struct bridged *b, const char *what, const struct bridge_end *end)
{
	/* The owner of the NIC logs failures of the network. */
	if (end->step >= BRIDGE_STEPS || end->step == BRIDGE_FILL || end->step == BRIDGE_DRAIN)
		return;
	if (b->complaints >= COMPLAINTS_MAX)
		return;
	log_warn("a %s failed: %s, at byte %llu: %s; repeat the transfer; if it fails again, check "
		 "the device%s",
		 what, bridged_step_name(end->step), (unsigned long long)end->at,
		 bridged_end_text(end),
		 ++b->complaints == COMPLAINTS_MAX
			 ? "; further failures are not logged; the register DMA_FAILED counts them"
			 : "");
}
