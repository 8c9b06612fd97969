/* SPDX-License-Identifier: BSD-3-Clause */
/* Dequeues completions from the fabric, and wakes the threads that wait for them. Only one thread
 * at a time is in dxp_completions; it does not hold the lock there. Other waiting threads sleep on
 * a condition variable.
 *
 *  The progress thread dequeues only if no program thread waits and an event has a callback or host
 *  work. It also runs the callbacks, so a program may hold its own locks when it calls a function
 *  that waits. */
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "plugins/opencl/command/complete.h"
#include "plugins/opencl/node/device.h"

#define BATCH 64
/* ns, longest call of dxp_completions; any value is correct, as the caller repeats */
#define ENTER_NS 1000000000ull
#define CLOSE_NS 200000000ull /* ns that exit waits for the progress thread */

static pthread_cond_t changed, watch_wake;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool entering;
static bool sleeping;     /* true: the thread in enter() is in dxp_completions, without the lock */
static uint32_t waiters;  /* threads in opencl_wait */
static uint32_t sleepers; /* waiting threads that sleep on `changed` */
static uint32_t watched;  /* events that must be completed even if no thread waits */
static bool started, stopping, stopped, thread_enters;

static void init(void)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &monotonic);
	pthread_cond_init(&watch_wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static void sleep_until(pthread_cond_t *cond, uint64_t deadline_ns)
{
	struct timespec t = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
			     .tv_nsec = (long)(deadline_ns % 1000000000u)};

	pthread_cond_timedwait(cond, &opencl_lock, &t);
}

static void (*completed)(const struct dxp_completion *c);
static bool (*callback_run)(void);

static void dequeue(cl_device_id d)
{
	complete_poll();
}

void complete_handle_with(void (*event)(const struct dxp_completion *c), bool (*callback)(void))
{
	completed = event;
	callback_run = callback;
	device_lost_with(LOST_COMPLETIONS, dequeue);
}

static uint32_t enter(uint64_t timeout_ns)
{
	struct dxp_completion batch[BATCH];
	struct dxp_fabric *f = opencl_fabric();

	entering = sleeping = true;
	opencl_leave();
	int count = dxp_completions(f, batch, BATCH, timeout_ns);
	opencl_enter();
	sleeping = false;
	for (int i = 0; i < count && completed; i++)
		completed(&batch[i]);
	entering = false;
	if (sleepers)
		pthread_cond_broadcast(&changed);
	return count > 0 ? (uint32_t)count : 0;
}

void complete_poll(void)
{
	if (entering || !opencl_fabric())
		return;
	while (enter(0) == BATCH && !entering)
		;
}

bool complete_is_dequeuing(void)
{
	return entering;
}

void complete_changed(void)
{
	if (!waiters)
		return;
	if (sleepers)
		pthread_cond_broadcast(&changed);
	if (sleeping)
		dxp_completions_wake(opencl_fabric());
}

/* Waits while another thread dequeues. If that is the progress thread, makes it stop: the caller
 * then dequeues itself, which saves a thread switch per completion. */
static void follow(uint64_t deadline_ns)
{
	if (thread_enters && sleeping)
		dxp_completions_wake(opencl_fabric());
	sleepers++;
	sleep_until(&changed, deadline_ns);
	sleepers--;
}

bool opencl_wait(bool (*done)(void *context), void *context, uint64_t timeout_ns)
{
	uint64_t deadline = timeout_ns ? clock_now_ns() + timeout_ns : UINT64_MAX;
	bool in_time = true;

	pthread_once(&once, init);
	waiters++;
	while (!done(context)) {
		uint64_t now = clock_now_ns();
		uint64_t left = deadline - now < ENTER_NS ? deadline - now : ENTER_NS;

		in_time = now < deadline;
		if (!in_time)
			break;
		if (entering || !opencl_fabric())
			follow(now + left);
		else
			enter(left);
	}
	waiters--;
	if (sleepers)
		pthread_cond_broadcast(&changed);
	if (!waiters && watched)
		pthread_cond_signal(&watch_wake);
	return in_time;
}

/* ---- progress thread ---- */

static void *watch(void *unused)
{
	opencl_enter();
	while (!stopping) {
		if (callback_run && callback_run())
			continue;
		if (watched && !waiters && !entering && opencl_fabric()) {
			thread_enters = true;
			enter(ENTER_NS);
			thread_enters = false;
			continue;
		}
		sleep_until(&watch_wake, clock_now_ns() + ENTER_NS);
	}
	stopped = true;
	pthread_cond_broadcast(&changed);
	opencl_leave();
	return unused;
}

/* Blocks all signals in the progress thread, because signals are for the program's own threads. */
static bool start(void)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool created = pthread_create(&thread, NULL, watch, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (created)
		pthread_detach(thread);
	return created;
}

void opencl_watch(void)
{
	pthread_once(&once, init);
	if (!started && !stopping)
		started = start();
	if (started)
		pthread_cond_signal(&watch_wake);
}

void complete_watch(bool more)
{
	watched += more ? 1 : (uint32_t)-1;
	if (more)
		opencl_watch();
}

void complete_callbacks(void)
{
	opencl_watch();
	if (thread_enters && sleeping)
		dxp_completions_wake(opencl_fabric());
}

bool complete_stop(void)
{
	uint64_t deadline = clock_now_ns() + CLOSE_NS;

	pthread_once(&once, init);
	stopping = true;
	while (((started && !stopped) || entering) && clock_now_ns() < deadline) {
		pthread_cond_signal(&watch_wake);
		if (sleeping)
			dxp_completions_wake(opencl_fabric());
		sleep_until(&changed, clock_now_ns() + 1000000u);
	}
	return !started || stopped;
}
