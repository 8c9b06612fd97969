/* SPDX-License-Identifier: BSD-3-Clause */
/* Window of packet counters against replays, as in RFC 6479: bits of the REPLAY_WINDOW counters
 * below `next`. */
#ifndef SEAL_REPLAY_H
#define SEAL_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

/* as many as RLTP has packets in flight. Control packets count too, so a packet delayed by a whole
 * window may be dropped, and is retransmitted. */
#define REPLAY_WINDOW 4096

struct replay {
	uint64_t next; /* above the highest seen */
	uint64_t seen[REPLAY_WINDOW / 64];
};

/* Starts with all counters below `next` as seen. */
void replay_init(struct replay *r, uint64_t next);

/* Returns the counter nearest to `next` with the low bits `low`. */
uint64_t replay_counter(uint64_t next, uint32_t low);

/* Returns true if it was seen, or is too old for the window. */
bool replay_seen(const struct replay *r, uint64_t counter);

/* Records a counter; only of an authentic packet. */
void replay_mark(struct replay *r, uint64_t counter);

#endif
