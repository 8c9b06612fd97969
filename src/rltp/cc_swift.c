/* SPDX-License-Identifier: BSD-3-Clause */
/* Swift (SIGCOMM 2020), changed so that losses without congestion cost nothing and scheduling
 * delays of hosts do not count as a queue. docs/design/congestion.md "Congestion" gives reasons:
 * - The signal is the lowest fabric delay of a round trip: a queue delays every packet, a late
 *   wakeup only some.
 * - The target delay includes the queue of the sender's own bursts.
 * - A loss cuts the window only if the delay, marks or a high share of losses indicate congestion.
 *   A cut by delay goes no further than to an empty queue.
 * - Far below the target the window grows by a share of its size, near it by at most half a packet
 *   per round trip. */
#include "rltp/cc_internal.h"

#include "base/limits.h"

static uint32_t square_root(uint64_t v)
{
	uint64_t root = 0;

	for (uint64_t bit = 1ull << 31; bit != 0; bit >>= 1)
		if ((root + bit) * (root + bit) <= v)
			root += bit;
	return (uint32_t)root;
}

/* Addition to the target for small windows: they mean many flows, whose bursts collide (Swift,
 * 3.5). */
static uint32_t flows_allowance(uint32_t window)
{
	/* 1/sqrt(packets) in fixed point; packets = window / 256 */
	uint64_t slope =
		(uint64_t)RLTP_CC_FLOWS_SLOPE_NS * 16 * 256 / square_root((uint64_t)window << 16);

	if (slope <= RLTP_CC_FLOWS_OFFSET_NS)
		return 0;
	return (uint32_t)min_u64(slope - RLTP_CC_FLOWS_OFFSET_NS, RLTP_CC_FLOWS_NS);
}

/* Addition to the target for bursts: the last packet of a batch waits for the others, as long as a
 * batch takes at the flow's rate. 0 if the hosts add no time. */
static uint32_t burst_allowance(const struct cc *c, uint32_t inflight)
{
	uint64_t batch_ns = (uint64_t)round_length(c) * DATAGRAM_BATCH / max_u64(inflight, 1);
	uint64_t hosts_ns = c->rtt_ns > c->delay_ns ? c->rtt_ns - c->delay_ns : 0;

	return (uint32_t)min_u64(batch_ns, hosts_ns / 4);
}

/* All short paths have the same target: the lowest delay may include an old queue, and a flow that
 * took it for path delay would starve the others. */
static uint64_t target_delay(const struct cc *c, uint32_t inflight)
{
	uint64_t path = min_u64(c->min_delay_ns, max_u64(c->path_ns, RLTP_CC_PATH_NS));
	uint64_t queue = max_u64(RLTP_CC_QUEUE_NS, path / 8);

	return max_u64(RLTP_CC_TARGET_NS, path + queue) + flows_allowance(c->window) +
	       burst_allowance(c, inflight);
}

static uint64_t loss_gate(const struct cc *c, uint32_t inflight)
{
	return (uint64_t)c->min_delay_ns + RLTP_CC_QUEUE_NS + burst_allowance(c, inflight);
}

static void swift_acked(struct cc *c, const struct cc_ack *ack)
{
	if (!c->starting)
		return;
	if (c->round_delay_ns > (c->min_delay_ns + target_delay(c, ack->inflight)) / 2)
		c->starting = false;
	else
		cc_double(c, ack);
}

/* Adds half a packet, or half of a window below one packet; below `easy` also up to 1/8 of the
 * window. */
static void swift_grow(struct cc *c, uint64_t delay, uint64_t easy)
{
	uint64_t w = c->window, step = min_u64(w, CC_ONE) / 2;

	if (delay < easy)
		step += w * min_u64(easy - delay, RLTP_CC_QUEUE_NS) / RLTP_CC_QUEUE_NS / 8;
	window_set(c, w + max_u64(step, 1), RLTP_CC_WINDOW_MIN);
}

/* Returns units of 2^20 ns, accurate enough for rare events. */
static uint32_t coarse(uint64_t now_ns)
{
	return (uint32_t)(now_ns >> 20);
}

