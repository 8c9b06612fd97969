/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on the service queue pair: commands of hosts, and events of other xPUs. */
#include <stdio.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "nic/limits.h"
#include "xpu/slot_internal.h"

static void rejected(struct slot *s, uint16_t node, const char *why)
{
	s->counters.rejected++;
	log_debug("message of node %u rejected: %s", node, why);
}

static void open_reply(struct tenant *t, uint32_t sequence)
{
	struct slot *s = t->slot;
	struct bridged_state bridge;
	struct command_reply r = {
		.op = COMMAND_OPEN,
		.sequence = sequence,
		.memory_key = t->memory_key,
		.memory_bytes = arena_bytes(s->arena),
		.free_bytes = memory_left(t),
	};

	bridged_state(s->bridged, &bridge);
	r.compute_units = s->about.compute_units;
	r.memory_kind = s->about.memory_kind;
	r.streams = s->bridged && s->about.streams;
	r.buffers = bridge.buffers;
	r.buffer_bytes = bridge.buffer_bytes;
	for (uint32_t q = 0; q < COMMAND_QPS; q++)
		r.qp_magic[q] = nic_qp_magic(node_nic(s->node), 0, q);
	snprintf(r.text, sizeof(r.text), "%s", s->about.device);
	reply_send(t, &r);
}

/* There is no tenant, so the reply goes to the queue pair that the command names. */
static void open_reject(struct slot *s, const struct dxp_target *to, uint32_t sequence, int status)
{
	struct command_reply r = {.op = COMMAND_OPEN, .sequence = sequence, .status = status};
	uint8_t data[COMMAND_BYTES_MAX];

	slot_error_note(s, status);
	int bytes = command_reply_encode(&r, data);
	outbox_nap(s->outbox, OUTBOX_HOST, to, data, (uint32_t)bytes, NULL, NULL);
}

static int open_check(struct slot *s, uint16_t host)
{
	struct node_entry e;

	if (!slot_lookup(s, host, &e) || !e.alive)
		return DXP_ENOENT;
	return e.kind == MANAGE_HOST && e.granted ? DXP_OK : DXP_EACCESS;
}

static bool same_target(const struct dxp_target *a, const struct dxp_target *b)
{
	return a->function == b->function && a->qp == b->qp && a->magic == b->magic;
}

static void open_receive(struct slot *s, const struct dxp_nic_event *from, const struct command *c)
{
	struct dxp_target to = {
		.node = from->node,
		.function = (uint8_t)(from->peer_qp >> 8),
		.qp = c->reply_qp,
		.magic = c->reply_magic,
	};

	if (to.function >= NIC_FUNCTIONS || to.qp >= NIC_QPS_PER_FUNCTION) {
		rejected(s, to.node, "OPEN names no queue pair");
		return;
	}
	int status = open_check(s, to.node);
	struct tenant *t = tenant_find(s, to.node);
	if (t && !same_target(&t->reply, &to)) {
		/* an earlier incarnation of this host */
		tenant_evict(t, DXP_EPEERLOST);
		t = NULL;
	}
	if (status == DXP_OK && !t)
		status = tenant_open(s, to.node, &to, &t);
	if (status == DXP_OK)
		open_reply(t, c->sequence);
	else
		open_reject(s, &to, c->sequence, status);
}

static void close_receive(struct tenant *t, const struct command *c)
{
	t->closing = true;
	t->close_sequence = c->sequence;
	tenant_leave(t, DXP_ECANCELED);
}

static void clock_report(struct tenant *t, const struct command *c)
{
	const struct command_reply r = {
		.op = COMMAND_CLOCK, .sequence = c->sequence, .clock_ns = clock_now_ns()};

	reply_send(t, &r);
}

static void command_receive(struct slot *s, const struct dxp_nic_event *from, const uint8_t *data)
{
	struct command c;

	if (command_decode(data, from->bytes, &c) != DXP_OK) {
		rejected(s, from->node, "it does not parse");
		return;
	}
	if (c.op == COMMAND_OPEN) {
		open_receive(s, from, &c);
		return;
	}
	struct tenant *t = tenant_find(s, from->node);
	if (!t) {
		rejected(s, from->node, "it has not opened the xPU");
		return;
	}
	switch (c.op) {
	case COMMAND_CLOSE: close_receive(t, &c); break;
	case COMMAND_ALLOC: memory_allocate(t, &c); break;
	case COMMAND_FREE: memory_free(t, &c); break;
	case COMMAND_BUILD: program_build(t, &c); break;
	case COMMAND_FETCH: fetch_start(t, &c); break;
	case COMMAND_RELEASE: program_release(t, &c); break;
	case COMMAND_NIC: port_open(t, &c); break;
	case COMMAND_CLOCK: clock_report(t, &c); break;
	case COMMAND_SWITCHES: switches_receive(t, &c); break;
	case COMMAND_HURRY: reply_events_hurry(t, c.upto); break;
	default: work_post(t, &c, from->bytes);
	}
}

static void event_receive(struct slot *s, const struct dxp_nic_event *from, const uint8_t *data)
{
	struct command_event e;

	if (command_event_decode(data, from->bytes, &e) != DXP_OK ||
	    EVENT_XPU(e.event) != from->node) {
		rejected(s, from->node, "it names an event of another node");
		return;
	}
	struct tenant *t = tenant_find(s, EVENT_HOST(e.event));
	if (!t)
		return; /* the host has closed this xPU */
	int status = graph_event(t->graph, e.event, e.status);
	if (status != DXP_OK)
		tenant_complain(t, "an event of node %u cannot be kept: %s", from->node,
				dxp_status_text(status));
}

void commands_message_receive(struct slot *s, const struct dxp_nic_event *event,
			      const uint8_t *data)
{
	/* Functions other than 0 are for other processes of a node. */
	if (event->peer_qp >> 8 != 0) {
		rejected(s, event->node, "it comes from a function of another process");
		return;
	}
	/* On any queue pair, because a host's event may follow its data. */
	if (command_op(data, event->bytes) == COMMAND_EVENT)
		event_receive(s, event, data);
	else if (event->qp != NODE_SERVICE_QP)
		rejected(s, event->node, "it is not for the service queue pair");
	else
		command_receive(s, event, data);
}
