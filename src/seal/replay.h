/* SPDX-License-Identifier: BSD-3-Clause */
/* The window of packet counters that separates new packets from replays, as in RFC 6479. It is a
 * ring of bits for the REPLAY_WINDOW counters below `next`. */
#ifndef SEAL_REPLAY_H
#define SEAL_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

/* counters: as many as RLTP may have packets in flight. Control packets count too. So a packet that
 * is delayed by a whole window may be dropped, and RLTP retransmits it. */
#define REPLAY_WINDOW 4096

struct replay {
	uint64_t next; /* one above the highest counter seen */
	uint64_t seen[REPLAY_WINDOW / 64];
};

/* Starts a window in which every counter below `next` has been seen. */
void replay_init(struct replay *r, uint64_t next);

/* Returns the counter that has the low bits `low` and is nearest to `next`. */
uint64_t replay_counter(uint64_t next, uint32_t low);

/* Returns true if the counter was seen, or if it is too old for the window. */
bool replay_seen(const struct replay *r, uint64_t counter);

/* Records that this counter was seen. Call it only for an authentic packet. */
void replay_mark(struct replay *r, uint64_t counter);

#endif
