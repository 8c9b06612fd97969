/* SPDX-License-Identifier: BSD-3-Clause */
/* Pacing in user space: sends at 1.25 times window over round trip, in batches of one GSO message.
 * The kernel paces UDP only with the fq discipline. docs/design/congestion.md "Pacing".
 *
 * A token bucket whose state is the time at which all sent bytes are paid for (GCRA), so no timer
 * runs. After a batch nothing leaves until it is paid; otherwise packets would leave one by one. A
 * late caller may catch up a quarter of the window, an idle one may send one batch. */
#ifndef RLTP_PACE_H
#define RLTP_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: not paced. */
struct pace {
	uint64_t rate_bps;    /* bytes per second; UINT64_MAX: not paced */
	uint64_t next_ns;     /* earliest start of the next batch; 0: now */
	uint64_t paid_ns;     /* time at which all sent bytes are paid for */
	uint64_t cost;        /* cost of one byte, 2^-24 ns; 0: not paced */
	uint32_t batch_ns;    /* cost of a batch */
	uint32_t late_ns;     /* lateness that can be caught up */
	uint32_t batch_bytes; /* batch size */
	uint32_t least_bytes; /* minimum charge of a packet */
	uint32_t fraction;    /* unpaid part of a nanosecond, 2^-24 */
};

void pace_init(struct pace *p);

/* Sets the rate: `window_fine` (1/256 packets of `packet_bytes`) per `rtt_ns`. No pacing if it is
 * CC_UNPACED or rtt_ns is 0 (unknown). */
void pace_set(struct pace *p, uint32_t window_fine, uint32_t packet_bytes, uint32_t rtt_ns);

static inline int pace_ready(const struct pace *p, uint64_t now_ns)
{
	return now_ns >= p->next_ns;
}

/* Called by pace_spend. */
void pace_charge(struct pace *p, uint32_t bytes, uint64_t now_ns);

static inline void pace_spend(struct pace *p, uint32_t bytes, uint64_t now_ns)
{
	if (p->cost != 0)
		pace_charge(p, bytes, now_ns);
}

/* Returns when pace_ready becomes true; 0: it is. */
static inline uint64_t pace_deadline(const struct pace *p)
{
	return p->next_ns;
}

#endif
