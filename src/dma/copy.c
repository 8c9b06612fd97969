/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between user memory and ring buffers. */
#include <assert.h>
#include <string.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "dma/internal.h"

static void copy_push(struct dxp_dma *d, const struct dma_copy *c)
{
	assert(d->copies_count < DMA_COPIES_MAX);
	d->copies[(d->copies_head + d->copies_count++) % DMA_COPIES_MAX] = *c;
	if (!list_used(&d->idle))
		return;
	struct dxp_dma_transfer *helper = CONTAINER_OF(d->idle.next, struct dxp_dma_transfer, idle);
	list_remove(&helper->idle);
	helper->called = true;
	d->called++;
	pthread_cond_signal(&helper->wake);
}

int dma_copy_step(struct pump_transfer *pumped, const struct bridge_action *a)
{
	struct dxp_dma_transfer *t = CONTAINER_OF(pumped, struct dxp_dma_transfer, pump);
	struct dxp_dma *d = t->dma;
	bool fill = a->step == BRIDGE_FILL;
	const struct dma_copy c = {
		.id = a->id,
		.to = fill ? a->in : (uint8_t *)t->order.to + a->at,
		.from = fill ? (const uint8_t *)t->order.from + a->at : a->out,
		.bytes = a->bytes,
	};

	if (a->bytes > DMA_COPY_SHORT) {
		copy_push(d, &c);
		return DXP_OK;
	}
	memcpy(c.to, c.from, c.bytes);
	pump_done(d->pump, c.id, DXP_OK, clock_now_ns());
	return DXP_OK;
}

bool dma_copy_left(const struct dxp_dma *d)
{
	return d->copies_count > d->called;
}

static struct dma_copy copy_pop(struct dxp_dma *d)
{
	struct dma_copy c = d->copies[d->copies_head];

	d->copies_head = (d->copies_head + 1) % DMA_COPIES_MAX;
	d->copies_count--;
	return c;
}

bool dma_copy_one(struct dxp_dma *d)
{
	if (d->copies_count == 0)
		return false;
	struct dma_copy c = copy_pop(d);

	d->copying++;
	pthread_mutex_unlock(&d->lock);
	memcpy(c.to, c.from, c.bytes);
	pthread_mutex_lock(&d->lock);
	d->copying--;
	pump_done(d->pump, c.id, DXP_OK, clock_now_ns());
	return true;
}

void dma_copies_drop(struct dxp_dma *d, int status)
{
	while (d->copies_count)
		pump_done(d->pump, copy_pop(d).id, status, clock_now_ns());
}
