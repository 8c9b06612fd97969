/* SPDX-License-Identifier: BSD-3-Clause */
/* Pacing in user space: bytes leave at 1.25 times the rate that window and round trip allow, in
 * trains of one GSO message, by a token bucket that may owe. The kernel paces no UDP without the fq
 * discipline. docs/design.md "Pacing". */
#ifndef RLTP_PACE_H
#define RLTP_PACE_H

#include <stdint.h>

struct pace {
	uint64_t rate_bps;    /* bytes per second allowed; UINT64_MAX: not paced */
	uint64_t next_ns;     /* when the next train may start */
	uint32_t train_bytes; /* how much may leave at once */
	uint32_t left_bytes;  /* of the train under way */
};

void pace_init(struct pace *p);

/* The window in 1/256 packets of `packet_bytes` per `rtt_ns` (0: unknown yet, no pace). */
void pace_set(struct pace *p, uint32_t window_fine, uint32_t packet_bytes, uint32_t rtt_ns);

/* May another packet leave now? */
int pace_ready(const struct pace *p, uint64_t now_ns);

/* One packet of `bytes` left. */
void pace_spend(struct pace *p, uint32_t bytes, uint64_t now_ns);

/* When pace_ready will be true again; 0: it is. */
uint64_t pace_deadline(const struct pace *p);

#endif
