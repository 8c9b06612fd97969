/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/events.h"

#include <stdlib.h>
#include <string.h>

#include "host/limits.h"
#include "base/util.h"
#include "wire/command.h"

#define EVENTS_FIRST_CAPACITY 64

_Static_assert((HOST_EVENTS_RING & (HOST_EVENTS_RING - 1)) == 0, "capacities are powers of two");

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
	e->elder_free = e->elder_pending = 0;
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
	for (; e->elder_pending < e->elder_count; e->elder_pending++)
		if (e->elders[e->elder_pending].slot.state == HOST_EVENT_PENDING)
			return e->elders[e->elder_pending].count;
	if (seq_before(e->oldest_pending, e->oldest))
		e->oldest_pending = e->oldest;
	while (e->oldest_pending != e->next &&
	       slot_of(e, e->oldest_pending)->state != HOST_EVENT_PENDING)
		e->oldest_pending++;
	return e->oldest_pending;
}

/* Returns the index of the first list entry not before `count`. */
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

/* Moves events from the ring's old end to the list: the completed ones at its front; with `any`,
 * up to a quarter of the ring. False: none. */
static bool elders_take(struct events *e, bool any)
{
	uint32_t before = e->oldest, most = any ? e->capacity / 4 : UINT32_MAX;

	while (e->oldest != e->next && e->oldest - before < most) {
		struct host_event *slot = slot_of(e, e->oldest);
		if ((!any && slot->state != HOST_EVENT_DONE) || !elders_reserve(e))
			break;
		e->elders[e->elder_count++] = (struct elder){.count = e->oldest, .slot = *slot};
		slot->state = HOST_EVENT_FREE;
		oldest_advance(e);
	}
	return e->oldest != before;
}

/* Removes freed entries from the list. */
static void elders_pack(struct events *e)
{
	uint32_t kept = 0, pending = 0;

	for (uint32_t i = 0; i < e->elder_count; i++) {
		if (i == e->elder_pending)
			pending = kept;
		if (e->elders[i].slot.state != HOST_EVENT_FREE)
			e->elders[kept++] = e->elders[i];
	}
	e->elder_pending = e->elder_pending < e->elder_count ? pending : kept;
	e->elder_count = kept;
	e->elder_free = 0;
}

/* Counts a freed list entry. Packs the list when half is free: amortized constant time. */
static void elder_freed(struct events *e)
{
	e->elder_free++;
	while (e->elder_count && e->elders[e->elder_count - 1].slot.state == HOST_EVENT_FREE) {
		e->elder_count--;
		e->elder_free--;
	}
	if (e->elder_pending > e->elder_count)
		e->elder_pending = e->elder_count;
	if (e->elder_free > e->elder_count / 2)
		elders_pack(e);
}

static int grow(struct events *e)
{
	/* Completed events must not keep the ring large. */
	if (e->capacity && e->pending <= e->capacity / 2 && elders_take(e, false))
		return DXP_OK;
	if (e->capacity >= HOST_EVENTS_RING)
		return elders_take(e, true) ? DXP_OK : DXP_ENOMEM;
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

/* Returns what the xPU counts for the event's command. */
static uint32_t weight(const struct host_event *slot)
{
	return slot->bytes ? COMMAND_KEPT_BYTES(slot->bytes) : 0;
}

static void no_more_pending(struct events *e, struct host_event *slot)
{
	e->pending--;
	e->pulling -= slot->pulls;
	e->bytes -= weight(slot);
	slot->pulls = false;
	slot->bytes = 0;
}

void events_undo(struct events *e)
{
	e->next--;
	no_more_pending(e, slot_of(e, e->next));
	slot_of(e, e->next)->state = HOST_EVENT_FREE;
	if (seq_before(e->next, e->oldest_pending))
		e->oldest_pending = e->next;
}

void events_weigh(struct events *e, uint32_t message_bytes)
{
	struct host_event *slot = slot_of(e, e->next - 1);

	e->bytes -= weight(slot);
	slot->bytes = (uint16_t)message_bytes;
	e->bytes += weight(slot);
}

struct host_event *events_find(const struct events *e, uint32_t count)
{
	if (count - e->oldest >= e->next - e->oldest) {
		uint32_t at = elder_place(e, count);
		if (at == e->elder_count || e->elders[at].count != count ||
		    e->elders[at].slot.state == HOST_EVENT_FREE)
			return NULL;
		return &e->elders[at].slot;
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
	if (slot->notify || slot->moves || e->watch.always)
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
		elder_freed(e);
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

uint32_t events_begin(const struct events *e)
{
	return e->elder_count ? e->elders[0].count : e->oldest;
}

struct host_event *events_next(const struct events *e, uint32_t *count)
{
	if (seq_before(*count, e->oldest)) {
		for (uint32_t i = elder_place(e, *count); i < e->elder_count; i++) {
			if (e->elders[i].slot.state == HOST_EVENT_FREE)
				continue;
			*count = e->elders[i].count;
			return &e->elders[i].slot;
		}
		*count = e->oldest;
	}
	for (; seq_before(*count, e->next); ++*count)
		if (slot_of(e, *count)->state != HOST_EVENT_FREE)
			return slot_of(e, *count);
	return NULL;
}

uint32_t events_fail(struct events *e, int status)
{
	uint32_t failed = 0, count = events_begin(e);
	const struct host_event *slot;

	for (; e->pending && (slot = events_next(e, &count)); count++)
		if (!slot->move)
			failed += events_finish(e, count, status, NULL);
	return failed;
}
