/* SPDX-License-Identifier: BSD-3-Clause */
/* The endpoint's progress thread: renews leases, answers members between calls, advances
 * nonblocking operations, and frees destroyed groups. While callers are active it wakes only every
 * INC_TICK_NS; otherwise it sleeps on the sockets. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "inc/endpoint.h"
#include "inc/limits.h"
#include "link/udp.h"

#define SLEEP_MAX_NS (1000 * MS_NS)

void endpoint_group_free(struct dxp_inc_group *g)
{
	struct dxp_inc *inc = g->inc;
	struct dxp_inc_group **at = &inc->groups;

	while (*at && *at != g)
		at = &(*at)->next;
	if (*at) {
		*at = g->next;
		inc->group_count--;
		inc->departed_count -= g->departed_ns != 0;
	}
	for (struct dxp_inc_operation *c = g->free_operations, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	inc_port_close(&g->multicast);
	inc_create_end(g->create);
	inc_group_destroy(g->group);
	free(g);
}

static void kill_send(struct dxp_inc_group *g)
{
	uint32_t next = 0;
	size_t n = 1;

	while (n > 0) {
		struct inc_batch b = traffic_batch_begin(g->inc);
		n = inc_create_kill(g->create, &next, &b);
		traffic_batch_send(g->inc, &b);
	}
}

/* Destroyed groups of an owner. */
struct share {
	uint32_t owner;
	unsigned count;
};

/* Returns true if the group is destroyed and its KILLs are sent. */
static bool departed_whole(const struct dxp_inc_group *g)
{
	return g->departed_ns != 0 && g->kill_ns == UINT64_MAX;
}

/* Returns the share with most destroyed groups. */
static struct share share_largest(const struct dxp_inc *inc)
{
	struct share shares[INC_DEPARTED_MAX + 1], largest = {.count = 0};
	unsigned count = 0;

	for (const struct dxp_inc_group *g = inc->groups; g; g = g->next) {
		unsigned i = 0;
		if (!departed_whole(g))
			continue;
		while (i < count && shares[i].owner != g->owner)
			i++;
		if (i == ARRAY_COUNT(shares))
			continue;
		if (i == count)
			shares[count++] = (struct share){.owner = g->owner};
		if (++shares[i].count > largest.count)
			largest = shares[i];
	}
	return largest;
}

/* Frees the oldest destroyed group, whose KILLs are sent, of the owner with most of them. So an
 * owner that makes many groups does not shorten the time of others. Returns false if there is
 * none. */
static bool departed_free(struct dxp_inc *inc)
{
	const struct share largest = share_largest(inc);
	struct dxp_inc_group *oldest = NULL;

	for (struct dxp_inc_group *g = inc->groups; g; g = g->next)
		if (departed_whole(g) && g->owner == largest.owner &&
		    (!oldest || g->departed_ns <= oldest->departed_ns))
			oldest = g;
	if (oldest)
		endpoint_group_free(oldest);
	return oldest != NULL;
}

void inc_departed_tend(struct dxp_inc *inc, uint64_t now_ns)
{
	struct dxp_inc_group *next;

	for (struct dxp_inc_group *g = inc->groups; g; g = next) {
		next = g->next;
		if (g->departed_ns == 0)
			continue;
		if (now_ns >= g->kill_ns) {
			kill_send(g);
			g->kill_ns = ++g->kills < 2 ? now_ns + INC_KILL_NS : UINT64_MAX;
		}
		if (g->kill_ns == UINT64_MAX && now_ns - g->departed_ns >= 2 * inc->o.deadline_ns)
			endpoint_group_free(g);
	}
	while (inc->departed_count > INC_DEPARTED_MAX && departed_free(inc))
		;
}

static uint64_t groups_deadline(const struct dxp_inc *inc)
{
	uint64_t at_ns = UINT64_MAX;

	for (const struct dxp_inc_group *g = inc->groups; g; g = g->next) {
		at_ns = min_u64(at_ns, endpoint_deadline(g));
		if (g->departed_ns)
			at_ns = min_u64(at_ns, min_u64(g->kill_ns,
						       g->departed_ns + 2 * inc->o.deadline_ns));
	}
	return at_ns;
}

