/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation, destruction and queries of the bridge. */
#include "bridge/bridge.h"

#include <assert.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "bridge/internal.h"

#define PAGE 4096u

static bool options_complete(struct bridge_options *o)
{
	o->buffers = o->buffers ? o->buffers : BRIDGE_BUFFERS;
	o->fills = o->fills ? o->fills : o->buffers;
	o->dmas = o->dmas ? o->dmas : BRIDGE_DMAS;
	/* Its sum with any time must not overflow. */
	o->stall_ns = min_u64(o->stall_ns ? o->stall_ns : BRIDGE_STALL_NS, UINT64_MAX / 4);
	return o->to_device && o->from_device && o->buffers <= BRIDGE_BUFFERS_MAX &&
	       o->fills <= o->buffers && o->dmas <= BRIDGE_BUFFERS_MAX &&
	       o->buffer_bytes >= BRIDGE_BUFFER_MIN && o->buffer_bytes <= BRIDGE_BUFFER_MAX &&
	       o->buffer_bytes % PAGE == 0;
}

static void lists_init(struct bridge *b)
{
	list_init(&b->free);
	list_init(&b->core);
	list_init(&b->clock);
	list_init(&b->all);
	list_init(&b->streams);
	list_init(&b->ended);
	list_init(&b->waiting);
	list_init(&b->expected);
	for (int i = 0; i < BRIDGE_STEPS; i++)
		list_init(&b->ready[i]);
	for (int i = 0; i < LINES; i++)
		list_init(&b->lines[i]);
	for (size_t i = 0; i < PIECES_MAX; i++) {
		list_last(&b->free, &b->pieces[i].queue);
		list_init(&b->pieces[i].core_link);
		list_init(&b->pieces[i].clock);
		list_init(&b->pieces[i].sibling);
	}
}

int bridge_create(const struct bridge_options *options, struct bridge **out)
{
	struct bridge_options o = *options;

	if (!options_complete(&o))
		return DXP_EINVAL;
	struct bridge *b = calloc(1, sizeof(*b));
	if (!b)
		return DXP_ENOMEM;
	b->o = o;
	b->again_ns = UINT64_MAX;
	ring_init(&b->rings[RING_TO_DEVICE], RING_TO_DEVICE, o.to_device, o.buffers,
		  o.buffer_bytes);
	ring_init(&b->rings[RING_FROM_DEVICE], RING_FROM_DEVICE, o.from_device, o.buffers,
		  o.buffer_bytes);
	lists_init(b);
	*out = b;
	return DXP_OK;
}

void bridge_destroy(struct bridge *b)
{
	if (!b)
		return;
	assert(b->outstanding == 0);
	while (list_used(&b->all)) {
		struct bridge_transfer *t = CONTAINER_OF(b->all.next, struct bridge_transfer, all);
		list_remove(&t->all);
		free(t);
	}
	free(b);
}

uint32_t bridge_buffer_bytes(const struct bridge *b)
{
	return b->o.buffer_bytes;
}

uint32_t bridge_buffers(const struct bridge *b)
{
	return b->o.buffers;
}

static uint32_t used(const struct ring *r)
{
	return r->count - r->free;
}

void bridge_buffers_used(const struct bridge *b, uint32_t *to_device, uint32_t *from_device)
{
	*to_device = used(&b->rings[RING_TO_DEVICE]);
	*from_device = used(&b->rings[RING_FROM_DEVICE]);
}

uint32_t bridge_transfers(const struct bridge *b)
{
	return b->transfers;
}

const struct bridge_counters *bridge_counters(const struct bridge *b)
{
	return &b->counters;
}
