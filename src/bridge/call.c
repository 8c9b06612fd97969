/* SPDX-License-Identifier: BSD-3-Clause */
/* Grants of buffers to fed transfers that found none. They queue; a buffer is reserved for the next
 * block of one, and its sender is notified. Otherwise every sender would retry mostly in vain, and
 * less often the longer it waits: the device would be idle in spite of many senders.
 *
 * While transfers are queued, blocks without a grant begin only for them, so none is overtaken.
 * Sources are served fairly, however many transfers each has. An unused grant is withdrawn after a
 * time: its notification may be lost, or its sender gone. If bytes arrive later, the transfer joins
 * the end of the queue and its next grant lasts longer.
 *
 * Invariants: free buffers towards the device >= promised; blocks of a transfer before `called`
 * have begun or are granted. Buffers of the reserve (feed.c) are granted only to the transfer that
 * gets the token, or while no block is incomplete or granted: either waits for no other
 * transfer. */
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

/* Returns the virtual start time of a joining transfer, in bytes (start-time fair queueing, Goyal
 * and others 1996): that of its source's queued transfers, or the queue's virtual time. */
static uint64_t line_start(const struct bridge *b, const struct bridge_transfer *t)
{
	for (const struct list *l = b->waiting.next; l != &b->waiting; l = l->next) {
		const struct bridge_transfer *other = CONTAINER_OF(l, struct bridge_transfer, wait);
		if (other->order.source == t->order.source)
			return other->turn;
	}
	return max_u64(t->turn, b->turn);
}

/* Updates the lists of a transfer: in the queue while it lacks blocks, unless in doubt; in
 * bridge.expected from its first refusal on. */
static void call_settle(struct bridge_transfer *t)
{
	struct bridge *b = t->bridge;
	bool want = !t->doubt && t->called < feed_blocks(t);

	if (!list_used(&t->expected))
		list_last(&b->expected, &t->expected);
	if (!want)
		list_remove(&t->wait);
	if (!want || list_used(&t->wait))
		return;
	t->turn = line_start(b, t);
	list_last(&b->waiting, &t->wait);
}

void call_wait(struct bridge_transfer *t)
{
	assert(call_may(t));
	if (!t->told)
		t->called = feed_unbegun(t, t->settled);
	t->told = true;
	call_fed(t);
}

/* A short block costs as much as a longer one: the device's latency and a buffer. So it counts
 * BRIDGE_PIECE_MIN bytes at least. */
static void turn_take(struct bridge_transfer *t)
{
	struct bridge *b = t->bridge;
	uint64_t left = t->order.bytes - t->called * t->cut.piece;

	b->turn = t->turn;
	t->turn += max_u64(min_u64(left, t->cut.piece), BRIDGE_PIECE_MIN);
	for (struct list *l = b->waiting.next; l != &b->waiting; l = l->next) {
		struct bridge_transfer *other = CONTAINER_OF(l, struct bridge_transfer, wait);
		if (other->order.source == t->order.source)
			other->turn = t->turn;
	}
}

static struct bridge_transfer *next_by_turns(const struct bridge *b)
{
	struct bridge_transfer *next = NULL;

	for (struct list *l = b->waiting.next; l != &b->waiting; l = l->next) {
		struct bridge_transfer *t = CONTAINER_OF(l, struct bridge_transfer, wait);
		if (!next || t->turn < next->turn)
			next = t;
	}
	return next;
}

/* Returns the first queued transfer that waits for no other bytes, or NULL. */
static struct bridge_transfer *next_first(const struct bridge *b)
{
	for (struct list *l = b->waiting.next; l != &b->waiting; l = l->next) {
		struct bridge_transfer *t = CONTAINER_OF(l, struct bridge_transfer, wait);
		if (t->first)
			return t;
	}
	return NULL;
}

/* `count` grants are used, or withdrawn. */
static void promises_end(struct bridge_transfer *t, uint32_t count)
{
	t->promised -= count;
	t->bridge->promised -= count;
}

