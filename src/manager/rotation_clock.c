/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/rotation_clock.h"

#include "base/util.h"

void rotation_clock_load(struct rotation_clock *c, uint64_t rotated_ms, uint64_t wall_ms,
			 uint64_t now_ns)
{
	c->age_ms = wall_ms > rotated_ms ? wall_ms - rotated_ms : 0;
	c->at_ns = now_ns;
	c->inherited = true;
}

uint64_t rotation_clock_age_ms(const struct rotation_clock *c, uint64_t now_ns)
{
	return c->age_ms + (now_ns - c->at_ns) / MS_NS;
}

uint32_t rotation_clock_left_ms(const struct rotation_clock *c, uint64_t period_ms,
				uint64_t least_ms, uint64_t now_ns)
{
	const uint64_t age_ms = rotation_clock_age_ms(c, now_ns);

	if (c->inherited)
		period_ms = max_u64(period_ms, c->age_ms + least_ms);
	return age_ms < period_ms ? (uint32_t)min_u64(period_ms - age_ms, UINT32_MAX) : 0;
}
