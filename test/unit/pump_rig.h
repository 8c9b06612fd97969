/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the pump's tests: an engine whose memory only its DMA reaches; DMAs fail, hang or are
 * rejected on request. */
#ifndef TEST_UNIT_PUMP_RIG_H
#define TEST_UNIT_PUMP_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "test/sim/memory.h"
#include "engine/pump.h"

#define DEVICE_BYTES (4u << 20)
#define DEVICE_QUEUE 16

/* ---- counted allocations and mappings ---- */

void *__real_mmap(void *at, size_t bytes, int rights, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int rights, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes);

static int64_t mapped_bytes;

void *__wrap_mmap(void *at, size_t bytes, int rights, int flags, int fd, off_t offset)
{
	if (fails_now()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	mapped_bytes += (int64_t)bytes;
	return __real_mmap(at, bytes, rights, flags, fd, offset);
}

int __wrap_munmap(void *at, size_t bytes)
{
	mapped_bytes -= (int64_t)bytes;
	return __real_munmap(at, bytes);
}

/* ---- the device ---- */

#define SLOW_US 700000 /* us; three in a row exceed PUMP_SLOW_NS */

struct device {
	struct engine engine;
	uint8_t *memory;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct engine_dma queue[DEVICE_QUEUE];
	struct engine_dma_end ends[DEVICE_QUEUE];
	uint32_t queued, ended, started;
	uint64_t slow_above; /* bytes; longer DMAs take SLOW_US; 0: none */
	/* number of that DMA, from 1; 0: none */
	uint32_t fail_at, hang_at;
	uint32_t space; /* outstanding DMAs, running and queued */
	bool resets;    /* a reset completes hanging DMAs */
	bool stop, hanging, reset;
	uint32_t reset_count, pins, unpins, refused;
	int pin_status;
	uint64_t stream_bytes; /* of the last stream through the core */
	uint32_t streams;
};

static struct device *device_of(struct engine *e)
{
	return CONTAINER_OF(e, struct device, engine);
}

static void device_move(struct device *d, const struct engine_dma *dma)
{
	const uint8_t *source = dma->source;
	uint8_t *sink = dma->sink;

	switch (dma->kind) {
	case ENGINE_DMA_IN: memcpy(d->memory + dma->to, source, dma->bytes); break;
	case ENGINE_DMA_OUT: memcpy(sink, d->memory + dma->from, dma->bytes); break;
	case ENGINE_DMA_COPY:
		memmove(d->memory + dma->to, d->memory + dma->from, dma->bytes);
		break;
	default:
		for (uint64_t i = 0; i < dma->bytes; i++)
			sink[i] = (uint8_t)(source[i] + 1);
		d->streams += dma->first;
		d->stream_bytes = dma->first ? dma->bytes : d->stream_bytes + dma->bytes;
	}
}

/* Caller holds the lock, which is released while the bytes move. */
static void device_work(struct device *d)
{
	struct engine_dma dma = d->queue[0];
	uint32_t number = ++d->started;
	int status = DXP_OK;

	d->hanging = number == d->hang_at && !d->reset;
	while (d->hanging && !d->stop)
		pthread_cond_wait(&d->wake, &d->lock);
	if (number == d->fail_at || number == d->hang_at || d->reset)
		status = DXP_EDEVICE;
	if (status == DXP_OK) {
		pthread_mutex_unlock(&d->lock);
		if (d->slow_above && dma.bytes > d->slow_above)
			usleep(SLOW_US);
		device_move(d, &dma);
		pthread_mutex_lock(&d->lock);
	}
	d->queued--;
	memmove(d->queue, d->queue + 1, d->queued * sizeof(d->queue[0]));
	if (d->queued == 0)
		d->reset = false;
	d->ends[d->ended++] = (struct engine_dma_end){.id = dma.id, .status = status};
}

static void *device_run(void *context)
{
	struct device *d = context;

	pthread_mutex_lock(&d->lock);
	while (!d->stop) {
		if (d->queued > 0)
			device_work(d);
		else
			pthread_cond_wait(&d->wake, &d->lock);
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

static int device_pin(struct engine *e, void *base, uint64_t bytes)
{
	struct device *d = device_of(e);

	assert_int_equal((uintptr_t)base % 4096, 0);
	if (d->pin_status == DXP_OK)
		d->pins++;
	return d->pin_status;
}

static void device_unpin(struct engine *e, void *base)
{
	device_of(e)->unpins++;
}

static int device_start(struct engine *e, const struct engine_dma *dma)
{
	struct device *d = device_of(e);
	int status = DXP_OK;

	pthread_mutex_lock(&d->lock);
	if (dma->from + dma->bytes > DEVICE_BYTES || dma->to + dma->bytes > DEVICE_BYTES)
		status = DXP_ERANGE;
	else if (d->queued + d->ended >= d->space)
		status = DXP_EAGAIN;
	else
		d->queue[d->queued++] = *dma;
	d->refused += status == DXP_EAGAIN;
	pthread_cond_broadcast(&d->wake);
	pthread_mutex_unlock(&d->lock);
	return status;
}

static uint32_t device_dequeue(struct engine *e, struct engine_dma_end *out, uint32_t count)
{
	struct device *d = device_of(e);

	pthread_mutex_lock(&d->lock);
	uint32_t n = (uint32_t)min_u64(count, d->ended);
	memcpy(out, d->ends, n * sizeof(*out));
	d->ended -= n;
	memmove(d->ends, d->ends + n, d->ended * sizeof(*out));
	pthread_mutex_unlock(&d->lock);
	return n;
}

static void device_reset(struct engine *e)
{
	struct device *d = device_of(e);

	pthread_mutex_lock(&d->lock);
	d->reset_count++;
	if (d->resets) {
		d->reset = d->queued > 0;
		d->hanging = false;
	}
	pthread_cond_broadcast(&d->wake);
	pthread_mutex_unlock(&d->lock);
}

UNUSED static bool device_hangs(struct device *d)
{
	pthread_mutex_lock(&d->lock);
	bool hangs = d->hanging;
	pthread_mutex_unlock(&d->lock);
	return hangs;
}

static struct device *device_open(void)
{
	static const struct engine_ops ops = {
		.pin = device_pin,
		.unpin = device_unpin,
		.dma_start = device_start,
		.dma_dequeue = device_dequeue,
		.dma_reset = device_reset,
	};
	struct device *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	d->engine.ops = &ops;
	d->space = DEVICE_QUEUE;
	d->resets = true;
	d->memory = malloc(DEVICE_BYTES);
	assert_non_null(d->memory);
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->wake, NULL);
	assert_int_equal(pthread_create(&d->thread, NULL, device_run, d), 0);
	return d;
}

static void device_close(struct device *d)
{
	pthread_mutex_lock(&d->lock);
	d->stop = true;
	pthread_cond_broadcast(&d->wake);
	pthread_mutex_unlock(&d->lock);
	pthread_join(d->thread, NULL);
	assert_int_equal(d->pins, d->unpins);
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->wake);
	free(d->memory);
	free(d);
}

static void fill(uint8_t *bytes, uint64_t count, uint64_t seed)
{
	struct rng r = {seed};

	for (uint64_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)(rng_next(&r) >> 24);
}

#endif
