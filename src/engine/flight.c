/* SPDX-License-Identifier: BSD-3-Clause */
/* One lock guards all members; it is released for driver calls, because a driver may hold its own
 * lock in a callback. A flight has references: by a list until it is dequeued, by its callback, and
 * by each thread that checks it. */
#include "engine/flight.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "engine/limits.h"

struct flight {
	struct flight *next; /* in its queue, or in the list of completed flights */
	struct flights *all;
	uint64_t id;
	void *command; /* the driver's last command for this flight; NULL: not launched */
	uint64_t look_ns;
	uint32_t queue, references;
	int status;
	bool reset;
	bool failed; /* the driver accepted only a part */
	bool ended;
};

struct line {
	struct flight *first, **last;
	uint32_t count;
};

struct waiter {
	struct flights *all;
	uint32_t queue;
	pthread_t thread;
	bool running;
};

struct flights {
	struct flights_options options;
	pthread_mutex_t lock;
	/* a flight was launched or completed, a reset began, or threads must stop */
	pthread_cond_t changed;
	struct line queues[FLIGHT_QUEUES], ended;
	uint32_t alive;   /* flights that are not freed */
	uint32_t telling; /* threads inside the interrupt callback */
	uint32_t resets;  /* flights marked by a reset and not completed */
	/* ns, when a device in reset counts as lost; UINT64_MAX: no reset */
	uint64_t lost_at_ns;
	bool lost, closing;
	/* one per queue, and the guard */
	struct waiter waiters[FLIGHT_QUEUES + 1];
};

static void line_clear(struct line *l)
{
	*l = (struct line){.last = &l->first};
}

static void line_append(struct line *l, struct flight *f)
{
	f->next = NULL;
	*l->last = f;
	l->last = &f->next;
	l->count++;
}

static void line_remove(struct line *l, struct flight *f)
{
	struct flight **at = &l->first;

	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	if (l->last == &f->next)
		l->last = at;
	l->count--;
}

/* Caller holds the lock, which is released for the driver call. */
static void flight_release(struct flight *f)
{
	struct flights *all = f->all;

	if (--f->references > 0)
		return;
	pthread_mutex_unlock(&all->lock);
	if (f->command)
		all->options.drop(all->options.driver, f->command);
	free(f);
	pthread_mutex_lock(&all->lock);
	all->alive--;
	pthread_cond_broadcast(&all->changed);
}

/* Caller holds the lock, and must call interrupt() if true. */
static bool flight_end(struct flight *f, int status)
{
	struct flights *all = f->all;

	if (f->ended)
		return false;
	line_remove(&all->queues[f->queue], f);
	f->ended = true;
	f->status = f->failed || f->reset ? DXP_EDEVICE : status;
	line_append(&all->ended, f);
	all->resets -= f->reset;
	if (all->resets == 0)
		all->lost_at_ns = UINT64_MAX;
	pthread_cond_broadcast(&all->changed);
	return true;
}

/* Caller holds the lock, which is released during the call. `telling` counts calls, because
 * flights_destroy() cannot join the driver's threads. */
static void interrupt(struct flights *all, bool wanted)
{
	if (!wanted || !all->options.interrupt)
		return;
	all->telling++;
	pthread_mutex_unlock(&all->lock);
	all->options.interrupt(all->options.interrupt_context);
	pthread_mutex_lock(&all->lock);
	all->telling--;
	pthread_cond_broadcast(&all->changed);
}

static void wait_until(struct flights *all, uint64_t at_ns)
{
	struct timespec at = {.tv_sec = (time_t)(at_ns / S_NS), .tv_nsec = (long)(at_ns % S_NS)};

	if (at_ns == UINT64_MAX)
		pthread_cond_wait(&all->changed, &all->lock);
	else
		pthread_cond_timedwait(&all->changed, &all->lock, &at);
}

/* NULL: not launched. Caller holds the lock. */
static struct flight *first_launched(struct flights *all, uint32_t queue)
{
	struct flight *f = all->queues[queue].first;

	return f && f->command ? f : NULL;
}

