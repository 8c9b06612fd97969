/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits guesses of memory keys and magics. Each requester (a peer, or a user of this NIC) has an
 * allowance of wrong values, and so has the whole NIC. When one is used up, requests with unknown
 * values wait; values known to be right never wait. */
#ifndef NIC_GUESS_H
#define NIC_GUESS_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/limits.h"

/* A token bucket. 0: full. */
struct guess_allowance {
	uint64_t paid_ns; /* when the bucket is full again */
};

/* Attempts of one requester; initially all 0 except `node`. */
struct guesses {
	struct guess_allowance own;
	uint32_t keys[NIC_KEYS_KNOWN];   /* known right keys; 0: unused */
	uint32_t wrong_key, wrong_magic; /* last one compared; 0: none */
	uint32_t magics;                 /* bit i: the magic of stream i is known */
	uint8_t next;                    /* replaced next */
	uint8_t last;                    /* found last */
	uint16_t node;                   /* node of the requester (a user: its cfg_node) */
};

bool guess_key_search(struct guesses *g, uint32_t key);
static inline bool guess_key_known(struct guesses *g, uint32_t key)
{
	return (key != 0 && g->keys[g->last] == key) || guess_key_search(g, key);
}
static inline bool guess_magic_known(const struct guesses *g, uint32_t stream)
{
	return g->magics >> stream & 1;
}

/* ns until an unknown value may be compared; 0: now. */
uint64_t guess_wait(const struct guesses *g, const struct guess_allowance *all, uint64_t now_ns);

/* Record a comparison. Repeating the last wrong value costs nothing, so packets of one message, and
 * retries, count once. */
void guess_key_right(struct guesses *g, uint32_t key);
void guess_magic_right(struct guesses *g, uint32_t stream);
void guess_key_wrong(struct guesses *g, struct guess_allowance *all, uint32_t key, uint64_t now_ns);
void guess_magic_wrong(struct guesses *g, struct guess_allowance *all, uint32_t magic,
		       uint64_t now_ns);

/* bit i: stream i */
void guess_magics_forget(struct guesses *g, uint32_t streams);
/* Keeps only the allowance and the node. */
void guess_forget(struct guesses *g);

#endif
