/* SPDX-License-Identifier: BSD-3-Clause */
/* Spins while receiving for the next link_receive, then sleeps in epoll over sockets and an
 * eventfd. While spinning, sockets are not in the epoll set, where each arrival costs a
 * notification.
 *
 * Invariant: `woken` never stays set while the eventfd is empty, so no wakeup is lost. Only the
 * first waker that sets it writes the eventfd; the waiting thread drains that, then clears `woken`.
 * A waker in between writes nothing, because the wait returns anyway. A write after the drain ends
 * the next wait early. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "base/util.h"
#include "link/endpoint.h"
#include "wire/limits.h"

/* epoll data other than socket indices */
#define WAKE    UINT32_MAX       /* eventfd */
#define WATCHED (UINT32_MAX - 1) /* of link_watch */
/* of link_watch with `edge`: only ends the sleep */
#define EDGE (UINT32_MAX - 2)

static int watch(int epoll_fd, int fd, uint32_t number)
{
	struct epoll_event e = {.events = number == EDGE ? EPOLLIN | EPOLLET : EPOLLIN,
				.data.u32 = number};

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

int wait_open(struct link *l)
{
	l->epoll_fd = descriptor_raise(epoll_create1(EPOLL_CLOEXEC));
	l->wake_fd = descriptor_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (l->epoll_fd >= 0 && l->wake_fd >= 0 && watch(l->epoll_fd, l->wake_fd, WAKE) == 0)
		return DXP_OK;
	log_error("cannot wait on a UDP socket: %m; if the limit of open files is reached, raise "
		  "\"ulimit -n\"");
	wait_close(l);
	return DXP_EIO;
}

/* Fails only without memory; then another event must end the sleep. */
void link_watch_add(struct link *l, unsigned index)
{
	watch(l->epoll_fd, l->sockets[index].fd, index);
}

static void sockets_watch(struct link *l)
{
	for (unsigned i = 0; i < ARRAY_COUNT(l->sockets) && !l->watching; i++)
		if (l->sockets[i].fd >= 0)
			link_watch_add(l, i);
	l->watching = true;
	l->unslept = 0;
}

static void sockets_unwatch(struct link *l)
{
	for (unsigned i = 0; i < ARRAY_COUNT(l->sockets); i++)
		if (l->sockets[i].fd >= 0)
			epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, l->sockets[i].fd, NULL);
	l->watching = false;
}

void wait_close(struct link *l)
{
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	if (l->wake_fd >= 0)
		close(l->wake_fd);
}

int link_watch(struct link *l, int fd, bool edge)
{
	return watch(l->epoll_fd, fd, edge ? EDGE : WATCHED) == 0 ? DXP_OK : DXP_EIO;
}

void link_unwatch(struct link *l, int fd)
{
	epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

bool link_watched(struct link *l)
{
	bool watched = l->watched;

	l->watched = false;
	return watched;
}

int link_fd(struct link *l)
{
	sockets_watch(l);
	l->watched_always = true;
	return l->epoll_fd;
}

void link_wake(struct link *l)
{
	const uint64_t one = 1;
	int saved = errno; /* may be a signal handler */

	/* Pairs with the exchange in wakeup_consume: the waiting thread sees all earlier writes of
	 * the waker. */
	if (atomic_exchange(&l->woken, 1) == 0 && write(l->wake_fd, &one, sizeof(one)) < 0)
		/* EAGAIN: the counter is full, so it is readable */
		errno = saved;
	errno = saved;
}

/* `readable`: the eventfd is. False: no wakeup. */
static bool wakeup_consume(struct link *l, bool readable)
{
	uint64_t count;

	if (!readable && !atomic_load_explicit(&l->woken, memory_order_relaxed))
		return false;
	if (read(l->wake_fd, &count, sizeof(count)) < 0)
		count = 0; /* `woken` is set, the eventfd not written yet */
	atomic_exchange(&l->woken, 0);
	return true;
}

/* Sleeps by epoll_pwait2 (Linux 5.11 or later), else by epoll_wait, rounded up to milliseconds. */
static int sleep_until(int epoll_fd, struct epoll_event *events, int count, uint64_t deadline_ns)
{
	uint64_t now = clock_now_ns();
	uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
	bool forever = deadline_ns == UINT64_MAX;
	struct timespec t = {.tv_sec = (time_t)(left / S_NS), .tv_nsec = (long)(left % S_NS)};
	int ready = epoll_pwait2(epoll_fd, events, count, forever ? NULL : &t, NULL);

	if (ready >= 0 || errno != ENOSYS)
		return ready;
	left = min_u64((left + MS_NS - 1) / MS_NS, INT32_MAX);
	return epoll_wait(epoll_fd, events, count, forever ? -1 : (int)left);
}

static bool sleep_in_kernel(struct link *l, uint64_t deadline_ns)
{
	struct epoll_event events[ARRAY_COUNT(l->sockets) + 2 + WIRE_FUNCTIONS];
	bool arrived = false;

	sockets_watch(l);
	for (unsigned i = 0; i < ARRAY_COUNT(l->sockets); i++)
		if (l->sockets[i].fd >= 0 && l->sockets[i].quiet)
			socket_quiet(l, &l->sockets[i], false);
	int ready = sleep_until(l->epoll_fd, events, ARRAY_COUNT(events), deadline_ns);
	for (int i = 0; i < ready; i++) {
		if (events[i].data.u32 == WAKE) {
			wakeup_consume(l, true);
		} else if (events[i].data.u32 == WATCHED) {
			l->watched = true;
		} else if (events[i].data.u32 != EDGE) {
			l->hot = events[i].data.u32;
			arrived = true;
		}
	}
	return arrived;
}

static bool spin_or_sleep(struct link *l, uint64_t begin_ns, uint64_t deadline_ns)
{
	uint64_t spin_end = min_u64(deadline_ns, begin_ns + l->spin.budget_ns);

	if (l->watching && !l->watched_always && l->unslept > LINK_UNSLEPT_MAX)
		sockets_unwatch(l);
	do {
		if (link_inbox_look(l))
			return true;
		if (wakeup_consume(l, false))
			return false;
	} while (clock_now_ns() < spin_end);
	/* Even after the deadline: a waker may write late, and the eventfd must be drained. */
	return sleep_in_kernel(l, deadline_ns);
}

bool link_wait(struct link *l, uint64_t deadline_ns)
{
	if (link_pending(l))
		return true;
	if (l->fault) {
		send_held(l);
		deadline_ns = min_u64(deadline_ns, fault_deadline(l->fault));
	}
	uint64_t begin_ns = clock_now_ns();
	bool arrived = spin_or_sleep(l, begin_ns, deadline_ns);
	if (l->spin.full_ns && (arrived || clock_now_ns() < deadline_ns))
		spin_note(&l->spin, clock_now_ns() - begin_ns);
	return arrived;
}