/* Exists only if the driver has a function that waits. */
static void *waiter_run(void *argument)
{
	struct waiter *w = argument;
	struct flights *all = w->all;

	pthread_mutex_lock(&all->lock);
	while (!all->closing) {
		struct flight *f = first_launched(all, w->queue);
		if (!f) {
			pthread_cond_wait(&all->changed, &all->lock);
			continue;
		}
		f->references++;
		pthread_mutex_unlock(&all->lock);
		int status = all->options.wait(all->options.driver, f->command);
		pthread_mutex_lock(&all->lock);
		bool reported = status != DXP_EAGAIN && flight_end(f, status);
		flight_release(f);
		if (status == DXP_EAGAIN)
			wait_until(all, clock_now_ns() + FLIGHT_LOOK_NS);
		interrupt(all, reported);
	}
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

/* The device did not complete after a reset. Caller holds the lock, and must call interrupt() if
 * true. */
static bool lose(struct flights *all)
{
	bool reported = false;

	all->lost = true;
	all->lost_at_ns = UINT64_MAX;
	for (uint32_t q = 0; q < FLIGHT_QUEUES; q++)
		while (all->queues[q].first)
			reported |= flight_end(all->queues[q].first, DXP_EDEVICE);
	return reported;
}

/* Checks the first flight of a queue once its callback is late; lowers *next_ns to the next check.
 * Caller holds the lock. */
static bool look(struct flights *all, uint32_t queue, uint64_t now_ns, uint64_t *next_ns)
{
	struct flight *f = first_launched(all, queue);

	if (!f)
		return false;
	if (f->look_ns > now_ns) {
		*next_ns = min_u64(*next_ns, f->look_ns);
		return false;
	}
	f->references++;
	pthread_mutex_unlock(&all->lock);
	int status = all->options.look(all->options.driver, f->command);
	pthread_mutex_lock(&all->lock);
	f->look_ns = now_ns + FLIGHT_LOOK_NS;
	bool reported = status != DXP_EAGAIN && flight_end(f, status);
	flight_release(f);
	/* The next flight of the queue must be checked at once. */
	*next_ns = min_u64(*next_ns, reported ? now_ns : now_ns + FLIGHT_LOOK_NS);
	return reported;
}

/* Finds late callbacks and a lost device; sleeps without outstanding flights. */
static void *guard_run(void *argument)
{
	struct flights *all = ((struct waiter *)argument)->all;

	pthread_mutex_lock(&all->lock);
	while (!all->closing) {
		uint64_t now_ns = clock_now_ns(), next_ns = all->lost_at_ns;
		bool reported = false;
		if (now_ns >= all->lost_at_ns)
			reported = lose(all);
		else if (!all->options.wait)
			for (uint32_t q = 0; q < FLIGHT_QUEUES; q++)
				reported |= look(all, q, now_ns, &next_ns);
		if (reported)
			interrupt(all, true);
		else
			wait_until(all, next_ns);
	}
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

static void threads_stop(struct flights *all)
{
	pthread_mutex_lock(&all->lock);
	all->closing = true;
	pthread_cond_broadcast(&all->changed);
	pthread_mutex_unlock(&all->lock);
	for (uint32_t i = 0; i < ARRAY_COUNT(all->waiters); i++)
		if (all->waiters[i].running)
			pthread_join(all->waiters[i].thread, NULL);
}

static int threads_start(struct flights *all)
{
	for (uint32_t i = 0; i < ARRAY_COUNT(all->waiters); i++) {
		struct waiter *w = &all->waiters[i];
		bool guard = i == FLIGHT_QUEUES;
		*w = (struct waiter){.all = all, .queue = i};
		if (!guard && !all->options.wait)
			continue;
		if (pthread_create(&w->thread, NULL, guard ? guard_run : waiter_run, w) != 0)
			return DXP_ENOMEM;
		w->running = true;
	}
	return DXP_OK;
}

static void all_free(struct flights *all)
{
	pthread_cond_destroy(&all->changed);
	pthread_mutex_destroy(&all->lock);
	free(all);
}

int flights_create(const struct flights_options *options, struct flights **out)
{
	struct flights *all = calloc(1, sizeof(*all));
	pthread_condattr_t clock;

	if (!all)
		return DXP_ENOMEM;
	all->options = *options;
	if (all->options.queue_flights == 0)
		all->options.queue_flights = FLIGHTS_MAX;
	if (all->options.lost_ns == 0)
		all->options.lost_ns = FLIGHT_LOST_NS;
	all->lost_at_ns = UINT64_MAX;
	for (uint32_t q = 0; q < FLIGHT_QUEUES; q++)
		line_clear(&all->queues[q]);
	line_clear(&all->ended);
	pthread_mutex_init(&all->lock, NULL);
	pthread_condattr_init(&clock);
	/* the clock of clock_now_ns() */
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&all->changed, &clock);
	pthread_condattr_destroy(&clock);
	int status = threads_start(all);
	if (status != DXP_OK) {
		threads_stop(all);
		all_free(all);
		return status;
	}
	*out = all;
	return DXP_OK;
}

/* Caller holds the lock. */
static void ended_drop(struct flights *all)
{
	struct flight *f;

	while ((f = all->ended.first)) {
		line_remove(&all->ended, f);
		flight_release(f);
	}
}

bool flights_destroy(struct flights *all)
{
	uint64_t until_ns = clock_now_ns() + all->options.lost_ns;

	pthread_mutex_lock(&all->lock);
	ended_drop(all);
	while (all->alive > 0 && !all->lost && clock_now_ns() < until_ns) {
		wait_until(all, until_ns);
		ended_drop(all);
	}
	if (all->alive > 0)
		lose(all); /* later completions call no interrupt */
	while (all->telling > 0)
		wait_until(all, UINT64_MAX);
	bool clean = all->alive == 0;
	pthread_mutex_unlock(&all->lock);
	if (!clean)
		return false;
	threads_stop(all);
	all_free(all);
	return true;
}

int flight_begin(struct flights *all, uint32_t queue, uint64_t id, struct flight **out)
{
	struct flight *f = calloc(1, sizeof(*f));
	int status = f ? DXP_OK : DXP_EAGAIN;

	assert(queue < FLIGHT_QUEUES);
	pthread_mutex_lock(&all->lock);
	if (all->lost)
		status = DXP_EDEVICE;
	else if (all->queues[queue].count == all->options.queue_flights)
		status = DXP_EAGAIN;
	if (status == DXP_OK) {
		*f = (struct flight){.all = all, .id = id, .queue = queue, .references = 1};
		line_append(&all->queues[queue], f);
		all->alive++;
		*out = f;
	}
	pthread_mutex_unlock(&all->lock);
	if (status != DXP_OK)
		free(f);
	return status;
}

void flight_launch(struct flight *f, void *command, bool failed, bool callback)
{
	struct flights *all = f->all;

	pthread_mutex_lock(&all->lock);
	f->command = command;
	f->failed = failed;
	f->references += callback;
	f->look_ns = clock_now_ns() + FLIGHT_LOOK_NS;
	pthread_cond_broadcast(&all->changed);
	pthread_mutex_unlock(&all->lock);
}

void flight_abandon(struct flight *f)
{
	struct flights *all = f->all;

	pthread_mutex_lock(&all->lock);
	bool reported = flight_end(f, DXP_EDEVICE);
	interrupt(all, reported);
	pthread_mutex_unlock(&all->lock);
}

void flight_land(struct flight *f, int status)
{
	struct flights *all = f->all;

	pthread_mutex_lock(&all->lock);
	bool reported = flight_end(f, status);
	flight_release(f);
	interrupt(all, reported);
	pthread_mutex_unlock(&all->lock);
}

void *flight_driver(const struct flight *f)
{
	return f->all->options.driver;
}

void flight_no_callback(struct flight *f)
{
	struct flights *all = f->all;

	pthread_mutex_lock(&all->lock);
	flight_release(f);
	pthread_mutex_unlock(&all->lock);
}

uint32_t flights_dequeue(struct flights *all, struct engine_dma_end *out, uint32_t count)
{
	uint32_t dequeued = 0;

	pthread_mutex_lock(&all->lock);
	while (dequeued < count && all->ended.first) {
		struct flight *f = all->ended.first;
		line_remove(&all->ended, f);
		out[dequeued++] = (struct engine_dma_end){.id = f->id, .status = f->status};
		flight_release(f);
	}
	pthread_mutex_unlock(&all->lock);
	return dequeued;
}

void flights_reset(struct flights *all)
{
	pthread_mutex_lock(&all->lock);
	for (uint32_t q = 0; q < FLIGHT_QUEUES; q++)
		for (struct flight *f = all->queues[q].first; f; f = f->next) {
			all->resets += !f->reset;
			f->reset = true;
		}
	if (all->resets > 0)
		all->lost_at_ns = min_u64(all->lost_at_ns, clock_now_ns() + all->options.lost_ns);
	pthread_cond_broadcast(&all->changed);
	pthread_mutex_unlock(&all->lock);
}

bool flights_lost(struct flights *all)
{
	pthread_mutex_lock(&all->lock);
	bool lost = all->lost;
	pthread_mutex_unlock(&all->lock);
	return lost;
}
