/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers of local DMA: start, completion and wait. */
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "dma/internal.h"

/* ---- device's thread, which holds the lock ---- */

void dma_transfer_end(struct dxp_dma_transfer *t, int status)
{
	struct dxp_dma *d = t->dma;

	pins_drop(&d->pins, t->source_pin);
	pins_drop(&d->pins, t->sink_pin);
	t->pumped = false;
	t->ended = true;
	t->status = status;
	d->outstanding--;
	pthread_cond_signal(&t->wake);
}

static void pumped_end(struct pump_transfer *pumped, const struct bridge_end *end)
{
	struct dxp_dma_transfer *t = CONTAINER_OF(pumped, struct dxp_dma_transfer, pump);

	/* A DMA stalled, and the device was reset. For dxp_dma_wait(), DXP_ETIMEDOUT means
	 * incomplete. */
	dma_transfer_end(t, end->status == DXP_ETIMEDOUT ? DXP_EDEVICE : end->status);
}

static void pin_ends(struct dxp_dma_transfer *t)
{
	const struct dxp_dma_order *o = &t->order;
	struct pins *pins = &t->dma->pins;

	if (t->pump.source)
		t->source_pin = pins_use(pins, o->from, o->bytes);
	if (t->pump.sink)
		t->sink_pin = pins_use(pins, o->to, o->bytes);
}

void dma_transfer_begin(struct dxp_dma_transfer *t)
{
	struct bridge_order order = dma_order_pumped(t);

	if (order.bytes)
		pin_ends(t);
	int status = pump_begin(t->dma->pump, &t->pump, &order, clock_now_ns());
	t->pumped = status == DXP_OK;
	if (status != DXP_OK)
		dma_transfer_end(t, status);
}

/* ---- any thread ---- */

static int transfer_create(struct dxp_dma *d, const struct dxp_dma_order *order,
			   struct dxp_dma_transfer **out)
{
	struct dxp_dma_transfer *t = calloc(1, sizeof(*t));
	pthread_condattr_t monotonic;

	if (!t)
		return error_set(DXP_ENOMEM, "out of memory");
	t->pump.step = dma_copy_step;
	t->pump.ended = pumped_end;
	t->dma = d;
	t->order = *order;
	list_init(&t->link);
	list_init(&t->fresh);
	list_init(&t->idle);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&t->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	*out = t;
	return DXP_OK;
}

static void transfer_free(struct dxp_dma_transfer *t)
{
	pthread_cond_destroy(&t->wake);
	free(t);
}

int dxp_dma_start(struct dxp_dma *dma, const struct dxp_dma_order *order,
		  struct dxp_dma_transfer **out)
{
	struct dxp_dma_transfer *t = NULL;
	int status = dma_order_check(dma, order);

	if (status == DXP_OK)
		status = transfer_create(dma, order, &t);
	if (status != DXP_OK)
		return status;
	pthread_mutex_lock(&dma->lock);
	if (dma->outstanding < DMA_TRANSFERS_MAX) {
		dma->outstanding++;
		list_last(&dma->transfers, &t->link);
		list_last(&dma->fresh, &t->fresh);
	} else {
		status = DXP_EAGAIN;
	}
	pthread_mutex_unlock(&dma->lock);
	if (status != DXP_OK) {
		transfer_free(t);
		return error_set(status, "dma: %u transfers are outstanding; wait for some",
				 DMA_TRANSFERS_MAX);
	}
	dma_doze_ring(&dma->doze);
	*out = t;
	return DXP_OK;
}

/* Sleeps until the transfer completes, this thread is woken for a copy, or the deadline passes. */
static int wait_idle(struct dxp_dma *d, struct dxp_dma_transfer *t, uint64_t deadline_ns)
{
	const struct timespec until = {.tv_sec = (time_t)(deadline_ns / S_NS),
				       .tv_nsec = (long)(deadline_ns % S_NS)};

	list_last(&d->idle, &t->idle);
	int error = deadline_ns == UINT64_MAX ? pthread_cond_wait(&t->wake, &d->lock)
					      : pthread_cond_timedwait(&t->wake, &d->lock, &until);
	list_remove(&t->idle);
	return error ? DXP_ETIMEDOUT : DXP_OK;
}

static void copy_for(struct dxp_dma *d, struct dxp_dma_transfer *t)
{
	if (t->called)
		d->called--;
	t->called = false;
	if (t->ended)
		return;
	if (dma_copy_left(d) && dma_copy_one(d))
		dma_doze_ring(&d->doze);
}

static int wait_locked(struct dxp_dma *d, struct dxp_dma_transfer *t, uint64_t deadline_ns)
{
	int status = DXP_OK;

	while (!t->ended && status == DXP_OK) {
		copy_for(d, t);
		if (!t->ended && !dma_copy_left(d))
			status = wait_idle(d, t, deadline_ns);
		else if (clock_now_ns() >= deadline_ns)
			status = DXP_ETIMEDOUT;
	}
	/* The device's thread makes the copy instead. */
	if (t->called) {
		t->called = false;
		d->called--;
		dma_doze_ring(&d->doze);
	}
	return t->ended ? t->status : DXP_ETIMEDOUT;
}

/* Guards `dma` of a transfer between a waiting and a closing thread; the device's lock is found
 * only through `dma`. Held briefly. */
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

void dma_transfer_part(struct dxp_dma_transfer *t)
{
	pthread_mutex_lock(&init_lock);
	t->dma = NULL;
	pthread_mutex_unlock(&init_lock);
}

/* The device stays valid until `waiting` is decremented. NULL: closed. */
static struct dxp_dma *device_enter(struct dxp_dma_transfer *t)
{
	pthread_mutex_lock(&init_lock);
	struct dxp_dma *d = t->dma;
	if (d)
		atomic_fetch_add(&d->waiting, 1);
	pthread_mutex_unlock(&init_lock);
	return d;
}

static int explain(int status)
{
	switch (status) {
	case DXP_OK: return status;
	case DXP_ETIMEDOUT: return error_set(status, "dma: the transfer is not complete yet");
	case DXP_EDEVICE:
		return error_set(status, "dma: a DMA failed or stalled, or the device was reset; "
					 "the destination is partly written");
	case DXP_ECLOSED:
		return error_set(status,
				 "dma: the device was closed before the transfer completed");
	default: return error_set(status, "dma: the transfer failed: %s", dxp_status_text(status));
	}
}

int dxp_dma_wait(struct dxp_dma_transfer *transfer, uint64_t timeout_ns)
{
	struct dxp_dma *d = device_enter(transfer);
	uint64_t now = clock_now_ns();
	uint64_t deadline = timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
	int status;

	if (d) {
		pthread_mutex_lock(&d->lock);
		status = wait_locked(d, transfer, deadline);
		atomic_fetch_sub(&d->waiting, 1);
		if (status != DXP_ETIMEDOUT)
			list_remove(&transfer->link);
		pthread_cond_broadcast(&d->rare);
		pthread_mutex_unlock(&d->lock);
	} else {
		status = transfer->status;
	}
	if (status != DXP_ETIMEDOUT)
		transfer_free(transfer);
	return explain(status);
}

int dxp_dma_move(struct dxp_dma *dma, const struct dxp_dma_order *order)
{
	struct dxp_dma_transfer *t;
	int status = dxp_dma_start(dma, order, &t);

	return status == DXP_OK ? dxp_dma_wait(t, UINT64_MAX) : status;
}
