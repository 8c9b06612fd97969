/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "engine/board_internal.h"

static void controller_init(struct board_dma *d, struct board_controller *c, uint64_t rate)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&c->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	c->board = d;
	c->rate = rate;
}

static int controller_start(struct board_controller *c)
{
	int error = pthread_create(&c->thread, NULL, board_controller_main, c);

	if (error == 0)
		return DXP_OK;
	log_error("cannot start a board's thread: %s; raise the limit on processes",
		  strerror(error));
	return DXP_EIO;
}

static void controller_stop(struct board_controller *c)
{
	pthread_mutex_lock(&c->board->lock);
	c->board->stop = true;
	board_controller_kick(c);
	pthread_mutex_unlock(&c->board->lock);
	pthread_join(c->thread, NULL);
}

static void board_free(struct board_dma *d)
{
	pthread_cond_destroy(&d->tx.wake);
	pthread_cond_destroy(&d->rx.wake);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

int board_dma_create(const struct board_dma_options *options, struct board_dma **out)
{
	const struct board_config *config = options->config;
	struct board_dma *d = calloc(1, sizeof(*d));

	if (!d)
		return DXP_ENOMEM;
	d->options = *options;
	d->options.config = NULL;
	d->control_ns = config->control_ns;
	d->latency_ns = config->latency_ns;
	d->interrupt_ns = config->interrupt_ns;
	d->through_rate = config->through;
	d->memory_rate = config->memory;
	d->fail = config->fail;
	d->stall = config->stall;
	d->queue = (uint32_t)config->queue;
	pthread_mutex_init(&d->lock, NULL);
	controller_init(d, &d->tx, config->to_device);
	controller_init(d, &d->rx, config->from_device);
	int status = controller_start(&d->tx);
	if (status != DXP_OK)
		goto free_board;
	status = controller_start(&d->rx);
	if (status != DXP_OK)
		goto stop_tx;
	*out = d;
	return DXP_OK;
stop_tx:
	controller_stop(&d->tx);
free_board:
	board_free(d);
	return status;
}

void board_dma_destroy(struct board_dma *d)
{
	if (!d)
		return;
	controller_stop(&d->tx);
	controller_stop(&d->rx);
	board_free(d);
}

static bool inside(const struct board_dma *d, uint64_t address, uint64_t bytes)
{
	return bytes <= d->options.memory_bytes && address <= d->options.memory_bytes - bytes;
}

static int dma_check(const struct board_dma *d, const struct engine_dma *dma)
{
	bool reads = dma->kind == ENGINE_DMA_OUT || dma->kind == ENGINE_DMA_COPY;
	bool writes = dma->kind == ENGINE_DMA_IN || dma->kind == ENGINE_DMA_COPY;

	if (dma->bytes == 0 || dma->kind > ENGINE_DMA_COPY)
		return DXP_EINVAL;
	if ((reads && !inside(d, dma->from, dma->bytes)) ||
	    (writes && !inside(d, dma->to, dma->bytes)))
		return DXP_ERANGE;
	return DXP_OK;
}

/* Checks space in the controller and in the ring of completions. */
static bool has_space(struct board_dma *d, const struct board_controller *c)
{
	uint32_t coming = (d->tx.tail - d->tx.head) + (d->rx.tail - d->rx.head);

	return c->tail - c->head < d->queue &&
	       atomic_load_explicit(&d->end_count, memory_order_relaxed) + coming < BOARD_ENDS_MAX;
}

static struct board_job job_make(struct board_dma *d, const struct engine_dma *dma)
{
	uint64_t number = ++d->started, result;
	struct board_job job = {
		.dma = *dma,
		.begins_ns = clock_now_ns() + d->control_ns + d->latency_ns,
		.last = dma->bytes,
		.reset = d->resets,
		.stalls = number == d->stall,
		.fails = d->fail && number % d->fail == 0,
	};

	if (job.stalls || job.fails)
		job.last = dma->bytes / 2;
	if (dma->kind == ENGINE_DMA_THROUGH && dma->first)
		board_core_get(d->options.core, dma->owner, &job.task, &result);
	return job;
}

static void job_add(struct board_controller *c, const struct board_job *job)
{
	*board_job_at(c, c->tail++) = *job;
}

/* If nothing else moves, this thread moves a short DMA itself, which is faster than a wakeup. */
static void job_begin(struct board_controller *c, uint64_t bytes)
{
	if (bytes <= BOARD_SHORT_BYTES && c->tail - c->next <= 1)
		board_controller_help(c);
	if (c->head != c->tail)
		board_controller_kick(c);
}

static int start_locked(struct board_dma *d, const struct engine_dma *dma)
{
	bool through = dma->kind == ENGINE_DMA_THROUGH, out = dma->kind == ENGINE_DMA_OUT;

	if (!has_space(d, out ? &d->rx : &d->tx) || (through && !has_space(d, &d->rx)))
		return DXP_EAGAIN;
	struct board_job job = job_make(d, dma);
	job.twin = d->rx.tail;
	if (out || through)
		job_add(&d->rx, &job);
	if (!out)
		job_add(&d->tx, &job);
	if (!out)
		job_begin(&d->tx, dma->bytes);
	if (out || through)
		job_begin(&d->rx, dma->bytes);
	return DXP_OK;
}

int board_dma_start(struct board_dma *d, const struct engine_dma *dma)
{
	int status = dma_check(d, dma);

	if (status != DXP_OK)
		return status;
	pthread_mutex_lock(&d->lock);
	status = start_locked(d, dma);
	pthread_mutex_unlock(&d->lock);
	return status;
}

uint32_t board_dma_dequeue(struct board_dma *d, struct engine_dma_end *out, uint32_t count)
{
	uint32_t dequeued = 0;

	/* Polled often, mostly in vain, so first without the lock. Pairs with the release in
	 * end_add(). */
	if (atomic_load_explicit(&d->end_count, memory_order_acquire) == 0)
		return 0;
	pthread_mutex_lock(&d->lock);
	uint32_t there = atomic_load_explicit(&d->end_count, memory_order_relaxed);
	while (dequeued < count && dequeued < there)
		out[dequeued++] = d->ends[d->end_head++ % BOARD_ENDS_MAX];
	atomic_store_explicit(&d->end_count, there - dequeued, memory_order_relaxed);
	pthread_mutex_unlock(&d->lock);
	return dequeued;
}

bool board_dma_help(struct board_dma *d)
{
	pthread_mutex_lock(&d->lock);
	bool helped = board_controller_help(&d->rx);
	helped |= board_controller_help(&d->tx);
	pthread_mutex_unlock(&d->lock);
	return helped;
}

void board_dma_reset(struct board_dma *d)
{
	pthread_mutex_lock(&d->lock);
	d->resets++;
	/* Later DMAs must not wait for the modelled time of aborted ones. */
	d->tx.clock_ns = d->rx.clock_ns = d->memory_clock_ns = 0;
	board_controller_kick(&d->tx);
	board_controller_kick(&d->rx);
	pthread_mutex_unlock(&d->lock);
}
