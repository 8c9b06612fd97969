/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin's lock, and calls that are deferred until a thread releases it. */
#include <pthread.h>
#include <stdlib.h>

#include "plugins/opencl/object/object.h"

struct later {
	struct later *next;
	void (*call)(void *data);
	void *data;
};

static struct later *laters, **laters_end = &laters;
static uint32_t outside; /* threads between opencl_out and opencl_in */

pthread_mutex_t opencl_lock = PTHREAD_MUTEX_INITIALIZER;

void opencl_enter(void)
{
	pthread_mutex_lock(&opencl_lock);
}

void opencl_leave(void)
{
	struct later *list = laters;

	laters = NULL;
	laters_end = &laters;
	pthread_mutex_unlock(&opencl_lock);
	while (list) {
		struct later *l = list;
		list = l->next;
		l->call(l->data);
		free(l);
	}
}

bool opencl_call(void (*call)(void *data), void *data)
{
	struct later *l = malloc(sizeof(*l));

	if (!l)
		return false;
	*l = (struct later){.call = call, .data = data};
	*laters_end = l;
	laters_end = &l->next;
	return true;
}

void opencl_out(void)
{
	outside++;
	opencl_leave();
}

void opencl_in(void)
{
	opencl_enter();
	outside--;
}

bool opencl_is_quiet(void)
{
	return outside == 0;
}
