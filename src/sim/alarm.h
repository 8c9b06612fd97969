/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of each host's next poll, in a heap that records where each host is, so that a change
 * needs no search. The size is fixed, so setting an alarm cannot fail. */
#ifndef SIM_ALARM_H
#define SIM_ALARM_H

#include <stddef.h>
#include <stdint.h>

struct sim_alarms {
	/* by host: ns of the next poll; UINT64_MAX: none */
	uint64_t *time_ns;
	/* earliest first; of equal times, the lowest host first */
	uint32_t *heap;
	/* by host: index in `heap` */
	uint32_t *heap_index;
	uint32_t count;
};

/* Creates unset alarms. DXP_ENOMEM. */
int sim_alarms_create(struct sim_alarms *a, uint32_t count);
void sim_alarms_free(struct sim_alarms *a);
void sim_alarm_set(struct sim_alarms *a, uint32_t host, uint64_t time_ns);

static inline uint32_t sim_alarm_first(const struct sim_alarms *a)
{
	return a->heap[0];
}

static inline uint64_t sim_alarm_next(const struct sim_alarms *a)
{
	return a->time_ns[a->heap[0]];
}

#endif
