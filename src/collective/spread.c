/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations that only copy: broadcast, all-gather, all-to-all. They PUT directly into outputs. So
 * the first PUT to a member follows the begin mark of that member. These operations use no scratch
 * memory. */
#include <stdlib.h>

#include "base/util.h"
#include "collective/build.h"

struct spread {
	const struct plan_request *r;
	struct plan *p;
	struct build_lap *collected;
};

/* Adds a send to the output of its `peer`. It follows step `after` and the begin marks of both
 * members. */
static uint32_t output_send(struct spread *s, const struct plan_step *send, uint32_t after)
{
	const uint32_t waits[] = {send->member, send->peer, after};
	const uint32_t sent = build_step(s->p, send, waits, 3);

	build_lap_add(&s->collected[send->member], sent);
	build_lap_add(&s->collected[send->peer], sent);
	return sent;
}

/* Copies a member's own input to its output, unless the input lies in the output already. */
static void own_copy(struct spread *s, uint32_t m, uint64_t from, uint64_t to, uint64_t bytes)
{
	const struct plan_step copy = {.kind = PLAN_COPY,
				       .member = m,
				       .from = build_place(PLAN_FROM, from),
				       .to = build_place(PLAN_TO, to),
				       .bytes = bytes};

	if (!(s->r->in_place >> m & 1))
		build_lap_add(&s->collected[m], build_step(s->p, &copy, (uint32_t[]){m}, 1));
}

/* Makes each member end after the steps that were collected for it so far. */
static void laps_mark(struct spread *s)
{
	for (uint32_t m = 0; m < s->r->members; m++)
		s->p->ends[m] = build_lap_mark(s->p, m, &s->collected[m], s->p->ends[m]);
}

/* Adds the send of a piece from position `from` to position `to`. Position v of a broadcast is
 * member root + v, modulo the number of members. */
static void broadcast_send(struct spread *s, uint32_t from, uint32_t to, uint64_t at,
			   uint64_t bytes, uint32_t *arrived)
{
	const uint32_t n = s->r->members;
	const struct plan_step send = {.kind = PLAN_SEND,
				       .member = (s->r->root + from) % n,
				       .peer = (s->r->root + to) % n,
				       .from = build_place(from ? PLAN_TO : PLAN_FROM, at),
				       .to = build_place(PLAN_TO, at),
				       .bytes = bytes};

	arrived[to] = output_send(s, &send, arrived[from]);
}

/* Sends short data down a tree, and long data along a chain, in pieces. */
static void broadcast_make(struct spread *s)
{
	const uint64_t total = s->r->count * s->r->element_bytes;
	const bool tree = plan_way(s->r) == DXP_WAY_TREE;
	const uint64_t piece =
		tree ? total
		     : max_u64(COLLECTIVE_PIECE,
			       total / COLLECTIVE_PIECES + (total % COLLECTIVE_PIECES != 0));
	uint32_t arrived[DXP_GROUP_MEMBERS_MAX] = {BUILD_NONE};

	own_copy(s, s->r->root, 0, 0, total);
	for (uint64_t at = 0; at < total && !s->p->failed; at += min_u64(piece, total - at)) {
		for (uint32_t v = 1; v < s->r->members; v++)
			broadcast_send(s, tree ? (v - 1) / COLLECTIVE_BRANCHES : v - 1, v, at,
				       min_u64(piece, total - at), arrived);
		laps_mark(s);
	}
}

/* For short data, each member sends to all others. Long data travels around the ring, so that each
 * link carries each input once. */
static void gather_make(struct spread *s)
{
	const uint64_t bytes = s->r->count * s->r->element_bytes;
	const uint32_t n = s->r->members;
	const bool tree = plan_way(s->r) == DXP_WAY_TREE;
	uint32_t arrived[DXP_GROUP_MEMBERS_MAX];

	for (uint32_t m = 0; m < n; m++) {
		arrived[m] = BUILD_NONE;
		own_copy(s, m, 0, m * bytes, bytes);
	}
	for (uint32_t hop = 0; hop < n - 1; hop++)
		for (uint32_t c = 0; c < n; c++) {
			const bool first = tree || hop == 0;
			const struct plan_place at = build_place(PLAN_TO, c * bytes);
			const struct plan_step send = {.kind = PLAN_SEND,
						       .member = first ? c : (c + hop) % n,
						       .peer = (c + hop + 1) % n,
						       .from = first ? build_place(PLAN_FROM, 0)
								     : at,
						       .to = at,
						       .bytes = bytes};
			arrived[c] = output_send(s, &send, first ? BUILD_NONE : arrived[c]);
		}
	laps_mark(s);
}

/* In round d, each member sends to the member d places after it, so no member receives from two
 * members in the same round. */
static void exchange_make(struct spread *s)
{
	const uint64_t bytes = s->r->count * s->r->element_bytes;
	const uint32_t n = s->r->members;

	for (uint32_t d = 1; d < n; d++)
		for (uint32_t m = 0; m < n; m++) {
			const uint32_t peer = (m + d) % n;
			const struct plan_step send = {.kind = PLAN_SEND,
						       .member = m,
						       .peer = peer,
						       .from = build_place(PLAN_FROM, peer * bytes),
						       .to = build_place(PLAN_TO, m * bytes),
						       .bytes = bytes};
			output_send(s, &send, BUILD_NONE);
		}
	for (uint32_t m = 0; m < n; m++)
		own_copy(s, m, m * bytes, m * bytes, bytes);
	laps_mark(s);
}

int spread_make(const struct plan_request *r, struct plan *p)
{
	struct spread s = {.r = r, .p = p, .collected = calloc(r->members, sizeof(*s.collected))};

	if (!s.collected)
		return DXP_ENOMEM;
	if (r->operation == PLAN_BROADCAST)
		broadcast_make(&s);
	else if (r->operation == PLAN_ALL_GATHER)
		gather_make(&s);
	else
		exchange_make(&s);
	free(s.collected);
	return DXP_OK;
}
