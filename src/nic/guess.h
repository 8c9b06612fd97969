/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits how fast a requester can guess memory keys and magics. A requester is a peer or a user of
 * this NIC. Each requester has an allowance of wrong values, and the whole NIC has another one.
 * While one of the two is used up, values that this requester has not used successfully before are
 * not compared, and their requests wait. Requests with values that the requester used successfully
 * before never wait. Pure state; the time is an argument. */
#ifndef NIC_GUESS_H
#define NIC_GUESS_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/limits.h"

/* Allowance of wrong values. The algorithm is GCRA, a form of the token bucket. All bytes zero:
 * full. */
struct guess_allowance {
	uint64_t paid_ns; /* time in ns at which the allowance is full again */
};

/* Keys and magics that one requester has tried. All bytes zero except `node`: none. */
struct guesses {
	struct guess_allowance own;
	uint32_t keys[NIC_KEYS_KNOWN];   /* keys that were right; 0: free entry */
	uint32_t wrong_key, wrong_magic; /* wrong value of the last comparison; 0: none */
	uint32_t magics;                 /* bit i: the requester knows the magic of stream i */
	uint8_t next;                    /* entry of `keys` to replace */
	uint8_t last;                    /* entry of `keys` that was found last */
	/* node id of the requester; for a user of this NIC, its cfg_node */
	uint16_t node;
};

/* Returns true if the requester used this key successfully before. */
bool guess_key_search(struct guesses *g, uint32_t key);
static inline bool guess_key_known(struct guesses *g, uint32_t key)
{
	return (key != 0 && g->keys[g->last] == key) || guess_key_search(g, key);
}
static inline bool guess_magic_known(const struct guesses *g, uint32_t stream)
{
	return g->magics >> stream & 1;
}

/* Returns the time in ns until a value that the requester has not used before may be compared; 0:
 * now. */
uint64_t guess_wait(const struct guesses *g, const struct guess_allowance *all, uint64_t now_ns);

/* Record the result of a comparison. If a requester repeats its last wrong value, it pays nothing,
 * because the repetition reveals nothing. So the packets and retries of one message count once. */
void guess_key_right(struct guesses *g, uint32_t key);
void guess_magic_right(struct guesses *g, uint32_t stream);
void guess_key_wrong(struct guesses *g, struct guess_allowance *all, uint32_t key, uint64_t now_ns);
void guess_magic_wrong(struct guesses *g, struct guess_allowance *all, uint32_t magic,
		       uint64_t now_ns);

/* Forgets the magics of streams (bit i: stream i), because they change. */
void guess_magics_forget(struct guesses *g, uint32_t streams);
/* Forgets all right and wrong values of a requester; its allowance stays. */
void guess_forget(struct guesses *g);

#endif
