/* SPDX-License-Identifier: BSD-3-Clause */
/* Retransmits segments. A segment is retransmitted once when results of later segments have
 * arrived. The oldest segments are retransmitted at a timeout. A result waits for the slowest
 * member, so a late result is only a weak sign of a loss. Therefore the smallest timeout is far
 * above a round trip, and the timeout doubles. */
#include "inc/internal.h"

#include "inc/limits.h"

static uint64_t timeout_ns(const struct rtt *r, unsigned tries)
{
	uint64_t base_ns = r->smoothed_ns ? r->smoothed_ns + 4 * r->deviation_ns : INC_RTO_FIRST_NS;

	base_ns = clamp_u64(base_ns, INC_RTO_MIN_NS, INC_RTO_BASE_NS);
	return min_u64(base_ns << min_u64(tries / 2, 10), INC_RTO_MAX_NS);
}

/* Updates the smoothed round trip time and its deviation with a sample (RFC 6298). */
static void repeat_sample(struct rtt *r, uint64_t sample_ns)
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

static void timer_start(struct inc_group *g, enum pace pace, uint64_t now_ns)
{
	g->repeat_ns = now_ns + timeout_ns(&g->rtts[pace], g->backoff);
}

void repeat_arm(struct inc_group *g, uint32_t segment, enum pace pace, uint64_t now_ns)
{
	flight_of(g, segment)->tries = 0;
	if (segment != g->next)
		return;
	g->backoff = 0;
	g->burst = INC_BURST_FIRST;
	timer_start(g, pace, now_ns);
}

/* Marks segments without a result for retransmission, each at most once. If later results have
 * arrived, a loss is the most likely reason. */
static void gaps_find(struct inc_group *g)
{
	uint32_t s = seq_before(g->gap, g->next) ? g->next : g->gap;

	for (; seq_before(s + INC_GAP, g->highest); s++)
		if (!result_here(g, s) && flight_of(g, s)->tries == 0) {
			flight_of(g, s)->late = true;
			g->late = true;
		}
	g->gap = s;
}

void repeat_result(struct inc_group *g, uint32_t segment, enum pace pace, uint64_t now_ns)
{
	const struct flight *f = flight_of(g, segment);

	if (f->tries == 0) {
		repeat_sample(&g->rtts[pace], now_ns - f->sent_ns);
		g->burst = INC_BURST_FIRST;
	}
	g->backoff = 0;
	timer_start(g, pace, now_ns);
	if (seq_before(g->highest, segment + 1))
		g->highest = segment + 1;
	gaps_find(g);
}

static void repeat_one(struct inc_group *g, struct inc_batch *out, uint32_t segment,
		       uint64_t now_ns)
{
	struct flight *f = flight_of(g, segment);

	segment_add(g, out, operation_of(g, segment), segment, true, now_ns);
	f->late = false;
	if (f->tries < UINT8_MAX)
		f->tries++;
}

static void gaps_repeat(struct inc_group *g, struct inc_batch *out, uint64_t now_ns)
{
	for (uint32_t s = g->next; s != g->to_send && !batch_full(out); s++)
		if (flight_of(g, s)->late && !result_here(g, s))
			repeat_one(g, out, s, now_ns);
	g->late = batch_full(out);
}

/* Handles a timeout: retransmits the oldest segments, twice as many each time. These few packets
 * cost little if a member is late or a switch is gone. After a loss, the new results reveal further
 * losses. */
static void oldest_repeat(struct inc_group *g, struct inc_batch *out, uint64_t now_ns)
{
	unsigned left = g->burst;
	enum pace pace = operation_pace(g, operation_of(g, g->next));

	for (uint32_t s = g->next; s != g->to_send && left > 0 && !batch_full(out); s++)
		if (!result_here(g, s)) {
			repeat_one(g, out, s, now_ns);
			left--;
		}
	g->burst = (unsigned)min_u64(2ull * g->burst, INC_BURST_MAX);
	g->backoff += g->backoff < 20;
	timer_start(g, pace, now_ns);
}

void repeat_send(struct inc_group *g, struct inc_batch *out, uint64_t now_ns)
{
	if (g->next == g->to_send)
		return;
	if (g->late)
		gaps_repeat(g, out, now_ns);
	if (now_ns >= g->repeat_ns && !batch_full(out))
		oldest_repeat(g, out, now_ns);
}
