/* SPDX-License-Identifier: BSD-3-Clause */
/* SEND, SIGNAL and the registers' task: write local data into another xPU's memory, then send the
 * event.
 *
 * To save a round trip, the event may follow the data on the same queue pair before the data is
 * acknowledged, after an earlier successful PUT with the same key, to the same bytes, of the same
 * incarnation. This PUT then fails only if the host has freed the bytes since, and harms only this
 * host. A PUT behind DMA may still fail, so its event waits for its completion. */
#include <stdlib.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "xpu/slot_internal.h"

struct transfer {
	struct tenant *tenant;
	struct work *work; /* NULL: the host's task */
	struct dxp_target to;
	uint64_t incarnation; /* of the peer */
	bool to_bridged;      /* only DMA can access the peer's memory */
	uint64_t from, destination, bytes;
	uint32_t key;
	uint32_t pending; /* incomplete messages */
	bool notified;    /* the event was queued */
	bool event_lost;  /* has not arrived */
	int status;
	struct bulk bulk; /* BRIDGED source: reads by DMA, then PUTs */
};

static struct known_key *known_slot(const struct transfer *f)
{
	uint64_t mixed =
		(f->destination ^ (uint64_t)f->key << 32 ^ f->to.node) * 0x9e3779b97f4a7c15;

	return &f->tenant->slot->known[mixed >> 32 & (KNOWN_KEYS - 1)];
}

static bool key_known(const struct transfer *f)
{
	const struct known_key *k = known_slot(f);

	return !f->to_bridged && k->node == f->to.node && k->key == f->key &&
	       k->incarnation == f->incarnation && k->address == f->destination &&
	       k->bytes >= f->bytes;
}

static void key_remember(const struct transfer *f)
{
	struct known_key fresh = {.node = f->to.node,
				  .key = f->key,
				  .incarnation = f->incarnation,
				  .address = f->destination,
				  .bytes = f->bytes};

	if (!key_known(f))
		*known_slot(f) = fresh;
}

static void task_end(struct tenant *t, int status)
{
	t->task.status = status == DXP_OK ? CFG_TASK_DONE : (uint32_t)status;
	t->task.count++;
	slot_error_note(t->slot, status);
}

static void transfer_end(struct transfer *f)
{
	struct tenant *t = f->tenant;

	if (f->bytes)
		arena_drop(t->slot->arena, f->from);
	if (f->status == DXP_OK)
		t->slot->counters.sent_bytes += f->bytes;
	t->busy--;
	if (!f->work) {
		task_end(t, f->status);
	} else {
		f->work->ended_ns = clock_now_ns();
		if (f->notified && !f->event_lost)
			f->work->to_node = 0; /* otherwise work_done() sends it again */
		work_done(f->work, f->status);
	}
	free(f);
}

static void event_ended(void *context, int status);

static void event_put(struct transfer *f)
{
	struct work *w = f->work;
	const struct command_event e = {
		.event = w->graph.event,
		.queued_ns = w->queued_ns,
		.started_ns = w->started_ns,
		.ended_ns = clock_now_ns(),
	};

	if (reply_event_notify(f->tenant->slot, &f->to, &e, event_ended, f) != DXP_OK) {
		f->status = DXP_ENOMEM;
		return;
	}
	f->notified = true;
	f->pending++;
}

static bool event_due(const struct transfer *f)
{
	return f->work && f->work->graph.event && !f->notified && !f->tenant->gone &&
	       f->status == DXP_OK;
}

static void one_ended(struct transfer *f)
{
	if (--f->pending > 0)
		return;
	if (f->bytes && f->status == DXP_OK)
		key_remember(f);
	if (event_due(f))
		event_put(f);
	if (f->pending == 0)
		transfer_end(f);
}

static void event_ended(void *context, int status)
{
	struct transfer *f = context;

	f->event_lost = status != DXP_OK;
	one_ended(f);
}

static void message_ended(void *context, int status)
{
	struct transfer *f = context;

	/* RLTP detects a dead peer before the node table: its timeout means a lost peer. */
	if (status == DXP_ETIMEDOUT)
		status = DXP_EPEERLOST;
	if (f->status == DXP_OK)
		f->status = status;
	one_ended(f);
}

/* All data is in the outbox. */
static void event_early(struct transfer *f)
{
	if ((f->bytes == 0 || key_known(f)) && event_due(f))
		event_put(f);
}

static void bulk_posted(struct bulk *h)
{
	event_early(CONTAINER_OF(h, struct transfer, bulk));
}

