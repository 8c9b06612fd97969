/* SPDX-License-Identifier: BSD-3-Clause */
/* No result for long: is a member late, or dead? A late member answers through its progress thread,
 * a dead one does not. If all have contributed, the switches failed. The query begins after a
 * quarter of the deadline and is judged a quarter later, which leaves half for the agreement
 * (lose.c). */
#include <dxp/status.h>

#include "inc/internal.h"

static bool waits(const struct inc_group *g)
{
	return g->next != g->to_send;
}

uint64_t await_deadline(const struct inc_group *g)
{
	if (!waits(g))
		return UINT64_MAX;
	if (!g->asking)
		return g->progress_ns + g->o.deadline_ns / 4;
	return min_u64(g->asked_ns + g->o.deadline_ns / 4, g->ask_ns);
}

/* Returns true if all others have answered and one of them has not sent the awaited segment. */
static bool somebody_is_late(const struct inc_group *g)
{
	bool late = false;

	for (uint32_t i = 0; i < g->o.count; i++) {
		if (i == g->o.member)
			continue;
		if (!g->peers[i].awaited)
			return false;
		late |= !seq_before(g->next, g->peers[i].to_send);
	}
	return late;
}

static void ask_begin(struct inc_group *g, uint64_t now_ns)
{
	for (uint32_t i = 0; i < g->o.count; i++)
		g->peers[i].awaited = false;
	g->asking = true;
	g->asked_ns = now_ns;
	g->ask_member = 0;
	g->ask_ns = now_ns;
	g->ask_gap_ns = g->o.deadline_ns / 16;
}

void await_check(struct inc_group *g, uint64_t now_ns)
{
	if (!waits(g) || now_ns < g->progress_ns + g->o.deadline_ns / 4)
		return;
	if (!g->asking) {
		ask_begin(g, now_ns);
	} else if (now_ns >= g->asked_ns + g->o.deadline_ns / 4) {
		g->asking = false;
		if (!somebody_is_late(g))
			lose(g, DXP_ETIMEDOUT, now_ns);
		g->progress_ns = now_ns;
	}
}

void await_ask(struct inc_group *g, struct inc_batch *out, uint64_t now_ns)
{
	if (now_ns < g->ask_ns)
		return;
	for (; g->ask_member < g->o.count && !batch_full(out); g->ask_member++)
		if (g->ask_member != g->o.member && !g->peers[g->ask_member].awaited)
			peer_add(g, out, INC_AWAIT, g->ask_member, g->next);
	if (g->ask_member < g->o.count)
		return;
	g->ask_member = 0;
	g->ask_ns = now_ns + g->ask_gap_ns;
}

void await_receive(struct inc_group *g, const struct inc_header *h, const struct inc_peer *from)
{
	struct peer *p = &g->peers[from->member];

	if (h->kind == INC_AWAIT) {
		p->owes_awaited = true;
		g->answers_due = true;
		return;
	}
	p->awaited = true;
	p->to_send = from->next;
}