static void sleep_quietly(struct dxp_inc *inc)
{
	struct pollfd fd = {.fd = inc->wake_fd, .events = POLLIN};

	inc->planned_ns = clock_now_ns() + INC_TICK_NS;
	pthread_mutex_unlock(&inc->lock);
	poll(&fd, 1, INC_TICK_NS / MS_NS);
	pthread_mutex_lock(&inc->lock);
}

/* Collects the sockets to sleep on. Includes multicast sockets, because results of nonblocking
 * operations may arrive there. */
static unsigned fds_collect(struct dxp_inc *inc, struct pollfd *fds, unsigned space)
{
	unsigned count = 3;

	fds[0] = (struct pollfd){.fd = inc->wake_fd, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = link_socket_fd(inc->out.link), .events = POLLIN};
	fds[2] = (struct pollfd){.fd = link_socket_fd(inc->in.link), .events = POLLIN};
	for (struct dxp_inc_group *g = inc->groups; g && count < space; g = g->next)
		if (g->multicast.link && g->open_operations > 0)
			fds[count++] = (struct pollfd){.fd = link_socket_fd(g->multicast.link),
						       .events = POLLIN};
	return count;
}

static void sleep_listening(struct dxp_inc *inc, uint64_t now_ns)
{
	struct pollfd fds[64];
	unsigned count = fds_collect(inc, fds, 64);
	uint64_t until_ns = min_u64(groups_deadline(inc), now_ns + SLEEP_MAX_NS);
	uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	struct timespec t = {.tv_sec = (time_t)(left_ns / S_NS), .tv_nsec = (long)(left_ns % S_NS)};

	inc->planned_ns = clock_now_ns() + left_ns;
	inc->listens_until_ns = max_u64(until_ns, 1);
	pthread_mutex_unlock(&inc->lock);
	ppoll(fds, count, &t, NULL);
	pthread_mutex_lock(&inc->lock);
	inc->listens_until_ns = 0;
}

static void progress_poll(struct dxp_inc *inc, uint64_t now_ns)
{
	traffic_port_receive(inc, &inc->out, now_ns);
	if (inc->waiting == 0) {
		traffic_port_receive(inc, &inc->in, now_ns);
		for (struct dxp_inc_group *g = inc->groups; g; g = g->next)
			if (g->open_operations > 0)
				traffic_port_receive(inc, &g->multicast, now_ns);
	}
	for (struct dxp_inc_group *g = inc->groups; g; g = g->next)
		endpoint_flush_due(g, now_ns);
	inc_departed_tend(inc, now_ns);
}

static void *progress_thread(void *context)
{
	struct dxp_inc *inc = context;
	uint64_t woken;

	pthread_mutex_lock(&inc->lock);
	while (!inc->stop) {
		uint64_t now_ns = endpoint_now(inc);
		progress_poll(inc, now_ns);
		if (inc->waiting > 0 || now_ns - inc->active_ns < INC_TICK_NS)
			sleep_quietly(inc);
		else
			sleep_listening(inc, now_ns);
		if (read(inc->wake_fd, &woken, sizeof(woken)) < 0)
			continue; /* the thread was woken, but not by progress_wake() */
	}
	pthread_mutex_unlock(&inc->lock);
	return NULL;
}

void progress_wake(struct dxp_inc *inc)
{
	uint64_t one = 1;

	if (write(inc->wake_fd, &one, sizeof(one)) < 0)
		log_debug("the progress thread's eventfd is full: it wakes anyway");
}

int endpoint_progress_start(struct dxp_inc *inc)
{
	sigset_t all, before;

	inc->wake_fd = descriptor_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (inc->wake_fd < 0) {
		log_error("cannot create an eventfd: %m; if the limit of open files is reached, "
			  "raise \"ulimit -n\"");
		return DXP_EIO;
	}
	sigfillset(&all); /* the thread blocks signals, so that the program's threads get them */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&inc->thread, NULL, progress_thread, inc);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error == 0)
		return DXP_OK;
	close(inc->wake_fd);
	log_error("cannot start a thread: %s; raise \"ulimit -u\"", strerror(error));
	return DXP_EIO;
}

void endpoint_progress_stop(struct dxp_inc *inc)
{
	pthread_mutex_lock(&inc->lock);
	inc->stop = true;
	pthread_mutex_unlock(&inc->lock);
	progress_wake(inc);
	pthread_join(inc->thread, NULL);
}
