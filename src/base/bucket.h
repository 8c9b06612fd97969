/* SPDX-License-Identifier: BSD-3-Clause */
/* Token bucket: an exact long-term rate in bytes per second. Idle time is saved up to a bound. The
 * state is the time at which all sent bytes are paid for (GCRA), so no timer is needed. A certain
 * debt is allowed. When it is exceeded, nothing leaves until all is paid; otherwise packets would
 * leave one by one. A zeroed bucket has no limit. */
#ifndef BASE_BUCKET_H
#define BASE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket {
	uint64_t bytes_per_s; /* 0: no limit */
	uint64_t paid_ns;     /* time at which all sent bytes are paid for */
	uint64_t next_ns;     /* nothing leaves before this time; 0: now */
	uint64_t remainder;   /* unpaid part of a nanosecond, in units of 1/bytes_per_s ns */
	uint64_t burst_ns;    /* ns: longest idle time that is saved */
	uint64_t batch_ns;    /* ns: debt below which bytes still leave */
	uint64_t waits;       /* number of waits for the bucket; wraps */
	bool counted;         /* the current wait is counted */
};

/* Sets the rate, 0 .. BUCKET_RATE_MAX; 0: no limit. A new rate clears the debt and the count of
 * waits, and allows a burst at once. Setting the current rate again changes nothing. */
void bucket_rate(struct bucket *b, uint64_t bytes_per_s);

/* Returns true if bytes may leave now. Counts each wait once. */
static inline bool bucket_allows(struct bucket *b, uint64_t now_ns)
{
	if (now_ns >= b->next_ns)
		return true;
	b->waits += !b->counted;
	b->counted = true;
	return false;
}

/* Returns the time in ns for `bytes` at the rate, which must not be 0. */
uint64_t bucket_time(const struct bucket *b, uint64_t bytes);

/* Charges bytes that have left. The bytes may be more than the bucket holds. */
void bucket_charge(struct bucket *b, uint64_t bytes, uint64_t now_ns);

#endif
