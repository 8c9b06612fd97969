/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/events.h"

#include <stdlib.h>
#include <string.h>

#include "host/limits.h"
#include "base/util.h"
#include "wire/command.h"

#define EVENTS_FIRST_CAPACITY 64

_Static_assert((HOST_EVENTS_RING & (HOST_EVENTS_RING - 1)) == 0, "capacities are powers of two");

/* An event that was moved from the ring to the list. */
struct kept_event {
	uint32_t count;
	struct host_event entry;
};

void events_init(struct events *e, uint32_t first)
{
	*e = (struct events){.oldest = first, .next = first, .oldest_pending = first};
}

void events_destroy(struct events *e)
{
	uint32_t count = events_begin(e);

	for (const struct host_event *entry; (entry = events_next(e, &count)); count++)
		free(entry->cycles);
	free(e->entries);
	free(e->kept);
	e->entries = NULL;
	e->kept = NULL;
	e->capacity = e->kept_count = e->kept_space = 0;
	e->kept_free = e->kept_pending = 0;
}

static struct host_event *entry_of(const struct events *e, uint32_t count)
{
	return &e->entries[count & (e->capacity - 1)];
}

static void oldest_advance(struct events *e)
{
	while (e->oldest != e->next && entry_of(e, e->oldest)->state == HOST_EVENT_FREE)
		e->oldest++;
}

uint32_t events_oldest(struct events *e)
{
	for (; e->kept_pending < e->kept_count; e->kept_pending++)
		if (e->kept[e->kept_pending].entry.state == HOST_EVENT_PENDING)
			return e->kept[e->kept_pending].count;
	if (seq_before(e->oldest_pending, e->oldest))
		e->oldest_pending = e->oldest;
	while (e->oldest_pending != e->next &&
	       entry_of(e, e->oldest_pending)->state != HOST_EVENT_PENDING)
		e->oldest_pending++;
	return e->oldest_pending;
}

