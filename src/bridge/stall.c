/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that stall fail their transfer at once. Outstanding steps, and their buffers, stay in use
 * until the owner completes them. */
#include <dxp/status.h>

#include "bridge/internal.h"

static struct piece *oldest(const struct bridge *b)
{
	return list_used(&b->clock) ? CONTAINER_OF(b->clock.next, struct piece, clock) : NULL;
}

uint64_t bridge_deadline(const struct bridge *b)
{
	const struct piece *p = oldest(b);
	uint64_t hunger_ns = UINT64_MAX;

	if (feed_kept(b) > 0 && list_used(&b->lines[LINE_IN]))
		hunger_ns = b->hunger_until_ns;
	return min_u64(min_u64(min_u64(b->again_ns, hunger_ns), grant_deadline(b)),
		       p ? p->since_ns + b->o.stall_ns : UINT64_MAX);
}

static bool is_dma(const struct piece *p)
{
	return p->step != BRIDGE_FILL && p->step != BRIDGE_DRAIN;
}

/* Doubles the time once: the peer may wait for a stalled device itself, and must report that
 * first. */
static bool network_waits(struct bridge *b, struct piece *p)
{
	if (!p->outstanding || is_dma(p) || p->overdue > 0)
		return false;
	p->overdue = 1;
	piece_watch(b, p);
	return true;
}

/* Restarts the time limit while the peer is silent with a kept session, and once when it is
 * back. */
static bool peer_waits(struct bridge *b, struct piece *p)
{
	bool patient = !is_dma(p) && b->o.patient && b->o.patient(p->transfer->order.context);

	if (!patient && !p->waited)
		return false;
	p->waited = patient;
	p->overdue = 0;
	piece_watch(b, p);
	return true;
}

/* A network step may never complete, so it is still watched; a reset of its device completes a
 * DMA. */
static void network_watch(struct bridge *b, struct piece *p)
{
	if (!p->outstanding || is_dma(p))
		return;
	p->overdue = 2;
	p->stuck = true;
	piece_watch(b, p);
}

bool bridge_expire(struct bridge *b, uint64_t now_ns)
{
	struct piece *p;
	bool dma = false;

	b->now_ns = now_ns;
	while ((p = oldest(b)) && p->since_ns + b->o.stall_ns <= now_ns) {
		struct bridge_transfer *t = p->transfer;
		list_remove(&p->clock);
		if (peer_waits(b, p) || network_waits(b, p))
			continue;
		dma = dma || is_dma(p);
		b->counters.stalls += p->overdue < 2;
		network_watch(b, p);
		if (t->status == DXP_OK)
			transfer_fail(t, DXP_ETIMEDOUT, p->step, p->at);
		transfer_settle(t);
	}
	return dma;
}

bool bridge_stuck(struct bridge *b, void **context)
{
	for (size_t i = 0; i < PIECES_MAX; i++) {
		struct piece *p = &b->pieces[i];
		if (!p->stuck)
			continue;
		p->stuck = false;
		*context = p->transfer->order.context;
		return true;
	}
	return false;
}
