/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/bulk.h"

#include <assert.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "xpu/slot_internal.h"

/* An outstanding FILL or DRAIN step. */
struct bulk_step {
	struct pump *pump;
	uint32_t id;
};

static void step_ended(void *context, int status)
{
	struct bulk_step *step = context;
	struct bulk_step s = *step;

	free(step);
	/* RLTP detects a dead peer before the node table: its timeout means a lost peer. */
	pump_done(s.pump, s.id, status == DXP_ETIMEDOUT ? DXP_EPEERLOST : status, clock_now_ns());
}

static int fill_start(struct bulk *h, const struct bridge_action *a, struct bulk_step *step)
{
	const struct outbox_piece piece = {
		bridged_local(h->slot->bridged, a->in, a->bytes),
		{.offset = h->from_address + a->at, .bytes = a->bytes, .key = h->from_key}};

	return outbox_get(h->slot->outbox, &h->to, &piece, step_ended, step);
}

static int drain_start(struct bulk *h, const struct bridge_action *a, struct bulk_step *step)
{
	const struct outbox_piece piece = {
		bridged_local(h->slot->bridged, a->out, a->bytes),
		{.offset = h->to_address + a->at, .bytes = a->bytes, .key = h->to_key}};
	int status = outbox_put(h->slot->outbox, h->kind, &h->to, &piece, step_ended, step);

	if (status != DXP_OK)
		return status;
	h->handed += a->bytes;
	if (h->handed == h->bytes && h->posted)
		h->posted(h);
	return DXP_OK;
}

/* DXP_EAGAIN: out of memory; the pump retries it later. */
static int bulk_step(struct pump_transfer *t, const struct bridge_action *a)
{
	struct bulk *h = CONTAINER_OF(t, struct bulk, pump);
	struct bulk_step *step = malloc(sizeof(*step));

	if (!step)
		return DXP_EAGAIN;
	*step = (struct bulk_step){bridged_pump(h->slot->bridged), a->id};
	int status = a->step == BRIDGE_FILL ? fill_start(h, a, step) : drain_start(h, a, step);
	if (status != DXP_OK)
		free(step);
	return status == DXP_ENOMEM ? DXP_EAGAIN : status;
}

static void bulk_ended(struct pump_transfer *t, const struct bridge_end *end)
{
	struct bulk *h = CONTAINER_OF(t, struct bulk, pump);

	h->ended(h, end);
}

static bool bulk_patient(const struct pump_transfer *t)
{
	const struct bulk *h = CONTAINER_OF(t, struct bulk, pump);

	return node_silent_since(h->slot->node, h->to.node) != 0;
}

static void bulk_stuck(struct pump_transfer *t)
{
	struct bulk *h = CONTAINER_OF(t, struct bulk, pump);

	slot_peer_stuck(h->slot, h->to.node);
}

int bulk_begin(struct bulk *h)
{
	const struct bridge_order order = {
		.path = h->path,
		.mode = h->mode,
		.bytes = h->bytes,
		.piece_bytes = h->piece_bytes,
	};

	assert(h->path == BRIDGE_IN || h->path == BRIDGE_OUT || h->path == BRIDGE_THROUGH);
	h->handed = 0;
	if (!h->slot->bridged)
		return bulk_direct_begin(h);
	h->pump = (struct pump_transfer){
		.device_from = h->address,
		.device_to = h->address,
		.owner = h->owner,
		.step = bulk_step,
		.ended = bulk_ended,
		.stuck = bulk_stuck,
		.patient = bulk_patient,
	};
	return pump_begin(bridged_pump(h->slot->bridged), &h->pump, &order, clock_now_ns());
}

void bulk_cancel(struct bulk *h, int status)
{
	if (h->slot->bridged)
		pump_cancel(bridged_pump(h->slot->bridged), &h->pump, status);
	else
		bulk_direct_cancel(h, status);
}
