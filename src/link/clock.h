/* SPDX-License-Identifier: BSD-3-Clause */
/* Two clocks read together. The kernel stamps arrivals with the wall clock, which may be set;
 * everything else here runs on the monotonic one. Only an age crosses from one to the other, so a
 * step of the wall clock spoils the stamps of the datagrams that were waiting then, by at most
 * LINK_ARRIVAL_AGE_NS, and nothing after. */
#ifndef LINK_CLOCK_H
#define LINK_CLOCK_H

#include <stdint.h>

struct clock_pair {
	uint64_t monotonic_ns;
	uint64_t wall_ns;
};

struct clock_pair clock_read(void);

/* The monotonic time of a wall clock stamp, within [now - LINK_ARRIVAL_AGE_NS, now] whatever the
 * stamp says. */
uint64_t clock_arrived_ns(const struct clock_pair *now, uint64_t stamp_ns);

#endif
