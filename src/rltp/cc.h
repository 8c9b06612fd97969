/* SPDX-License-Identifier: BSD-3-Clause */
/* Congestion control of one session: limits the packets in flight. The session reports events and
 * reads a window. Modules differ in how they use acknowledgements, delays, marks and losses. Pure
 * arithmetic: no clock, no allocation. Invariant: RLTP_CC_WINDOW_MIN <= window, host_window <=
 * `most` packets. Sources: docs/design/congestion.md "Congestion"; Swift (SIGCOMM 2020), DCTCP (RFC
 * 8257), Reno (RFC 5681). */
#ifndef RLTP_CC_H
#define RLTP_CC_H

#include <stdbool.h>
#include <stdint.h>

/* One packet in window units. An overloaded path may need less than one packet per round trip. */
#define CC_ONE 256u

/* Returned by cc_window_fine if the module does not pace. */
#define CC_UNPACED UINT32_MAX

enum cc_kind {
	CC_SWIFT, /* uses delay; the default */
	/* Window always at the session's bound, as IRN's BDP-FC. */
	CC_NONE,
	CC_DCTCP, /* uses the share of marked packets; needs switches that mark */
	CC_RENO,  /* halves the window at each loss */
	CC_KINDS
};

struct cc_ack {
	uint64_t now_ns;
	uint32_t acked;    /* newly acknowledged packets; may be 0 */
	uint32_t inflight; /* packets in flight before this acknowledgement */
	/* Round trip without time in the hosts; 0: no sample. */
	uint32_t delay_ns;
	uint32_t rtt_ns;  /* round trip with time in the hosts; 0: no sample */
	uint16_t marked;  /* packets newly reported with the mark "congestion experienced" */
	uint8_t rx_level; /* fill of the receiver's buffer, 0 .. 31 */
	/* Window or pace blocked a packet since the last acknowledgement. */
	bool limited;
};

/* State of one session. Modules write it; others may read `kind`, `window` and the delays. */
struct cc {
	uint8_t kind;    /* enum cc_kind */
	bool starting;   /* no congestion yet: the window doubles each round trip */
	bool limited;    /* cc_ack.limited was set in this round trip */
	bool marks;      /* marks were received in this round trip */
	uint16_t most;   /* packets: bound of the window */
	uint32_t window; /* congestion window, 1/256 packets */
	/* Window for the receiver's buffer, 1/256 packets. The smaller of both windows applies. */
	uint32_t host_window;
	uint32_t delay_ns;     /* smoothed fabric delay; 0: no sample yet */
	uint32_t min_delay_ns; /* lowest fabric delay on this path: the propagation time */
	/* module `swift`: part of min_delay_ns that counts as path delay */
	uint32_t path_ns;
	uint32_t round_delay_ns; /* lowest fabric delay in this round trip; 0: no sample yet */
	uint32_t rtt_ns;         /* smoothed round trip with time in hosts; 0: no sample yet */
	uint32_t alpha;          /* DCTCP: share of marked packets, 1/2^20 */
	uint32_t threshold;      /* window at which doubling stops, 1/256 packets */
	/* Times in units of 2^20 ns: when the window reached its minimum, and when a cut last
	 * emptied the queue. */
	uint32_t floored, drained;
	uint32_t acked, lost,
		/* packets in this round trip; the module `swift` halves the counts each round
		 * trip */
		marked;
	uint64_t round_ns;   /* start of this round trip */
	uint64_t reduced_ns; /* last cut of the window */
};

/* Initializes the state. `most`: 1 .. WIRE_WINDOW_MAX packets. */
void cc_init(struct cc *c, enum cc_kind kind, uint32_t most, uint64_t now_ns);

/* Sets the path delay to the handshake's round trip, which contains no queue of own packets. It
 * also includes time in the peer, so the true path delay is at most this. Call at most once, after
 * cc_init. */
void cc_handshake_done(struct cc *c, uint64_t rtt_ns);

/* Shrinks the window after a pause, because the path may have changed. Call before sending when
 * nothing is in flight. Cheap. */
void cc_resume(struct cc *c, uint64_t now_ns);

void cc_acked(struct cc *c, const struct cc_ack *ack);

/* Notes `count` packets declared lost at once; `inflight` counts the packets before that. */
void cc_lost(struct cc *c, uint32_t count, uint32_t inflight, uint64_t now_ns);

/* Notes that a timeout declared all packets in flight lost. */
void cc_timeout(struct cc *c, uint64_t now_ns);

/* Returns how many packets may be in flight, 1 .. `most`. If the window is below one packet,
 * returns 1, and only pacing limits the rate. */
uint32_t cc_window(const struct cc *c);

/* Returns the window for pacing, 1/256 packets, or CC_UNPACED. */
uint32_t cc_window_fine(const struct cc *c);

/* Returns true if data packets must be marked ECN-capable. */
bool cc_wants_ecn(enum cc_kind kind);

/* Parses "swift", "none", "dctcp" or "reno". For other text, returns false and leaves *out
 * unchanged. */
bool cc_parse(const char *text, enum cc_kind *out);

/* Returns the name, or NULL for an invalid kind. */
const char *cc_name(enum cc_kind kind);

#endif
