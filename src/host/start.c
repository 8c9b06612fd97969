/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous commands: a kernel, a transfer from one xPU to another. What they wait for is
 * resolved here, once, into events that the xPU concerned learns of by itself; the host takes no
 * part when they end. */
#include "base/util.h"
#include "host/internal.h"
#include "host/launch.h"

/* Names a command's event and posts it. */
static int post_named(struct dxp_xpu *x, struct command *c, uint32_t count)
{
	uint8_t message[COMMAND_BYTES_MAX];

	c->event = EVENT_NAME(node_id(x->fabric->node), x->node, count);
	c->oldest = x->events.oldest;
	int bytes = command_encode(c, message);
	if (bytes < 0)
		return error_set(bytes,
				 "the command does not fit into %d bytes; use fewer arguments",
				 COMMAND_BYTES_MAX);
	watch_arm(x->fabric);
	int status = request_post(x, message, (uint32_t)bytes,
				  (c->event & 0xffffffffffffull) << 8 | HOST_CONTEXT_EVENT);
	return status == DXP_OK ? DXP_OK : error_xpu(x, xpu_judge(x, status), "command");
}

static int add_event(struct dxp_xpu *x, uint32_t *count, struct host_event **slot)
{
	int status = events_add(&x->events, count, slot);

	if (status == DXP_EAGAIN)
		error_set(status,
			  "%d events of xPU '%s' have not been waited for; wait for some, or pass "
			  "no event where "
			  "nobody will wait",
			  HOST_EVENTS_MAX, x->caps.name);
	else if (status != DXP_OK)
		error_set(status, "out of memory");
	return status;
}

int command_start(struct dxp_xpu *x, struct command *c, const struct command_waits *waits,
		  dxp_event *event)
{
	struct host_event *slot;
	uint32_t count;
	int status = add_event(x, &count, &slot);

	if (status != DXP_OK)
		return status;
	slot->silent = event == NULL;
	slot->told = c->op == COMMAND_SEND || c->op == COMMAND_SIGNAL ? c->to_node : 0;
	const dxp_event name = EVENT_NAME(node_id(x->fabric->node), x->node, count);
	if (waits->failed) {
		events_finish(&x->events, count, DXP_ECANCELED, NULL);
	} else {
		c->wait_count = waits->count;
		for (uint32_t i = 0; i < waits->count; i++)
			c->waits[i] = waits->events[i];
		status = post_named(x, c, count);
	}
	if (status != DXP_OK) {
		events_free(&x->events, count);
		return status;
	}
	if (event)
		*event = name;
	return DXP_OK;
}

/* Lets the event's own xPU tell `to` when it has ended. *out is the signal's event. */
static int signal_to(struct dxp_xpu *owner, dxp_event event, uint16_t to, uint64_t *out)
{
	struct command c = {.op = COMMAND_SIGNAL, .to_node = to};
	const struct command_waits waits = {.events = {event}, .count = 1};
	struct host_event *slot = events_find(&owner->events, EVENT_COUNT(event));
	uint32_t signal_count = owner->events.next;

	if (slot->signalled == to) {
		*out = EVENT_NAME(EVENT_HOST(event), owner->node, slot->signal_count);
		return DXP_OK;
	}
	int status = command_start(owner, &c, &waits, NULL);
	if (status != DXP_OK)
		return status;
	/* command_start may have moved the ring, and the event may have ended meanwhile. */
	slot = events_find(&owner->events, EVENT_COUNT(event));
	if (slot) {
		slot->signalled = to;
		slot->signal_count = signal_count;
	}
	*out = EVENT_NAME(EVENT_HOST(event), owner->node, signal_count);
	return DXP_OK;
}

