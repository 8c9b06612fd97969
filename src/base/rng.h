/* SPDX-License-Identifier: BSD-3-Clause */
/* Pseudorandom numbers from a seed (SplitMix64), for simulator, tests and jitter, never secrets.
 * Keys and magics come from an entropy_fn: the kernel's in a real node, this in the simulator. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = (r->state += 0x9e3779b97f4a7c15ull);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* 0 .. bound - 1; 0 for bound 0. The modulo's bias is too small for any test. */
static inline uint64_t rng_below(struct rng *r, uint64_t bound)
{
	return bound ? rng_next(r) % bound : 0;
}

static inline int rng_chance_ppm(struct rng *r, uint32_t ppm)
{
	return rng_below(r, 1000000) < ppm;
}

/* Cannot fail: a node without a random source does not start. */
typedef void (*entropy_fn)(void *context, void *out, uint64_t bytes);

/* `context` is unused. */
void rng_entropy_kernel(void *context, void *out, uint64_t bytes);

/* `context` is a struct rng. Only for the simulator. */
void rng_entropy_rng(void *context, void *out, uint64_t bytes);

#endif
