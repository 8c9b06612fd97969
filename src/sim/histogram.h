/* SPDX-License-Identifier: BSD-3-Clause */
/* Durations in buckets of a relative width of 1/128, so percentiles are accurate to one percent in
 * fixed memory. */
#ifndef SIM_HISTOGRAM_H
#define SIM_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BITS    7
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS)

struct histogram {
	uint64_t count;
	uint32_t buckets[HISTOGRAM_BUCKETS];
};

static inline uint32_t histogram_bucket(uint64_t value)
{
	uint32_t shift = value >> HISTOGRAM_BITS
				 ? 63u - (uint32_t)__builtin_clzll(value) - HISTOGRAM_BITS
				 : 0;

	return (shift << HISTOGRAM_BITS) + (uint32_t)(value >> shift);
}

static inline void histogram_add(struct histogram *h, uint64_t value)
{
	h->buckets[histogram_bucket(value)]++;
	h->count++;
}

/* Returns the value that `permille` of 1000 samples do not exceed; 0: no samples. */
static inline uint64_t histogram_at(const struct histogram *h, uint32_t permille)
{
	uint64_t wanted = (h->count * permille + 999) / 1000, seen = 0;

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS && h->count > 0; i++) {
		seen += h->buckets[i];
		if (seen < wanted || seen == 0)
			continue;
		uint32_t shift = i >> HISTOGRAM_BITS > 1 ? (i >> HISTOGRAM_BITS) - 1 : 0;
		return (uint64_t)(i - (shift << HISTOGRAM_BITS)) << shift;
	}
	return 0;
}

#endif
