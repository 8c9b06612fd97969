/* SPDX-License-Identifier: BSD-3-Clause */
/* Two clocks read together: the kernel stamps arrivals with the wall clock, which can be set; all
 * else uses the monotonic clock. Only ages come from the wall clock, so its step affects waiting
 * datagrams only, by at most DATAGRAM_AGE_NS. */
#ifndef LINK_CLOCK_H
#define LINK_CLOCK_H

#include <stdint.h>

struct clock_pair {
	uint64_t monotonic_ns;
	uint64_t wall_ns;
};

struct clock_pair clock_read(void);

/* Returns the monotonic time of a stamp, within [now - DATAGRAM_AGE_NS, now]. */
uint64_t clock_arrived_ns(const struct clock_pair *now, uint64_t stamp_ns);

#endif
