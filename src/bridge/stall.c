/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that take too long. They stay under way, and their buffers taken, until their owner says
 * that they have ended; only the transfer has failed. */
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
	return min_u64(min_u64(min_u64(b->again_ns, hunger_ns), call_deadline(b)),
		       p ? p->since_ns + b->o.stall_ns : UINT64_MAX);
}

static bool is_dma(const struct piece *p)
{
	return p->step != BRIDGE_FILL && p->step != BRIDGE_DRAIN;
}

bool bridge_expire(struct bridge *b, uint64_t now_ns)
{
	struct piece *p;
	bool dma = false;

	b->now_ns = now_ns;
	while ((p = oldest(b)) && p->since_ns + b->o.stall_ns <= now_ns) {
		struct bridge_transfer *t = p->transfer;
		list_remove(&p->clock);
		dma = dma || is_dma(p);
		b->counters.stalls++;
		if (t->status == DXP_OK)
			transfer_fail(t, DXP_ETIMEDOUT, p->step, p->at);
		transfer_settle(t);
	}
	return dma;
}
