/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress thread. It renews leases and sends acknowledgements and keepalives while the program
 * computes. It sleeps on the node's file and does not hold the lock then, so calls do not wait for
 * it. While calls poll the node, it checks only rarely. */
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "host/wakeup.h"
#include "host/internal.h"

#define PROGRESS_POLLS_MAX 64 /* maximum number of polls before the thread releases the lock */

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / S_NS), .tv_nsec = (long)(ns % S_NS)};
}

/* Returns true if calls poll the node now, or polled it a moment ago. While an xPU accesses host
 * memory, only calls that poll now count. */
static bool others_poll(const struct dxp_fabric *f, uint64_t now_ns)
{
	return f->waiting || (now_ns - f->polled_ns < HOST_FRESH_NS && !xpus_pull(f));
}

static void park(struct dxp_fabric *f, uint64_t now_ns)
{
	/* A leader wakes this thread when it leaves. Calls that only spin do not, because a system
	 * call for each of them would cost too much. So the wait is shorter then. */
	struct timespec until = timespec_of(now_ns + (f->leader ? HOST_WATCH_NS : HOST_NAP_NS));

	f->progress_parked = true;
	pthread_cond_timedwait(&f->progress_wake, &f->lock, &until);
	f->progress_parked = false;
}

static void watch_file(struct dxp_fabric *f, uint64_t now_ns)
{
	struct pollfd files[] = {{.fd = node_fd(f->node), .events = POLLIN},
				 {.fd = f->progress_wakeup, .events = POLLIN}};
	/* A call may set an earlier deadline while this thread sleeps. It would cost too much to
	 * wake this thread each time, so its sleep is short. */
	uint64_t until = min_u64(host_fabric_deadline(f),
				 now_ns + (f->progress_sends ? HOST_BURST_NS : HOST_LOOK_NS));
	struct timespec left = timespec_of(until > now_ns ? until - now_ns : 0);

	pthread_mutex_unlock(&f->lock);
	ppoll(files, ARRAY_COUNT(files), &left, NULL);
	host_fabric_enter(f);
	node_wait_clear(f->node);
	if (files[1].revents)
		wakeup_clear(f->progress_wakeup);
}

/* Polls while there is work, up to a maximum. Returns true if there may be more work. */
static bool poll_some(struct dxp_fabric *f)
{
	uint64_t polled = f->polled_ns;
	int polls = 0;

	while (polls < PROGRESS_POLLS_MAX && host_fabric_poll(f))
		polls++;
	/* Polls by this thread do not count as polls by a call. */
	f->polled_ns = polled;
	return polls == PROGRESS_POLLS_MAX;
}

/* Sends the last commands of a burst, for which no further call polls. */
static void burst_watch(struct dxp_fabric *f, uint64_t now_ns)
{
	uint64_t age_ns = now_ns - f->burst_ns;

	if (f->unsent && age_ns >= HOST_BURST_NS) {
		poll_some(f);
		f->burst_ns = now_ns;
	}
	struct timespec until = timespec_of(now_ns + HOST_BURST_NS);
	f->progress_parked = true;
	pthread_cond_timedwait(&f->progress_wake, &f->lock, &until);
	f->progress_parked = false;
}

void progress_burst(struct dxp_fabric *f, bool alone)
{
	uint64_t now = clock_now_ns();

	if (alone || now - f->burst_ns >= HOST_BURST_NS) {
		f->burst_ns = now;
		host_fabric_poll(f);
		return;
	}
	f->unsent = true;
	if (f->progress_sends)
		return;
	f->progress_sends = true;
	if (f->progress_parked)
		pthread_cond_signal(&f->progress_wake);
	else
		wakeup_ring(f->progress_wakeup);
}

static void *keep(void *context)
{
	struct dxp_fabric *f = context;

	/* Sets the timer slack to 1 us. The default of 50 us is longer than the 20 us by which
	 * acknowledgements are delayed. */
	prctl(PR_SET_TIMERSLACK, 1000);
	host_fabric_enter(f);
	while (!f->closing) {
		uint64_t now = clock_now_ns();

		if (!f->unsent && now - f->burst_ns >= HOST_BURSTS_NS)
			f->progress_sends = false;
		if (f->progress_sends && !xpus_pull(f)) {
			burst_watch(f, now);
			continue;
		}
		if (others_poll(f, now)) {
			park(f, now);
			continue;
		}
		if (poll_some(f)) {
			pthread_mutex_unlock(&f->lock);
			host_fabric_enter(f);
		} else {
			watch_file(f, clock_now_ns());
		}
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

void progress_notify(struct dxp_fabric *f)
{
	if (f->progress_parked)
		pthread_cond_signal(&f->progress_wake);
}

int progress_start(struct dxp_fabric *f)
{
	sigset_t all, old;

	/* The new thread inherits this mask, so signals arrive only in the program's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int error = pthread_create(&f->progress_thread, NULL, keep, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error)
		return error_set(DXP_ENOMEM, "cannot start a thread; raise \"ulimit -u\"");
	f->progress_started = true;
	return DXP_OK;
}

void progress_stop(struct dxp_fabric *f)
{
	if (!f->progress_started)
		return;
	host_fabric_enter(f);
	f->closing = true;
	pthread_cond_signal(&f->progress_wake);
	pthread_mutex_unlock(&f->lock);
	wakeup_ring(f->progress_wakeup);
	pthread_join(f->progress_thread, NULL);
	f->progress_started = false;
}
