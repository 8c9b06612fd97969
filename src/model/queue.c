/* SPDX-License-Identifier: BSD-3-Clause */
/* A radix queue: as times only grow, an event moves down at most once per digit. A heap moves it
 * once per level, in long queues through uncached memory. */
#include "model/queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#define NO_ENTRY   UINT32_MAX
#define DIGIT_BITS 8

int model_queue_create(struct model_queue *q, uint32_t capacity)
{
	memset(q, 0, sizeof(*q));
	q->capacity = capacity ? capacity : 1;
	q->free = NO_ENTRY;
	q->entries = malloc(q->capacity * sizeof(*q->entries));
	return q->entries ? DXP_OK : DXP_ENOMEM;
}

void model_queue_destroy(struct model_queue *q)
{
	free(q->entries);
	memset(q, 0, sizeof(*q));
}

static bool grow(struct model_queue *q)
{
	if (q->capacity > UINT32_MAX / 4)
		return false;
	void *entries = realloc(q->entries, q->capacity * 2 * sizeof(*q->entries));
	if (!entries)
		return false;
	q->entries = entries;
	q->capacity *= 2;
	return true;
}

/* ---- lists ---- */

static inline void list_append(struct model_queue *q, uint32_t entry)
{
	struct model_queue_entry *e = &q->entries[entry];
	uint64_t differs = e->at_ps ^ q->base_ps;
	unsigned level = differs ? (63 - (unsigned)__builtin_clzll(differs)) / DIGIT_BITS : 0;
	unsigned digit = e->at_ps >> (level * DIGIT_BITS) & (MODEL_QUEUE_LISTS - 1);
	struct model_queue_list *list = &q->lists[level][digit];
	uint64_t bit = 1ull << digit % 64;

	e->next = NO_ENTRY;
	if (q->filled[level][digit / 64] & bit)
		q->entries[list->last].next = entry;
	else
		list->first = entry;
	list->last = entry;
	q->filled[level][digit / 64] |= bit;
}

/* Finds a level's first list with events; returns false if there is none. */
static inline bool list_find(const struct model_queue *q, unsigned level, unsigned *digit)
{
	for (unsigned i = 0; i < MODEL_QUEUE_LISTS / 64; i++)
		if (q->filled[level][i]) {
			*digit = i * 64 + (unsigned)__builtin_ctzll(q->filled[level][i]);
			return true;
		}
	return false;
}

static inline void list_empty(struct model_queue *q, unsigned level, unsigned digit)
{
	q->filled[level][digit / 64] &= ~(1ull << digit % 64);
}

static void entry_free(struct model_queue *q, uint32_t entry)
{
	q->entries[entry].next = q->free;
	q->free = entry;
}

/* Moves base_ps to the earliest time of this list (above level 0), and its events down. */
static void list_spread(struct model_queue *q, unsigned level, unsigned digit)
{
	unsigned shift = level * DIGIT_BITS;
	uint32_t entry = q->lists[level][digit].first;

	list_empty(q, level, digit);
	q->base_ps = (q->base_ps >> shift & ~(uint64_t)(MODEL_QUEUE_LISTS - 1)) << shift |
		     (uint64_t)digit << shift;
	while (entry != NO_ENTRY) {
		uint32_t next = q->entries[entry].next;
		if (q->entries[entry].generation & 1)
			list_append(q, entry);
		else
			entry_free(q, entry);
		entry = next;
	}
}

/* ---- events ---- */

/* Returns NO_ENTRY if out of memory. */
static uint32_t entry_get(struct model_queue *q)
{
	uint32_t entry = q->free;

	if (entry != NO_ENTRY) {
		q->free = q->entries[entry].next;
		return entry;
	}
	if (q->used == q->capacity && !grow(q))
		return NO_ENTRY;
	q->entries[q->used].generation = 0;
	return q->used++;
}

uint64_t model_queue_add(struct model_queue *q, uint64_t at_ps, uint32_t kind, uint32_t subject)
{
	assert(at_ps >= q->now_ps);
	uint32_t entry = entry_get(q);
	if (entry == NO_ENTRY)
		return 0;
	struct model_queue_entry *e = &q->entries[entry];
	e->at_ps = at_ps;
	e->kind = kind;
	e->subject = subject;
	e->generation++;
	list_append(q, entry);
	q->live++;
	return (uint64_t)e->generation << 32 | entry;
}

bool model_queue_cancel(struct model_queue *q, uint64_t id)
{
	uint32_t entry = (uint32_t)id;

	if (entry >= q->used || q->entries[entry].generation != id >> 32)
		return false;
	/* it stays in its list, but does not happen */
	q->entries[entry].generation++;
	q->live--;
	return true;
}

/* Removes the first event of a list in level 0. Returns false if it was cancelled. */
static inline bool event_remove(struct model_queue *q, unsigned digit, struct model_event *out)
{
	struct model_queue_list *list = &q->lists[0][digit];
	uint32_t entry = list->first;
	struct model_queue_entry *e = &q->entries[entry];
	bool happens = e->generation & 1;

	list->first = e->next;
	if (e->next == NO_ENTRY)
		list_empty(q, 0, digit);
	if (happens) {
		*out = (struct model_event){e->at_ps, e->kind, e->subject};
		e->generation++;
		q->live--;
		q->base_ps = q->now_ps = e->at_ps;
	}
	entry_free(q, entry);
	return happens;
}

bool model_queue_next(struct model_queue *q, struct model_event *out)
{
	unsigned digit, level = 0;

	while (q->live > 0) {
		while (!list_find(q, level, &digit))
			level++;
		if (level == 0) {
			if (event_remove(q, digit, out))
				return true;
		} else {
			list_spread(q, level, digit);
		}
		level = 0;
	}
	return false;
}
