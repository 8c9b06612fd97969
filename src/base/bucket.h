/* SPDX-License-Identifier: BSD-3-Clause */
/* Token bucket (GCRA) without timer: an exact long-term rate, saving idle time up to a bound.
 * Beyond a certain debt, nothing leaves until all is paid; otherwise packets would leave one by
 * one. A zeroed bucket has no limit. */
#ifndef BASE_BUCKET_H
#define BASE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket {
	uint64_t bytes_per_s; /* 0: no limit */
	uint64_t paid_ns;     /* when all sent bytes are paid for */
	uint64_t next_ns;     /* no byte leaves before; 0: now */
	uint64_t remainder;   /* unpaid, in 1/bytes_per_s ns */
	uint64_t burst_ns;    /* unused time saved at most */
	uint64_t batch_ns;    /* smaller debts let bytes leave */
	uint64_t waits;       /* that bytes waited; wraps */
	bool counted;         /* the present wait is in `waits` */
};

/* Sets the rate, 0 .. BUCKET_RATE_MAX; 0: no limit. A new rate clears the debt, keeps the count of
 * waits, and allows a burst at once; the current rate changes nothing. */
void bucket_rate(struct bucket *b, uint64_t bytes_per_s);

/* False: the caller must wait; each wait is counted once. */
static inline bool bucket_allows(struct bucket *b, uint64_t now_ns)
{
	if (now_ns >= b->next_ns)
		return true;
	b->waits += !b->counted;
	b->counted = true;
	return false;
}

/* ns in which the rate, not 0, pays for `bytes`. */
uint64_t bucket_time(const struct bucket *b, uint64_t bytes);

/* Bytes that left, even more than the bucket holds. */
void bucket_charge(struct bucket *b, uint64_t bytes, uint64_t now_ns);

#endif
