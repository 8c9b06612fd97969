/* SPDX-License-Identifier: BSD-3-Clause */
/* The NIC accesses device memory itself: each piece is one GET or PUT. */
#include <stdlib.h>

#include <dxp/status.h>

#include "xpu/slot_internal.h"

static void piece_ended(void *context, int status);

static uint32_t flight_max(const struct bulk *h)
{
	return h->mode == BRIDGE_SEQUENTIAL ? 1 : BRIDGE_BUFFERS;
}

static int piece_start(struct bulk *h, uint32_t bytes)
{
	struct slot *s = h->slot;
	const struct dxp_entry local = {
		.offset = h->address + h->handed, .bytes = bytes, .key = h->key};
	const struct outbox_piece in = {
		local, {.offset = h->from_address + h->handed, .bytes = bytes, .key = h->from_key}};
	const struct outbox_piece out = {
		local, {.offset = h->to_address + h->handed, .bytes = bytes, .key = h->to_key}};

	if (h->path == BRIDGE_IN)
		return outbox_get(s->outbox, &h->to, &in, piece_ended, h);
	return outbox_put(s->outbox, h->kind, &h->to, &out, piece_ended, h);
}

/* Completes the transfer after the last piece. */
static void advance(struct bulk *h)
{
	uint32_t unit = h->piece_bytes ? h->piece_bytes : XPU_BULK_BYTES;

	while (h->end.status == DXP_OK && h->handed < h->bytes && h->flight < flight_max(h)) {
		uint32_t bytes = (uint32_t)min_u64(h->bytes - h->handed, unit);
		h->end.status = piece_start(h, bytes);
		if (h->end.status != DXP_OK)
			break;
		h->handed += bytes;
		h->flight++;
		if (h->handed == h->bytes && h->posted)
			h->posted(h);
	}
	if (h->flight == 0)
		h->ended(h, &h->end);
}

static void piece_ended(void *context, int status)
{
	struct bulk *h = context;

	if (status == DXP_ETIMEDOUT)
		status = DXP_EPEERLOST;
	h->flight--;
	if (status != DXP_OK && h->end.status == DXP_OK) {
		h->end.status = status;
		h->end.step = h->path == BRIDGE_IN ? BRIDGE_FILL : BRIDGE_DRAIN;
	}
	advance(h);
}

int bulk_direct_begin(struct bulk *h)
{
	if (h->path == BRIDGE_THROUGH)
		return DXP_EUNSUPPORTED;
	h->flight = 0;
	h->end = (struct bridge_end){.status = DXP_OK, .step = BRIDGE_STEPS};
	advance(h);
	return DXP_OK;
}

void bulk_direct_cancel(struct bulk *h, int status)
{
	if (h->end.status == DXP_OK)
		h->end.status = status;
	if (h->flight == 0)
		h->ended(h, &h->end);
}
