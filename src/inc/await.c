/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides, when results are missing, whether a member is late or dead. A late member's progress
 * thread answers queries. If all members have contributed, the switches have failed. The query
 * starts after a quarter of the deadline without a result. Its answers are judged after the second
 * quarter. The other half of the deadline is for the agreement (lose.c). */
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
	if (!g->query_open)
		return g->progress_ns + g->o.deadline_ns / 4;
	return min_u64(g->query_begin_ns + g->o.deadline_ns / 4, g->query_ns);
}

/* Returns true if all other members have answered, and at least one of them has not sent the
 * awaited segment. */
static bool member_is_late(const struct inc_group *g)
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

static void query_begin(struct inc_group *g, uint64_t now_ns)
{
	for (uint32_t i = 0; i < g->o.count; i++)
		g->peers[i].awaited = false;
	g->query_open = true;
	g->query_begin_ns = now_ns;
	g->query_member = 0;
	g->query_ns = now_ns;
	g->query_gap_ns = g->o.deadline_ns / 16;
}

void await_check(struct inc_group *g, uint64_t now_ns)
{
	if (!waits(g) || now_ns < g->progress_ns + g->o.deadline_ns / 4)
		return;
	if (!g->query_open) {
		query_begin(g, now_ns);
	} else if (now_ns >= g->query_begin_ns + g->o.deadline_ns / 4) {
		g->query_open = false;
		if (!member_is_late(g))
			lose_begin(g, DXP_ETIMEDOUT, now_ns);
		g->progress_ns = now_ns;
	}
}

void await_query(struct inc_group *g, struct inc_batch *out, uint64_t now_ns)
{
	if (now_ns < g->query_ns)
		return;
	for (; g->query_member < g->o.count && !batch_full(out); g->query_member++)
		if (g->query_member != g->o.member && !g->peers[g->query_member].awaited)
			lose_peer_add(g, out, INC_AWAIT, g->query_member, g->next);
	if (g->query_member < g->o.count)
		return;
	g->query_member = 0;
	g->query_ns = now_ns + g->query_gap_ns;
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
