/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of the next poll of each host. The hosts are in a heap that also records where each host
 * is, so that a time can change without a search. The size is fixed at creation, so setting an
 * alarm cannot fail. */
#ifndef SIM_ALARM_H
#define SIM_ALARM_H

#include <stddef.h>
#include <stdint.h>

struct sim_alarms {
	/* for each host, time in ns of its next poll; UINT64_MAX: none */
	uint64_t *time_ns;
	/* hosts in the order of a heap, earliest first; of equal times, the lowest host number
	 * first */
	uint32_t *heap;
	/* for each host, its index in `heap` */
	uint32_t *heap_index;
	uint32_t count;
};

/* Creates alarms for `count` hosts, all unset. DXP_ENOMEM. */
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