/* Replaces the lowest delay if it stayed above the target with the smallest window: other flows
 * cause the queue, or the path became longer. */
static void floor_watch(struct cc *c, bool above, uint64_t now_ns)
{
	if (!above || c->window > RLTP_CC_WINDOW_MIN) {
		c->floored = coarse(now_ns);
	} else if (coarse(now_ns) - c->floored >= RLTP_CC_REBASE) {
		c->min_delay_ns = c->round_delay_ns;
		c->floored = coarse(now_ns);
	}
}

/* Accepts at most a quarter more path delay per round trip, so that flows that start together do
 * not take their common queue for it. When all is accepted, the window doubles again. */
static void path_believe(struct cc *c)
{
	uint64_t believed = max_u64(c->path_ns, RLTP_CC_PATH_NS);

	if (c->min_delay_ns <= believed)
		return;
	c->path_ns = (uint32_t)min_u64(believed + believed / 4, c->min_delay_ns);
	if (c->path_ns == c->min_delay_ns)
		c->starting = true;
}

/* Cuts by 0.8 of (delay - target) / delay, at most by half. Every RLTP_CC_DRAIN, the cut empties
 * the queue, so that all flows can measure the path without it. */
static void swift_cut(struct cc *c, uint64_t delay, uint64_t target, uint64_t now_ns)
{
	uint64_t w = c->window, give = min_u64(w * (delay - target) * 4 / delay / 5, w / 2);

	if (coarse(now_ns) - c->drained >= RLTP_CC_DRAIN) {
		give = min_u64(w / 2, w - w * c->min_delay_ns * 7 / 8 / delay);
		c->drained = coarse(now_ns);
	}
	window_cut(c, w - give, RLTP_CC_WINDOW_MIN, now_ns);
}

static void swift_round(struct cc *c, const struct cc_ack *ack)
{
	uint64_t target = target_delay(c, ack->inflight), delay = c->round_delay_ns;

	/* Halved: the share of losses covers about two round trips. */
	c->acked /= 2;
	c->lost /= 2;
	c->marked = 0;
	if (delay == 0)
		return;
	floor_watch(c, delay > target, ack->now_ns);
	path_believe(c);
	if (delay <= target) {
		if (c->limited && !c->starting)
			swift_grow(c, delay,
				   c->lost > 0 ? loss_gate(c, ack->inflight)
					       : target - RLTP_CC_QUEUE_NS);
	} else if (cut_allowed(c, ack->now_ns)) {
		swift_cut(c, delay, target, ack->now_ns);
	}
}

static bool losses_heavy(const struct cc *c)
{
	uint64_t all = (uint64_t)c->acked + c->lost;

	return all >= RLTP_CC_LOSS_SAMPLE && (uint64_t)c->lost * RLTP_CC_LOSS_HEAVY > all;
}

/* A delay measured within 3/4 of a round trip after a cut results from the window before it. */
static bool round_fresh(const struct cc *c)
{
	return c->reduced_ns == 0 ||
	       elapsed(c->round_ns, c->reduced_ns) >= round_length(c) * 3ull / 4;
}

static void swift_lost(struct cc *c, uint32_t inflight, uint64_t now_ns)
{
	uint64_t delay = c->round_delay_ns ? c->round_delay_ns : c->delay_ns;
	uint64_t gate = loss_gate(c, inflight), w = c->window;

	if (!cut_allowed(c, now_ns))
		return;
	if (losses_heavy(c))
		w /= 2;
	else if (c->marks || delay == 0)
		w = w * 7 / 10;
	else if (delay > gate && round_fresh(c))
		w = clamp_u64(w * gate / delay, w * 7 / 10, w * 31 / 32);
	else
		return;
	window_cut(c, w, RLTP_CC_WINDOW_MIN, now_ns);
}

static void swift_timeout(struct cc *c, uint64_t now_ns)
{
	cc_restart(c, CC_ONE, now_ns);
}

const struct cc_ops cc_swift = {
	.name = "swift",
	.acked = swift_acked,
	.round = swift_round,
	.lost = swift_lost,
	.timeout = swift_timeout,
};
