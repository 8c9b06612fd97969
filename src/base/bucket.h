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
	uint64_t bytes_per_s; /* rate; 0: no limit */
	uint64_t paid_ns;     /* time at which the rate has paid for all sent bytes */
	uint64_t next_ns;     /* no byte leaves before this time; 0: bytes may leave now */
	uint64_t remainder;   /* unpaid part of a nanosecond, in units of 1/bytes_per_s ns */
	uint64_t burst_ns;    /* ns of unused time that the bucket saves at most */
	uint64_t batch_ns;    /* ns: while the debt is smaller, bytes may leave */
	uint64_t waits;       /* number of times that bytes had to wait; wraps */
	bool counted;         /* the present wait is in `waits` */
};

/* Sets the rate, 0 .. BUCKET_RATE_MAX; 0: no limit. A new rate clears the debt, keeps the count of
 * waits, and allows a burst at once. Setting the current rate again changes nothing. */
void bucket_rate(struct bucket *b, uint64_t bytes_per_s);

/* Returns true if bytes may leave now. Otherwise counts a wait, unless this wait was counted. */
static inline bool bucket_allows(struct bucket *b, uint64_t now_ns)
{
	if (now_ns >= b->next_ns)
		return true;
	b->waits += !b->counted;
	b->counted = true;
	return false;
}

/* Returns the time in ns in which the rate, which must not be 0, pays for `bytes`. */
uint64_t bucket_time(const struct bucket *b, uint64_t bytes);

/* Charges bytes that have left. The bytes may be more than the bucket holds. */
void bucket_charge(struct bucket *b, uint64_t bytes, uint64_t now_ns);

#endif
