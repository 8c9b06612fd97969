/* SPDX-License-Identifier: BSD-3-Clause */
/* Congestion control of one session: how many packets may be in flight. The modules differ in what
 * they make of acknowledgements, delays, marks and losses; the session asks for a window and tells
 * what happened, and knows nothing else of them. Pure arithmetic: no clock, no allocation.
 * Invariant: RLTP_CC_WINDOW_MIN <= window, host_window <= most packets.
 * Sources: docs/design.md "Congestion"; Swift (SIGCOMM 2020), DCTCP (RFC 8257), Reno (RFC 5681). */
#ifndef RLTP_CC_H
#define RLTP_CC_H

#include <stdbool.h>
#include <stdint.h>

/* Windows are counted in 1/256 packets: an overloaded path may deserve less than one per round
 * trip. */
#define CC_ONE 256u

/* What cc_window_fine says of a module that is not to be paced. */
#define CC_UNPACED UINT32_MAX

enum cc_kind {
	CC_SWIFT, /* delay-gated: the default */
	CC_NONE,  /* as many packets as the session's bound: what IRN calls BDP-FC */
	CC_DCTCP, /* reacts to the share of marked packets; needs switches that mark */
	CC_RENO,  /* halves at each loss */
	CC_KINDS
};

/* What one acknowledgement told. */
struct cc_ack {
	uint64_t now_ns;
	uint32_t acked;    /* packets newly acknowledged; may be 0 */
	uint32_t inflight; /* packets in flight before it */
	uint32_t delay_ns; /* fabric delay of the round trip, without the time spent in hosts; 0: no
			      sample */
	uint32_t rtt_ns;   /* the same with the time spent in hosts; 0: no sample */
	uint16_t marked;   /* packets newly reported as "congestion experienced" */
	uint8_t rx_level;  /* fill of the receiver's buffer, 0 .. 31 */
	bool limited;      /* window or pace, and not the sender's appetite, held it back since the
			      last one */
};

/* The state of one session; survives while it is idle. Private to the modules but for `kind`,
 * `window` and the delays, which others may read. */
struct cc {
	uint8_t kind;         /* enum cc_kind */
	bool starting;        /* no sign of congestion yet: the window doubles in each round trip */
	bool limited;         /* cc_ack.limited was seen in the round trip under way */
	bool marks;           /* so were marks */
	uint16_t most;        /* packets: the session's bound */
	uint32_t window;      /* 1/256 packets */
	uint32_t host_window; /* the same, for a receiver whose buffer fills; window allowed is the
				 smaller one */
	uint32_t delay_ns;    /* smoothed fabric delay; 0: no sample yet */
	uint32_t min_delay_ns;        /* lowest on this path: what propagation takes */
	uint32_t path_ns;             /* swift: how much of it is believed by now */
	uint32_t round_delay_ns;      /* lowest in the round trip under way; 0: no sample yet */
	uint32_t rtt_ns;              /* smoothed, with hosts; 0: no sample yet */
	uint32_t alpha;               /* DCTCP: share of marked packets, 1/2^20 */
	uint32_t threshold;           /* window at which doubling ends without a sign, 1/256 */
	uint32_t floored, drained;    /* since when the window lies at its floor, and when the queue
					 was emptied last: 2^20 ns */
	uint32_t acked, lost, marked; /* in the round trip under way; swift: fading over two */
	uint64_t round_ns;            /* when the round trip under way began */
	uint64_t reduced_ns;          /* when the window was cut last */
};

/* A fresh session. `most`: 1 .. RLTP_WINDOW_MAX packets. */
void cc_init(struct cc *c, enum cc_kind kind, uint32_t most, uint64_t now_ns);

/* The round trip of the greeting, before anything of our own could queue; with the peer's time, so
 * the path is no longer than this. Call it once, after cc_init, where it is known. */
void cc_greeted(struct cc *c, uint64_t rtt_ns);

/* A packet is about to leave and nothing is in flight: after a pause the window says nothing about
 * the path any more. Cheap: may be called for every such packet. */
void cc_resume(struct cc *c, uint64_t now_ns);

void cc_acked(struct cc *c, const struct cc_ack *ack);

/* `count` packets were found lost at once, `inflight` before that. */
void cc_lost(struct cc *c, uint32_t count, uint32_t inflight, uint64_t now_ns);

/* Everything in flight was given up after silence. */
void cc_timeout(struct cc *c, uint64_t now_ns);

/* Packets that may be in flight now, at least 1, at most `most`. With a window under one packet it
 * is 1, and the pace does the rest. */
uint32_t cc_window(const struct cc *c);

/* Window in 1/256 packets that the pace follows; CC_UNPACED: leave at once whatever the window
 * allows. */
uint32_t cc_window_fine(const struct cc *c);

/* Should data leave as ECN-capable? */
bool cc_wants_ecn(enum cc_kind kind);

/* "swift", "none", "dctcp", "reno"; false for another text, *out is unchanged then. */
bool cc_parse(const char *text, enum cc_kind *out);

/* NULL for what is no kind. */
const char *cc_name(enum cc_kind kind);

#endif
