/* SPDX-License-Identifier: BSD-3-Clause */
/* Swift (SIGCOMM 2020), changed so that losses which are not congestion cost nothing and that the
 * noise of a host is not taken for a queue. docs/design.md "Congestion" says why in each case.
 * - The signal is the lowest fabric delay of a round trip: a queue delays every packet, a late
 *   wake-up only some.
 * - The target allows the sender's own bursts: its batches queue behind themselves.
 * - A loss cuts the window only when delay, marks or a heavy share of losses say that it was
 *   congestion, and not further than to where the queue is gone.
 * - Far below the target it grows by a share, near it by a packet per round trip. */
#include "rltp/cc_internal.h"

static uint32_t square_root(uint64_t v)
{
	uint64_t root = 0;

	for (uint64_t bit = 1ull << 31; bit != 0; bit >>= 1)
		if ((root + bit) * (root + bit) <= v)
			root += bit;
	return (uint32_t)root;
}

/* Small windows mean many flows, whose bursts meet: Swift, section 3.5. */
static uint32_t flows_allowance(uint32_t window)
{
	/* 1/sqrt(packets) with packets = window / 256: 16 * 256 over 256 * sqrt(window) */
	uint64_t slope =
		(uint64_t)RLTP_CC_FLOWS_SLOPE_NS * 16 * 256 / square_root((uint64_t)window << 16);

	if (slope <= RLTP_CC_FLOWS_OFFSET_NS)
		return 0;
	return (uint32_t)min_u64(slope - RLTP_CC_FLOWS_OFFSET_NS, RLTP_CC_FLOWS_NS);
}

/* The last packet of a batch waits for all before it, in the host and on the wire: a batch at the
 * rate of the flow. No batch is longer than what the pace lets go, a quarter of the window. */
static uint32_t burst_allowance(const struct cc *c, uint32_t inflight)
{
	uint64_t rtt = round_length(c);

	return (uint32_t)min_u64(rtt * LINK_BATCH / max_u64(inflight, 1), rtt / 4);
}

/* Queueing delay that the flow may see. */
static uint32_t allowance(const struct cc *c, uint32_t inflight)
{
	return RLTP_CC_BASE_NS + flows_allowance(c->window) + burst_allowance(c, inflight);
}

static void swift_acked(struct cc *c, const struct cc_ack *ack)
{
	if (!c->starting)
		return;
	if (c->delay_ns - c->min_delay_ns > allowance(c, ack->inflight) / 2)
		c->starting = false;
	else
		cc_double(c, ack);
}

/* `queue` of at most `room` ns. */
static void swift_grow(struct cc *c, uint32_t queue, uint32_t room)
{
	uint64_t w = c->window, step = min_u64(w, CC_ONE) / 2;

	if (queue < room / 2)
		step += w * (room / 2 - queue) / (room / 2) / 8;
	window_set(c, w + max_u64(step, 1), RLTP_CC_WINDOW_MIN);
}

/* Target and delay of a window that has long been as small as it gets: others make the queue, or
 * the path has become longer. */
static void floor_watch(struct cc *c, bool above, uint64_t now_ns)
{
	if (!above || c->window > RLTP_CC_WINDOW_MIN) {
		c->floored_ns = 0;
	} else if (c->floored_ns == 0) {
		c->floored_ns = now_ns;
	} else if (elapsed(now_ns, c->floored_ns) >= RLTP_CC_REBASE_NS) {
		c->min_delay_ns = c->round_delay_ns;
		c->floored_ns = 0;
	}
}

static void swift_round(struct cc *c, const struct cc_ack *ack)
{
	uint32_t room = allowance(c, ack->inflight), delay = c->round_delay_ns;
	uint64_t target = (uint64_t)c->min_delay_ns + room;

	c->acked /= 2; /* the share of losses is that of two round trips, fading */
	c->lost /= 2;
	c->marked = 0;
	if (delay == 0)
		return;
	floor_watch(c, delay > target, ack->now_ns);
	if (delay <= target) {
		if (c->limited && !c->starting)
			swift_grow(c, delay - c->min_delay_ns, room);
	} else if (cut_allowed(c, ack->now_ns)) {
		/* 0.8 of the share by which it is too long, at most half */
		uint64_t w = c->window, give = w * (delay - target) * 4 / delay / 5;
		window_cut(c, w - min_u64(give, w / 2), RLTP_CC_WINDOW_MIN, ack->now_ns);
	}
}

static bool losses_heavy(const struct cc *c)
{
	uint64_t all = (uint64_t)c->acked + c->lost;

	return all >= RLTP_CC_LOSS_SAMPLE && (uint64_t)c->lost * RLTP_CC_LOSS_HEAVY > all;
}

static void swift_lost(struct cc *c, uint32_t inflight, uint64_t now_ns)
{
	uint32_t delay = c->round_delay_ns ? c->round_delay_ns : c->delay_ns;
	uint64_t gate = (uint64_t)c->min_delay_ns + RLTP_CC_GATE_NS + burst_allowance(c, inflight);
	uint64_t w = c->window;

	if (!cut_allowed(c, now_ns))
		return;
	if (losses_heavy(c))
		window_cut(c, w / 2, RLTP_CC_WINDOW_MIN, now_ns);
	else if (c->marks || delay == 0)
		window_cut(c, w * 7 / 10, RLTP_CC_WINDOW_MIN, now_ns);
	else if (delay > gate)
		window_cut(c, max_u64(w * 7 / 10, w * gate / delay), RLTP_CC_WINDOW_MIN, now_ns);
}

static void swift_timeout(struct cc *c, uint64_t now_ns)
{
	cc_restart(c, CC_ONE, now_ns);
}

const struct cc_ops cc_swift = {
	.name = "swift",
	.ecn = true,
	.acked = swift_acked,
	.round = swift_round,
	.lost = swift_lost,
	.timeout = swift_timeout,
};