static uint32_t kept_index(const struct events *e, uint32_t count)
{
	uint32_t low = 0, high = e->kept_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (seq_before(e->kept[middle].count, count))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool kept_reserve(struct events *e)
{
	if (e->kept_count < e->kept_space)
		return true;
	uint32_t space = e->kept_space ? e->kept_space * 2 : EVENTS_FIRST_CAPACITY;
	struct kept_event *more = realloc(e->kept, space * sizeof(*more));
	if (!more)
		return false;
	e->kept = more;
	e->kept_space = space;
	return true;
}

/* Moves the oldest events of the ring to the list, up to the first pending one. If `any` is true,
 * moves pending events too, up to a quarter of the ring. Returns false if no event was moved. */
static bool kept_append(struct events *e, bool any)
{
	uint32_t before = e->oldest, most = any ? e->capacity / 4 : UINT32_MAX;

	while (e->oldest != e->next && e->oldest - before < most) {
		struct host_event *entry = entry_of(e, e->oldest);
		if ((!any && entry->state != HOST_EVENT_DONE) || !kept_reserve(e))
			break;
		e->kept[e->kept_count++] = (struct kept_event){.count = e->oldest, .entry = *entry};
		entry->state = HOST_EVENT_FREE;
		oldest_advance(e);
	}
	return e->oldest != before;
}

/* Removes the entries of freed events from the list. */
static void kept_pack(struct events *e)
{
	uint32_t kept = 0, pending = 0;

	for (uint32_t i = 0; i < e->kept_count; i++) {
		if (i == e->kept_pending)
			pending = kept;
		if (e->kept[i].entry.state != HOST_EVENT_FREE)
			e->kept[kept++] = e->kept[i];
	}
	e->kept_pending = e->kept_pending < e->kept_count ? pending : kept;
	e->kept_count = kept;
	e->kept_free = 0;
}

/* Counts a freed list entry. Removes freed entries only when half of the list is free, so the
 * average time per event is constant. */
static void kept_freed(struct events *e)
{
	e->kept_free++;
	while (e->kept_count && e->kept[e->kept_count - 1].entry.state == HOST_EVENT_FREE) {
		e->kept_count--;
		e->kept_free--;
	}
	if (e->kept_pending > e->kept_count)
		e->kept_pending = e->kept_count;
	if (e->kept_free > e->kept_count / 2)
		kept_pack(e);
}

static int grow(struct events *e)
{
	/* If few events are pending, moves completed events to the list instead of making the ring
	 * larger. */
	if (e->capacity && e->pending <= e->capacity / 2 && kept_append(e, false))
		return DXP_OK;
	if (e->capacity >= HOST_EVENTS_RING)
		return kept_append(e, true) ? DXP_OK : DXP_ENOMEM;
	struct events bigger = *e;
	bigger.capacity = e->capacity ? e->capacity * 2 : EVENTS_FIRST_CAPACITY;
	bigger.entries = calloc(bigger.capacity, sizeof(*bigger.entries));
	if (!bigger.entries)
		return DXP_ENOMEM;
	for (uint32_t c = e->oldest; c != e->next; c++)
		*entry_of(&bigger, c) = *entry_of(e, c);
	free(e->entries);
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
	*out = entry_of(e, *count);
	**out = (struct host_event){.state = HOST_EVENT_PENDING};
	e->pending++;
	return DXP_OK;
}

/* Returns how many bytes of the xPU's limit the command of this event uses. */
static uint32_t weight(const struct host_event *entry)
{
	return entry->bytes ? COMMAND_KEPT_BYTES(entry->bytes) : 0;
}

static void no_more_pending(struct events *e, struct host_event *entry)
{
	e->pending--;
	e->pulling -= entry->pulls;
	e->bytes -= weight(entry);
	entry->pulls = false;
	entry->bytes = 0;
}

void events_undo(struct events *e)
{
	e->next--;
	no_more_pending(e, entry_of(e, e->next));
	entry_of(e, e->next)->state = HOST_EVENT_FREE;
	if (seq_before(e->next, e->oldest_pending))
		e->oldest_pending = e->next;
}

void events_weigh(struct events *e, uint32_t bytes)
{
	struct host_event *entry = entry_of(e, e->next - 1);

	e->bytes -= weight(entry);
	entry->bytes = (uint16_t)bytes;
	e->bytes += weight(entry);
}

struct host_event *events_find(const struct events *e, uint32_t count)
{
	if (count - e->oldest >= e->next - e->oldest) {
		uint32_t at = kept_index(e, count);
		if (at == e->kept_count || e->kept[at].count != count ||
		    e->kept[at].entry.state == HOST_EVENT_FREE)
			return NULL;
		return &e->kept[at].entry;
	}
	struct host_event *entry = entry_of(e, count);
	return entry->state == HOST_EVENT_FREE ? NULL : entry;
}

void events_pull(struct events *e, uint32_t count)
{
	struct host_event *entry = events_find(e, count);

	if (!entry || entry->state != HOST_EVENT_PENDING || entry->pulls)
		return;
	entry->pulls = true;
	e->pulling++;
}

bool events_finish(struct events *e, uint32_t count, int status,
		   const struct dxp_event_times *times)
{
	struct host_event *entry = events_find(e, count);

	if (!entry || entry->state != HOST_EVENT_PENDING)
		return false;
	entry->state = HOST_EVENT_DONE;
	entry->status = (int8_t)status;
	if (times)
		entry->times = *times;
	else if (entry->lost)
		entry->times = (struct dxp_event_times){0};
	no_more_pending(e, entry);
	if (entry->notify || entry->moves || e->watch.always)
		e->watch.ended(e->watch.context, count, entry);
	if (entry->silent)
		events_free(e, count);
	return true;
}

void events_free(struct events *e, uint32_t count)
{
	struct host_event *entry = events_find(e, count);

	if (!entry)
		return;
	if (entry->state == HOST_EVENT_PENDING)
		no_more_pending(e, entry);
	free(entry->cycles);
	entry->state = HOST_EVENT_FREE;
	if (seq_before(count, e->oldest))
		kept_freed(e);
	else
		oldest_advance(e);
}

void events_forget(struct events *e, uint32_t count)
{
	struct host_event *entry = events_find(e, count);

	if (entry && entry->state == HOST_EVENT_PENDING)
		entry->silent = true;
	else
		events_free(e, count);
}

uint32_t events_begin(const struct events *e)
{
	return e->kept_count ? e->kept[0].count : e->oldest;
}

struct host_event *events_next(const struct events *e, uint32_t *count)
{
	if (seq_before(*count, e->oldest)) {
		for (uint32_t i = kept_index(e, *count); i < e->kept_count; i++) {
			if (e->kept[i].entry.state == HOST_EVENT_FREE)
				continue;
			*count = e->kept[i].count;
			return &e->kept[i].entry;
		}
		*count = e->oldest;
	}
	for (; seq_before(*count, e->next); ++*count)
		if (entry_of(e, *count)->state != HOST_EVENT_FREE)
			return entry_of(e, *count);
	return NULL;
}

uint32_t events_fail(struct events *e, int status)
{
	uint32_t failed = 0, count = events_begin(e);
	const struct host_event *entry;

	for (; e->pending && (entry = events_next(e, &count)); count++)
		if (!entry->move)
			failed += events_finish(e, count, status, NULL);
	return failed;
}
