/* SPDX-License-Identifier: BSD-3-Clause */
/* Holds the plugin's lock and the deferred calls that run after its release. */
#include <pthread.h>
#include <stdlib.h>

#include "plugins/opencl/object/object.h"

struct later {
	struct later *next;
	void (*call)(void *data);
	void *data;
};

static struct later *laters, **laters_end = &laters;
static uint32_t outside; /* threads between door_out and door_in */

pthread_mutex_t door_lock = PTHREAD_MUTEX_INITIALIZER;

void door_enter(void)
{
	pthread_mutex_lock(&door_lock);
}

void door_leave(void)
{
	struct later *list = laters;

	laters = NULL;
	laters_end = &laters;
	pthread_mutex_unlock(&door_lock);
	while (list) {
		struct later *l = list;
		list = l->next;
		l->call(l->data);
		free(l);
	}
}

bool door_call(void (*call)(void *data), void *data)
{
	struct later *l = malloc(sizeof(*l));

	if (!l)
		return false;
	*l = (struct later){.call = call, .data = data};
	*laters_end = l;
	laters_end = &l->next;
	return true;
}

void door_out(void)
{
	outside++;
	door_leave();
}

void door_in(void)
{
	door_enter();
	outside--;
}

bool door_is_quiet(void)
{
	return outside == 0;
}
