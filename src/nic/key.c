/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of regions: 12 bits of index, 20 secret bits. The secret bits permute the number of
 * registrations at this index, so a key repeats only after all were used, and earlier keys reveal
 * nothing else. The permutation is a Feistel network of eight rounds of SipHash-2-4, keyed once
 * from the random source. Two keys would reveal the multiplier of an affine permutation. */
#include "nic/internal.h"

#define HALF_BITS 10
#define HALF_MASK ((1u << HALF_BITS) - 1)
#define ROUNDS    8

static uint64_t rotated(uint64_t v, unsigned bits)
{
	return v << bits | v >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], int count)
{
	while (count-- > 0) {
		v[0] += v[1];
		v[1] = rotated(v[1], 13) ^ v[0];
		v[0] = rotated(v[0], 32);
		v[2] += v[3];
		v[3] = rotated(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotated(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotated(v[1], 17) ^ v[2];
		v[2] = rotated(v[2], 32);
	}
}

/* SipHash-2-4 of `word` and the final word with the length in bytes (Aumasson and Bernstein,
 * "SipHash", 2012). */
static uint64_t siphash(const uint64_t seed[2], uint64_t word)
{
	const uint64_t words[2] = {word, 8ull << 56};
	uint64_t v[4] = {seed[0] ^ 0x736f6d6570736575ull, seed[1] ^ 0x646f72616e646f6dull,
			 seed[0] ^ 0x6c7967656e657261ull, seed[1] ^ 0x7465646279746573ull};

	for (int i = 0; i < 2; i++) {
		v[3] ^= words[i];
		sip_rounds(v, 2);
		v[0] ^= words[i];
	}
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint32_t secret(const struct nic *n, uint32_t index, uint32_t generation)
{
	uint32_t left = generation >> HALF_BITS & HALF_MASK, right = generation & HALF_MASK;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t word = (uint64_t)index << 32 | round << 16 | right;
		uint32_t next = left ^ ((uint32_t)siphash(n->key_seed, word) & HALF_MASK);
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
