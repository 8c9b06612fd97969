/* SPDX-License-Identifier: BSD-3-Clause */
/* Holds the program's single membership in the fabric: joined when devices are first queried, left
 * when the program exits. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "plugins/opencl/complete.h"
#include "plugins/opencl/device.h"

#define JOIN_MS  2000          /* ms: a program that only lists platforms must not hang */
#define RETRY_NS 5000000000ull /* ns: after a timeout of the manager */
#define LOCK_NS  200000000ull  /* ns: how long exit waits for other threads to leave the plugin */
#define LEAVE_NS 500000000ull  /* ns: how long exit waits for connections to close */

static struct dxp_fabric *fabric;
static bool closed;
static bool forked; /* true in a child of the process that joined */
static uint64_t retry_ns;

struct dxp_fabric *door_fabric(void)
{
	return fabric;
}

bool door_forked(void)
{
	return forked;
}

/* Prints why joining failed; a missing fabric only with DXP_CL_VERBOSE, since most programs have
 * other platforms. */
static void hint(int status)
{
	if (status != DXP_ENOENT || settings_get()->verbose)
		fprintf(stderr, "dxp: no OpenCL devices of the fabric: %s\n",
			dxp_fabric_error(NULL));
}

/* ---- fork ---- */

static void lock_for_fork(void)
{
	pthread_mutex_lock(&door_lock);
}

static void unlock_in_parent(void)
{
	pthread_mutex_unlock(&door_lock);
}

/* Runs in the child. The child has neither the parent's threads nor a right to its connections. All
 * devices are lost to it, and its exit sends no messages for the parent. */
static void leave_in_child(void)
{
	forked = closed = true;
	fabric = NULL;
	devices_detach();
	pthread_mutex_unlock(&door_lock);
}

/* ---- joining ---- */

struct dxp_fabric *fabric_join(void)
{
	static bool watches_forks;

	const struct dxp_fabric_options options = {.timeout_ms = JOIN_MS};

	if (fabric || closed || clock_now_ns() < retry_ns)
		return fabric;
	if (!watches_forks)
		watches_forks =
			pthread_atfork(lock_for_fork, unlock_in_parent, leave_in_child) == 0;
	trace_open();
	int status = dxp_fabric_open(&options, &fabric);
	if (status == DXP_OK) {
		dxp_completions_begun(fabric, true);
		return fabric;
	}
	fabric = NULL;
	if (status != DXP_ENOENT)
		retry_ns = clock_now_ns() + RETRY_NS;
	hint(status);
	return NULL;
}

/* ---- leaving ---- */

static pthread_mutex_t leave_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left_cond = PTHREAD_COND_INITIALIZER;
static bool left;

static struct timespec wall_after(uint64_t ns)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	ns += (uint64_t)t.tv_nsec;
	t.tv_sec += (time_t)(ns / 1000000000u);
	t.tv_nsec = (long)(ns % 1000000000u);
	return t;
}

static void *say_goodbye(void *context)
{
	devices_close();
	dxp_fabric_close(context);
	pthread_mutex_lock(&leave_lock);
	left = true;
	pthread_cond_signal(&left_cond);
	pthread_mutex_unlock(&leave_lock);
	return NULL;
}

/* Closes connections and membership, which frees this host's resources on the nodes before the
 * lease ends. A silent node may take seconds, so the wait is bounded; the thread dies with the
 * program. */
static void leave(struct dxp_fabric *f)
{
	struct timespec until = wall_after(LEAVE_NS);
	pthread_t thread;

	if (pthread_create(&thread, NULL, say_goodbye, f))
		return;
	pthread_detach(thread);
	pthread_mutex_lock(&leave_lock);
	while (!left && pthread_cond_timedwait(&left_cond, &leave_lock, &until) == 0)
		;
	pthread_mutex_unlock(&leave_lock);
}

/* Waits, at most LOCK_NS, until no thread is in a call of the fabric. Caller holds the lock, which
 * is released meanwhile. False: timeout. */
static bool become_quiet(void)
{
	uint64_t deadline = clock_now_ns() + LOCK_NS;
	const struct timespec pause = {.tv_nsec = 200000};

	if (!completions_stop())
		return false;
	while (!door_is_quiet() && clock_now_ns() < deadline) {
		pthread_mutex_unlock(&door_lock);
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&door_lock);
	}
	return door_is_quiet();
}

__attribute__((destructor)) static void at_exit(void)
{
	struct timespec until = wall_after(LOCK_NS);

	if (forked)
		return;
	if (pthread_mutex_timedlock(&door_lock, &until))
		return;
	closed = true;
	struct dxp_fabric *f = fabric;
	bool quiet = !f || become_quiet();
	fabric = NULL;
	events_close();
	devices_detach();
	trace_close();
	pthread_mutex_unlock(&door_lock);
	if (f && quiet)
		leave(f);
}
