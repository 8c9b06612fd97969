/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread runs several nodes: it polls all of them, spins after recent work, then sleeps on the
 * sockets of all nodes. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "base/spin.h"
#include "base/util.h"
#include "node/limits.h"
#include "node/node.h"

/* upper bound, because a signal may set `stop` just before the sleep */
#define SLEEP_MAX_NS (100 * MS_NS)

static int poller_create(const struct node_loop *loop, int *out)
{
	int poller = descriptor_raise(epoll_create1(EPOLL_CLOEXEC));

	if (poller < 0) {
		log_error("cannot create an epoll instance: %s; raise the limit on open files",
			  strerror(errno));
		return DXP_EIO;
	}
	for (uint32_t i = 0; i < loop->count; i++) {
		struct epoll_event event = {.events = EPOLLIN};
		if (epoll_ctl(poller, EPOLL_CTL_ADD, node_fd(loop->nodes[i]), &event) != 0) {
			log_error("cannot watch a node's socket: %s", strerror(errno));
			close(poller);
			return DXP_EIO;
		}
	}
	*out = poller;
	return DXP_OK;
}

static uint32_t round_run(const struct node_loop *loop)
{
	uint32_t work = 0;

	for (uint32_t i = 0; i < loop->count; i++)
		work += node_poll(loop->nodes[i]);
	if (loop->service)
		work += loop->service(loop->service_context);
	if (work == 0 && loop->idle)
		work = loop->idle(loop->service_context);
	return work;
}

static uint64_t loop_deadline(const struct node_loop *loop, uint64_t now_ns)
{
	uint64_t deadline = now_ns + SLEEP_MAX_NS;

	for (uint32_t i = 0; i < loop->count; i++)
		deadline = min_u64(deadline, node_deadline(loop->nodes[i]));
	if (loop->service_deadline)
		deadline = min_u64(deadline, loop->service_deadline(loop->service_context));
	return deadline;
}

static void loop_sleep(const struct node_loop *loop, int poller)
{
	struct epoll_event event;
	uint32_t announced = 0;

	while (announced < loop->count && node_sleep_announce(loop->nodes[announced]))
		announced++;
	/* Reads the deadline after the announcement. If another thread makes new work for
	 * `service`, that work is either visible now, or the other thread's node_wake wakes this
	 * thread. */
	uint64_t now_ns = clock_now_ns();
	uint64_t deadline_ns = loop_deadline(loop, now_ns);
	if (announced == loop->count && deadline_ns > now_ns) {
		uint64_t wait_ns = deadline_ns - now_ns;
		struct timespec wait = {(time_t)(wait_ns / S_NS), (long)(wait_ns % S_NS)};
		if (epoll_pwait2(poller, &event, 1, &wait, NULL) < 0 && errno == ENOSYS)
			epoll_wait(poller, &event, 1, (int)((wait_ns + MS_NS - 1) / MS_NS));
	}
	for (uint32_t i = 0; i < announced; i++) {
		node_sleep_end(loop->nodes[i]);
		node_wait_clear(loop->nodes[i]);
	}
}

static bool loop_armed(const struct node_loop *loop)
{
	for (uint32_t i = 0; i < loop->count; i++)
		if (node_armed(loop->nodes[i]))
			return true;
	return false;
}

int node_loop_run(struct node_loop *loop)
{
	uint32_t spin_ns = loop->spin_ns == 0            ? WAIT_SPIN_NS
			   : loop->spin_ns == UINT32_MAX ? 0
							 : loop->spin_ns;
	uint64_t busy_ns = clock_now_ns();
	struct spin spin;
	bool waited = false;
	uint32_t empty = 0; /* rounds without work since the last work or yield */
	uint32_t patience = NODE_YIELD_POLLS;
	int poller;
	int status = poller_create(loop, &poller);

	if (status != DXP_OK)
		return status;
	/* The kernel's default timer slack of 50 us would exceed the acknowledgement delay of 20
	 * us. */
	prctl(PR_SET_TIMERSLACK, 1000);
	spin_init(&spin, spin_ns);
	while (!*loop->stop) {
		uint32_t work = round_run(loop);
		uint64_t now_ns = clock_now_ns();
		if (work > 0 && waited)
			spin_note(&spin, now_ns - busy_ns);
		waited = work == 0;
		empty = work > 0 ? 0 : empty + 1;
		if (work > 0)
			busy_ns = now_ns;
		else if (now_ns - busy_ns >= spin.budget_ns && !loop_armed(loop)) {
			loop_sleep(loop, poller);
			/* other threads could run during the sleep, so no yield is due */
			empty = 0;
		}
		if (loop->woke && loop->woke(loop->service_context))
			patience = 1;
		/* Yields the core, because the thread that must answer may need it. */
		if (empty >= patience) {
			sched_yield();
			empty = 0;
			patience = NODE_YIELD_POLLS;
		}
	}
	close(poller);
	return DXP_OK;
}
