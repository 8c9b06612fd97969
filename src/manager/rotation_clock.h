/* SPDX-License-Identifier: BSD-3-Clause */
/* Time since the rotation of a key, and what is left of a period that began with it. A manager that
 * starts after a rotation cannot know which nodes have the new key, and its clock may be wrong. So
 * periods last longer at its start. */
#ifndef MANAGER_ROTATION_CLOCK_H
#define MANAGER_ROTATION_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct rotation_clock {
	uint64_t age_ms; /* time since the rotation, at `at_ns` */
	uint64_t at_ns;
	bool inherited; /* the rotation was before the start of this manager, which was at `at_ns`
			 */
};

/* Starts the clock of a rotation that was loaded from the store; `rotated_ms` and `wall_ms` are ms
 * since 1970. If the clock of the manager went back since the rotation, the age is 0. */
void rotation_clock_load(struct rotation_clock *c, uint64_t rotated_ms, uint64_t wall_ms,
			 uint64_t now_ns);

uint64_t rotation_clock_age_ms(const struct rotation_clock *c, uint64_t now_ns);

/* Returns the ms that are left of `period_ms` since the rotation. After a load, at least `least_ms`
 * since the start of the manager count. */
uint32_t rotation_clock_left_ms(const struct rotation_clock *c, uint64_t period_ms,
				uint64_t least_ms, uint64_t now_ns);

#endif
