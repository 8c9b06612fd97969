/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/clock.h"

#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/util.h"

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}

struct clock_pair clock_read(void)
{
	/* The wall clock first: an interruption makes arrivals look later, never earlier, and users
	 * keep the minimum of many delays. */
	uint64_t wall_ns = clock_ns(CLOCK_REALTIME);

	return (struct clock_pair){.monotonic_ns = clock_ns(CLOCK_MONOTONIC), .wall_ns = wall_ns};
}

uint64_t clock_arrived_ns(const struct clock_pair *now, uint64_t stamp_ns)
{
	uint64_t age_ns = now->wall_ns > stamp_ns ? now->wall_ns - stamp_ns : 0;

	age_ns = min_u64(age_ns, DATAGRAM_AGE_NS);
	return now->monotonic_ns - min_u64(age_ns, now->monotonic_ns);
}
