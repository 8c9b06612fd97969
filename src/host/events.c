/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/events.h"

#include <stdlib.h>

#include "base/limits.h"

#define EVENTS_FIRST_CAPACITY 64

_Static_assert((HOST_EVENTS_MAX & (HOST_EVENTS_MAX - 1)) == 0, "capacities are powers of two");

void events_init(struct events *e, uint32_t first)
{
	*e = (struct events){.oldest = first, .next = first};
}

void events_destroy(struct events *e)
{
	free(e->slots);
	e->slots = NULL;
	e->capacity = 0;
}

static struct host_event *slot_of(const struct events *e, uint32_t count)
{
	return &e->slots[count & (e->capacity - 1)];
}

static int grow(struct events *e)
{
	if (e->capacity >= HOST_EVENTS_MAX)
		return DXP_EAGAIN;
	struct events bigger = *e;
	bigger.capacity = e->capacity ? e->capacity * 2 : EVENTS_FIRST_CAPACITY;
	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return DXP_ENOMEM;
	for (uint32_t c = e->oldest; c != e->next; c++)
		*slot_of(&bigger, c) = *slot_of(e, c);
	free(e->slots);
	*e = bigger;
	return DXP_OK;
}

int events_add(struct events *e, uint32_t *count, struct host_event **out)
{
	if (e->next - e->oldest == e->capacity) {
		int status = grow(e);
		if (status != DXP_OK)
			return status;
	}
	*count = e->next++;
	*out = slot_of(e, *count);
	**out = (struct host_event){.state = HOST_EVENT_PENDING};
	e->pending++;
	return DXP_OK;
}

struct host_event *events_find(const struct events *e, uint32_t count)
{
	if (count - e->oldest >= e->next - e->oldest)
		return NULL;
	struct host_event *slot = slot_of(e, count);
	return slot->state == HOST_EVENT_FREE ? NULL : slot;
}

void events_pull(struct events *e, uint32_t count)
{
	struct host_event *slot = events_find(e, count);

	if (!slot || slot->state != HOST_EVENT_PENDING || slot->pulls)
		return;
	slot->pulls = true;
	e->pulling++;
}

static void no_more_pending(struct events *e, struct host_event *slot)
{
	e->pending--;
	e->pulling -= slot->pulls;
	slot->pulls = false;
}

bool events_finish(struct events *e, uint32_t count, int status,
		   const struct dxp_event_times *times)
{
	struct host_event *slot = events_find(e, count);

	if (!slot || slot->state != HOST_EVENT_PENDING)
		return false;
	slot->state = HOST_EVENT_DONE;
	slot->status = (int8_t)status;
	if (times)
		slot->times = *times;
	no_more_pending(e, slot);
	if (slot->silent)
		events_free(e, count);
	return true;
}

void events_free(struct events *e, uint32_t count)
{
	struct host_event *slot = events_find(e, count);

	if (!slot)
		return;
	if (slot->state == HOST_EVENT_PENDING)
		no_more_pending(e, slot);
	slot->state = HOST_EVENT_FREE;
	while (e->oldest != e->next && slot_of(e, e->oldest)->state == HOST_EVENT_FREE)
		e->oldest++;
}

uint32_t events_fail(struct events *e, int status)
{
	uint32_t failed = 0;

	for (uint32_t c = e->oldest; c != e->next && e->pending; c++)
		failed += events_finish(e, c, status, NULL);
	return failed;
}
