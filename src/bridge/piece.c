/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces: state, counts of outstanding steps, time limits. */
#include <assert.h>

#include "bridge/internal.h"

/* the piece's index, and low bits of its count of steps */
#define ID_INDEX_BITS 8
_Static_assert(PIECES_MAX <= 1 << ID_INDEX_BITS, "an id can name every buffer");

struct piece *piece_allocate(struct bridge_transfer *t, uint64_t at, uint32_t bytes)
{
	struct bridge *b = t->bridge;

	assert(list_used(&b->free));
	struct piece *p = CONTAINER_OF(b->free.next, struct piece, queue);
	list_remove(&p->queue);
	list_last(&t->pieces, &p->sibling);
	p->transfer = t;
	p->at = at;
	p->bytes = bytes;
	p->filled = 0;
	p->in = p->out = RING_NONE;
	p->outstanding = p->given_back = p->waited = false;
	p->overdue = 0;
	return p;
}

void piece_buffer_put(struct ring *r, uint8_t *buffer)
{
	if (*buffer != RING_NONE)
		ring_move(r, *buffer, BUFFER_EMPTY);
	*buffer = RING_NONE;
}

void piece_put(struct bridge *b, struct piece *p, bool in_place)
{
	struct bridge_transfer *t = p->transfer;

	assert(!p->outstanding);
	if (p->given_back)
		t->given_back--;
	if (t->order.fed && p->filled < p->bytes) {
		t->open--;
		b->open--;
	}
	b->direct_pieces -= p->step == BRIDGE_DMA_DIRECT;
	if (!in_place)
		t->missing_at = min_u64(t->missing_at, p->at);
	else if (t->order.fed)
		feed_placed(t, p);
	piece_buffer_put(&b->rings[RING_TO_DEVICE], &p->in);
	piece_buffer_put(&b->rings[RING_FROM_DEVICE], &p->out);
	list_remove(&p->queue);
	list_remove(&p->core_link);
	list_remove(&p->clock);
	list_remove(&p->sibling);
	p->transfer = NULL;
	list_first(&b->free, &p->queue);
}

void piece_wait(struct bridge *b, struct piece *p, enum bridge_step step)
{
	p->step = (uint8_t)step;
	list_last(&b->ready[step], &p->queue);
}

void piece_watch(struct bridge *b, struct piece *p)
{
	list_remove(&p->clock);
	p->since_ns = b->now_ns;
	list_last(&b->clock, &p->clock);
}

/* Adds the busy time at each change, because DMAs may follow each other without a gap. */
static void count_dma(struct bridge *b, enum ring_way way, uint32_t by)
{
	struct bridge_counters *c = &b->counters;
	uint64_t *busy_ns = way == RING_TO_DEVICE ? &c->to_device_ns : &c->from_device_ns;

	if (b->dmas[way] > 0)
		*busy_ns += b->now_ns - b->busy_since_ns[way];
	b->busy_since_ns[way] = b->now_ns;
	b->dmas[way] += by;
}

/* `by`: 1 or -1. */
static void count(struct bridge *b, const struct piece *p, int by)
{
	uint32_t n = (uint32_t)by;
	bool core_dma = p->step == BRIDGE_DMA_THROUGH || p->transfer->order.core;

	b->outstanding += n;
	if (p->step == BRIDGE_FILL) {
		b->fills += n;
		if (b->fills > b->counters.fills_most)
			b->counters.fills_most = b->fills;
	}
	if (p->step == BRIDGE_DMA_IN || core_dma)
		count_dma(b, RING_TO_DEVICE, n);
	if (p->step == BRIDGE_DMA_OUT || core_dma)
		count_dma(b, RING_FROM_DEVICE, n);
	if (p->step == BRIDGE_DMA_DIRECT && !core_dma)
		b->direct += n;
}

static void buffers_move(struct bridge *b, const struct piece *p)
{
	struct ring *in = &b->rings[RING_TO_DEVICE], *out = &b->rings[RING_FROM_DEVICE];

	if (p->step == BRIDGE_DMA_IN || p->step == BRIDGE_DMA_THROUGH)
		ring_move(in, p->in, BUFFER_DEVICE);
	if (p->step == BRIDGE_DRAIN)
		ring_move(out, p->out, BUFFER_DRAIN);
}

void piece_begin(struct bridge *b, struct piece *p, struct bridge_action *out)
{
	struct bridge_transfer *t = p->transfer;

	assert(!p->outstanding);
	list_remove(&p->queue);
	if (p->step != BRIDGE_FILL)
		list_remove(&p->core_link);
	t->given_back -= p->given_back;
	p->given_back = false;
	p->outstanding = true;
	p->stuck = p->waited = false;
	p->overdue = 0;
	p->stamp++;
	count(b, p, 1);
	buffers_move(b, p);
	piece_watch(b, p);
	b->offered = p->stamp << ID_INDEX_BITS | (uint32_t)(p - b->pieces);
	*out = (struct bridge_action){
		.transfer = t,
		.context = t->order.context,
		.step = p->step,
		.id = b->offered,
		.bytes = p->bytes,
		.at = p->at,
		.in = ring_at(&b->rings[RING_TO_DEVICE], p->in),
		.out = ring_at(&b->rings[RING_FROM_DEVICE], p->out),
	};
}

struct piece *piece_of(struct bridge *b, uint32_t id)
{
	uint32_t index = id & ((1u << ID_INDEX_BITS) - 1);

	if (index >= PIECES_MAX)
		return NULL;
	struct piece *p = &b->pieces[index];
	uint32_t stamp = p->stamp << ID_INDEX_BITS >> ID_INDEX_BITS;
	return p->outstanding && stamp == id >> ID_INDEX_BITS ? p : NULL;
}

void piece_end(struct bridge *b, struct piece *p)
{
	count(b, p, -1);
	p->outstanding = p->stuck = false;
	list_remove(&p->clock);
}
