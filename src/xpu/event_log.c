/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/event_log.h"

#include <stdlib.h>

#include <dxp/status.h>

#include "base/util.h"
#include "xpu/graph.h"

#define CAPACITY_FIRST 64

void event_log_init(struct event_log *l, uint32_t capacity_max, bool foreign)
{
	*l = (struct event_log){.capacity_max = capacity_max, .foreign = foreign};
}

void event_log_destroy(struct event_log *l)
{
	free(l->entries);
	l->entries = NULL;
	l->capacity = 0;
}

static struct event_entry *place_of(const struct event_log *l, uint32_t count)
{
	return &l->entries[count & (l->capacity - 1)];
}

struct event_entry *event_log_find(const struct event_log *l, uint32_t count)
{
	if (l->capacity == 0)
		return NULL;
	struct event_entry *e = place_of(l, count);
	return e->state != EVENT_UNKNOWN && e->count == count ? e : NULL;
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

/* Two counts with different places in the smaller ring have different places in the larger one. */
static int grow(struct event_log *l)
{
	struct event_log bigger = *l;

	bigger.capacity = l->capacity ? 2 * l->capacity : CAPACITY_FIRST;
	bigger.entries = calloc(bigger.capacity, sizeof(*bigger.entries));
	if (!bigger.entries)
		return DXP_ENOMEM;
	for (uint32_t i = 0; i < l->capacity; i++) {
		struct event_entry *e = place_of(&bigger, l->entries[i].count);
		if (l->entries[i].state == EVENT_UNKNOWN)
			continue;
		*e = l->entries[i];
		if (e->waiters)
			e->waiters->link = &e->waiters;
	}
	free(l->entries);
	*l = bigger;
	return DXP_OK;
}

int event_log_add(struct event_log *l, uint32_t count, struct event_entry **out)
{
	while (l->capacity == 0 ||
	       (!may_forget(l, place_of(l, count)) && l->capacity < l->capacity_max)) {
		int status = grow(l);
		if (status != DXP_OK)
			return status;
	}
	struct event_entry *e = place_of(l, count);
	if (pending(l, e))
		return DXP_EAGAIN;
	forget(l, e);
	*e = (struct event_entry){.count = count, .state = EVENT_PENDING};
	*out = e;
	return DXP_OK;
}
