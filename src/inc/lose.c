/* SPDX-License-Identifier: BSD-3-Clause */
/* Loss of a group: all members freeze, exchange the numbers of their results, and fetch missing
 * results from members that have them. So all members finally have the same results.
 * docs/reference/inc.md "Losing a group". */
#include <dxp/status.h>

#include "inc/internal.h"
#include "inc/limits.h"

static uint64_t patience_ns(const struct inc_group *g)
{
	return g->o.patience_ns ? g->o.patience_ns : g->o.deadline_ns / 2;
}

/* Adds a FREEZE or FROZEN with the list of given-up members. All receivers get the same list. */
static void suspect_add(struct inc_group *g, struct inc_batch *out, const struct inc_header *h,
			uint32_t member)
{
	segment_packet_add(g, out, h, g->o.members[member].ip, g->o.members[member].port,
			   g->suspects, INC_PEER_BYTES + (g->o.count + 7) / 8);
}

void lose_peer_add(struct inc_group *g, struct inc_batch *out, enum inc_kind kind, uint32_t member,
		   uint32_t next)
{
	struct inc_peer own = {.member = g->o.member, .next = next};
	struct inc_header h = {
		.src_rank = g->o.member,
		.comm_id = g->o.id,
		.epoch = g->o.epoch,
		.req_id = next,
		.kind = (uint8_t)kind,
	};
	uint8_t payload[INC_PEER_BYTES];

	if (g->gone_count > 0 && (kind == INC_FREEZE || kind == INC_FROZEN)) {
		inc_peer_encode(&own, g->suspects);
		suspect_add(g, out, &h, member);
		return;
	}
	segment_packet_add_inline(g, out, &h, g->o.members[member].ip, g->o.members[member].port,
				  payload, inc_peer_encode(&own, payload));
}

static void requests_again(struct inc_group *g, uint64_t now_ns)
{
	g->query_member = 0;
	g->query_ns = now_ns;
	g->query_gap_ns = INC_FREEZE_NS;
}

void lose_begin(struct inc_group *g, int status, uint64_t now_ns)
{
	if (g->state != GROUP_LIVE)
		return;
	g->state = GROUP_FREEZING;
	g->lost_status = status;
	g->frozen_ns = g->lost_ns = now_ns;
	g->query_open = false;
	requests_again(g, now_ns);
}

void inc_group_give_up(struct inc_group *g, int status, uint64_t now_ns)
{
	lose_begin(g, status, now_ns);
}

static bool all_known(const struct inc_group *g)
{
	for (uint32_t i = 0; i < g->o.count; i++)
		if (i != g->o.member && !g->peers[i].known && !g->peers[i].gone)
			return false;
	return true;
}

/* Finds the largest `next` of all members that answered, and the lowest-numbered member that has
 * it. */
static void common_find(struct inc_group *g, uint64_t now_ns)
{
	g->state = GROUP_FETCHING;
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
	requests_again(g, now_ns);
}

/* ---- given-up members ---- */

static void gone_mark(struct inc_group *g, uint32_t member)
{
	if (member == g->o.member || g->peers[member].gone)
		return;
	g->peers[member].gone = true;
	g->suspects[INC_PEER_BYTES + member / 8] |= (uint8_t)(1u << member % 8);
	g->gone_count++;
}

/* Restarts the round after members were given up, because other members may have received results
 * from them. An answer counts again when its sender has given up the same members. */
static void round_anew(struct inc_group *g, uint64_t now_ns)
{
	for (uint32_t i = 0; i < g->o.count; i++)
		g->peers[i].known = false;
	g->state = GROUP_FREEZING;
	g->lost_ns = now_ns;
	requests_again(g, now_ns);
}

static void silent_give_up(struct inc_group *g, uint64_t now_ns)
{
	for (uint32_t i = 0; i < g->o.count; i++)
		if (!g->peers[i].known)
			gone_mark(g, i);
	round_anew(g, now_ns);
}

/* Returns byte `at` of a list of given-up members, with the bits of `member` and of this member
 * cleared. These two may have given up each other. */
static uint8_t gone_byte(const struct inc_group *g, const uint8_t *list, uint32_t member,
			 uint32_t at)
{
	uint8_t bits = list[at];

	if (member / 8 == at)
		bits &= (uint8_t) ~(1u << member % 8);
	if (g->o.member / 8 == at)
		bits &= (uint8_t) ~(1u << g->o.member % 8);
	return bits;
}

static bool listed(const uint8_t *list, uint32_t member)
{
	return list[member / 8] >> member % 8 & 1;
}

static void list_join(struct inc_group *g, const uint8_t *list, uint32_t but, uint64_t now_ns)
{
	uint32_t before = g->gone_count;

	for (uint32_t i = 0; i < g->o.count; i++)
		if (i != but && listed(list, i))
			gone_mark(g, i);
	if (g->gone_count != before && g->state != GROUP_LOST)
		round_anew(g, now_ns);
}

/* Gives up the members that `member` has given up. If this member is in that list, ignores it,
 * because `member` may be the one that receives nothing. Returns false while the lists differ. */
static bool gone_join(struct inc_group *g, uint32_t member, const struct inc_packet *p,
		      uint64_t now_ns)
{
	static const uint8_t none[DXP_INC_MEMBERS_MAX / 8];
	uint32_t bytes = (g->o.count + 7) / 8;
	bool long_enough = p->payload_bytes >= INC_PEER_BYTES + bytes, same = true;
	const uint8_t *list = long_enough ? p->payload + INC_PEER_BYTES : none;

	if (!long_enough && g->gone_count == 0)
		return true;
	if (!listed(list, g->o.member))
		list_join(g, list, member, now_ns);
	for (uint32_t at = 0; at < bytes; at++)
		same &= gone_byte(g, g->suspects + INC_PEER_BYTES, member, at) ==
			gone_byte(g, list, member, at);
	return same;
}

