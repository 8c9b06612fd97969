/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress thread: keeps leases, acknowledgements and keepalives going while the program
 * computes. It watches the node's file without the lock, so no call waits for it; while calls
 * poll the node it checks rarely. */
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

#define KEEPER_TURNS_MAX 64 /* polls in a row before the lock is released */

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / S_NS), .tv_nsec = (long)(ns % S_NS)};
}

/* Returns whether calls poll the node, or did a moment ago and will again; the latter does not
 * count while an xPU accesses host memory. */
static bool others_turn(const struct dxp_fabric *f, uint64_t now_ns)
{
	return f->waiting || (now_ns - f->turned_ns < HOST_FRESH_NS && !xpus_pull(f));
}

static void park(struct dxp_fabric *f, uint64_t now_ns)
{
	/* A leaving leader wakes this thread; spinning calls do not, which would cost each a
	 * system call. */
	struct timespec until = timespec_of(now_ns + (f->leader ? HOST_WATCH_NS : HOST_NAP_NS));

	f->keeper_parked = true;
	pthread_cond_timedwait(&f->keeper_wake, &f->lock, &until);
	f->keeper_parked = false;
}

static void watch_file(struct dxp_fabric *f, uint64_t now_ns)
{
	struct pollfd files[] = {{.fd = node_fd(f->node), .events = POLLIN},
				 {.fd = f->keeper_wakeup, .events = POLLIN}};
	/* A call may set an earlier deadline meanwhile. Waking another CPU each time would cost
	 * too much, so the sleep is short. */
	uint64_t until = min_u64(fabric_deadline(f),
				 now_ns + (f->keeper_sends ? HOST_TRAIN_NS : HOST_LOOK_NS));
	struct timespec left = timespec_of(until > now_ns ? until - now_ns : 0);

	pthread_mutex_unlock(&f->lock);
	ppoll(files, ARRAY_COUNT(files), &left, NULL);
	fabric_enter(f);
	node_wait_clear(f->node);
	if (files[1].revents)
		wakeup_clear(f->keeper_wakeup);
}

/* Polls while there is work. True: there is more. */
static bool turn_some(struct dxp_fabric *f)
{
	uint64_t turned = f->turned_ns;
	int turns = 0;

	while (turns < KEEPER_TURNS_MAX && fabric_turn(f))
		turns++;
	/* This thread's polls are no sign of program activity. */
	f->turned_ns = turned;
	return turns == KEEPER_TURNS_MAX;
}

/* Sends the last commands of a burst; the program's own polls send the others. */
static void trains_watch(struct dxp_fabric *f, uint64_t now_ns)
{
	uint64_t age_ns = now_ns - f->train_ns;

	if (f->unsent && age_ns >= HOST_TRAIN_NS) {
		turn_some(f);
		f->train_ns = now_ns;
	}
	struct timespec until = timespec_of(now_ns + HOST_TRAIN_NS);
	f->keeper_parked = true;
	pthread_cond_timedwait(&f->keeper_wake, &f->lock, &until);
	f->keeper_parked = false;
}

void keeper_train(struct dxp_fabric *f, bool alone)
{
	uint64_t now = clock_now_ns();

	if (alone || now - f->train_ns >= HOST_TRAIN_NS) {
		f->train_ns = now;
		fabric_turn(f);
		return;
	}
	f->unsent = true;
	if (f->keeper_sends)
		return;
	f->keeper_sends = true;
	if (f->keeper_parked)
		pthread_cond_signal(&f->keeper_wake);
	else
		wakeup_ring(f->keeper_wakeup);
}

static void *keep(void *context)
{
	struct dxp_fabric *f = context;

	/* The default slack of 50 us exceeds an acknowledgement's delay of 20. */
	prctl(PR_SET_TIMERSLACK, 1000);
	fabric_enter(f);
	while (!f->closing) {
		uint64_t now = clock_now_ns();

		if (!f->unsent && now - f->train_ns >= HOST_TRAINS_NS)
			f->keeper_sends = false;
		if (f->keeper_sends && !xpus_pull(f)) {
			trains_watch(f, now);
			continue;
		}
		if (others_turn(f, now)) {
			park(f, now);
			continue;
		}
		if (turn_some(f)) {
			pthread_mutex_unlock(&f->lock);
			fabric_enter(f);
		} else {
			watch_file(f, clock_now_ns());
		}
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

void keeper_call(struct dxp_fabric *f)
{
	if (f->keeper_parked)
		pthread_cond_signal(&f->keeper_wake);
}

int keeper_start(struct dxp_fabric *f)
{
	sigset_t all, old;

	/* The program's threads handle signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int error = pthread_create(&f->keeper, NULL, keep, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error)
		return error_set(DXP_ENOMEM, "cannot start a thread; raise \"ulimit -u\"");
	f->keeper_started = true;
	return DXP_OK;
}

void keeper_stop(struct dxp_fabric *f)
{
	if (!f->keeper_started)
		return;
	fabric_enter(f);
	f->closing = true;
	pthread_cond_signal(&f->keeper_wake);
	pthread_mutex_unlock(&f->lock);
	wakeup_ring(f->keeper_wakeup);
	pthread_join(f->keeper, NULL);
	f->keeper_started = false;
}
