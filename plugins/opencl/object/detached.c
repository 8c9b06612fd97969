/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs functions in detached threads. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "plugins/opencl/object/object.h"

struct detached {
	void (*call)(void *context);
	void *context;
};

static void *detached_main(void *context)
{
	struct detached a = *(struct detached *)context;

	free(context);
	a.call(a.context);
	return NULL;
}

static int start(struct detached *a)
{
	pthread_t thread;
	pthread_attr_t attributes;
	sigset_t all, before;

	if (pthread_attr_init(&attributes) != 0)
		return -1;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	/* Signals are for the program's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&thread, &attributes, detached_main, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}

cl_int detached_spawn(void (*call)(void *context), void *context)
{
	struct detached *a = malloc(sizeof(*a));

	if (!a)
		return CL_OUT_OF_HOST_MEMORY;
	*a = (struct detached){.call = call, .context = context};
	if (start(a) == 0)
		return CL_SUCCESS;
	free(a);
	return CL_OUT_OF_HOST_MEMORY;
}
