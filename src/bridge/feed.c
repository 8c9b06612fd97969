/* SPDX-License-Identifier: BSD-3-Clause */
/* Fed transfers: the host sends their bytes. A packet cannot wait inside bridge_feed(), and packets
 * overtake each other, so a buffer may be partly filled. If all were, and the missing bytes needed
 * further buffers, nothing could continue. Two rules prevent this.
 *
 * Reserve: feed_reserve() buffers, as many as one transfer needs to continue if it misses no
 * earlier byte. Only the holder of the token may use them, for bytes before which none is missing.
 * So at most its last buffer is partly filled; the device empties the others. The token is free
 * when feed_reserve() buffers are free and not promised, or its holder has no incomplete block and
 * no unused grant (grant.c).
 *
 * Hunger: buffers go alternately to fed and to pulled transfers; otherwise pulled ones would get
 * each free buffer, and a sender that retries now and then none. */
#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "bridge/internal.h"

uint32_t feed_kept(const struct bridge *b)
{
	if (!b->pulled_last)
		return 0;
	if (list_used(&b->waiting))
		return 1 + feed_reserve(b);
	return b->now_ns < b->hunger_until_ns ? b->hunger : 0;
}

static uint32_t part_of(const struct bridge_transfer *t, uint64_t block, uint64_t at,
			uint32_t bytes)
{
	uint64_t from = block * t->cut.piece;
	uint64_t to = from + feed_block_bytes(t, block);

	return (uint32_t)(min_u64(to, at + bytes) - max_u64(from, at));
}

/* Counts the blocks that these bytes begin, except granted ones. DXP_EMALFORMED: a byte had arrived
 * before; DXP_EAGAIN: too far ahead of the first incomplete block. */
static int survey(struct bridge_transfer *t, uint64_t at, uint32_t bytes, uint32_t *begins)
{
	uint64_t last = (at + bytes - 1) / t->cut.piece;

	*begins = 0;
	for (uint64_t block = at / t->cut.piece; block <= last; block++) {
		if (block >= t->settled + BRIDGE_FED_BLOCKS)
			return DXP_EAGAIN;
		if (feed_is_settled(t, block))
			return DXP_EMALFORMED;
		const struct piece *p = feed_piece(t, block);
		if (p && p->bytes - p->filled < part_of(t, block, at, bytes))
			return DXP_EMALFORMED;
		*begins += !p && block >= t->granted;
	}
	return DXP_OK;
}

/* Acquires the token (see the head of this file) if necessary. */
static bool admit(struct bridge_transfer *t, uint32_t begins, bool first)
{
	struct bridge *b = t->bridge;
	uint32_t free = b->rings[RING_TO_DEVICE].free - b->promised;
	bool line = list_used(&b->waiting);
	uint32_t reserve = feed_reserve(b);

	if (feed_token_free(b))
		b->token = NULL;
	if (begins == 0 || (!line && free >= begins + reserve))
		return true;
	/* While others wait for grants, joins them, if it can, instead of using the reserve. */
	bool joins = line && grant_may(t) && !list_used(&t->wait);
	bool in_reserve = first && !joins && (!b->token || b->token == t);
	if (in_reserve && free >= begins) {
		b->token = t;
		return true;
	}
	b->counters.no_buffer++;
	b->hunger = (uint32_t)min_u64(in_reserve ? begins : begins + reserve, b->o.buffers);
	b->hunger_until_ns = b->now_ns + BRIDGE_HUNGER_NS;
	return false;
}

static struct piece *block_begin(struct bridge_transfer *t, uint64_t block)
{
	struct bridge *b = t->bridge;
	struct piece *p =
		piece_allocate(t, block * t->cut.piece, (uint32_t)feed_block_bytes(t, block));

	p->step = BRIDGE_FILL;
	p->in = ring_buffer_get(&b->rings[RING_TO_DEVICE]);
	b->pulled_last = false;
	grant_begun(t, block);
	t->open++;
	b->open++;
	return p;
}

static void block_fill(struct bridge_transfer *t, struct piece *p, uint32_t offset,
		       const uint8_t *data, uint32_t bytes)
{
	struct bridge *b = t->bridge;
	struct ring *to = &b->rings[RING_TO_DEVICE];

	memcpy(ring_at(to, p->in) + offset, data, bytes);
	p->filled += bytes;
	if (p->filled < p->bytes) {
		/* Only after 1/BRIDGE_FED_STEPS of the block; otherwise single bytes could hold a
		 * buffer forever. */
		if (!list_used(&p->clock) ||
		    p->filled - p->watched >= p->bytes / BRIDGE_FED_STEPS) {
			piece_watch(b, p);
			p->watched = p->filled;
		}
		return;
	}
	list_remove(&p->clock);
	t->open--;
	b->open--;
	b->counters.pieces[BRIDGE_FILL]++;
	b->counters.bytes[BRIDGE_FILL] += p->bytes;
	ring_move(to, p->in, BUFFER_FULL);
	piece_wait(b, p, BRIDGE_DMA_IN);
}

static void place(struct bridge_transfer *t, uint64_t at, const uint8_t *data, uint32_t bytes)
{
	while (bytes > 0) {
		uint64_t block = at / t->cut.piece;
		uint32_t part = part_of(t, block, at, bytes);
		struct piece *p = feed_piece(t, block);
		block_fill(t, p ? p : block_begin(t, block), (uint32_t)(at % t->cut.piece), data,
			   part);
		at += part;
		data += part;
		bytes -= part;
	}
}

int bridge_feed(struct bridge *b, struct bridge_transfer *t, uint64_t at, const uint8_t *data,
		uint32_t bytes, bool first, uint64_t now_ns)
{
	uint32_t begins;

	assert(t->bridge == b && t->order.fed);
	b->now_ns = now_ns;
	if (t->status != DXP_OK)
		return t->status;
	if (at > t->order.bytes || bytes > t->order.bytes - at)
		return DXP_ERANGE;
	if (bytes == 0)
		return DXP_OK;
	int status = survey(t, at, bytes, &begins);
	if (status == DXP_EMALFORMED) {
		transfer_fail(t, status, BRIDGE_FILL, at);
		transfer_settle(t);
	}
	if (status != DXP_OK)
		return status;
	if (!admit(t, begins, first)) {
		if (!grant_may(t))
			return DXP_EAGAIN;
		t->first = t->first || first;
		grant_wait(t);
		return DXP_EBUSY;
	}
	grant_fed(t);
	place(t, at, data, bytes);
	return DXP_OK;
}
