/* SPDX-License-Identifier: BSD-3-Clause */
/* Polls the node, and waits. A call that waits polls by itself, so a packet that arrives while it
 * spins needs no thread switch. After the spin time, one waiting thread, the leader, sleeps on the
 * node's file. The other threads sleep on a condition variable, which the polling thread signals
 * when something completes. */
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/util.h"
#include "host/wakeup.h"
#include "host/internal.h"
#include "node/limits.h"

void host_fabric_enter(struct dxp_fabric *f)
{
	if (pthread_mutex_trylock(&f->lock) == 0)
		return;
	/* A thread that spins reads this counter, and releases the lock if it is not 0. */
	atomic_fetch_add_explicit(&f->entering, 1, memory_order_relaxed);
	pthread_mutex_lock(&f->lock);
	atomic_fetch_sub_explicit(&f->entering, 1, memory_order_relaxed);
}

void host_fabric_leave(struct dxp_fabric *f)
{
	pthread_mutex_unlock(&f->lock);
}

uint64_t host_fabric_deadline(const struct dxp_fabric *f)
{
	return min_u64(node_deadline(f->node), f->watch_ns);
}

/* Detects that this process did not run, and adds that time to away_ns. While the process runs,
 * polls are far more frequent than HOST_AWAY_NS. */
static void absence_note(struct dxp_fabric *f)
{
	if (f->looked_ns && f->polled_ns - f->looked_ns > HOST_AWAY_NS)
		f->away_ns += f->polled_ns - f->looked_ns;
	f->looked_ns = f->polled_ns;
}

uint32_t host_fabric_poll(struct dxp_fabric *f)
{
	uint32_t ended = f->ended;

	f->unsent = false;
	uint32_t count = node_poll(f->node) + arrivals_process(f);

	f->polled_ns = clock_now_ns();
	absence_note(f);
	count += moves_poll(f) + executor_notices_post(f);
	if (f->polled_ns >= f->watch_ns)
		watch_look(f, f->polled_ns);
	if (f->ended != ended)
		host_fabric_ended(f);
	return count;
}

void host_fabric_ended(struct dxp_fabric *f)
{
	if (f->sleepers)
		pthread_cond_broadcast(&f->progress);
	if (f->leader_polls)
		wakeup_ring(f->leader_wakeup);
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / S_NS), .tv_nsec = (long)(ns % S_NS)};
}

static void sleep_as_leader(struct dxp_fabric *f, uint64_t until_ns)
{
	struct pollfd files[] = {{.fd = node_fd(f->node), .events = POLLIN},
				 {.fd = f->leader_wakeup, .events = POLLIN}};
	uint64_t now = clock_now_ns();
	struct timespec left = timespec_of(until_ns > now ? until_ns - now : 0);

	f->leader_polls = true;
	pthread_mutex_unlock(&f->lock);
	ppoll(files, ARRAY_COUNT(files), &left, NULL);
	host_fabric_enter(f);
	f->leader_polls = false;
	node_wait_clear(f->node);
	if (files[1].revents)
		wakeup_clear(f->leader_wakeup);
}

static void sleep_as_follower(struct dxp_fabric *f, uint64_t until_ns)
{
	struct timespec until = timespec_of(until_ns);

	f->sleepers++;
	pthread_cond_timedwait(&f->progress, &f->lock, &until);
	f->sleepers--;
}

static void leader_yield(struct dxp_fabric *f)
{
	if (atomic_load_explicit(&f->entering, memory_order_relaxed) == 0)
		return;
	pthread_mutex_unlock(&f->lock);
	sched_yield();
	host_fabric_enter(f);
}

struct sleep {
	bool slept, leading;
	uint32_t empty; /* number of polls without work since the last yield */
};

/* Yields the CPU after several polls without work, because the peer may need this CPU. */
static void yield(struct dxp_fabric *f, struct sleep *s, bool idle)
{
	s->empty = idle ? s->empty + 1 : 0;
	if (s->empty < NODE_YIELD_POLLS)
		return;
	s->empty = 0;
	pthread_mutex_unlock(&f->lock);
	sched_yield();
	host_fabric_enter(f);
}

static int wait_polling(struct dxp_fabric *f, bool (*done)(void *context), void *context,
			uint64_t deadline_ns, struct sleep *s)
{
	const uint64_t began_ns = clock_now_ns();
	uint64_t busy_ns = began_ns, away_ns = f->away_ns;
	bool waited = false;

	for (;;) {
		uint32_t count = host_fabric_poll(f);

		if (count && waited && f->spin.full_ns)
			spin_note(&f->spin, f->polled_ns - busy_ns);
		waited = count == 0;
		if (done(context))
			return DXP_OK;
		if (f->away_ns != away_ns && deadline_ns < UINT64_MAX / 2)
			deadline_ns += min_u64(f->away_ns - away_ns, f->polled_ns - began_ns);
		away_ns = f->away_ns;
		if (f->polled_ns >= deadline_ns)
			return DXP_ETIMEDOUT;
		if (count)
			busy_ns = f->polled_ns;
		/* Spins on, because the link may hold datagrams although its file is not
		 * readable. */
		if (count || f->polled_ns < busy_ns + f->spin.budget_ns) {
			leader_yield(f);
			yield(f, s, count == 0);
			continue;
		}
		s->slept = true;
		if (f->leader && !s->leading) {
			sleep_as_follower(f, deadline_ns);
			continue;
		}
		f->leader = s->leading = true;
		sleep_as_leader(f, min_u64(deadline_ns, host_fabric_deadline(f)));
	}
}

int host_fabric_wait(struct dxp_fabric *f, bool (*done)(void *context), void *context,
		     uint64_t deadline_ns)
{
	struct sleep s = {0};

	if (done(context))
		return DXP_OK;
	f->waiting++;
	int status = wait_polling(f, done, context, deadline_ns, &s);
	f->waiting--;
	if (s.leading)
		f->leader = false;
	/* The leader leaves, so another thread must watch the node's file: a call that sleeps, or
	 * the progress thread. */
	if (s.slept && !f->leader && f->sleepers)
		pthread_cond_signal(&f->progress);
	else if (!f->leader && (s.slept || xpus_pull(f)))
		progress_notify(f);
	return status;
}
