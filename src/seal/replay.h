/* SPDX-License-Identifier: BSD-3-Clause */
/* The window of packet counters that separates new packets from replays, as in RFC 6479: a ring of
 * bits for the last REPLAY_WINDOW counters below `next`. */
#ifndef SEAL_REPLAY_H
#define SEAL_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

/* counters: as many as RLTP has packets in flight. Control packets count too, so a packet delayed
 * by a whole window may be dropped, and RLTP sends it again. */
#define REPLAY_WINDOW 4096

struct replay {
	uint64_t next; /* above the highest counter seen */
	uint64_t seen[REPLAY_WINDOW / 64];
};

/* Starts a window in which every counter below `next` has been seen. */
void replay_init(struct replay *r, uint64_t next);

/* Returns the counter with these low bits that is nearest to `next`. */
uint64_t replay_counter(uint64_t next, uint32_t low);

/* Returns true if the counter was seen, or is too old to know. */
bool replay_seen(const struct replay *r, uint64_t counter);

/* Marks a counter that was not seen. Call it only for an authentic packet. */
void replay_mark(struct replay *r, uint64_t counter);

#endif
