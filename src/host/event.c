/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for events. */
#include "base/util.h"
#include "host/internal.h"
#include "link/udp.h"

struct awaited {
	struct dxp_fabric *fabric;
	dxp_event event;
	struct dxp_xpu *xpu;
	struct host_event *slot; /* moves when the ring grows: looked up each time */
};

static bool ended(void *context)
{
	struct awaited *a = context;

	a->xpu = xpu_of_event(a->fabric, a->event, &a->slot);
	return !a->xpu || a->slot->state == HOST_EVENT_DONE;
}

static int unknown(dxp_event event)
{
	return error_set(DXP_ENOENT,
			 "event %#llx is unknown: waited for already, or its xPU was closed",
			 (unsigned long long)event);
}

static int wait_locked(struct awaited *a, uint64_t timeout_ns, struct dxp_event_times *times)
{
	uint64_t now = link_now_ns();
	uint64_t deadline = timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
	int status = fabric_wait(a->fabric, ended, a, deadline);

	if (!a->xpu)
		return unknown(a->event);
	if (status != DXP_OK)
		return error_set(status, "the command on xPU '%s' is not done yet",
				 a->xpu->caps.name);
	status = a->slot->status;
	if (times)
		*times = a->slot->times;
	events_free(&a->xpu->events, EVENT_COUNT(a->event));
	if (status != DXP_OK)
		error_xpu(a->xpu, status, "command");
	return status;
}

int dxp_event_wait(struct dxp_fabric *fabric, dxp_event event, uint64_t timeout_ns,
		   struct dxp_event_times *times)
{
	struct awaited a = {.fabric = fabric, .event = event};

	fabric_enter(fabric);
	int status = wait_locked(&a, timeout_ns, times);
	fabric_leave(fabric);
	return status;
}

int dxp_event_done(struct dxp_fabric *fabric, dxp_event event)
{
	struct awaited a = {.fabric = fabric, .event = event};

	fabric_enter(fabric);
	if (!ended(&a)) {
		fabric_turn(fabric);
		ended(&a);
	}
	int status = !a.xpu ? unknown(event) : a.slot->state == HOST_EVENT_DONE;
	fabric_leave(fabric);
	return status;
}
