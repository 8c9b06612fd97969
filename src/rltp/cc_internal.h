/* SPDX-License-Identifier: BSD-3-Clause */
/* What a module of congestion control is: a row of functions behind cc.h. cc.c keeps what all
 * share: delays, counts, round trips, the receiver's buffer. */
#ifndef RLTP_CC_INTERNAL_H
#define RLTP_CC_INTERNAL_H

#include "base/limits.h"
#include "rltp/limits.h"
#include "base/util.h"
#include "rltp/cc.h"

struct cc_ops {
	const char *name;
	bool ecn;    /* wants packets marked instead of dropped */
	bool steady; /* the window is always `most`, unpaced */
	void (*acked)(struct cc *c, const struct cc_ack *ack); /* each one */
	void (*round)(struct cc *c, const struct cc_ack *ack); /* then, if it ends a round trip;
								   empties the counts */
	void (*lost)(struct cc *c, uint32_t inflight, uint64_t now_ns); /* c->lost has them */
	void (*timeout)(struct cc *c, uint64_t now_ns);
};

extern const struct cc_ops cc_swift, cc_none, cc_dctcp, cc_reno;

/* cc_reno.c; DCTCP answers losses as it does. */
void reno_lost(struct cc *c, uint32_t inflight, uint64_t now_ns);
void reno_timeout(struct cc *c, uint64_t now_ns);

/* Clocks of the same source never run backwards; equal times, and a start in the future of a
 * hostile caller, are no time. */
static inline uint64_t elapsed(uint64_t now_ns, uint64_t since_ns)
{
	return now_ns > since_ns ? now_ns - since_ns : 0;
}

static inline uint32_t round_length(const struct cc *c)
{
	return c->rtt_ns ? c->rtt_ns : (uint32_t)RLTP_RTT_INITIAL_NS;
}

/* One cut per round trip: what follows within it was sent before the cut. */
static inline bool cut_allowed(const struct cc *c, uint64_t now_ns)
{
	return c->reduced_ns == 0 || elapsed(now_ns, c->reduced_ns) >= round_length(c);
}

/* Within the bounds, `least` in 1/256 packets; a session's bound may be less than a module's. */
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

/* Slow start: a packet more for each one that arrived, while the window is what holds back. */
void cc_double(struct cc *c, const struct cc_ack *ack);

/* After a timeout nothing is known: half of what was, at most a fresh session's window, and from
 * there by doubling up to that half. */
void cc_restart(struct cc *c, uint32_t least, uint64_t now_ns);

/* A round trip's counts start afresh. */
void cc_counts_clear(struct cc *c);

#endif
