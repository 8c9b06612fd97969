/* SPDX-License-Identifier: BSD-3-Clause */
/* Who gets the next buffer of those that are fed and found none. They stand in a line and are
 * called: a buffer is promised for their next block, and whoever sends them is told so. Without,
 * every sender would have to ask again and again, most of them in vain, and the longer they have
 * waited the less often: the device would stand still in the middle of a crowd.
 *
 * While anybody stands in the line, blocks that nobody promised begin only there, so nobody is
 * overtaken. Sources take turns, whatever number of transfers each has in the line. A promise that
 * nobody makes use of is taken back after a while: the word of it may be lost, or its sender gone.
 * The transfer goes to the end of the line, and is given more time when it is called again.
 *
 * Invariants: free buffers towards the device >= promised; blocks of a transfer before `called`
 * have begun, or are promised. Buffers of the reserve (feed.c) are promised only to whoever gets the
 * token, or while no block is incomplete or promised: either waits for itself alone. */
#include "bridge/internal.h"

#include <assert.h>

static uint32_t unpromised(const struct bridge *b)
{
	return b->rings[RING_TO_DEVICE].free - b->promised;
}

bool call_may(const struct bridge_transfer *t)
{
	return t->order.unit != 0 && t->cut.piece % t->order.unit == 0;
}

uint32_t bridge_block_bytes(const struct bridge_transfer *t)
{
	return call_may(t) ? t->cut.piece : 0;
}

/* A source whose transfers have had their turn in this round waits for the next one. */
static bool had_turn(const struct bridge *b, uint32_t source)
{
	for (const struct list *l = b->waiting.next; l != &b->waiting; l = l->next) {
		const struct bridge_transfer *t = CONTAINER_OF(l, struct bridge_transfer, wait);
		if (t->order.source == source)
			return t->round == b->round;
	}
	return false;
}

static void line_join(struct bridge *b, struct bridge_transfer *t)
{
	if (list_used(&t->wait))
		return;
	if (had_turn(b, t->order.source))
		t->round = b->round;
	list_last(&b->waiting, &t->wait);
}

void call_wait(struct bridge_transfer *t)
{
	struct bridge *b = t->bridge;

	assert(call_may(t));
	if (t->promised == 0)
		t->called = feed_unbegun(t, t->settled);
	line_join(b, t);
}

static void turn_had(struct bridge *b, uint32_t source)
{
	for (struct list *l = b->waiting.next; l != &b->waiting; l = l->next) {
		struct bridge_transfer *t = CONTAINER_OF(l, struct bridge_transfer, wait);
		if (t->order.source == source)
			t->round = b->round;
	}
}

static struct bridge_transfer *next_by_turns(struct bridge *b)
{
	for (;; b->round++)
		for (struct list *l = b->waiting.next; l != &b->waiting; l = l->next) {
			struct bridge_transfer *t = CONTAINER_OF(l, struct bridge_transfer, wait);
			if (t->round != b->round)
				return t;
		}
}

/* One that waits for itself alone. */
static struct bridge_transfer *next_first(const struct bridge *b)
{
	for (struct list *l = b->waiting.next; l != &b->waiting; l = l->next) {
		struct bridge_transfer *t = CONTAINER_OF(l, struct bridge_transfer, wait);
		if (t->first)
			return t;
	}
	return NULL;
}

/* Its promises are kept, or taken back. */
static void promises_end(struct bridge_transfer *t, uint32_t count)
{
	t->promised -= count;
	t->bridge->promised -= count;
	if (t->promised == 0)
		list_remove(&t->promise);
}

void call_begun(struct bridge_transfer *t, uint64_t block)
{
	if (block < t->called)
		promises_end(t, 1);
}

void call_fed(struct bridge_transfer *t)
{
	t->called_ns = t->bridge->now_ns;
}

void call_forget(struct bridge_transfer *t)
{
	promises_end(t, t->promised);
	list_remove(&t->wait);
}

static uint64_t patience_end(const struct bridge_transfer *t)
{
	return t->called_ns + (BRIDGE_CALL_NS << t->patience);
}

/* As many as there are buffers at most. */
static uint64_t patience_next(const struct bridge *b)
{
	uint64_t next_ns = UINT64_MAX;

	for (const struct list *l = b->promises.next; l != &b->promises; l = l->next)
		next_ns = min_u64(next_ns, patience_end(CONTAINER_OF(l, struct bridge_transfer,
								     promise)));
	return next_ns;
}

static void promises_expire(struct bridge *b)
{
	struct list *next;

	for (struct list *l = b->promises.next; l != &b->promises; l = next) {
		struct bridge_transfer *t = CONTAINER_OF(l, struct bridge_transfer, promise);
		next = l->next;
		if (b->now_ns < patience_end(t))
			continue;
		promises_end(t, t->promised);
		t->patience += t->patience < BRIDGE_CALL_DOUBLINGS;
		t->called = feed_unbegun(t, t->settled);
		list_remove(&t->wait);
		line_join(b, t);
		b->counters.uncalled++;
	}
}

/* May anybody be called? Else only one that waits for itself alone, in whose hands the reserve then
 * is. */
static bool by_turns(const struct bridge *b)
{
	return unpromised(b) > feed_reserve(b) || (b->promised == 0 && b->open == 0);
}

static bool callable(const struct bridge *b)
{
	if (!list_used(&b->waiting) || unpromised(b) == 0)
		return false;
	return by_turns(b) || (feed_token_free(b) && next_first(b));
}

static struct bridge_transfer *line_next(struct bridge *b)
{
	if (by_turns(b))
		return next_by_turns(b);
	b->token = next_first(b);
	return b->token;
}

uint64_t call_deadline(const struct bridge *b)
{
	return callable(b) ? b->now_ns : patience_next(b);
}

bool bridge_called(struct bridge *b, uint64_t now_ns, struct bridge_call *out)
{
	b->now_ns = now_ns;
	promises_expire(b);
	if (!callable(b))
		return false;
	struct bridge_transfer *t = line_next(b);
	list_remove(&t->wait);
	t->round = b->round;
	turn_had(b, t->order.source);
	if (t->promised++ == 0)
		list_last(&b->promises, &t->promise);
	b->promised++;
	b->pulled_last = false;
	t->called_ns = now_ns;
	/* Some after it may have begun before it had to wait. */
	t->called = feed_unbegun(t, t->called + 1);
	if (t->called < feed_blocks(t))
		list_last(&b->waiting, &t->wait);
	*out = (struct bridge_call){
		.transfer = t,
		.context = t->order.context,
		.bytes = min_u64(t->called * t->cut.piece, t->order.bytes),
	};
	return true;
}
