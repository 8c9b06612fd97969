/* SPDX-License-Identifier: BSD-3-Clause */
/* What is late is asked for again: each segment has its own time, which doubles. A result also
 * waits for the slowest member, so lateness says little of loss: the floor is well above a round
 * trip, and nothing but a small packet to the next switch is at stake. */
#include "inc/internal.h"

static uint64_t timeout_ns(const struct rtt *r, unsigned tries)
{
	uint64_t base_ns = r->smoothed_ns ? r->smoothed_ns + 4 * r->deviation_ns : INC_RTO_FIRST_NS;

	base_ns = clamp_u64(base_ns, INC_RTO_MIN_NS, INC_RTO_MAX_NS);
	return min_u64(base_ns << min_u64(tries, 10), INC_RTO_MAX_NS);
}

/* RFC 6298 */
void repeat_sample(struct rtt *r, uint64_t sample_ns)
{
	sample_ns = max_u64(sample_ns, 1);
	if (r->smoothed_ns == 0) {
		r->smoothed_ns = sample_ns;
		r->deviation_ns = sample_ns / 2;
		return;
	}
	uint64_t error_ns = sample_ns > r->smoothed_ns ? sample_ns - r->smoothed_ns
						       : r->smoothed_ns - sample_ns;
	r->deviation_ns += error_ns / 4 - r->deviation_ns / 4;
	r->smoothed_ns += sample_ns / 8 - r->smoothed_ns / 8;
}

static uint64_t due_set(struct inc_group *g, struct flight *f, bool is_short, uint64_t now_ns)
{
	f->late = false;
	f->due_ns = now_ns + timeout_ns(is_short ? &g->rtt_short : &g->rtt_long, f->tries);
	return f->due_ns;
}

void repeat_arm(struct inc_group *g, uint32_t segment, bool is_short, uint64_t now_ns)
{
	struct flight *f = flight_of(g, segment);

	f->tries = 0;
	uint64_t due_ns = due_set(g, f, is_short, now_ns);
	g->repeat_ns = segment == g->next ? due_ns : min_u64(g->repeat_ns, due_ns);
}

/* Results come in order but where one was lost: it is asked for before its time, once. */
void repeat_gap(struct inc_group *g)
{
	struct flight *f = flight_of(g, g->next);

	if (++g->gap_noted != INC_GAP || f->tries > 0)
		return;
	f->late = true;
	g->repeat_ns = 0;
}

static void repeat_one(struct inc_group *g, struct inc_batch *out, uint32_t segment,
		       uint64_t now_ns)
{
	const struct inc_call *c = call_of(g, segment);
	struct flight *f = flight_of(g, segment);

	segment_add(g, out, c, segment, true, now_ns);
	if (f->tries < UINT8_MAX)
		f->tries++;
	due_set(g, f, call_short(c), now_ns);
}

static bool is_due(const struct inc_group *g, uint32_t segment, bool often, uint64_t now_ns)
{
	const struct flight *f = flight_of(g, segment);

	return !result_here(g, segment) && (f->late || f->due_ns <= now_ns) &&
	       often == (f->tries >= INC_TRIES_IN_ORDER);
}

void repeat_send(struct inc_group *g, struct inc_batch *out, uint64_t now_ns)
{
	if (g->next == g->to_send || now_ns < g->repeat_ns)
		return;
	for (uint32_t s = g->next; s != g->to_send && !batch_full(out); s++)
		if (is_due(g, s, false, now_ns))
			repeat_one(g, out, s, now_ns);
	/* What gets lost again and again may be the end of each burst: begin with it. */
	for (uint32_t s = g->to_send; s != g->next && !batch_full(out); s--)
		if (is_due(g, s - 1, true, now_ns))
			repeat_one(g, out, s - 1, now_ns);
	g->repeat_ns = UINT64_MAX;
	for (uint32_t s = g->next; s != g->to_send; s++)
		if (!result_here(g, s))
			g->repeat_ns = min_u64(g->repeat_ns, flight_of(g, s)->due_ns);
}
