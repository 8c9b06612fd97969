/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes completions of this host's descriptors, and replies and events of xPUs. Drops
 * invalid and unexpected messages: they are late, or their sender has a fault. */
#include "base/log.h"
#include "host/internal.h"

static void op_completed(struct host_op *op, int status)
{
	if (op->status == DXP_OK)
		op->status = status;
	op->pending--;
}

/* Completes an event. If the event belongs to a transfer, it completes later, when nothing accesses
 * the transfer's memory any more. */
static void event_ended(struct dxp_xpu *x, uint64_t name, struct host_event *entry, int status,
			const struct dxp_event_times *times)
{
	use_completed(x, entry, status, times);
	if (entry->move)
		move_notified(entry->move, status, times);
	else
		events_finish(&x->events, EVENT_COUNT(name), status, times);
}

static void event_command_completed(struct dxp_fabric *f, uint64_t name, int status)
{
	if (status == DXP_OK)
		return;
	struct host_event *entry;
	struct dxp_xpu *x;
	if (events_of(f, name, &x, &entry) && x)
		event_ended(x, name, entry, xpu_judge(x, status), NULL);
}

static void probe_completed(struct dxp_fabric *f, uint16_t node, int status)
{
	struct dxp_xpu *x = xpu_find(f, node);

	if (!x)
		return;
	x->probing = false;
	/* Any answer to the probe shows that x is alive, even a rejection. */
	x->received_ns = f->polled_ns;
	xpu_judge(x, status);
}

static void completed_notify(struct dxp_fabric *f, uint16_t node, int status)
{
	struct dxp_xpu *x = xpu_find(f, node);

	if (x)
		xpu_judge(x, status);
}

static void completed(struct dxp_fabric *f, const struct dxp_nic_event *e)
{
	switch (e->context & 0xff) {
	case 0: op_completed((struct host_op *)(uintptr_t)e->context, e->status); break;
	case HOST_CONTEXT_EVENT: event_command_completed(f, e->context >> 8, e->status); break;
	case HOST_CONTEXT_NOTIFY:
		completed_notify(f, (uint16_t)(e->context >> 8), e->status);
		break;
	case HOST_CONTEXT_PROBE: probe_completed(f, (uint16_t)(e->context >> 8), e->status); break;
	}
}

static void reply_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data, uint32_t bytes)
{
	struct command_reply reply;

	if (command_reply_decode(data, bytes, &reply) != DXP_OK) {
		log_debug("a reply of node %u does not parse", node);
		return;
	}
	for (struct host_request *r = f->requests; r; r = r->next) {
		if (r->sequence != reply.sequence || r->xpu->node != node || r->done)
			continue;
		*r->reply = reply;
		r->status = reply.status;
		r->done = true;
		return;
	}
}

static void event_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data)
{
	struct command_event e;
	struct host_event *entry;

	if (command_event_decode(data, COMMAND_EVENT_BYTES, &e) != DXP_OK ||
	    EVENT_XPU(e.event) != node) {
		log_debug("an event of node %u does not parse", node);
		return;
	}
	struct dxp_xpu *x;
	if (!events_of(f, e.event, &x, &entry) || !x)
		return;
	const struct dxp_event_times times = {e.queued_ns, e.started_ns, e.ended_ns};
	entry->native = e.native;
	event_ended(x, e.event, entry, e.status, &times);
}

/* Processes a message that contains one or more events. */
static void events_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data, uint32_t bytes)
{
	if (bytes % COMMAND_EVENT_BYTES != 0) {
		log_debug("events of node %u do not parse", node);
		return;
	}
	for (uint32_t at = 0; at < bytes; at += COMMAND_EVENT_BYTES)
		event_arrived(f, node, data + at);
}

static void begun_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data, uint32_t bytes)
{
	uint64_t event;
	struct host_event *entry;
	struct dxp_xpu *x;

	if (command_begun_decode(data, bytes, &event) != DXP_OK || EVENT_XPU(event) != node) {
		log_debug("a notification of node %u about a command does not parse", node);
		return;
	}
	if (!events_of(f, event, &x, &entry) || !x || entry->begun)
		return;
	entry->begun = true;
	completion_begun(f, event, entry);
}

static void lost_arrived(struct dxp_fabric *f, uint16_t node, const uint8_t *data, uint32_t bytes)
{
	struct command_lost lost;
	struct host_event *entry;
	struct dxp_xpu *x;

	if (command_lost_decode(data, bytes, &lost) != DXP_OK || EVENT_XPU(lost.event) != node) {
		log_debug("a report of node %u about lost switches does not parse", node);
		return;
	}
	if (!events_of(f, lost.event, &x, &entry) || !x || entry->state != HOST_EVENT_PENDING)
		return;
	entry->lost = true;
	entry->status = (int8_t)lost.status;
	entry->done_bytes = lost.done_bytes;
	f->losses++;
	pthread_cond_broadcast(&f->lost);
}

static void received(struct dxp_fabric *f, const struct dxp_nic_event *e, const uint8_t *data)
{
	struct dxp_xpu *x = xpu_find(f, e->node);

	/* An xPU is function 0 of its node. Other functions of the node belong to other processes
	 * or to kernels, so their messages are dropped. */
	if (e->type != DXP_EVENT_NAP || e->qp != HOST_QP_COMMANDS || !x || e->peer_qp >> 8 != 0)
		return;
	x->received_ns = f->polled_ns;
	if (command_op(data, e->bytes) == COMMAND_REPLY)
		reply_arrived(f, e->node, data, e->bytes);
	else if (command_op(data, e->bytes) == COMMAND_EVENT)
		events_arrived(f, e->node, data, e->bytes);
	else if (command_op(data, e->bytes) == COMMAND_BEGUN)
		begun_arrived(f, e->node, data, e->bytes);
	else if (command_op(data, e->bytes) == COMMAND_PRINT)
		print_arrived(f, e->node, data, e->bytes);
	else if (command_op(data, e->bytes) == COMMAND_FAILED)
		failure_arrived(f, e->node, data, e->bytes);
	else if (command_op(data, e->bytes) == COMMAND_CYCLES)
		cycles_arrived(f, e->node, data, e->bytes);
	else if (command_op(data, e->bytes) == COMMAND_LOST)
		lost_arrived(f, e->node, data, e->bytes);
}

uint32_t arrivals_process(struct dxp_fabric *f)
{
	struct dxp_nic_event sent;
	const struct dxp_nic_event *event;
	const uint8_t *data;
	uint32_t count = 0;

	while (dxp_sent_dequeue(f->window, &sent)) {
		completed(f, &sent);
		count++;
	}
	while ((event = nic_user_received_peek(f->window, &data))) {
		received(f, event, data);
		dxp_received_release(f->window);
		count++;
	}
	f->ended += count;
	return count;
}
