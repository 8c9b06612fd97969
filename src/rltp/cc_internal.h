/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface of a congestion control module; cc.c has the common part. */
#ifndef RLTP_CC_INTERNAL_H
#define RLTP_CC_INTERNAL_H

#include "rltp/limits.h"
#include "base/util.h"
#include "rltp/cc.h"

struct cc_ops {
	const char *name;
	bool ecn;    /* needs ECN marks */
	bool steady; /* the window is always `most`, without pacing */
	void (*acked)(struct cc *c, const struct cc_ack *ack);
	/* A round trip is complete; called after `acked`. Must clear or halve the counts of
	 * packets. */
	void (*round)(struct cc *c, const struct cc_ack *ack);
	void (*lost)(struct cc *c, uint32_t inflight,
		     uint64_t now_ns); /* c->lost includes the new ones */
	void (*timeout)(struct cc *c, uint64_t now_ns);
};

extern const struct cc_ops cc_swift, cc_none, cc_dctcp, cc_reno;

/* in cc_reno.c, also for DCTCP */
void cc_reno_lost(struct cc *c, uint32_t inflight, uint64_t now_ns);
void cc_reno_timeout(struct cc *c, uint64_t now_ns);

static inline uint64_t elapsed(uint64_t now_ns, uint64_t since_ns)
{
	return now_ns > since_ns ? now_ns - since_ns : 0;
}

static inline uint32_t round_length(const struct cc *c)
{
	return c->rtt_ns ? c->rtt_ns : (uint32_t)RLTP_RTT_INITIAL_NS;
}

/* Signals within one round trip after a cut come from packets sent before it. */
static inline bool cut_allowed(const struct cc *c, uint64_t now_ns)
{
	return c->reduced_ns == 0 || elapsed(now_ns, c->reduced_ns) >= round_length(c);
}

/* Bounds the window by `least` (1/256 packets) and then by c->most. */
static inline void window_set(struct cc *c, uint64_t window, uint32_t least)
{
	uint64_t most = (uint64_t)c->most * CC_ONE;

	c->window = (uint32_t)min_u64(max_u64(window, least), most);
}

static inline void window_cut(struct cc *c, uint64_t window, uint32_t least, uint64_t now_ns)
{
	window_set(c, min_u64(window, c->window), least);
	c->starting = false;
	c->threshold = c->window;
	c->reduced_ns = now_ns;
}

/* Slow start: adds one packet per acknowledged one, if the window or the pace limited the sender.
 */
void cc_double(struct cc *c, const struct cc_ack *ack);

/* After a timeout: halves the window into the threshold. The window becomes this or the initial
 * one, whichever is less, but at least `least`. */
void cc_restart(struct cc *c, uint32_t least, uint64_t now_ns);

void cc_counts_clear(struct cc *c);

#endif
