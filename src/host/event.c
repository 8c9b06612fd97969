/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for events. */
#include "base/util.h"
#include "base/clock.h"
#include "host/internal.h"

struct awaited {
	struct dxp_fabric *fabric;
	dxp_event event;
	struct events *events; /* ring with the event; NULL: the event is unknown */
	struct dxp_xpu *xpu;   /* xPU of the event; NULL: it is an event of this host */
	/* must be looked up again after each wait: entries move when the ring grows */
	struct host_event *entry;
};

static bool ended(void *context)
{
	struct awaited *a = context;

	a->events = events_of(a->fabric, a->event, &a->xpu, &a->entry);
	return !a->events || a->entry->state == HOST_EVENT_DONE;
}

static int unknown(dxp_event event)
{
	return error_set(DXP_ENOENT,
			 "event %#llx is unknown: it was already waited for, or its xPU was closed",
			 (unsigned long long)event);
}

static int wait_locked(struct awaited *a, uint64_t timeout_ns, struct dxp_event_times *times)
{
	uint64_t now = clock_now_ns();
	uint64_t deadline = timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
	if (!ended(a) && a->xpu && a->entry->lazy)
		event_hurry(a->xpu, EVENT_COUNT(a->event));
	int status = host_fabric_wait(a->fabric, ended, a, deadline);
	if (!a->events)
		return unknown(a->event);
	if (status != DXP_OK)
		return error_set(status, "the command on %s%s%s is not complete yet",
				 a->xpu ? "xPU '" : "this host", a->xpu ? a->xpu->caps.name : "",
				 a->xpu ? "'" : "");
	status = a->entry->status;
	if (times)
		*times = a->entry->times;
	events_free(a->events, EVENT_COUNT(a->event));
	const char *text = status != DXP_OK && a->xpu ? failure_find(a->xpu, a->event) : NULL;
	if (text)
		error_set(status, "xPU '%s': %s", a->xpu->caps.name, text);
	else if (status != DXP_OK && a->xpu)
		error_xpu(a->xpu, status, "command");
	else if (status != DXP_OK)
		error_set(status, "event %#llx of this host completed with: %s",
			  (unsigned long long)a->event, dxp_status_text(status));
	return status;
}

int dxp_event_wait(struct dxp_fabric *fabric, dxp_event event, uint64_t timeout_ns,
		   struct dxp_event_times *times)
{
	struct awaited a = {.fabric = fabric, .event = event};

	host_fabric_enter(fabric);
	int status = wait_locked(&a, timeout_ns, times);
	host_fabric_leave(fabric);
	return status;
}

int dxp_event_done(struct dxp_fabric *fabric, dxp_event event)
{
	struct awaited a = {.fabric = fabric, .event = event};

	host_fabric_enter(fabric);
	if (!ended(&a)) {
		if (a.xpu && a.entry->lazy)
			event_hurry(a.xpu, EVENT_COUNT(event));
		host_fabric_poll(fabric);
		ended(&a);
	}
	int status = !a.events ? unknown(event) : a.entry->state == HOST_EVENT_DONE;
	host_fabric_leave(fabric);
	return status;
}
