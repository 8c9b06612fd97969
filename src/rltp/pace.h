/* SPDX-License-Identifier: BSD-3-Clause */
/* Pacing in user space: bytes leave at 1.25 times the rate that window and round trip allow, in
 * trains of one GSO message, by a token bucket that may owe. The kernel paces no UDP without the fq
 * discipline. docs/design.md "Pacing".
 *
 * The bucket is kept as the time at which all that left is paid for (GCRA), so that nothing runs
 * while nobody sends. Once a train has left, nothing leaves until it is paid for: else packets
 * would trickle out one by one. A caller that comes late gets what it missed, up to a quarter of
 * the window; one that was idle gets one train. */
#ifndef RLTP_PACE_H
#define RLTP_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: not paced. */
struct pace {
	uint64_t rate_bps;    /* bytes per second allowed; UINT64_MAX: not paced */
	uint64_t next_ns;     /* when the next train may start; 0: now */
	uint64_t paid_ns;     /* when all that left is paid for */
	uint64_t cost;        /* of one byte, 2^-24 ns; 0: not paced */
	uint32_t train_ns;    /* cost of a train */
	uint32_t late_ns;     /* lateness that is forgiven */
	uint32_t train_bytes; /* how much may leave at once */
	uint32_t least_bytes; /* what a shorter packet costs */
	uint32_t fraction;    /* of a nanosecond owed, 2^-24 */
};

void pace_init(struct pace *p);

/* The window in 1/256 packets of `packet_bytes` per `rtt_ns` (0: unknown yet, no pace).
 * `window_fine` may be CC_UNPACED. */
void pace_set(struct pace *p, uint32_t window_fine, uint32_t packet_bytes, uint32_t rtt_ns);

/* May another packet leave now? */
static inline int pace_ready(const struct pace *p, uint64_t now_ns)
{
	return now_ns >= p->next_ns;
}

/* The bucket's arithmetic; call pace_spend. */
void pace_charge(struct pace *p, uint32_t bytes, uint64_t now_ns);

/* One packet of `bytes` left. */
static inline void pace_spend(struct pace *p, uint32_t bytes, uint64_t now_ns)
{
	if (p->cost != 0)
		pace_charge(p, bytes, now_ns);
}

/* When pace_ready will be true again; 0: it is. */
static inline uint64_t pace_deadline(const struct pace *p)
{
	return p->next_ns;
}

#endif
