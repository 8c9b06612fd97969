/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/event_log.h"

#include <stdlib.h>

#include <dxp/status.h>

#include "base/util.h"
#include "xpu/graph.h"

#define CAPACITY_FIRST 64
#define KEPT_FIRST     64

void event_log_init(struct event_log *l, uint32_t capacity_max, bool foreign)
{
	*l = (struct event_log){.capacity_max = capacity_max, .foreign = foreign};
}

void event_log_destroy(struct event_log *l)
{
	free(l->entries);
	free(l->kept);
	l->entries = l->kept = NULL;
	l->capacity = l->kept_count = l->kept_space = 0;
}

static struct event_entry *entry_of(const struct event_log *l, uint32_t count)
{
	return &l->entries[count & (l->capacity - 1)];
}

/* Index of the first entry not before `count`. */
static uint32_t kept_index(const struct event_log *l, uint32_t count)
{
	uint32_t low = 0, high = l->kept_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (seq_before(l->kept[middle].count, count))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct event_entry *event_log_find(const struct event_log *l, uint32_t count)
{
	if (l->capacity == 0)
		return NULL;
	struct event_entry *e = entry_of(l, count);
	if (e->state != EVENT_UNKNOWN && e->count == count)
		return e;
	uint32_t at = kept_index(l, count);
	return at < l->kept_count && l->kept[at].count == count ? &l->kept[at] : NULL;
}

bool event_log_forgotten(const struct event_log *l, uint32_t count)
{
	return l->some_forgotten && !seq_before(l->forgotten, count);
}

static bool pending(const struct event_log *l, const struct event_entry *e)
{
	return e->state == EVENT_ISSUED ||
	       (e->state == EVENT_PENDING && (e->waiters || !l->foreign));
}

static bool may_forget(const struct event_log *l, const struct event_entry *e)
{
	return !pending(l, e) && (e->state != EVENT_DONE || seq_before(e->count, l->oldest));
}

static void forget(struct event_log *l, struct event_entry *e)
{
	if (e->state == EVENT_DONE && (!l->some_forgotten || seq_before(l->forgotten, e->count))) {
		l->forgotten = e->count;
		l->some_forgotten = true;
	}
	*e = (struct event_entry){0};
}

/* Moves an entry, and updates the pointer of its first waiter to the entry. */
static void entry_move(struct event_entry *to, const struct event_entry *from)
{
	*to = *from;
	if (to->waiters)
		to->waiters->link = &to->waiters;
}

/* Counts at different positions stay apart in the larger ring. */
static int grow(struct event_log *l)
{
	struct event_log bigger = *l;

	bigger.capacity = l->capacity ? 2 * l->capacity : CAPACITY_FIRST;
	bigger.entries = calloc(bigger.capacity, sizeof(*bigger.entries));
	if (!bigger.entries)
		return DXP_ENOMEM;
	for (uint32_t i = 0; i < l->capacity; i++) {
		struct event_entry *e = entry_of(&bigger, l->entries[i].count);
		if (l->entries[i].state == EVENT_UNKNOWN)
			continue;
		entry_move(e, &l->entries[i]);
	}
	free(l->entries);
	*l = bigger;
	return DXP_OK;
}

static void kept_sift(struct event_log *l)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < l->kept_count; i++) {
		if (!pending(l, &l->kept[i]))
			forget(l, &l->kept[i]);
		else if (kept++ != i)
			entry_move(&l->kept[kept - 1], &l->kept[i]);
	}
	l->kept_count = kept;
}

/* A full list first forgets completed entries, and doubles only if more than half remain: constant
 * amortized time per event. */
static int kept_reserve(struct event_log *l)
{
	if (l->kept_count < l->kept_space)
		return DXP_OK;
	kept_sift(l);
	if (l->kept_count < l->kept_space / 2)
		return DXP_OK;
	uint32_t space = l->kept_space ? 2 * l->kept_space : KEPT_FIRST;
	struct event_entry *kept = malloc(space * sizeof(*kept));
	if (!kept)
		return DXP_ENOMEM;
	for (uint32_t i = 0; i < l->kept_count; i++)
		entry_move(&kept[i], &l->kept[i]);
	free(l->kept);
	l->kept = kept;
	l->kept_space = space;
	return DXP_OK;
}

/* Usually appends, because counts usually rise. */
static int kept_add(struct event_log *l, const struct event_entry *e)
{
	int status = kept_reserve(l);

	if (status != DXP_OK)
		return status;
	uint32_t at = kept_index(l, e->count);
	for (uint32_t i = l->kept_count++; i > at; i--)
		entry_move(&l->kept[i], &l->kept[i - 1]);
	entry_move(&l->kept[at], e);
	return DXP_OK;
}

int event_log_add(struct event_log *l, uint32_t count, struct event_entry **out)
{
	while (l->capacity == 0 ||
	       (!may_forget(l, entry_of(l, count)) && l->capacity < l->capacity_max)) {
		int status = grow(l);
		if (status != DXP_OK)
			return status;
	}
	struct event_entry *e = entry_of(l, count);
	if (pending(l, e)) {
		int status = kept_add(l, e);
		if (status != DXP_OK)
			return status;
	} else {
		forget(l, e);
	}
	*e = (struct event_entry){.count = count, .state = EVENT_PENDING};
	*out = e;
	return DXP_OK;
}
