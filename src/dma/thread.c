/* SPDX-License-Identifier: BSD-3-Clause */
/* The device's thread: advances the pump after an order, an interrupt or a deadline. */
#include <sched.h>
#include <time.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "dma/internal.h"

static void cond_init(pthread_cond_t *c)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(c, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void dma_doze_init(struct doze *z)
{
	pthread_mutex_init(&z->lock, NULL);
	cond_init(&z->wake);
	atomic_init(&z->rung, false);
	atomic_init(&z->sleeping, false);
}

void dma_doze_destroy(struct doze *z)
{
	pthread_cond_destroy(&z->wake);
	pthread_mutex_destroy(&z->lock);
}

/* This writes `rung`, then reads `sleeping`; dma_doze_until() writes `sleeping`, then reads `rung`.
 * All are sequentially consistent, so one of them sees the other's flag, and no wakeup is lost. */
void dma_doze_ring(struct doze *z)
{
	atomic_store(&z->rung, true);
	if (!atomic_load(&z->sleeping))
		return;
	pthread_mutex_lock(&z->lock);
	pthread_cond_signal(&z->wake);
	pthread_mutex_unlock(&z->lock);
}

void dma_doze_until(struct doze *z, uint64_t deadline_ns)
{
	const struct timespec until = {.tv_sec = (time_t)(deadline_ns / S_NS),
				       .tv_nsec = (long)(deadline_ns % S_NS)};
	int error = 0;

	pthread_mutex_lock(&z->lock);
	atomic_store(&z->sleeping, true);
	while (!atomic_exchange(&z->rung, false) && error == 0)
		error = pthread_cond_timedwait(&z->wake, &z->lock, &until);
	atomic_store(&z->sleeping, false);
	pthread_mutex_unlock(&z->lock);
}

static void calls_run(struct dxp_dma *d)
{
	while (list_used(&d->calls)) {
		struct dma_call *c = CONTAINER_OF(d->calls.next, struct dma_call, link);
		list_remove(&c->link);
		c->status = c->run(d, c->context);
		c->done = true;
		pthread_cond_broadcast(&d->rare);
	}
}

static void fresh_begin(struct dxp_dma *d)
{
	while (list_used(&d->fresh)) {
		struct dxp_dma_transfer *t =
			CONTAINER_OF(d->fresh.next, struct dxp_dma_transfer, fresh);
		list_remove(&t->fresh);
		dma_transfer_begin(t);
	}
}

/* The next interrupt often comes sooner than a thread wakes. */
static void spin_some(struct dxp_dma *d)
{
	uint64_t begin = clock_now_ns(), until = begin + d->spin.budget_ns;

	while (!atomic_load_explicit(&d->doze.rung, memory_order_relaxed) && clock_now_ns() < until)
		sched_yield();
}

static void sleep_some(struct dxp_dma *d)
{
	uint64_t deadline = pump_deadline(d->pump), begin = clock_now_ns();
	bool busy = bridge_transfers(pump_bridge(d->pump)) > 0;

	pthread_mutex_unlock(&d->lock);
	if (busy)
		spin_some(d);
	/* Without a deadline, sleeps for an hour: UINT64_MAX does not fit the signed seconds of the
	 * clock. */
	dma_doze_until(&d->doze, min_u64(deadline, clock_now_ns() + 3600 * S_NS));
	if (busy)
		spin_note(&d->spin, clock_now_ns() - begin);
	pthread_mutex_lock(&d->lock);
}

void *dma_thread_main(void *dma)
{
	struct dxp_dma *d = dma;

	pthread_mutex_lock(&d->lock);
	while (!d->closing || d->copying || list_used(&d->calls)) {
		calls_run(d);
		if (d->closing)
			dma_copies_drop(d, DXP_ECLOSED);
		else
			fresh_begin(d);
		if (pump_poll(d->pump, clock_now_ns()))
			continue;
		if (dma_copy_left(d))
			dma_copy_one(d);
		else
			sleep_some(d);
	}
	dma_copies_drop(d, DXP_ECLOSED);
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

int dma_call(struct dxp_dma *d, int (*run)(struct dxp_dma *d, void *context), void *context)
{
	struct dma_call c = {.run = run, .context = context};

	pthread_mutex_lock(&d->lock);
	list_last(&d->calls, &c.link);
	dma_doze_ring(&d->doze);
	while (!c.done)
		pthread_cond_wait(&d->rare, &d->lock);
	pthread_mutex_unlock(&d->lock);
	return c.status;
}
