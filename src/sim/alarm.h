/* SPDX-License-Identifier: BSD-3-Clause */
/* When each host wants its turn: a heap of hosts that knows where each stands, so that a deadline
 * moves without a search. Its size is fixed when it is made; setting an alarm cannot fail. */
#ifndef SIM_ALARM_H
#define SIM_ALARM_H

#include <stddef.h>
#include <stdint.h>

struct sim_alarms {
	uint64_t *time_ns; /* of each host; UINT64_MAX: none */
	uint32_t *heap;    /* hosts, the earliest first; at one instant the lowest number first */
	uint32_t *place;   /* of each host in the heap */
	uint32_t count;
};

/* DXP_ENOMEM. All hosts start without an alarm. */
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
