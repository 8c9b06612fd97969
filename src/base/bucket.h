/* SPDX-License-Identifier: BSD-3-Clause */
/* Token bucket: an exact long-term rate in bytes per second, with bounded saving while idle. The
 * state is the time at which all bytes sent are paid for (GCRA), so no timer runs. After the bucket
 * is used up, nothing leaves until all is paid for; otherwise packets would leave one by one. All
 * zero: no limit and no cost. */
#ifndef BASE_BUCKET_H
#define BASE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket {
	uint64_t bytes_per_s; /* 0: no limit */
	uint64_t paid_ns;     /* when all bytes sent are paid for */
	uint64_t next_ns;     /* nothing leaves before; 0: now */
	uint64_t remainder;   /* of a nanosecond of debt, in 1/bytes_per_s */
	uint64_t burst_ns;    /* longest time that may be saved up */
	uint64_t batch_ns;    /* debt below which bytes still leave */
	uint64_t waits;       /* waits for the bucket; wraps */
	bool counted;         /* the current wait is counted */
};

/* Sets the rate, 0 .. BUCKET_RATE_MAX; 0: no limit. Drops debt and waits; a burst may leave at
 * once. The same rate again changes nothing. */
void bucket_rate(struct bucket *b, uint64_t bytes_per_s);

/* Returns true if anything may leave now. Counts each wait once. */
static inline bool bucket_allows(struct bucket *b, uint64_t now_ns)
{
	if (now_ns >= b->next_ns)
		return true;
	b->waits += !b->counted;
	b->counted = true;
	return false;
}

/* Returns the time in ns that `bytes` take at the rate, which must not be 0. */
uint64_t bucket_time(const struct bucket *b, uint64_t bytes);

/* Charges bytes that left. They may exceed the saved ones; then all are paid for before more
 * leaves. */
void bucket_charge(struct bucket *b, uint64_t bytes, uint64_t now_ns);

#endif
