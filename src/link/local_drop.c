/* SPDX-License-Identifier: BSD-3-Clause */
/* Closing what a stranger passed: one thread for each lot, so that one that hangs holds up no
 * other, and no more lots at once than somebody is allowed. */
#include "link/local.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#define STACK_BYTES (256u << 10)

struct local_drops {
	_Atomic uint32_t holders; /* the owner, and each lot; the last one frees */
	_Atomic uint32_t waiting; /* descriptors */
};

struct lot {
	struct local_drops *drops;
	unsigned count;
	int fds[];
};

int local_drops_create(struct local_drops **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return DXP_ENOMEM;
	atomic_init(&(*out)->holders, 1);
	return DXP_OK;
}

static void drops_release(struct local_drops *d)
{
	if (atomic_fetch_sub(&d->holders, 1) == 1)
		free(d);
}

void local_drops_free(struct local_drops *d)
{
	if (d)
		drops_release(d);
}

bool local_drops_full(const struct local_drops *d)
{
	return atomic_load(&d->waiting) >= LOCAL_DROPS_MAX;
}

static void fds_close(const int *fds, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		close(fds[i]);
}

static void *lot_close(void *context)
{
	struct lot *lot = context;

	fds_close(lot->fds, lot->count);
	atomic_fetch_sub(&lot->drops->waiting, lot->count);
	drops_release(lot->drops);
	free(lot);
	return NULL;
}

/* Signals are for the program's own threads. */
static bool thread_start(struct lot *lot)
{
	pthread_attr_t how;
	pthread_t thread;
	sigset_t all, before;

	if (pthread_attr_init(&how) != 0)
		return false;
	pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&how, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = pthread_create(&thread, &how, lot_close, lot) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&how);
	return started;
}

void local_drop(struct local_drops *d, const int *fds, unsigned count)
{
	struct lot *lot = count ? malloc(sizeof(*lot) + count * sizeof(*fds)) : NULL;

	if (!lot) {
		fds_close(fds, count);
		return;
	}
	lot->drops = d;
	lot->count = count;
	memcpy(lot->fds, fds, count * sizeof(*fds));
	atomic_fetch_add(&d->holders, 1);
	atomic_fetch_add(&d->waiting, count);
	if (!thread_start(lot))
		lot_close(lot);
}
