/* SPDX-License-Identifier: BSD-3-Clause */
/* SEND and SIGNAL of a simulated xPU, with the rules of src/xpu/transfer.c: the event follows the
 * data on the same queue pair. It follows at once if an earlier PUT to the same bytes has
 * succeeded, else after the completion. */
#include <stdlib.h>

#include <dxp/status.h>

#include "base/util.h"
#include "test/support/group_node.h"

struct transfer {
	struct gsim_node *node;
	struct gsim_work *work;
	struct dxp_target to;
	uint64_t from, destination, bytes;
	uint32_t key, pending;
	bool notified, event_lost;
	int status;
};

static struct gsim_known *known_of(const struct transfer *f)
{
	const uint64_t mixed = (f->destination ^ f->to.node) * 0x9e3779b97f4a7c15ull;

	return &f->node->known[mixed >> 32 & (GSIM_KNOWN - 1)];
}

static bool is_known(const struct transfer *f)
{
	const struct gsim_known *k = known_of(f);

	return k->node == f->to.node && k->key == f->key && k->address == f->destination &&
	       k->bytes >= f->bytes;
}

static void transfer_end(struct transfer *f)
{
	struct gsim_work *w = f->work;

	f->node->transfers--;
	if (f->notified && !f->event_lost)
		w->to_node = 0; /* otherwise it is sent again */
	gsim_work_done(w, f->status);
	free(f);
}

static void event_ended(void *context, int status);

static void event_put(struct transfer *f, enum outbox_kind kind)
{
	const struct command_event e = {.event = f->work->graph.event};
	uint8_t data[COMMAND_BYTES_MAX];

	f->status = outbox_nap(f->node->outbox, kind, &f->to, data,
			       (uint32_t)command_event_encode(&e, data), event_ended, f);
	f->notified = f->status == DXP_OK;
	f->pending += f->notified;
}

static bool event_due(const struct transfer *f)
{
	return f->work->graph.event && !f->notified && f->status == DXP_OK && !f->node->dead;
}

static void one_ended(struct transfer *f)
{
	if (--f->pending > 0)
		return;
	if (f->bytes && f->status == DXP_OK && !is_known(f))
		*known_of(f) = (struct gsim_known){f->to.node, f->key, f->destination, f->bytes};
	if (event_due(f))
		event_put(f, OUTBOX_PEER);
	if (f->pending == 0)
		transfer_end(f);
}

static void event_ended(void *context, int status)
{
	struct transfer *f = context;

	f->event_lost = status != DXP_OK;
	one_ended(f);
}

static void data_ended(void *context, int status)
{
	struct transfer *f = context;

	if (status == DXP_ETIMEDOUT)
		status = DXP_EPEERLOST;
	if (f->status == DXP_OK)
		f->status = status;
	one_ended(f);
}

static void data_put(struct transfer *f)
{
	const struct outbox_piece piece = {
		{.offset = f->from, .bytes = (uint32_t)f->bytes, .key = f->node->key},
		{.offset = f->destination, .bytes = (uint32_t)f->bytes, .key = f->key}};

	f->status = outbox_put(f->node->outbox, OUTBOX_PEER, &f->to, &piece, data_ended, f);
	f->pending += f->status == DXP_OK;
}

static void transfer_run(struct transfer *f)
{
	f->node->transfers++;
	/* OUTBOX_HOST uses another queue pair, whose messages have no order with the data. */
	if (f->bytes && f->node->sim->options.defect == GSIM_EVENT_BEFORE_DATA)
		event_put(f, OUTBOX_HOST);
	if (f->bytes)
		data_put(f);
	if ((f->bytes == 0 || is_known(f)) && event_due(f))
		event_put(f, OUTBOX_PEER);
	if (f->pending == 0)
		transfer_end(f);
}

void gsim_transfer_start(struct gsim_work *w)
{
	struct gsim_node *x = w->node;
	static struct command c;
	struct transfer *f = calloc(1, sizeof(*f));

	if (!f || command_decode(w->message, w->message_bytes, &c) != DXP_OK) {
		free(f);
		gsim_work_done(w, DXP_ENOMEM);
		return;
	}
	*f = (struct transfer){.node = x,
			       .work = w,
			       .to = sim_target(x->sim->sim, c.to_node - 1u, 0),
			       .from = c.address,
			       .destination = c.to_address,
			       .bytes = c.op == COMMAND_SEND ? c.bytes : 0,
			       .key = c.to_key};
	if (x->knows_lost[c.to_node - 1]) {
		free(f);
		gsim_work_done(w, DXP_EPEERLOST);
		return;
	}
	transfer_run(f);
}
