/* SPDX-License-Identifier: BSD-3-Clause */
#include "rltp/pace.h"

#include "rltp/limits.h"
#include "base/util.h"
#include "rltp/cc.h"
#include "wire/limits.h"

#define COST_SHIFT 24
#define BYTES_MAX  65535u

void pace_init(struct pace *p)
{
	*p = (struct pace){.rate_bps = UINT64_MAX};
}

static void unpaced(struct pace *p)
{
	pace_init(p);
}

/* Whole packets, so a batch costs exactly its length. */
static uint64_t batch_length(uint64_t rate_bps, uint64_t window_bytes, uint32_t packet_bytes)
{
	uint64_t bytes = min_u64(rate_bps / (S_NS / RLTP_PACE_BATCH_NS), RLTP_PACE_BATCH_BYTES);

	return max_u64(min_u64(bytes, window_bytes / 4) / packet_bytes, 1) * packet_bytes;
}

void pace_set(struct pace *p, uint32_t window_fine, uint32_t packet_bytes, uint32_t rtt_ns)
{
	if (window_fine == CC_UNPACED || rtt_ns == 0) {
		unpaced(p);
		return;
	}
	uint64_t packet = clamp_u64(packet_bytes, 1, BYTES_MAX);
	uint64_t window = clamp_u64(window_fine, 1, (uint64_t)WIRE_WINDOW_MAX * CC_ONE) * packet;
	bool whole = window_fine >= CC_ONE;
	/* 1.25 windows per round trip, so that normally the window limits the rate. Only the pace
	 * enforces a window below one packet. */
	uint64_t allowed = whole ? window * 5 / 4 : window;
	uint64_t dearest = ((uint64_t)RLTP_PACE_GAP_MAX_NS << COST_SHIFT) / packet;
	uint64_t cost = min_u64(((uint64_t)rtt_ns << (COST_SHIFT + 8)) / allowed, dearest);
	uint64_t rate = allowed * (S_NS / CC_ONE) / rtt_ns;
	uint64_t batch = batch_length(rate, window / CC_ONE, (uint32_t)packet);
	uint64_t batch_ns = batch * cost >> COST_SHIFT;

	if (cost == 0 || (whole && batch_ns < RLTP_PACE_FINEST_NS)) {
		unpaced(p);
		return;
	}
	p->rate_bps = rate;
	p->cost = cost;
	p->batch_bytes = (uint32_t)batch;
	p->batch_ns = (uint32_t)batch_ns;
	/* the pace permits a quarter of the window in this time */
	p->late_ns = whole ? rtt_ns / 5 : 0;
	p->least_bytes = whole ? 0 : (uint32_t)packet;
}

void pace_charge(struct pace *p, uint32_t bytes, uint64_t now_ns)
{
	uint64_t owed = clamp_u64(bytes, p->least_bytes, BYTES_MAX) * p->cost + p->fraction;
	uint64_t start = max_u64(p->paid_ns, now_ns > p->late_ns ? now_ns - p->late_ns : 0);

	p->fraction = (uint32_t)(owed & ((1u << COST_SHIFT) - 1));
	/* Packets that ignore the pace (probes) add debt, up to a bound. */
	p->paid_ns = min_u64(start + (owed >> COST_SHIFT), now_ns + RLTP_PACE_GAP_MAX_NS);
	p->next_ns = p->paid_ns >= now_ns + p->batch_ns ? p->paid_ns : 0;
}