static void lost(struct inc_group *g)
{
	g->state = GROUP_LOST;
	operations_end(g);
}

/* Returns the time at which operations complete at the latest. It holds even if several members die
 * in sequence, or lose most packets to each other. */
static uint64_t limit_ns(const struct inc_group *g)
{
	return g->frozen_ns + INC_FREEZE_PATIENCES * patience_ns(g);
}

void lose_check(struct inc_group *g, uint64_t now_ns)
{
	bool patient = now_ns - g->lost_ns < patience_ns(g);

	if (g->state == GROUP_LOST)
		return;
	if (now_ns >= limit_ns(g)) {
		lost(g);
		return;
	}
	if (g->state == GROUP_FREEZING && !patient) {
		silent_give_up(g, now_ns);
	} else if (g->state == GROUP_FETCHING && !patient) {
		gone_mark(g, g->source);
		round_anew(g, now_ns);
	}
	if (g->state == GROUP_FREEZING && all_known(g))
		common_find(g, now_ns);
	if (g->state == GROUP_FETCHING && g->next == g->common)
		lost(g);
}

uint64_t lose_deadline(const struct inc_group *g)
{
	if (g->state == GROUP_FREEZING && all_known(g))
		return 0;
	return min_u64(g->query_ns, min_u64(g->lost_ns + patience_ns(g), limit_ns(g)));
}

static void round_over(struct inc_group *g, uint64_t now_ns)
{
	g->query_member = 0;
	g->query_ns = now_ns + g->query_gap_ns;
	g->query_gap_ns = min_u64(2 * g->query_gap_ns, INC_FREEZE_MAX_NS);
}

void lose_query(struct inc_group *g, struct inc_batch *out, uint64_t now_ns)
{
	if (now_ns < g->query_ns || batch_full(out))
		return;
	if (g->state == GROUP_FETCHING) {
		lose_peer_add(g, out, INC_FETCH, g->source, g->next);
		round_over(g, now_ns);
		return;
	}
	for (; g->query_member < g->o.count && !batch_full(out); g->query_member++)
		if (g->query_member != g->o.member && !g->peers[g->query_member].known &&
		    !g->peers[g->query_member].gone)
			lose_peer_add(g, out, INC_FREEZE, g->query_member, g->next);
	if (g->query_member == g->o.count)
		round_over(g, now_ns);
}

/* Returns true if `next` of another member is within a window of `next` of this member. */
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
		lose_begin(g, DXP_EPEERLOST, now_ns);
		peer->owes_frozen = true;
		g->answers_due = true;
	}
	/* this member did not request an answer */
	if (g->state == GROUP_LIVE)
		return;
	if (!peer->gone && gone_join(g, from->member, p, now_ns) && g->state == GROUP_FREEZING) {
		if (!peer->known || seq_before(peer->next, from->next))
			peer->next = from->next;
		peer->known = true;
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
	if (!segment_result_fits(g, &result.header) || p->payload_bytes > g->o.segment_bytes) {
		g->refused++;
		return;
	}
	segment_result_keep(g, &result);
	operations_deliver(g, now_ns);
	g->lost_ns = now_ns;
	g->query_gap_ns = INC_FREEZE_NS;
	g->query_ns = now_ns + g->query_gap_ns;
}

static void fetched_add(struct inc_group *g, struct inc_batch *out, uint32_t member, uint32_t s)
{
	struct inc_header h = result_address(g, s)->header;
	size_t bytes = h.status ? 0 : h.elements * dxp_inc_type_bytes((enum dxp_inc_type)h.type);

	h.kind = INC_FETCHED;
	h.src_rank = g->o.member;
	if (h.status)
		h.elements = 0;
	segment_packet_add(g, out, &h, g->o.members[member].ip, g->o.members[member].port,
			   bytes ? result_bytes(g, s) : NULL, bytes);
}

/* Adds the answers that this member owes to member `member`. Returns false if the batch has no
 * space for all of them. */
static bool peer_answer(struct inc_group *g, struct inc_batch *out, uint32_t member)
{
	struct peer *p = &g->peers[member];

	if (p->owes_awaited && !batch_full(out)) {
		/* The FREEZE is for a member that missed the loss of the group. Without it, that
		 * member would wait for this one for ever. */
		if (g->state == GROUP_LIVE)
			lose_peer_add(g, out, INC_AWAITED, member, g->to_send);
		else
			lose_peer_add(g, out, INC_FREEZE, member, g->next);
		p->owes_awaited = false;
	}
	if (p->owes_frozen && !batch_full(out)) {
		lose_peer_add(g, out, INC_FROZEN, member, g->next);
		p->owes_frozen = false;
	}
	for (; p->fetched > 0 && !batch_full(out); p->fetched--, p->fetch_from++)
		if (result_here(g, p->fetch_from))
			fetched_add(g, out, member, p->fetch_from);
	return !p->owes_awaited && !p->owes_frozen && p->fetched == 0;
}

void lose_answers_send(struct inc_group *g, struct inc_batch *out)
{
	for (; g->answer_member < g->o.count; g->answer_member++)
		if (!peer_answer(g, out, g->answer_member))
			return;
	g->answer_member = 0;
	g->answers_due = false;
}
