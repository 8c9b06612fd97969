/* SPDX-License-Identifier: BSD-3-Clause */
/* Grants buffers to fed transfers that found none and wait in a queue: a buffer is reserved for the
 * next block of the first one, and its sender is notified. Without grants, senders would retry in
 * vain, less and less often, with an idle device.
 *
 * While transfers are queued, only they, and those that cannot get grants, may begin blocks without
 * a grant, so none overtakes them. Senders are served fairly, whatever their number of transfers.
 * An unused grant is withdrawn after a time: its notification may be lost, or the sender gone. If
 * bytes arrive later, the transfer joins the end of the queue, and its next grant lasts longer.
 *
 * Invariants: free buffers towards the device >= promised. Blocks before `granted` have begun or
 * are granted. Buffers of the reserve (feed.c) are granted only to the transfer that gets the
 * token, or while no block is incomplete or granted; so it waits for no other. */
#include "bridge/internal.h"

#include <assert.h>

static uint32_t unpromised(const struct bridge *b)
{
	return b->rings[RING_TO_DEVICE].free - b->promised;
}

bool grant_may(const struct bridge_transfer *t)
{
	return t->order.unit != 0 && t->cut.piece % t->order.unit == 0;
}

uint32_t bridge_block_bytes(const struct bridge_transfer *t)
{
	return grant_may(t) ? t->cut.piece : 0;
}

/* Virtual start time in bytes (start-time fair queueing, Goyal and others 1996): that of queued
 * transfers of the same source; else the later of the queue's virtual time and the transfer's
 * previous start. */
static uint64_t line_start(const struct bridge *b, const struct bridge_transfer *t)
{
	for (const struct list *l = b->waiting.next; l != &b->waiting; l = l->next) {
		const struct bridge_transfer *other = CONTAINER_OF(l, struct bridge_transfer, wait);
		if (other->order.source == t->order.source)
			return other->virtual_start;
	}
	return max_u64(t->virtual_start, b->virtual_start);
}

/* A transfer is in the queue while some of its blocks have no grant, unless `doubt` is set. It is
 * in bridge.expected from its first rejection on. */
static void grant_settle(struct bridge_transfer *t)
{
	struct bridge *b = t->bridge;
	bool want = !t->doubt && t->granted < feed_blocks(t);

	if (!list_used(&t->expected))
		list_last(&b->expected, &t->expected);
	if (!want)
		list_remove(&t->wait);
	if (!want || list_used(&t->wait))
		return;
	t->virtual_start = line_start(b, t);
	list_last(&b->waiting, &t->wait);
}

void grant_wait(struct bridge_transfer *t)
{
	assert(grant_may(t));
	if (!t->granted_only)
		t->granted = feed_unbegun(t, t->settled);
	t->granted_only = true;
	grant_fed(t);
}

/* Charges a block to the transfer's source. The charge is at least BRIDGE_PIECE_MIN bytes, because
 * a short block also costs a buffer and the device's latency. */
static void transfer_charge(struct bridge_transfer *t)
{
	struct bridge *b = t->bridge;
	uint64_t left = t->order.bytes - t->granted * t->cut.piece;

	b->virtual_start = t->virtual_start;
	t->virtual_start += max_u64(min_u64(left, t->cut.piece), BRIDGE_PIECE_MIN);
	for (struct list *l = b->waiting.next; l != &b->waiting; l = l->next) {
		struct bridge_transfer *other = CONTAINER_OF(l, struct bridge_transfer, wait);
		if (other->order.source == t->order.source)
			other->virtual_start = t->virtual_start;
	}
}

static struct bridge_transfer *next_by_fairness(const struct bridge *b)
{
	struct bridge_transfer *next = NULL;

	for (struct list *l = b->waiting.next; l != &b->waiting; l = l->next) {
		struct bridge_transfer *t = CONTAINER_OF(l, struct bridge_transfer, wait);
		if (!next || t->virtual_start < next->virtual_start)
			next = t;
	}
	return next;
}

/* First in the queue whose earlier bytes have all arrived; NULL: none. */
static struct bridge_transfer *next_first(const struct bridge *b)
{
	for (struct list *l = b->waiting.next; l != &b->waiting; l = l->next) {
		struct bridge_transfer *t = CONTAINER_OF(l, struct bridge_transfer, wait);
		if (t->first)
			return t;
	}
	return NULL;
}

/* `count` grants were used or withdrawn. */
static void promises_end(struct bridge_transfer *t, uint32_t count)
{
	t->promised -= count;
	t->bridge->promised -= count;
}

