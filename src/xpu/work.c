/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous commands, from arrival to event. */
#include <stdlib.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "xpu/event_log.h"
#include "xpu/slot_internal.h"

void work_free(struct work *w)
{
	free(w);
}

/* Commands at the peer may wait for the event. */
static void peer_notify(struct work *w, const struct command_event *e)
{
	const struct notice_host host = {w->tenant->host, w->tenant->owner};

	if (w->to_node && e->event)
		notice_send(w->tenant->slot->notices, &host, w->to_node, e);
}

void work_report(struct work *w, int status)
{
	struct tenant *t = w->tenant;
	const struct command_event e = {
		.event = w->graph.event,
		.status = status,
		.native = w->native,
		.queued_ns = w->queued_ns,
		.started_ns = w->started_ns,
		.ended_ns = w->ended_ns ? w->ended_ns : clock_now_ns(),
	};

	if (status == DXP_OK)
		t->slot->counters.done++;
	else
		t->slot->counters.failed++;
	slot_error_note(t->slot, status);
	if (!t->gone) {
		peer_notify(w, &e);
		if (e.event)
			reply_event_send(t, &e, w->lazy);
	}
	work_free(w);
}

/* Waits for events of lost nodes would never complete. */
static void lost_note(struct tenant *t, const struct command *c)
{
	struct node_entry e;

	for (uint8_t i = 0; i < c->wait_count; i++) {
		uint16_t xpu = EVENT_XPU(c->waits[i]);
		if (xpu != node_id(t->slot->node) && (!slot_lookup(t->slot, xpu, &e) || !e.alive))
			graph_lost(t->graph, xpu);
	}
}

static bool op_of_engine(uint8_t op)
{
	return op == COMMAND_RUN || (op >= COMMAND_WRITE && op <= COMMAND_FILL);
}

/* A mark completes as soon as its events have, because other xPUs may wait for it, for example
 * those of a collective. In another queue it would wait for commands that are not in its list. */
static enum graph_queue queue_of(uint8_t op)
{
	if (op == COMMAND_MARK)
		return GRAPH_MARKS;
	return op_of_engine(op) ? GRAPH_ENGINE : GRAPH_NETWORK;
}

/* per command: struct work, event, entry in a heap */
#define COUNTED_BYTES (sizeof(struct work) + sizeof(struct event_entry) + sizeof(void *))
/* Besides waits and data, the message has at least 14 bytes. Waits and data need no more bytes here
 * than there. */
_Static_assert(COUNTED_BYTES + sizeof(struct worker_edit) <= COMMAND_KEPT_BYTES(14) &&
		       COUNTED_BYTES + sizeof(struct network_command) <= COMMAND_KEPT_BYTES(14),
	       "hosts count no less than a command takes here");
/* Besides waits, axes, name and values, the message of a RUN has at least 22 bytes, and each
 * argument at least one. Waits, axes, name and values need no more bytes here than there. */
_Static_assert(COUNTED_BYTES + sizeof(struct worker_run) + 1 +
			       COMMAND_ARGS_FREE * (sizeof(struct worker_argument) - 1) <=
		       COMMAND_KEPT_BYTES(22),
	       "hosts count no less than a launch takes here");

static uint32_t data_bytes(const struct command *c)
{
	if (c->op == COMMAND_RUN)
		return worker_run_bytes(c);
	if (c->op == COMMAND_ALLREDUCE)
		return sizeof(struct allreduce_command);
	if (c->op == COMMAND_SETTLE)
		return sizeof(struct settle_command);
	if (c->op == COMMAND_MARK)
		return 0;
	return op_of_engine(c->op) ? worker_edit_bytes(c) : sizeof(struct network_command);
}

static void allreduce_make(const struct command *c, void *out)
{
	*(struct allreduce_command *)out = (struct allreduce_command){
		.from = c->address,
		.to = c->to_address,
		.bytes = c->bytes,
		.group = c->group,
		.type = c->type,
		.reduction = c->reduction,
	};
}

static void network_command_make(const struct command *c, struct network_command *out)
{
	*out = (struct network_command){
		.address = c->address,
		.bytes = c->bytes,
		.from_address = c->from_address,
		.to_address = c->to_address,
		.from_key = c->from_key,
		.to_key = c->to_key,
		.piece_bytes = c->piece_bytes,
		.to_node = c->to_node,
		.path = c->path,
		.mode = c->mode,
	};
}

/* Copies all from the message. NULL: out of memory. */
static struct work *work_create(struct tenant *t, const struct command *c)
{
	struct work *w = malloc(sizeof(*w) + data_bytes(c));

	if (!w)
		return NULL;
	*w = (struct work){.tenant = t, .queued_ns = clock_now_ns(), .op = c->op, .lazy = c->lazy};
	if (c->op == COMMAND_SEND || c->op == COMMAND_SIGNAL)
		w->to_node = c->to_node;
	if (c->op == COMMAND_RUN)
		worker_run_make(c, work_run(w));
	else if (op_of_engine(c->op))
		worker_edit_make(c, work_edit(w));
	else if (c->op == COMMAND_ALLREDUCE)
		allreduce_make(c, w->data);
	else if (c->op == COMMAND_SETTLE)
		*(struct settle_command *)(void *)w->data =
			(struct settle_command){c->settles, c->status};
	else if (c->op != COMMAND_MARK)
		network_command_make(c, (struct network_command *)(void *)w->data);
	return w;
}

void work_post(struct tenant *t, const struct command *c, uint32_t message_bytes)
{
	struct work *w = work_create(t, c);
	const struct graph_posting p = {
		.queue = queue_of(c->op),
		.event = c->event,
		.oldest = c->oldest,
		.waits = c->waits,
		.wait_count = c->wait_count,
		.bytes = COMMAND_KEPT_BYTES(message_bytes +
					    COMMAND_KEPT_ARGUMENTS(c->argument_count)),
	};

	if (!w) {
		const struct command_event e = {.event = c->event, .status = DXP_ENOMEM};
		if (c->event)
			reply_event_send(t, &e, false);
		return;
	}
	int status = graph_add(t->graph, &w->graph, &p);
	if (status == DXP_OK)
		lost_note(t, c);
	else
		work_report(w, status);
}

uint8_t work_needs(const struct work *w, uint64_t events[COMMAND_WAITS_MAX])
{
	return graph_unfinished(w->tenant->graph, &w->graph, events);
}

void work_done(struct work *w, int status)
{
	graph_done(w->tenant->graph, &w->graph, status);
	work_report(w, status);
}
