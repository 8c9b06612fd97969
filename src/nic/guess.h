/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds attempts at memory keys and magics. A requester, a peer or a function of this NIC, has an
 * allowance of wrong values; so has the whole NIC. When one of them is used up, values that the
 * requester has not shown to be right are not compared: their requests wait. Requests with values
 * that the requester used successfully before never wait. Pure state; the time is an argument. */
#ifndef NIC_GUESS_H
#define NIC_GUESS_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/limits.h"

/* Allowance of wrong values (GCRA). All zero: full. */
struct guess_allowance {
	uint64_t paid_ns; /* the allowance is full again at this time */
};

/* Attempts of one requester. All zero but `node`: none. */
struct guesses {
	struct guess_allowance own;
	uint32_t keys[NIC_KEYS_KNOWN];   /* right keys, 0: none; the oldest is replaced */
	uint32_t wrong_key, wrong_magic; /* compared last, and wrong; 0: none */
	uint32_t magics;                 /* bit i: knows the magic of stream i */
	uint8_t next;                    /* entry of `keys` to replace */
	uint8_t last;                    /* entry of `keys` that was found last */
	uint16_t node;                   /* the requester; of a user of this NIC: its cfg_node */
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

/* Returns the time in ns until an unknown value may be compared; 0: now. */
uint64_t guess_wait(const struct guesses *g, const struct guess_allowance *all, uint64_t now_ns);

/* Note the result of a comparison. The same wrong value again costs nothing, because it reveals
 * nothing: packets of one message, and retries, count once. */
void guess_key_right(struct guesses *g, uint32_t key);
void guess_magic_right(struct guesses *g, uint32_t stream);
void guess_key_wrong(struct guesses *g, struct guess_allowance *all, uint32_t key, uint64_t now_ns);
void guess_magic_wrong(struct guesses *g, struct guess_allowance *all, uint32_t magic,
		       uint64_t now_ns);

/* Forgets the magics of streams (bit i: stream i), because they change. */
void guess_magics_forget(struct guesses *g, uint32_t streams);
/* Forgets all known and last values; the allowance stays. */
void guess_forget(struct guesses *g);

#endif
