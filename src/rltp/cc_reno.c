/* SPDX-License-Identifier: BSD-3-Clause */
/* Reno (RFC 5681), for comparison: it treats every loss as congestion. */
#include "rltp/cc_internal.h"

static void reno_acked(struct cc *c, const struct cc_ack *ack)
{
	if (c->starting)
		cc_double(c, ack);
}

static void reno_round(struct cc *c, const struct cc_ack *ack)
{
	if (!c->starting && c->limited && c->lost == 0)
		window_set(c, (uint64_t)c->window + CC_ONE, CC_ONE);
	cc_counts_clear(c);
}

void cc_reno_lost(struct cc *c, uint32_t inflight, uint64_t now_ns)
{
	if (cut_allowed(c, now_ns))
		window_cut(c, c->window / 2, 2 * CC_ONE, now_ns);
}

void cc_reno_timeout(struct cc *c, uint64_t now_ns)
{
	uint32_t half = c->window / 2;

	window_cut(c, CC_ONE, CC_ONE, now_ns);
	c->threshold = (uint32_t)max_u64(half, 2 * CC_ONE);
	c->starting = true;
}

const struct cc_ops cc_reno = {
	.name = "reno",
	.acked = reno_acked,
	.round = reno_round,
	.lost = cc_reno_lost,
	.timeout = cc_reno_timeout,
};
