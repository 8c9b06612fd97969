/* SPDX-License-Identifier: BSD-3-Clause */
/* No congestion control: the window stays at the session's bound. With bandwidth times delay as
 * bound, this is BDP-FC of IRN. */
#include "rltp/cc_internal.h"

static void ignore_ack(struct cc *c, const struct cc_ack *ack)
{
}

static void end_round(struct cc *c, const struct cc_ack *ack)
{
	cc_counts_clear(c);
}

static void ignore_loss(struct cc *c, uint32_t inflight, uint64_t now_ns)
{
}

static void ignore_timeout(struct cc *c, uint64_t now_ns)
{
}

const struct cc_ops cc_none = {
	.name = "none",
	.steady = true,
	.acked = ignore_ack,
	.round = end_round,
	.lost = ignore_loss,
	.timeout = ignore_timeout,
};
