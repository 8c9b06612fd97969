/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers (splitmix64), the same on every machine. */
#ifndef LEARN_RANDOM_H
#define LEARN_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state; /* the seed */
};

static inline uint32_t random_bits(struct random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (uint32_t)(z >> 32);
}

/* 0 .. bound - 1 */
static inline uint32_t random_below(struct random *r, uint32_t bound)
{
	return (uint32_t)(((uint64_t)random_bits(r) * bound) >> 32);
}

/* low .. high, inclusive */
static inline int32_t random_between(struct random *r, int32_t low, int32_t high)
{
	return low + (int32_t)random_below(r, (uint32_t)(high - low + 1));
}

/* -1 .. 1, a multiple of 2^-23 */
static inline float random_float(struct random *r)
{
	return (float)(random_bits(r) >> 8) * 0x1p-23f - 1.0f;
}

static inline void random_shuffle(struct random *r, uint32_t *numbers, uint32_t count)
{
	for (uint32_t i = count; i > 1; i--) {
		const uint32_t k = random_below(r, i), number = numbers[k];
		numbers[k] = numbers[i - 1];
		numbers[i - 1] = number;
	}
}

#endif