void call_begun(struct bridge_transfer *t, uint64_t block)
{
	if (!t->told)
		return;
	if (block < t->called)
		promises_end(t, 1);
	else
		t->tell = true; /* the rest of the block may come, too */
	t->called = feed_unbegun(t, t->called);
}

void call_fed(struct bridge_transfer *t)
{
	if (!t->told)
		return;
	t->called_ns = t->bridge->now_ns;
	t->doubt = false;
	call_settle(t);
}

void call_forget(struct bridge_transfer *t)
{
	promises_end(t, t->promised);
	list_remove(&t->wait);
	list_remove(&t->expected);
	if (t->bridge->token == t)
		t->bridge->token = NULL;
}

static bool expects(const struct bridge_transfer *t)
{
	return t->doubt || t->tell || t->promised + t->open > 0;
}

static uint64_t patience_end(const struct bridge_transfer *t)
{
	if (!expects(t))
		return UINT64_MAX;
	return t->tell ? 0 : t->called_ns + (BRIDGE_CALL_NS << t->patience);
}

static uint64_t patience_next(const struct bridge *b)
{
	uint64_t next_ns = UINT64_MAX;

	for (const struct list *l = b->expected.next; l != &b->expected; l = l->next)
		next_ns = min_u64(next_ns,
				  patience_end(CONTAINER_OF(l, struct bridge_transfer, expected)));
	return next_ns;
}

/* Returns a transfer whose sender must be notified although it has no new grant. */
static struct bridge_transfer *expected_next(const struct bridge *b)
{
	for (struct list *l = b->expected.next; l != &b->expected; l = l->next) {
		struct bridge_transfer *t = CONTAINER_OF(l, struct bridge_transfer, expected);
		if (patience_end(t) <= b->now_ns)
			return t;
	}
	return NULL;
}

/* Withdraws the grants of a transfer that did not use them. It leaves the queue and is in doubt. At
 * growing intervals its sender is notified again of the open blocks, or granted one packet as a
 * test. */
static uint64_t doubt(struct bridge_transfer *t)
{
	struct bridge *b = t->bridge;
	uint32_t more = t->open > 0 ? 0 : t->order.unit;

	b->counters.uncalled += t->promised > 0;
	promises_end(t, t->promised);
	t->doubt = true;
	t->patience += t->patience < BRIDGE_CALL_DOUBLINGS;
	t->called_ns = b->now_ns;
	t->called = feed_unbegun(t, t->settled);
	call_settle(t);
	return t->called * t->cut.piece + more;
}

static uint64_t tell(struct bridge_transfer *t)
{
	if (!t->tell)
		return doubt(t);
	t->tell = false;
	return t->called * t->cut.piece;
}

/* Returns true if any queued transfer may get a grant. Otherwise only one that waits for no other
 * bytes may; it then owns the reserve. */
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

static uint64_t call(struct bridge_transfer *t)
{
	struct bridge *b = t->bridge;

	list_remove(&t->wait);
	turn_take(t);
	t->promised++;
	b->promised++;
	b->pulled_last = false;
	t->called_ns = b->now_ns;
	/* Blocks after it may have begun before it had to wait. */
	t->called = feed_unbegun(t, t->called + 1);
	call_settle(t);
	return t->called * t->cut.piece;
}

bool bridge_called(struct bridge *b, uint64_t now_ns, struct bridge_call *out)
{
	b->now_ns = now_ns;
	struct bridge_transfer *t = expected_next(b);
	uint64_t bytes = t ? tell(t) : 0;
	if (!t && !callable(b))
		return false;
	if (!t) {
		t = line_next(b);
		bytes = call(t);
	}
	*out = (struct bridge_call){
		.transfer = t,
		.context = t->order.context,
		.bytes = min_u64(bytes, t->order.bytes),
	};
	return true;
}