static int resolve_one(struct dxp_xpu *x, dxp_event event, struct command_waits *out)
{
	struct host_event *slot;
	struct dxp_xpu *owner = xpu_of_event(x->fabric, event, &slot);
	uint64_t name = event;

	if (!owner)
		return error_set(DXP_ENOENT,
				 "wait list: event %#llx is unknown, or was waited for already",
				 (unsigned long long)event);
	if (slot->state == HOST_EVENT_DONE) {
		out->failed |= slot->status != DXP_OK;
		return DXP_OK;
	}
	if (owner != x && slot->told != x->node) {
		int status = signal_to(owner, event, x->node, &name);
		if (status != DXP_OK)
			return status;
	}
	out->events[out->count++] = name;
	return DXP_OK;
}

int waits_resolve(struct dxp_xpu *x, const dxp_event *wait, uint32_t count,
		  struct command_waits *out)
{
	*out = (struct command_waits){0};
	if (count > DXP_WAIT_MAX)
		return error_set(DXP_EINVAL, "wait list of %u events; at most %d are possible",
				 count, DXP_WAIT_MAX);
	for (uint32_t i = 0; i < count; i++) {
		int status = wait[i] ? resolve_one(x, wait[i], out) : DXP_OK;
		if (status != DXP_OK)
			return status;
	}
	return DXP_OK;
}

int command_start_after(struct dxp_xpu *x, struct command *c, const dxp_event *wait,
			uint32_t wait_count, dxp_event *event)
{
	struct command_waits waits;

	if (x->status != DXP_OK)
		return error_xpu(x, x->status, "command");
	int status = waits_resolve(x, wait, wait_count, &waits);
	return status == DXP_OK ? command_start(x, c, &waits, event) : status;
}

int dxp_run(struct dxp_xpu *xpu, const struct dxp_launch *launch, dxp_event *event)
{
	struct command c = {.op = COMMAND_RUN, .lazy = launch->lazy};

	if (!launch->program || launch->program->xpu != xpu)
		return error_set(DXP_EINVAL, "run: the program was not built on xPU '%s'",
				 xpu->caps.name);
	c.program = launch->program->id;
	int status = launch_check(launch, xpu->caps.memory_bytes, xpu->nic, &c);
	if (status != DXP_OK)
		return status;
	fabric_enter(xpu->fabric);
	status = command_start_after(xpu, &c, launch->wait, launch->wait_count, event);
	fabric_leave(xpu->fabric);
	return status;
}

static int transfer_check(const struct dxp_xpu *from, const struct dxp_xpu *to,
			  const struct dxp_transfer *t)
{
	if (from->fabric != to->fabric)
		return error_set(DXP_EINVAL,
				 "send: the two xPUs were opened through different fabrics");
	if (from->node == to->node)
		return error_set(DXP_EINVAL,
				 "send: from and to are both xPU '%s'; copy with a kernel",
				 from->caps.name);
	if (t->bytes == 0 || t->bytes > from->caps.memory_bytes ||
	    t->from_address > from->caps.memory_bytes - t->bytes)
		return error_set(DXP_ERANGE,
				 "send: %llu bytes at %#llx are not in the memory of xPU '%s'",
				 (unsigned long long)t->bytes, (unsigned long long)t->from_address,
				 from->caps.name);
	if (t->bytes > to->caps.memory_bytes || t->to_address > to->caps.memory_bytes - t->bytes)
		return error_set(DXP_ERANGE,
				 "send: %llu bytes at %#llx are not in the memory of xPU '%s'",
				 (unsigned long long)t->bytes, (unsigned long long)t->to_address,
				 to->caps.name);
	return DXP_OK;
}

int dxp_send(struct dxp_xpu *from, struct dxp_xpu *to, const struct dxp_transfer *transfer,
	     dxp_event *event)
{
	struct command c = {.op = COMMAND_SEND,
			    .address = transfer->from_address,
			    .bytes = transfer->bytes,
			    .to_node = to->node,
			    .to_key = to->memory_key,
			    .to_address = transfer->to_address};
	int status = transfer_check(from, to, transfer);

	if (status != DXP_OK)
		return status;
	fabric_enter(from->fabric);
	status = to->status != DXP_OK ? error_xpu(to, to->status, "send")
				      : command_start_after(from, &c, transfer->wait,
							    transfer->wait_count, event);
	fabric_leave(from->fabric);
	return status;
}