void grant_begun(struct bridge_transfer *t, uint64_t block)
{
	if (!t->granted_only)
		return;
	if (block < t->granted)
		promises_end(t, 1);
	else
		/* the sender may now send the rest of this block */
		t->notify = true;
	t->granted = feed_unbegun(t, t->granted);
}

void grant_fed(struct bridge_transfer *t)
{
	if (!t->granted_only)
		return;
	t->granted_ns = t->bridge->now_ns;
	t->doubt = false;
	grant_settle(t);
}

void grant_forget(struct bridge_transfer *t)
{
	promises_end(t, t->promised);
	list_remove(&t->wait);
	list_remove(&t->expected);
	if (t->bridge->token == t)
		t->bridge->token = NULL;
}

static bool expects(const struct bridge_transfer *t)
{
	return t->doubt || t->notify || t->promised + t->open > 0;
}

static uint64_t patience_end(const struct bridge_transfer *t)
{
	if (!expects(t))
		return UINT64_MAX;
	return t->notify ? 0 : t->granted_ns + (BRIDGE_GRANT_NS << t->patience);
}

static uint64_t patience_next(const struct bridge *b)
{
	uint64_t next_ns = UINT64_MAX;

	for (const struct list *l = b->expected.next; l != &b->expected; l = l->next)
		next_ns = min_u64(next_ns,
				  patience_end(CONTAINER_OF(l, struct bridge_transfer, expected)));
	return next_ns;
}

/* Returns a transfer whose sender must be notified again, without a new grant; NULL: none. */
static struct bridge_transfer *expected_next(const struct bridge *b)
{
	for (struct list *l = b->expected.next; l != &b->expected; l = l->next) {
		struct bridge_transfer *t = CONTAINER_OF(l, struct bridge_transfer, expected);
		if (patience_end(t) <= b->now_ns)
			return t;
	}
	return NULL;
}

/* Withdraws unused grants; the transfer leaves the queue. At growing intervals, its sender is
 * notified of incomplete blocks, or without any, gets a grant of one packet as a test. */
static uint64_t doubt(struct bridge_transfer *t)
{
	struct bridge *b = t->bridge;
	uint32_t more = t->open > 0 ? 0 : t->order.unit;

	b->counters.withdrawn += t->promised > 0;
	promises_end(t, t->promised);
	t->doubt = true;
	t->patience += t->patience < BRIDGE_GRANT_DOUBLINGS;
	t->granted_ns = b->now_ns;
	t->granted = feed_unbegun(t, t->settled);
	grant_settle(t);
	return t->granted * t->cut.piece + more;
}

static uint64_t grant_repeated(struct bridge_transfer *t)
{
	if (!t->notify)
		return doubt(t);
	t->notify = false;
	return t->granted * t->cut.piece;
}

/* False: only a transfer that waits for no earlier bytes may get a grant, with the token. */
static bool by_fairness(const struct bridge *b)
{
	return unpromised(b) > feed_reserve(b) || (b->promised == 0 && b->open == 0);
}

static bool grantable(const struct bridge *b)
{
	if (!list_used(&b->waiting) || unpromised(b) == 0)
		return false;
	return by_fairness(b) || (feed_token_free(b) && next_first(b));
}

static struct bridge_transfer *line_next(struct bridge *b)
{
	if (by_fairness(b))
		return next_by_fairness(b);
	b->token = next_first(b);
	return b->token;
}

uint64_t grant_deadline(const struct bridge *b)
{
	return grantable(b) ? b->now_ns : patience_next(b);
}

static uint64_t grant_next(struct bridge_transfer *t)
{
	struct bridge *b = t->bridge;

	list_remove(&t->wait);
	transfer_charge(t);
	t->promised++;
	b->promised++;
	b->pulled_last = false;
	t->granted_ns = b->now_ns;
	/* Skips blocks that began before the transfer waited. */
	t->granted = feed_unbegun(t, t->granted + 1);
	grant_settle(t);
	return t->granted * t->cut.piece;
}

bool bridge_granted(struct bridge *b, uint64_t now_ns, struct bridge_grant *out)
{
	b->now_ns = now_ns;
	struct bridge_transfer *t = expected_next(b);
	uint64_t bytes = t ? grant_repeated(t) : 0;
	if (!t && !grantable(b))
		return false;
	if (!t) {
		t = line_next(b);
		bytes = grant_next(t);
	}
	*out = (struct bridge_grant){
		.transfer = t,
		.context = t->order.context,
		.bytes = min_u64(bytes, t->order.bytes),
	};
	return true;
}
