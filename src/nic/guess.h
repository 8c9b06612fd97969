/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits attempts to guess memory keys and magics. Each requester, which is a peer or a user of
 * this NIC, has an allowance of wrong values. The whole NIC has another one. When either allowance
 * is used up, the NIC compares no unknown values: requests that carry them wait. A value that the
 * NIC remembers as right for the requester never waits. No clock: the time is an argument. */
#ifndef NIC_GUESS_H
#define NIC_GUESS_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/limits.h"

/* Allowance of wrong values, as a token bucket that stores only one time. All zero: full. */
struct guess_allowance {
	uint64_t paid_ns; /* time at which the allowance is full again */
};

/* Attempts of one requester. Before the first attempt all fields but `node` are 0. */
struct guesses {
	struct guess_allowance own;
	uint32_t keys[NIC_KEYS_KNOWN];   /* known right keys; 0: unused; the oldest is replaced */
	uint32_t wrong_key, wrong_magic; /* last wrong value compared; 0: none */
	uint32_t magics;                 /* bit i: the requester knows the magic of stream i */
	uint8_t next;                    /* index in `keys` of the next key to replace */
	uint8_t last;                    /* index in `keys` of the key that was found last */
	uint16_t node;                   /* node of the requester (user of this NIC: cfg_node) */
};

/* Returns true if the NIC remembers this key as right for the requester. */
bool guess_key_search(struct guesses *g, uint32_t key);
static inline bool guess_key_known(struct guesses *g, uint32_t key)
{
	return (key != 0 && g->keys[g->last] == key) || guess_key_search(g, key);
}
static inline bool guess_magic_known(const struct guesses *g, uint32_t stream)
{
	return g->magics >> stream & 1;
}

/* Returns the time in ns until the NIC may compare an unknown value; 0: now. */
uint64_t guess_wait(const struct guesses *g, const struct guess_allowance *all, uint64_t now_ns);

/* Note the result of a comparison. A wrong value equal to the last one costs nothing, because it
 * reveals nothing. So packets of one message, and retries, count once. */
void guess_key_right(struct guesses *g, uint32_t key);
void guess_magic_right(struct guesses *g, uint32_t stream);
void guess_key_wrong(struct guesses *g, struct guess_allowance *all, uint32_t key, uint64_t now_ns);
void guess_magic_wrong(struct guesses *g, struct guess_allowance *all, uint32_t magic,
		       uint64_t now_ns);

/* Forgets that the requester knows the magics of `streams` (bit i: stream i), because these magics
 * change. */
void guess_magics_forget(struct guesses *g, uint32_t streams);
/* Forgets all known keys and magics and the last wrong values. The allowance stays. */
void guess_forget(struct guesses *g);

#endif
