/* SPDX-License-Identifier: BSD-3-Clause */
/* Closes descriptors and unmaps memory of untrusted processes, each in its own thread, so a close
 * that hangs blocks no other. LOCAL_DROPS_MAX bounds them per sender. */
#include "link/local.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dxp/status.h>

#define STACK_BYTES (256u << 10)
/* unmapped without a thread, in half a millisecond */
#define AT_ONCE_BYTES (1u << 20)

struct local_drops {
	_Atomic uint32_t
		/* references of owner and each `struct lot`; the last one frees this */
		holders;
	_Atomic uint32_t waiting; /* not closed yet */
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

/* Starts a detached thread with all signals blocked, because they are for the program's own
 * threads. */
static bool thread_start(void *(*run)(void *), void *lot)
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
	bool started = pthread_create(&thread, &how, run, lot) == 0;
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
	if (!thread_start(lot_close, lot))
		lot_close(lot);
}

/* ---- memory ---- */

struct mapped {
	unsigned count;
	struct local_memory memories[];
};

static _Atomic uint32_t unmapping;

bool local_memory_drops_full(void)
{
	return atomic_load(&unmapping) >= LOCAL_DROPS_MAX;
}

static void *mapped_free(void *context)
{
	struct mapped *m = context;

	for (unsigned i = 0; i < m->count; i++)
		local_memory_free(&m->memories[i]);
	free(m);
	atomic_fetch_sub(&unmapping, 1);
	return NULL;
}

void local_memory_drop(struct local_memory *memories, unsigned count)
{
	struct mapped *m = NULL;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < count; i++)
		bytes += memories[i].bytes;
	if (bytes > AT_ONCE_BYTES)
		m = malloc(sizeof(*m) + count * sizeof(*memories));
	if (!m) {
		for (unsigned i = 0; i < count; i++)
			local_memory_free(&memories[i]);
		return;
	}
	m->count = count;
	for (unsigned i = 0; i < count; i++) {
		m->memories[i] = memories[i];
		memories[i] = (struct local_memory){.fd = -1};
	}
	atomic_fetch_add(&unmapping, 1);
	if (!thread_start(mapped_free, m))
		mapped_free(m);
}
