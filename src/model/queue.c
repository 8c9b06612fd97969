/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/queue.h"

#include <assert.h>
#include <stdlib.h>

#include <dxp/status.h>

#define NO_ENTRY UINT32_MAX
#define CHILDREN 4 /* two levels of a binary heap in one: half the cache misses */

int model_queue_create(struct model_queue *q, uint32_t capacity)
{
	*q = (struct model_queue){.capacity = capacity ? capacity : 1, .free = NO_ENTRY};
	q->nodes = malloc(q->capacity * sizeof(*q->nodes));
	q->entries = malloc(q->capacity * sizeof(*q->entries));
	if (q->nodes && q->entries)
		return DXP_OK;
	model_queue_destroy(q);
	return DXP_ENOMEM;
}

void model_queue_destroy(struct model_queue *q)
{
	free(q->nodes);
	free(q->entries);
	*q = (struct model_queue){0};
}

static bool grow(struct model_queue *q)
{
	if (q->capacity > UINT32_MAX / 4)
		return false;
	uint32_t capacity = q->capacity * 2;
	void *nodes = realloc(q->nodes, capacity * sizeof(*q->nodes));
	if (!nodes)
		return false;
	q->nodes = nodes;
	void *entries = realloc(q->entries, capacity * sizeof(*q->entries));
	if (!entries)
		return false;
	q->entries = entries;
	q->capacity = capacity;
	return true;
}

static inline bool before(const struct model_queue_node *a, const struct model_queue_node *b)
{
	return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->order < b->order;
}

/* Moves `node` from position `at` towards the root. */
static void sift_up(struct model_queue *q, uint32_t at, struct model_queue_node node)
{
	while (at > 0) {
		uint32_t parent = (at - 1) / CHILDREN;
		if (!before(&node, &q->nodes[parent]))
			break;
		q->nodes[at] = q->nodes[parent];
		at = parent;
	}
	q->nodes[at] = node;
}

/* Moves `node` from the root towards the leaves. */
static void sift_down(struct model_queue *q, struct model_queue_node node)
{
	uint32_t at = 0;

	for (;;) {
		uint32_t first = at * CHILDREN + 1, least = first;
		if (first >= q->count)
			break;
		for (uint32_t i = first + 1; i < first + CHILDREN && i < q->count; i++)
			if (before(&q->nodes[i], &q->nodes[least]))
				least = i;
		if (!before(&q->nodes[least], &node))
			break;
		q->nodes[at] = q->nodes[least];
		at = least;
	}
	q->nodes[at] = node;
}

/* Returns a free entry; the caller has checked that there is one. */
static uint32_t entry_get(struct model_queue *q)
{
	uint32_t entry = q->free;

	if (entry != NO_ENTRY) {
		q->free = q->entries[entry].next_free;
		return entry;
	}
	q->entries[q->used].generation = 1;
	return q->used++;
}

static void entry_release(struct model_queue *q, uint32_t entry)
{
	q->entries[entry].generation++;
	q->entries[entry].next_free = q->free;
	q->free = entry;
	q->live--;
}

uint64_t model_queue_add(struct model_queue *q, uint64_t at_ps, uint32_t kind, uint32_t subject)
{
	assert(at_ps >= q->now_ps);
	if ((q->count == q->capacity || (q->free == NO_ENTRY && q->used == q->capacity)) &&
	    !grow(q))
		return 0;
	uint32_t entry = entry_get(q);
	struct model_queue_entry *e = &q->entries[entry];
	e->kind = kind;
	e->subject = subject;
	struct model_queue_node node = {at_ps, q->order++, entry, e->generation};
	sift_up(q, q->count++, node);
	q->live++;
	return (uint64_t)e->generation << 32 | entry;
}

bool model_queue_cancel(struct model_queue *q, uint64_t id)
{
	uint32_t entry = (uint32_t)id;

	if (entry >= q->used || q->entries[entry].generation != id >> 32)
		return false;
	entry_release(q, entry);
	return true;
}

bool model_queue_next(struct model_queue *q, struct model_event *out)
{
	while (q->count > 0) {
		struct model_queue_node top = q->nodes[0];
		struct model_queue_entry *e = &q->entries[top.entry];
		if (--q->count > 0)
			sift_down(q, q->nodes[q->count]);
		if (e->generation != top.generation)
			continue;
		*out = (struct model_event){top.at_ps, e->kind, e->subject};
		entry_release(q, top.entry);
		q->now_ps = top.at_ps;
		return true;
	}
	return false;
}
