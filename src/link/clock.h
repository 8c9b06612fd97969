/* SPDX-License-Identifier: BSD-3-Clause */
/* Two clocks read together. The kernel stamps arrivals with the wall clock, which an administrator
 * or NTP may set. All other code uses the monotonic clock. Only the age of a datagram is computed
 * from the wall clock. So a step of the wall clock affects only datagrams that wait at that time,
 * by at most DATAGRAM_AGE_NS. */
#ifndef LINK_CLOCK_H
#define LINK_CLOCK_H

#include <stdint.h>

struct clock_pair {
	uint64_t monotonic_ns;
	uint64_t wall_ns;
};

struct clock_pair clock_read(void);

/* Returns the monotonic time of a wall clock stamp, limited to [now - DATAGRAM_AGE_NS, now]. */
uint64_t clock_arrived_ns(const struct clock_pair *now, uint64_t stamp_ns);

#endif
