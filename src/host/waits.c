/* SPDX-License-Identifier: BSD-3-Clause */
/* Wait lists. Each event of a list is replaced by an event that the xPU receives directly: its own
 * event, a SIGNAL of another xPU, or an event of this host. So this host takes no part when events
 * of xPUs complete. If a list is too long for a command, a mark replaces it. */
#include "base/util.h"
#include "host/internal.h"

/* Returns true if a node that received this SIGNAL of `owner` still keeps the signalled event. */
static bool recent(const struct dxp_xpu *owner, uint32_t count)
{
	return owner->events.next - count <= HOST_NAMED_AGE;
}

/* Makes the xPU of this event send a SIGNAL to node `to`. *out is the event of this SIGNAL. */
static int signal_to(struct dxp_xpu *owner, dxp_event event, uint16_t to, uint64_t *out)
{
	struct command c;
	const struct command_waits waits = {.events = {event}, .count = 1};
	struct host_event *entry = events_find(&owner->events, EVENT_COUNT(event));
	dxp_event name;

	if (entry->signalled == to && recent(owner, entry->signal_count)) {
		*out = EVENT_NAME(EVENT_HOST(event), owner->node, entry->signal_count);
		return DXP_OK;
	}
	command_begin(&c, COMMAND_SIGNAL);
	c.to_node = to;
	c.lazy = 1; /* this host does not wait for the SIGNAL */
	int status = host_command_start(owner, &c, &waits, &name);
	if (status != DXP_OK)
		return status;
	events_forget(&owner->events, EVENT_COUNT(name));
	/* The call may have released the lock: the ring may have moved, and the event may have
	 * completed. */
	entry = events_find(&owner->events, EVENT_COUNT(event));
	if (entry) {
		entry->signalled = to;
		entry->signal_count = EVENT_COUNT(name);
	}
	*out = name;
	return DXP_OK;
}

/* Replaces all events in *out by one event: the event of a mark that waits for all of them. */
static int fold(struct dxp_xpu *x, struct command_waits *out)
{
	const uint32_t most = COMMAND_BYTES_MAX + COMMAND_KEPT_ARGUMENTS(COMMAND_ARGS_MAX);
	struct command c;
	dxp_event name;

	if (x->events.bytes >= WIRE_COMMANDS_BYTES - COMMAND_KEPT_BYTES(most))
		return error_set(DXP_EAGAIN,
				 "wait list: too many commands of xPU '%s' are outstanding to "
				 "combine these events; wait for some",
				 x->caps.name);
	command_begin(&c, COMMAND_MARK);
	c.lazy = 1;
	int status = host_command_start(x, &c, out, &name);
	if (status != DXP_OK)
		return status;
	events_forget(&x->events, EVENT_COUNT(name));
	out->events[0] = name;
	out->count = 1;
	return DXP_OK;
}

static int append(struct dxp_xpu *x, uint64_t name, struct command_waits *out)
{
	int status = DXP_OK;

	for (uint8_t i = 0; i < out->count; i++)
		if (out->events[i] == name)
			return DXP_OK;
	if (out->count == COMMAND_WAITS_MAX)
		status = fold(x, out);
	if (status == DXP_OK)
		out->events[out->count++] = name;
	return status;
}

static int resolve_one(struct dxp_xpu *x, dxp_event event, struct command_waits *out)
{
	struct dxp_fabric *f = x->fabric;
	struct host_event *entry;
	struct dxp_xpu *owner;
	uint64_t name = event;
	int status = DXP_OK;

	if (!events_of(f, event, &owner, &entry))
		return error_set(DXP_ENOENT,
				 "wait list: event %#llx is unknown or already waited for",
				 (unsigned long long)event);
	if (entry->state == HOST_EVENT_DONE) {
		out->failed |= entry->status != DXP_OK;
		return DXP_OK;
	}
	if (!owner)
		status = executor_notify(f, EVENT_COUNT(event), entry, x);
	else if (owner != x && (entry->notified != x->node || !recent(owner, EVENT_COUNT(event))))
		status = signal_to(owner, event, x->node, &name);
	return status == DXP_OK ? append(x, name, out) : status;
}

int waits_resolve(struct dxp_xpu *x, const dxp_event *wait, uint32_t count,
		  struct command_waits *out)
{
	out->count = 0;
	out->failed = false;
	if (count && !wait)
		return error_set(DXP_EINVAL, "wait list: %u events, but the list is NULL", count);
	for (uint32_t i = 0; i < count && !out->failed; i++) {
		int status = wait[i] ? resolve_one(x, wait[i], out) : DXP_OK;
		if (status != DXP_OK)
			return status;
	}
	return DXP_OK;
}
