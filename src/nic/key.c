/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of regions: 12 bits of index, 20 secret bits, which permute the number of registrations at
 * this index. So a key repeats only after all were used, and earlier keys reveal nothing else. A
 * Feistel network of eight rounds of SipHash-2-4 permutes; two keys would reveal the multiplier of
 * an affine permutation. */
#include "base/siphash.h"
#include "nic/internal.h"

#define HALF_BITS 10
#define HALF_MASK ((1u << HALF_BITS) - 1)
#define ROUNDS    8

static uint32_t secret(const struct nic *n, uint32_t index, uint32_t generation)
{
	uint32_t left = generation >> HALF_BITS & HALF_MASK, right = generation & HALF_MASK;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t word = (uint64_t)index << 32 | round << 16 | right;
		uint32_t next = left ^ ((uint32_t)siphash_words(n->key_seed, &word, 1) & HALF_MASK);
		left = right;
		right = next;
	}
	return left << HALF_BITS | right;
}

uint32_t key_next(const struct nic *n, uint32_t index, uint32_t *generation)
{
	uint32_t key;

	do {
		key = secret(n, index, (*generation)++) * NIC_REGIONS_MAX | index;
	} while (key == 0); /* 0 means no key */
	return key;
}
