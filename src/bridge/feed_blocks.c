/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of fed transfers, and the buffers that they need. */
#include "bridge/internal.h"

uint32_t feed_block_min(const struct bridge *b)
{
	return (uint32_t)min_u64(BRIDGE_PIECE_MIN, b->o.buffer_bytes);
}

uint32_t feed_reserve(const struct bridge *b)
{
	uint32_t block = feed_block_min(b);

	/* blocks of the longest payload, from the last byte of one on */
	return 1 + (WIRE_PAYLOAD_MAX - 1 + block - 1) / block;
}

uint32_t bridge_feed_buffers(const struct bridge *b)
{
	return feed_reserve(b);
}

uint64_t feed_block_bytes(const struct bridge_transfer *t, uint64_t block)
{
	return min_u64(t->cut.piece, t->order.bytes - block * t->cut.piece);
}

uint64_t feed_blocks(const struct bridge_transfer *t)
{
	return t->order.bytes ? (t->order.bytes - 1) / t->cut.piece + 1 : 0;
}

bool feed_complete(const struct bridge_transfer *t)
{
	return t->settled == feed_blocks(t);
}

uint64_t feed_prefix(const struct bridge_transfer *t)
{
	return min_u64(t->settled * t->cut.piece, t->order.bytes);
}

static uint64_t *settled_word(struct bridge_transfer *t, uint64_t block)
{
	return &t->settled_bits[block % BRIDGE_FED_BLOCKS / 64];
}

bool feed_is_settled(struct bridge_transfer *t, uint64_t block)
{
	return block < t->settled || (*settled_word(t, block) >> block % 64 & 1);
}

void feed_placed(struct bridge_transfer *t, const struct piece *p)
{
	uint64_t block = p->at / t->cut.piece;

	*settled_word(t, block) |= 1ull << block % 64;
	while (*settled_word(t, t->settled) >> t->settled % 64 & 1) {
		*settled_word(t, t->settled) &= ~(1ull << t->settled % 64);
		t->settled++;
	}
}

struct piece *feed_piece(struct bridge_transfer *t, uint64_t block)
{
	/* Newest first: bytes mostly arrive in order. */
	for (struct list *l = t->pieces.prev; l != &t->pieces; l = l->prev) {
		struct piece *p = CONTAINER_OF(l, struct piece, sibling);
		if (p->at == block * t->cut.piece)
			return p;
	}
	return NULL;
}

uint64_t feed_unbegun(struct bridge_transfer *t, uint64_t block)
{
	while (feed_is_settled(t, block) || feed_piece(t, block))
		block++;
	return block;
}

bool feed_token_free(const struct bridge *b)
{
	const struct bridge_transfer *t = b->token;

	return !t || t->open + t->promised == 0 ||
	       b->rings[RING_TO_DEVICE].free - b->promised >= feed_reserve(b);
}
