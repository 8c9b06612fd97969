/* SPDX-License-Identifier: BSD-3-Clause */
/* Congestion control of one session: limits the packets in flight. Pure arithmetic, without clock
 * or memory allocation. Invariant: `window` and `host_window` are between RLTP_CC_WINDOW_MIN/256
 * and `most` packets. Sources: docs/design/congestion.md "Congestion"; Swift (SIGCOMM 2020), DCTCP
 * (RFC 8257), Reno (RFC 5681). */
#ifndef RLTP_CC_H
#define RLTP_CC_H

#include <stdbool.h>
#include <stdint.h>

/* One packet. A window may be below it: less than one packet per round trip. */
#define CC_ONE 256u

/* cc_window_fine: no pacing */
#define CC_UNPACED UINT32_MAX

enum cc_kind {
	CC_SWIFT, /* delay; the default */
	/* constant window, as in the flow control of IRN (SIGCOMM 2018) */
	CC_NONE,
	CC_DCTCP, /* share of packets with ECN marks; needs switches that set them */
	CC_RENO,  /* halves the window at each loss */
	CC_KINDS
};

struct cc_ack {
	uint64_t now_ns;
	uint32_t acked;    /* newly acknowledged; may be 0 */
	uint32_t inflight; /* packets, before this acknowledgement */
	/* round trip without the time in the hosts; 0: no sample */
	uint32_t delay_ns;
	uint32_t rtt_ns; /* round trip with it; 0: no sample */
	/* newly reported packets with the ECN mark */
	uint16_t marked;
	uint8_t rx_level; /* fill level of the receiver's buffer, 0 .. 31 */
	/* the window or the pace blocked a packet since the last acknowledgement */
	bool limited;
};

/* Other code may read `kind`, `window` and the delays. */
struct cc {
	uint8_t kind;
	bool starting;   /* no congestion yet: the window doubles per round trip */
	bool limited;    /* cc_ack.limited was set in this round trip */
	bool marks;      /* marks arrived in this round trip */
	uint16_t most;   /* bound of both windows, packets */
	uint32_t window; /* congestion window, 1/256 packets */
	/* 1/256 packets, by the receiver's buffer; the smaller window applies */
	uint32_t host_window;
	uint32_t delay_ns;     /* smoothed fabric delay; 0: no sample */
	uint32_t min_delay_ns; /* lowest fabric delay of this path */
	/* `swift`: part of min_delay_ns accepted as path delay */
	uint32_t path_ns;
	uint32_t round_delay_ns; /* lowest in this round trip; 0: no sample */
	/* smoothed round trip with the time in both hosts; 0: no sample */
	uint32_t rtt_ns;
	uint32_t alpha;     /* DCTCP: average share of marked packets, 1/2^20 */
	uint32_t threshold; /* doubling stops at this window, 1/256 packets */
	/* `swift`, units of 2^20 ns: since when the window is at its minimum although the delay is
	 * above the target; when a cut last emptied the queue */
	uint32_t floored, drained;
	uint32_t acked, lost,
		/* packets in this round trip; `swift` halves `acked` and `lost` after it */
		marked;
	uint64_t round_ns;   /* start of this round trip */
	uint64_t reduced_ns; /* last cut of the window */
};

/* `most`: 1 .. WIRE_WINDOW_MAX packets. */
void cc_init(struct cc *c, enum cc_kind kind, uint32_t most, uint64_t now_ns);

/* Sets the path delay to rtt_ns: the handshake's round trip, or what an idle session kept. It
 * includes time in the peer, so the true delay is not longer. Call at most once, after cc_init. */
void cc_handshake_done(struct cc *c, uint64_t rtt_ns);

/* Shrinks the window after a pause, because the path may have changed. Call before sending if
 * nothing is in flight. */
void cc_resume(struct cc *c, uint64_t now_ns);

void cc_acked(struct cc *c, const struct cc_ack *ack);

/* Reports `count` packets declared lost at once; `inflight` is the value before. */
void cc_lost(struct cc *c, uint32_t count, uint32_t inflight, uint64_t now_ns);

void cc_timeout(struct cc *c, uint64_t now_ns);

/* Returns packets that may be in flight, 1 .. `most`. Below one packet, only the pace limits the
 * rate. */
uint32_t cc_window(const struct cc *c);

/* Returns 1/256 packets for the pace, or CC_UNPACED. */
uint32_t cc_window_fine(const struct cc *c);

bool cc_wants_ecn(enum cc_kind kind);

/* "swift", "none", "dctcp" or "reno". Other text: false, and *out is unchanged. */
bool cc_parse(const char *text, enum cc_kind *out);

const char *cc_name(enum cc_kind kind);

#endif
