/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_UTIL_H
#define BASE_UTIL_H

#include <stddef.h>
#include <stdint.h>

#define ARRAY_COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(pointer, type, member) \
	((type *)(void *)((char *)(pointer)-offsetof(type, member)))
#define UNUSED                     __attribute__((unused))
#define PRINTF_LIKE(string, first) __attribute__((format(printf, string, first)))

#define US_NS 1000ull
#define MS_NS 1000000ull
#define S_NS  1000000000ull

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint32_t max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t clamp_u64(uint64_t v, uint64_t low, uint64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* Compares wrapping serial numbers (RFC 1982), less than half the space apart. */
static inline int seq_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

#endif