static void bulk_ended(struct bulk *h, const struct bridge_end *end)
{
	struct transfer *f = CONTAINER_OF(h, struct transfer, bulk);
	int status = bridged_end_status(end);

	if (status != DXP_OK && end->step == BRIDGE_DMA_OUT)
		tenant_complain(
			f->tenant, "SEND of %llu bytes to node %u: %s failed at byte %llu: %s",
			(unsigned long long)f->bytes, f->to.node, bridged_step_name(end->step),
			(unsigned long long)end->at, bridged_end_text(end));
	if (f->work)
		tenant_bulks_add(f->tenant, -1);
	message_ended(f, status);
}

static void bulk_put(struct transfer *f)
{
	f->bulk = (struct bulk){
		.slot = f->tenant->slot,
		.to = f->to,
		.kind = OUTBOX_PEER,
		.path = BRIDGE_OUT,
		.bytes = f->bytes,
		.address = f->from,
		.to_key = f->key,
		.to_address = f->destination,
		.posted = bulk_posted,
		.ended = bulk_ended,
	};
	f->status = bulk_begin(&f->bulk);
	f->pending += f->status == DXP_OK;
	if (f->work && f->status == DXP_OK)
		tenant_bulks_add(f->tenant, 1);
}

static void data_put(struct transfer *f)
{
	struct slot *s = f->tenant->slot;

	if (s->bridged && f->bytes) {
		bulk_put(f);
		return;
	}
	for (uint64_t at = 0; at < f->bytes && f->status == DXP_OK; at += XPU_PUT_BYTES) {
		uint32_t bytes = (uint32_t)min_u64(f->bytes - at, XPU_PUT_BYTES);
		const struct outbox_piece piece = {
			{.offset = f->from + at, .bytes = bytes, .key = f->tenant->memory_key},
			{.offset = f->destination + at, .bytes = bytes, .key = f->key}};
		f->status = outbox_put(s->outbox, OUTBOX_PEER, &f->to, &piece, message_ended, f);
		f->pending += f->status == DXP_OK;
	}
}

static void transfer_run(struct transfer *f)
{
	f->tenant->busy++;
	data_put(f);
	if (f->bytes == 0 || !f->tenant->slot->bridged)
		event_early(f);
	if (f->pending == 0)
		transfer_end(f);
}

/* Checks the peer and the ranges, and holds the source range. */
static int transfer_prepare(struct transfer *f, uint16_t node)
{
	struct slot *s = f->tenant->slot;
	struct node_entry peer;
	int status = slot_peer(s, node, &peer, &f->to);

	if (status != DXP_OK)
		return status;
	f->incarnation = peer.incarnation;
	f->to_bridged = peer.capabilities & MANAGE_CAPABILITY_BRIDGED;
	if (f->bytes > peer.memory_bytes || f->destination > peer.memory_bytes - f->bytes)
		return DXP_ERANGE;
	return f->bytes ? arena_hold(s->arena, f->tenant->owner, f->from, f->bytes, NULL) : DXP_OK;
}

void transfer_start(struct work *w)
{
	struct transfer *f = calloc(1, sizeof(*f));
	const struct network_command *c = work_network(w);

	if (!f) {
		work_done(w, DXP_ENOMEM);
		return;
	}
	w->started_ns = clock_now_ns();
	f->tenant = w->tenant;
	f->work = w;
	if (w->op == COMMAND_SEND) {
		f->from = c->address;
		f->destination = c->to_address;
		f->bytes = c->bytes;
		f->key = c->to_key;
	}
	int status = transfer_prepare(f, c->to_node);
	if (status == DXP_OK) {
		transfer_run(f);
		return;
	}
	free(f);
	work_done(w, status);
}

void transfer_task_start(struct tenant *t)
{
	struct transfer *f = calloc(1, sizeof(*f));
	int status = f ? DXP_OK : DXP_ENOMEM;

	t->task.status = CFG_TASK_BUSY;
	if (f) {
		f->tenant = t;
		f->from = t->task.source;
		f->destination = t->task.destination;
		f->bytes = t->task.bytes;
		f->key = t->task.key;
		status = t->task.node > WIRE_NODE_LAST
				 ? DXP_ENOENT
				 : transfer_prepare(f, (uint16_t)t->task.node);
	}
	if (status == DXP_OK) {
		transfer_run(f);
		return;
	}
	free(f);
	task_end(t, status);
}
