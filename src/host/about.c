/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the description and the clock of the device behind an xPU. */
#include "host/fetch.h"

#include "base/clock.h"

int dxp_xpu_about(struct dxp_xpu *xpu, void **out, size_t *bytes)
{
	host_fabric_enter(xpu->fabric);
	int status = fetch_whole(xpu, 0, FETCH_DEVICE, 0, out, bytes);
	if (status == DXP_EUNSUPPORTED)
		error_set(status, "xPU '%s' (engine '%s') is not an OpenCL device", xpu->caps.name,
			  xpu->caps.engine);
	else if (status != DXP_OK)
		error_xpu(xpu, status, "query of the device");
	host_fabric_leave(xpu->fabric);
	return status;
}

int dxp_xpu_clock(struct dxp_xpu *xpu, struct dxp_clock *out)
{
	struct command c;
	struct command_reply reply;

	command_begin(&c, COMMAND_CLOCK);
	host_fabric_enter(xpu->fabric);
	uint64_t before = clock_now_ns();
	int status = request_call(xpu, &c, &reply, HOST_REPLY_NS);
	uint64_t after = clock_now_ns();
	if (status == DXP_OK)
		*out = (struct dxp_clock){.host_ns = before + (after - before) / 2,
					  .node_ns = reply.clock_ns,
					  .error_ns = (after - before + 1) / 2};
	else
		error_xpu(xpu, status, "query of the clock");
	host_fabric_leave(xpu->fabric);
	return status;
}
