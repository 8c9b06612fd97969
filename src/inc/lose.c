/* SPDX-License-Identifier: BSD-3-Clause */
/* Losing a group: all freeze, say what they have, and fetch what any of them has, so that the same
 * results are everywhere. docs/inc.md "Losing a group". */
#include <dxp/status.h>

#include "inc/internal.h"

static uint64_t patience_ns(const struct inc_group *g)
{
	return g->o.deadline_ns / 2;
}

void peer_add(struct inc_group *g, struct inc_batch *out, enum inc_kind kind, uint32_t member,
	      uint32_t next)
{
	uint8_t payload[INC_PEER_BYTES];
	struct inc_peer own = {.member = g->o.member, .next = next};
	struct inc_header h = {
		.src_rank = g->o.member,
		.comm_id = g->o.id,
		.epoch = g->o.epoch,
		.req_id = next,
		.kind = (uint8_t)kind,
	};

	packet_add_inline(g, out, &h, g->o.members[member].ip, g->o.members[member].port, payload,
			  inc_peer_encode(&own, payload));
}

static void ask_again(struct inc_group *g, uint64_t now_ns)
{
	g->ask_member = 0;
	g->ask_ns = now_ns;
	g->ask_gap_ns = INC_FREEZE_NS;
}

void lose(struct inc_group *g, int status, uint64_t now_ns)
{
	if (g->state != GROUP_LIVE)
		return;
	g->state = GROUP_FREEZING;
	g->lost_status = status;
	g->lost_ns = now_ns;
	g->asking = false;
	ask_again(g, now_ns);
}

static bool all_known(const struct inc_group *g)
{
	for (uint32_t i = 0; i < g->o.count; i++)
		if (i != g->o.member && !g->peers[i].known)
			return false;
	return true;
}

/* The largest `next` of all that are heard, and the lowest of those who have it. */
static void common_find(struct inc_group *g, uint64_t now_ns)
{
	g->common = g->next;
	g->source = g->o.count;
	for (uint32_t i = 0; i < g->o.count; i++) {
		if (i == g->o.member || !g->peers[i].known ||
		    !seq_before(g->common, g->peers[i].next))
			continue;
		g->common = g->peers[i].next;
		g->source = i;
	}
	g->lost_ns = now_ns;
	ask_again(g, now_ns);
}

void lose_check(struct inc_group *g, uint64_t now_ns)
{
	bool patient = now_ns - g->lost_ns < patience_ns(g);

	if (g->state == GROUP_FREEZING && (!patient || all_known(g))) {
		g->state = GROUP_FETCHING;
		common_find(g, now_ns);
	} else if (g->state == GROUP_FETCHING && !patient) {
		g->peers[g->source].known = false;
		common_find(g, now_ns);
	}
	if (g->state == GROUP_FETCHING && g->next == g->common) {
		g->state = GROUP_LOST;
		calls_end(g);
	}
}

uint64_t lose_deadline(const struct inc_group *g)
{
	if (g->state == GROUP_FREEZING && all_known(g))
		return 0;
	return min_u64(g->ask_ns, g->lost_ns + patience_ns(g));
}

static void round_over(struct inc_group *g, uint64_t now_ns)
{
	g->ask_member = 0;
	g->ask_ns = now_ns + g->ask_gap_ns;
	g->ask_gap_ns = min_u64(2 * g->ask_gap_ns, INC_FREEZE_MAX_NS);
}

void lose_ask(struct inc_group *g, struct inc_batch *out, uint64_t now_ns)
{
	if (now_ns < g->ask_ns || batch_full(out))
		return;
	if (g->state == GROUP_FETCHING) {
		peer_add(g, out, INC_FETCH, g->source, g->next);
		round_over(g, now_ns);
		return;
	}
	for (; g->ask_member < g->o.count && !batch_full(out); g->ask_member++)
		if (g->ask_member != g->o.member && !g->peers[g->ask_member].known)
			peer_add(g, out, INC_FREEZE, g->ask_member, g->next);
	if (g->ask_member == g->o.count)
		round_over(g, now_ns);
}

/* Nobody can be further from us than the window. */
static bool plausible(const struct inc_group *g, uint32_t next)
{
	return next - g->next <= g->o.window || g->next - next <= g->o.window;
}

static void fetch_note(struct inc_group *g, struct peer *p, uint32_t from)
{
	uint32_t count = g->next - from;

	if (g->state == GROUP_LIVE || count == 0 || count > g->o.window)
		return;
	p->fetch_from = from;
	p->fetched = (uint16_t)min_u64(count, INC_FETCH_MAX);
	g->answers_due = true;
}

void lose_receive(struct inc_group *g, const struct inc_packet *p, const struct inc_peer *from,
		  uint64_t now_ns)
{
	struct peer *peer = &g->peers[from->member];

	if (!plausible(g, from->next)) {
		g->refused++;
		return;
	}
	if (p->header.kind == INC_FETCH) {
		fetch_note(g, peer, from->next);
		return;
	}
	if (p->header.kind == INC_FREEZE) {
		lose(g, DXP_EPEERLOST, now_ns);
		peer->owes_frozen = true;
		g->answers_due = true;
	}
	if (g->state == GROUP_FREEZING) {
		peer->known = true;
		peer->next = from->next;
	}
}

void lose_fetched(struct inc_group *g, const struct inc_packet *p, uint64_t now_ns)
{
	uint32_t s = p->header.req_id;

	if (g->state != GROUP_FETCHING || p->header.src_rank != g->source ||
	    s - g->next >= g->common - g->next || result_here(g, s))
		return;
	struct inc_packet result = *p;
	result.header.kind = INC_DATA;
	if (!result_fits(g, &result.header) || p->payload_bytes > g->o.segment_bytes) {
		g->refused++;
		return;
	}
	result_keep(g, &result);
	calls_deliver(g, now_ns);
	g->lost_ns = now_ns;
	g->ask_gap_ns = INC_FREEZE_NS;
	g->ask_ns = now_ns + g->ask_gap_ns;
}

static void fetched_add(struct inc_group *g, struct inc_batch *out, uint32_t member, uint32_t s)
{
	struct inc_header h = result_place(g, s)->header;
	size_t bytes = h.status ? 0 : h.elements * dxp_inc_type_bytes((enum dxp_inc_type)h.type);

	h.kind = INC_FETCHED;
	h.src_rank = g->o.member;
	if (h.status)
		h.elements = 0;
	packet_add(g, out, &h, g->o.members[member].ip, g->o.members[member].port,
		   bytes ? result_bytes(g, s) : NULL, bytes);
}

/* False: the batch was full before all was said. */
static bool peer_answer(struct inc_group *g, struct inc_batch *out, uint32_t member)
{
	struct peer *p = &g->peers[member];

	if (p->owes_awaited && !batch_full(out)) {
		peer_add(g, out, INC_AWAITED, member, g->to_send);
		p->owes_awaited = false;
	}
	if (p->owes_frozen && !batch_full(out)) {
		peer_add(g, out, INC_FROZEN, member, g->next);
		p->owes_frozen = false;
	}
	for (; p->fetched > 0 && !batch_full(out); p->fetched--, p->fetch_from++)
		if (result_here(g, p->fetch_from))
			fetched_add(g, out, member, p->fetch_from);
	return !p->owes_awaited && !p->owes_frozen && p->fetched == 0;
}

void answers_send(struct inc_group *g, struct inc_batch *out)
{
	for (; g->answer_member < g->o.count; g->answer_member++)
		if (!peer_answer(g, out, g->answer_member))
			return;
	g->answer_member = 0;
	g->answers_due = false;
}
