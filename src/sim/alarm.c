/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary heap of hosts that records where each host is. */
#include "sim/alarm.h"

#include <stdbool.h>
#include <stdlib.h>

#include <dxp/status.h>

int sim_alarms_create(struct sim_alarms *a, uint32_t count)
{
	a->time_ns = malloc(count * sizeof(*a->time_ns));
	a->heap = malloc(count * sizeof(*a->heap));
	a->heap_index = malloc(count * sizeof(*a->heap_index));
	a->count = count;
	if (!a->time_ns || !a->heap || !a->heap_index) {
		sim_alarms_free(a);
		return DXP_ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		a->time_ns[i] = UINT64_MAX;
		a->heap[i] = a->heap_index[i] = i;
	}
	return DXP_OK;
}

void sim_alarms_free(struct sim_alarms *a)
{
	free(a->time_ns);
	free(a->heap);
	free(a->heap_index);
	*a = (struct sim_alarms){0};
}

static bool before(const struct sim_alarms *a, uint32_t x, uint32_t y)
{
	return a->time_ns[x] != a->time_ns[y] ? a->time_ns[x] < a->time_ns[y] : x < y;
}

static void index_set(struct sim_alarms *a, uint32_t i, uint32_t host)
{
	a->heap[i] = host;
	a->heap_index[host] = i;
}

static uint32_t rise(struct sim_alarms *a, uint32_t i, uint32_t host)
{
	for (; i > 0 && before(a, host, a->heap[(i - 1) / 2]); i = (i - 1) / 2)
		index_set(a, i, a->heap[(i - 1) / 2]);
	return i;
}

static uint32_t sink(struct sim_alarms *a, uint32_t i, uint32_t host)
{
	for (uint32_t child; (child = 2 * i + 1) < a->count; i = child) {
		if (child + 1 < a->count && before(a, a->heap[child + 1], a->heap[child]))
			child++;
		if (!before(a, a->heap[child], host))
			break;
		index_set(a, i, a->heap[child]);
	}
	return i;
}

void sim_alarm_set(struct sim_alarms *a, uint32_t host, uint64_t time_ns)
{
	bool earlier = time_ns < a->time_ns[host];

	if (time_ns == a->time_ns[host])
		return;
	a->time_ns[host] = time_ns;
	uint32_t i = a->heap_index[host];
	index_set(a, earlier ? rise(a, i, host) : sink(a, i, host), host);
}
