/* SPDX-License-Identifier: BSD-3-Clause */
/* Pacing in user space, because the kernel paces UDP only with the fq discipline: 1.25 windows per
 * round trip, in batches of at most one GSO message. docs/design/congestion.md "Pacing".
 *
 * A token bucket (GCRA) without timer: it stores when all sent bytes are paid for. Nothing is sent
 * until a batch is paid; otherwise packets would leave one by one. A late caller may catch up a
 * quarter of the window. After idle, one batch may leave at once. */
#ifndef RLTP_PACE_H
#define RLTP_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* All 0: not paced. */
struct pace {
	uint64_t rate_bps; /* bytes/s; UINT64_MAX: not paced */
	uint64_t next_ns;  /* ns, start of the next batch; 0: now */
	uint64_t paid_ns;  /* ns, when all sent bytes are paid for */
	uint64_t cost;     /* of one byte, in 2^-24 ns; 0: not paced */
	uint32_t batch_ns; /* cost of a batch */
	uint32_t late_ns;  /* delay that may be caught up */
	uint32_t batch_bytes;
	uint32_t least_bytes; /* smallest charge of a packet */
	/* cost not included in paid_ns, in 2^-24 ns */
	uint32_t fraction;
};

void pace_init(struct pace *p);

/* Allows `window_fine` (1/256 packets of `packet_bytes`) per `rtt_ns`. No pacing if it is
 * CC_UNPACED, if `rtt_ns` is 0, or if batches would follow faster than RLTP_PACE_FINEST_NS. */
void pace_set(struct pace *p, uint32_t window_fine, uint32_t packet_bytes, uint32_t rtt_ns);

static inline int pace_ready(const struct pace *p, uint64_t now_ns)
{
	return now_ns >= p->next_ns;
}

/* Only pace_spend calls it. */
void pace_charge(struct pace *p, uint32_t bytes, uint64_t now_ns);

static inline void pace_spend(struct pace *p, uint32_t bytes, uint64_t now_ns)
{
	if (p->cost != 0)
		pace_charge(p, bytes, now_ns);
}

/* 0: ready now. */
static inline uint64_t pace_deadline(const struct pace *p)
{
	return p->next_ns;
}

#endif
