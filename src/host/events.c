/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "host/limits.h"
#include "base/util.h"

#define EVENTS_FIRST_CAPACITY 64

_Static_assert((HOST_EVENTS_MAX & (HOST_EVENTS_MAX - 1)) == 0, "capacities are powers of two");

struct elder {
	uint32_t count;
	struct host_event slot;
};

void events_init(struct events *e, uint32_t first)
{
	*e = (struct events){.oldest = first, .next = first, .oldest_pending = first};
}

void events_destroy(struct events *e)
{
	free(e->slots);
	free(e->elders);
	e->slots = NULL;
	e->elders = NULL;
	e->capacity = e->elder_count = e->elder_room = 0;
}

static struct host_event *slot_of(const struct events *e, uint32_t count)
{
	return &e->slots[count & (e->capacity - 1)];
}

static void oldest_advance(struct events *e)
{
	while (e->oldest != e->next && slot_of(e, e->oldest)->state == HOST_EVENT_FREE)
		e->oldest++;
}

uint32_t events_oldest(struct events *e)
{
	if (seq_before(e->oldest_pending, e->oldest))
		e->oldest_pending = e->oldest;
	while (e->oldest_pending != e->next &&
	       slot_of(e, e->oldest_pending)->state != HOST_EVENT_PENDING)
		e->oldest_pending++;
	return e->oldest_pending;
}

/* The first of the list that is not before `count`. */
static uint32_t elder_place(const struct events *e, uint32_t count)
{
	uint32_t low = 0, high = e->elder_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (seq_before(e->elders[middle].count, count))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool elders_reserve(struct events *e)
{
	if (e->elder_count < e->elder_room)
		return true;
	uint32_t room = e->elder_room ? e->elder_room * 2 : EVENTS_FIRST_CAPACITY;
	struct elder *more = realloc(e->elders, room * sizeof(*more));
	if (!more)
		return false;
	e->elders = more;
	e->elder_room = room;
	return true;
}

/* What has ended at the old end goes to the list. False: nothing could. */
static bool elders_take(struct events *e)
{
	uint32_t before = e->oldest;

	while (e->oldest != e->next && slot_of(e, e->oldest)->state == HOST_EVENT_DONE) {
		struct host_event *slot = slot_of(e, e->oldest);
		if (!elders_reserve(e))
			break;
		e->elders[e->elder_count++] = (struct elder){.count = e->oldest, .slot = *slot};
		slot->state = HOST_EVENT_FREE;
		oldest_advance(e);
	}
	return e->oldest != before;
}

static void elder_free(struct events *e, uint32_t count)
{
	uint32_t at = elder_place(e, count);

	if (at == e->elder_count || e->elders[at].count != count)
		return;
	e->elder_count--;
	memmove(&e->elders[at], &e->elders[at + 1], (e->elder_count - at) * sizeof(*e->elders));
}

static int grow(struct events *e)
{
	/* Those that have ended shall not keep the ring long. */
	if (e->capacity && e->pending <= e->capacity / 2 && elders_take(e))
		return DXP_OK;
	if (e->capacity >= HOST_EVENTS_MAX)
		return elders_take(e) ? DXP_OK : DXP_EAGAIN;
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

void events_undo(struct events *e)
{
	e->next--;
	slot_of(e, e->next)->state = HOST_EVENT_FREE;
	e->pending--;
	if (seq_before(e->next, e->oldest_pending))
		e->oldest_pending = e->next;
}

struct host_event *events_find(const struct events *e, uint32_t count)
{
	if (count - e->oldest >= e->next - e->oldest) {
		uint32_t at = elder_place(e, count);
		return at < e->elder_count && e->elders[at].count == count ? &e->elders[at].slot
									   : NULL;
	}
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
	if (slot->notify || e->watch.always)
		e->watch.ended(e->watch.context, count, slot);
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
	if (seq_before(count, e->oldest))
		elder_free(e, count);
	else
		oldest_advance(e);
}

void events_forget(struct events *e, uint32_t count)
{
	struct host_event *slot = events_find(e, count);

	if (slot && slot->state == HOST_EVENT_PENDING)
		slot->silent = true;
	else
		events_free(e, count);
}

uint32_t events_fail(struct events *e, int status)
{
	uint32_t failed = 0;

	for (uint32_t c = e->oldest; c != e->next && e->pending; c++)
		if (!slot_of(e, c)->move)
			failed += events_finish(e, c, status, NULL);
	return failed;
}
