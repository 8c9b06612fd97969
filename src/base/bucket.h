/* SPDX-License-Identifier: BSD-3-Clause */
/* A token bucket: so many bytes per second, exactly, in the long run; what is saved up while nobody
 * asks is bounded. Kept as the time at which all that left is paid for (GCRA), so that nothing runs
 * meanwhile. Once it is used up nothing leaves until all is paid for: else packets would trickle
 * out one by one. All zero: no limit, and no cost. */
#ifndef BASE_BUCKET_H
#define BASE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket {
	uint64_t bytes_per_s; /* 0: no limit */
	uint64_t paid_ns;     /* when all that left is paid for */
	uint64_t next_ns;     /* nothing may leave before; 0: now */
	uint64_t remainder;   /* of a nanosecond owed, in bytes_per_s-ths */
	uint64_t burst_ns;    /* what may be saved up, as time */
	uint64_t train_ns;    /* and what may be owed */
	uint64_t waits;       /* times that somebody was told to wait; wraps */
	bool told;            /* of this wait somebody was told already */
};

/* From now on this rate, 0 .. BUCKET_RATE_MAX, 0: none. Whoever waits waits no more; a burst may
 * leave at once. The same rate again changes nothing. */
void bucket_rate(struct bucket *b, uint64_t bytes_per_s);

/* May anything leave now? Counts the first refusal of each wait. */
static inline bool bucket_allows(struct bucket *b, uint64_t now_ns)
{
	if (now_ns >= b->next_ns)
		return true;
	b->waits += !b->told;
	b->told = true;
	return false;
}

/* How long so many bytes take at its rate; there is one. */
uint64_t bucket_time(const struct bucket *b, uint64_t bytes);

/* This left. It may be more than was there: all of it is paid for before anything else leaves. */
void bucket_charge(struct bucket *b, uint64_t bytes, uint64_t now_ns);

#endif
