/* SPDX-License-Identifier: BSD-3-Clause */
/* DCTCP (RFC 8257): cuts the window by the share of marked packets. Needs switches that mark above
 * a short queue. Losses are handled as in Reno. */
#include "rltp/cc_internal.h"

#define ALPHA_ONE  (1u << 20)
#define GAIN_SHIFT 4 /* g = 1/16 (section 4.2) */

static void dctcp_acked(struct cc *c, const struct cc_ack *ack)
{
	if (c->starting && ack->marked > 0)
		c->starting = false;
	if (c->starting)
		cc_double(c, ack);
}

/* Averages the share of marked packets (section 3.3), and cuts the window by half of it. */
static void dctcp_round(struct cc *c, const struct cc_ack *ack)
{
	uint64_t marked = min_u64(c->marked, c->acked);
	uint64_t share = c->acked ? marked * ALPHA_ONE / c->acked : 0;

	c->alpha += (uint32_t)(share >> GAIN_SHIFT);
	c->alpha -= c->alpha >> GAIN_SHIFT;
	if (c->marks && cut_allowed(c, ack->now_ns)) {
		uint64_t give = (uint64_t)c->window * c->alpha / (2 * ALPHA_ONE);
		window_cut(c, c->window - give, 2 * CC_ONE, ack->now_ns);
	} else if (!c->starting && c->limited && c->lost == 0) {
		window_set(c, (uint64_t)c->window + CC_ONE, CC_ONE);
	}
	cc_counts_clear(c);
}

const struct cc_ops cc_dctcp = {
	.name = "dctcp",
	.ecn = true,
	.acked = dctcp_acked,
	.round = dctcp_round,
	.lost = cc_reno_lost,
	.timeout = cc_reno_timeout,
};
