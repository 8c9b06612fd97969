/* SPDX-License-Identifier: BSD-3-Clause */
/* Doubly linked lists with embedded links. Invariant: a link is in one list, or points to
 * itself. */
#ifndef BRIDGE_LIST_H
#define BRIDGE_LIST_H

#include <stdbool.h>

#include "base/util.h"

struct list {
	struct list *next, *prev;
};

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

/* A link: in a list. A head: has members. */
static inline bool list_used(const struct list *l)
{
	return l->next != l;
}

static inline void list_after(struct list *list_position, struct list *l)
{
	l->prev = list_position;
	l->next = list_position->next;
	list_position->next->prev = l;
	list_position->next = l;
}

static inline void list_first(struct list *list, struct list *l)
{
	list_after(list, l);
}

static inline void list_last(struct list *list, struct list *l)
{
	list_after(list->prev, l);
}

static inline void list_remove(struct list *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	list_init(l);
}

#endif
