/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/board_owners.h"

#include <stdlib.h>

#include <dxp/status.h>

struct board_owner {
	struct board_owner *next;
	uint32_t number;
	struct board_core_task set;
	uint64_t result;
};

void board_owners_open(struct board_owners *o, const struct board_core_task *first)
{
	*o = (struct board_owners){.first = *first};
	pthread_mutex_init(&o->lock, NULL);
}

void board_owners_close(struct board_owners *o)
{
	struct board_owner *one;

	while ((one = o->list)) {
		o->list = one->next;
		free(one);
	}
	pthread_mutex_destroy(&o->lock);
}

/* Caller holds the lock. NULL: unknown. */
static struct board_owner *find(const struct board_owners *o, uint32_t number)
{
	struct board_owner *one = o->list;

	while (one && one->number != number)
		one = one->next;
	return one;
}

/* Caller holds the lock. Adds an unknown owner. NULL: no memory. */
static struct board_owner *get(struct board_owners *o, uint32_t number)
{
	struct board_owner *one = find(o, number);

	if (one)
		return one;
	one = calloc(1, sizeof(*one));
	if (!one)
		return NULL;
	*one = (struct board_owner){.next = o->list, .number = number, .set = o->first};
	o->list = one;
	return one;
}

int board_owners_set(struct board_owners *o, uint32_t owner, const struct board_core_task *task)
{
	pthread_mutex_lock(&o->lock);
	struct board_owner *one = get(o, owner);
	if (one)
		one->set = *task;
	pthread_mutex_unlock(&o->lock);
	return one ? DXP_OK : DXP_ENOMEM;
}

void board_owners_get(struct board_owners *o, uint32_t owner, struct board_core_task *task,
		      uint64_t *result)
{
	pthread_mutex_lock(&o->lock);
	const struct board_owner *one = find(o, owner);
	*task = one ? one->set : o->first;
	*result = one ? one->result : 0;
	pthread_mutex_unlock(&o->lock);
}

void board_owners_result(struct board_owners *o, uint32_t owner, uint64_t result)
{
	pthread_mutex_lock(&o->lock);
	struct board_owner *one = get(o, owner);
	if (one)
		one->result = result;
	pthread_mutex_unlock(&o->lock);
}

void board_owners_drop(struct board_owners *o, uint32_t owner)
{
	pthread_mutex_lock(&o->lock);
	struct board_owner **at = &o->list, *one;
	while ((one = *at) && one->number != owner)
		at = &one->next;
	if (one)
		*at = one->next;
	pthread_mutex_unlock(&o->lock);
	free(one);
}
