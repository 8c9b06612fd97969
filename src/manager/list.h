/* SPDX-License-Identifier: BSD-3-Clause */
/* Intrusive circular lists with a head. An element in no list points to itself, so removing it is
 * always safe. */
#ifndef MANAGER_LIST_H
#define MANAGER_LIST_H

#include <stdbool.h>

struct list {
	struct list *next, *previous;
};

static inline void list_init(struct list *l)
{
	l->next = l->previous = l;
}

static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_remove(struct list *element)
{
	element->next->previous = element->previous;
	element->previous->next = element->next;
	list_init(element);
}

/* Removes the element from its list, and appends it to the end of list `head`. */
static inline void list_append(struct list *head, struct list *element)
{
	list_remove(element);
	element->next = head;
	element->previous = head->previous;
	head->previous->next = element;
	head->previous = element;
}

#endif
