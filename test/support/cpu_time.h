/* SPDX-License-Identifier: BSD-3-Clause */
/* Returns the processor time of this process, which does not depend on other processes as elapsed
 * time does. */
#ifndef TEST_SUPPORT_CPU_TIME_H
#define TEST_SUPPORT_CPU_TIME_H

#include <stdint.h>
#include <time.h>

#include "base/util.h"

static inline uint64_t cpu_time_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}

#endif
