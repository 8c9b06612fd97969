/* SPDX-License-Identifier: BSD-3-Clause */
/* Pacing in user space: sends at 1.25 times window divided by round trip, in batches of at most one
 * GSO message. The kernel paces UDP only with the fq discipline. docs/design/congestion.md
 * "Pacing".
 *
 * The pace is a token bucket (GCRA). Its state is the time at which all sent bytes are paid for, so
 * no timer runs. After a batch, nothing is sent until the batch is paid; otherwise packets would
 * leave one by one. A caller that is late may catch up a quarter of the window. After idle, one
 * batch may leave at once. */
#ifndef RLTP_PACE_H
#define RLTP_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* State of the pace of a session. If all fields are 0, packets are not paced. */
struct pace {
	uint64_t rate_bps;    /* bytes per second; UINT64_MAX: not paced */
	uint64_t next_ns;     /* earliest start of the next batch; 0: now */
	uint64_t paid_ns;     /* time at which all sent bytes are paid for, in ns */
	uint64_t cost;        /* cost of one byte, in 2^-24 ns; 0: not paced */
	uint32_t batch_ns;    /* cost of a batch, in ns */
	uint32_t late_ns;     /* longest delay that the sender may catch up, in ns */
	uint32_t batch_bytes; /* bytes per batch */
	uint32_t least_bytes; /* smallest charge of a packet, in bytes */
	/* fraction of a nanosecond that paid_ns does not include, in 2^-24 ns */
	uint32_t fraction;
};

void pace_init(struct pace *p);

/* Sets the rate to `window_fine` (1/256 packets of `packet_bytes`) per `rtt_ns`. There is no pacing
 * if `window_fine` is CC_UNPACED, or if `rtt_ns` is 0 (unknown). There is none either if batches
 * would follow each other faster than RLTP_PACE_FINEST_NS. */
void pace_set(struct pace *p, uint32_t window_fine, uint32_t packet_bytes, uint32_t rtt_ns);

static inline int pace_ready(const struct pace *p, uint64_t now_ns)
{
	return now_ns >= p->next_ns;
}

/* Only for pace_spend. */
void pace_charge(struct pace *p, uint32_t bytes, uint64_t now_ns);

static inline void pace_spend(struct pace *p, uint32_t bytes, uint64_t now_ns)
{
	if (p->cost != 0)
		pace_charge(p, bytes, now_ns);
}

/* Returns the time at which pace_ready becomes true; 0: it is true now. */
static inline uint64_t pace_deadline(const struct pace *p)
{
	return p->next_ns;
}

#endif
