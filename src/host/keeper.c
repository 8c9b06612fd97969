/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that keeps leases, acknowledgements and signs of life going while the program
 * computes. It watches the node's file without holding the lock, so a call never waits for it;
 * while calls are turning the node it only looks in now and then. */
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "host/bell.h"
#include "host/internal.h"
#include "link/udp.h"

#define KEEPER_TURNS_MAX 64 /* in a row before the lock is given back */

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / S_NS), .tv_nsec = (long)(ns % S_NS)};
}

/* Somebody else turns the node, or did so a moment ago and will again; but then an xPU that reads
 * our memory has to be served meanwhile. */
static bool others_turn(const struct dxp_fabric *f, uint64_t now_ns)
{
	return f->waiting || (now_ns - f->turned_ns < HOST_FRESH_NS && !xpus_pull(f));
}

static void park(struct dxp_fabric *f, uint64_t now_ns)
{
	/* A leader wakes us when it goes; whoever spins does not, because that would cost every
	 * call a system call. */
	struct timespec until = timespec_of(now_ns + (f->leader ? HOST_WATCH_NS : HOST_NAP_NS));

	f->keeper_parked = true;
	pthread_cond_timedwait(&f->keeper_wake, &f->lock, &until);
	f->keeper_parked = false;
}

static void watch_file(struct dxp_fabric *f, uint64_t now_ns)
{
	struct pollfd files[] = {{.fd = node_fd(f->node), .events = POLLIN},
				 {.fd = f->keeper_bell, .events = POLLIN}};
	/* A call may set a deadline meanwhile. Telling us would cost it a wake-up of another
	 * processor each time; so we look. */
	uint64_t until = min_u64(fabric_deadline(f),
				 now_ns + (f->keeper_sends ? HOST_TRAIN_NS : HOST_LOOK_NS));
	struct timespec left = timespec_of(until > now_ns ? until - now_ns : 0);

	pthread_mutex_unlock(&f->lock);
	ppoll(files, ARRAY_COUNT(files), &left, NULL);
	fabric_enter(f);
	node_wait_clear(f->node);
	if (files[1].revents)
		bell_clear(f->keeper_bell);
}

/* False when there is nothing left to do for now. */
static bool turn_some(struct dxp_fabric *f)
{
	uint64_t turned = f->turned_ns;
	int turns = 0;

	while (turns < KEEPER_TURNS_MAX && fabric_turn(f))
		turns++;
	/* Our own turns are no sign of a program at work. */
	f->turned_ns = turned;
	return turns == KEEPER_TURNS_MAX;
}

/* A program that posts one command after another sends them with every turn of its own; only what
 * it posted last is left to us. */
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
	uint64_t now = link_now_ns();

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
		bell_ring(f->keeper_bell);
}

static void *keep(void *context)
{
	struct dxp_fabric *f = context;

	/* The default slack of 50 us would drown an acknowledgement's delay of 20. */
	prctl(PR_SET_TIMERSLACK, 1000);
	fabric_enter(f);
	while (!f->closing) {
		uint64_t now = link_now_ns();

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
			watch_file(f, link_now_ns());
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

	/* Signals are the program's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int error = pthread_create(&f->keeper, NULL, keep, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error)
		return error_set(DXP_ENOMEM, "cannot start a thread; see \"ulimit -u\"");
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
	bell_ring(f->keeper_bell);
	pthread_join(f->keeper, NULL);
	f->keeper_started = false;
}
