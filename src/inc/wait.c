/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for an operation: polls the socket where the result will arrive, spins if configured, then
 * sleeps in the socket. While it waits, it handles timers and calls the user's `idle`. */
#include <poll.h>
#include <sched.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "inc/endpoint.h"
#include "inc/limits.h"
#include "link/udp.h"

void wait_ports_sleep(struct dxp_inc *inc, struct port *const *ports, unsigned count,
		      uint64_t until_ns)
{
	struct pollfd fds[4];
	uint64_t now_ns = endpoint_now(inc), left_ns = until_ns > now_ns ? until_ns - now_ns : 0;

	left_ns = min_u64(left_ns, inc->o.idle ? INC_IDLE_NS : INC_TICK_NS);
	struct timespec t = {.tv_nsec = (long)left_ns};
	for (unsigned i = 0; i < count; i++)
		fds[i] = (struct pollfd){.fd = link_socket_fd(ports[i]->link), .events = POLLIN};
	pthread_mutex_unlock(&inc->lock);
	if (left_ns > 0)
		ppoll(fds, count, &t, NULL);
	if (inc->o.idle)
		inc->o.idle(inc->o.idle_context);
	pthread_mutex_lock(&inc->lock);
}

/* Returns the port that gets the result of the oldest operation. */
static struct port *port_hot(struct dxp_inc_group *g, const struct inc_operation *c)
{
	return g->multicast.link && g->kernel && inc_operation_fast(c) ? &g->multicast
								       : &g->inc->in;
}

static void others_look(struct dxp_inc *inc, struct dxp_inc_group *g, const struct port *hot,
			uint64_t now_ns)
{
	struct port *const ports[] = {&inc->out, &inc->in, &g->multicast};

	for (unsigned i = 0; i < ARRAY_COUNT(ports); i++)
		if (ports[i] != hot)
			traffic_port_receive(inc, ports[i], now_ns);
}

/* Waits for the thread that reads this socket. That thread also handles the packets of this
 * thread's operation. */
static void reader_await(struct dxp_inc *inc)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += INC_IDLE_NS;
	if (until.tv_nsec >= (long)S_NS) {
		until.tv_sec++;
		until.tv_nsec -= (long)S_NS;
	}
	pthread_cond_timedwait(&inc->read, &inc->lock, &until);
}

static void idle_call(struct dxp_inc *inc)
{
	if (!inc->o.idle)
		return;
	pthread_mutex_unlock(&inc->lock);
	inc->o.idle(inc->o.idle_context);
	pthread_mutex_lock(&inc->lock);
}

/* Sleeps in ppoll(), which is more precise than a socket timeout but costs one more system call. */
static bool hot_poll(struct dxp_inc *inc, struct dxp_inc_group *g, struct port *hot)
{
	struct pollfd fd = {.fd = link_socket_fd(hot->link), .events = POLLIN};
	uint64_t now_ns = endpoint_now(inc), until_ns = endpoint_deadline(g);
	uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	struct timespec t = {
		.tv_nsec = (long)min_u64(left_ns, inc->o.idle ? INC_IDLE_NS : INC_TICK_NS)};

	/* A datagram that was already read from the socket waits in the link: ppoll() would not
	 * report it. */
	if (link_pending(hot->link))
		return traffic_port_receive(inc, hot, now_ns) > 0;
	hot->reading = true;
	pthread_mutex_unlock(&inc->lock);
	bool came = ppoll(&fd, 1, &t, NULL) > 0;
	pthread_mutex_lock(&inc->lock);
	hot->reading = false;
	if (came)
		traffic_port_receive(inc, hot, endpoint_now(inc));
	if (inc->waiting > 1)
		pthread_cond_broadcast(&inc->read);
	return came;
}

/* Sleeps once at the port of the result. Returns true if packets arrived. First sleeps in the
 * socket, for at most a kernel tick, because operations are short. Later, or during packet loss,
 * sleeps in ppoll(). */
static bool hot_sleep(struct dxp_inc *inc, struct dxp_inc_group *g, struct port *hot, bool first)
{
	if (hot->reading) {
		reader_await(inc);
		return false;
	}
	if (g->lossy == 0 && (first || !inc->o.idle))
		return traffic_port_wait(inc, hot) > 0;
	return hot_poll(inc, g, hot);
}

/* Polls once. If nothing arrived, yields the CPU, because a rank or switch that contributes to the
 * result may need it. */
static void spin_look(struct dxp_inc *inc, struct port *hot, uint64_t now_ns)
{
	if (traffic_port_receive(inc, hot, now_ns) > 0)
		return;
	pthread_mutex_unlock(&inc->lock);
	sched_yield();
	pthread_mutex_lock(&inc->lock);
}

static void clock_look(struct dxp_inc *inc, struct dxp_inc_group *g, const struct port *hot)
{
	uint64_t now_ns = endpoint_now(inc), repeated = inc_group_repeated(g->group);

	others_look(inc, g, hot, now_ns);
	endpoint_flush_due(g, now_ns);
	if (inc_group_repeated(g->group) != repeated)
		g->lossy = INC_LOSSY_CALLS;
}

static void operation_await(struct dxp_inc *inc, struct dxp_inc_group *g,
			    const struct inc_operation *c)
{
	struct port *hot = port_hot(g, c);
	uint64_t now_ns, spin_until_ns = inc->o.spin_ns ? endpoint_now(inc) + inc->o.spin_ns : 0;
	bool first = true;

	while (!c->done) {
		if (spin_until_ns && (now_ns = endpoint_now(inc)) < spin_until_ns) {
			spin_look(inc, hot, now_ns);
			continue;
		}
		if (hot_sleep(inc, g, hot, first) || c->done)
			continue;
		first = false;
		clock_look(inc, g, hot);
		if (!c->done)
			idle_call(inc);
	}
	g->lossy -= g->lossy > 0;
}

static int operation_end(struct dxp_inc_operation *operation, size_t *done_elements,
			 uint64_t now_ns)
{
	struct dxp_inc_group *g = operation->group;
	int status = operation->core.status;

	if (done_elements)
		*done_elements = operation->core.done_elements;
	g->open_operations--;
	g->used_ns = now_ns;
	operation->next = g->free_operations;
	g->free_operations = operation;
	return status;
}

int dxp_inc_wait(struct dxp_inc_operation *operation, size_t *done_elements)
{
	if (!operation)
		return DXP_EINVAL;

	struct dxp_inc_group *g = operation->group;
	struct dxp_inc *inc = g->inc;

	if (!endpoint_owns(inc))
		return DXP_ECLOSED;
	pthread_mutex_lock(&inc->lock);
	inc->waiting++;
	if (!operation->core.done)
		operation_await(inc, g, &operation->core);
	inc->waiting--;
	inc->active_ns = endpoint_now(inc);
	int status = operation_end(operation, done_elements, inc->active_ns);
	pthread_mutex_unlock(&inc->lock);
	return status;
}

int dxp_inc_test(struct dxp_inc_operation *operation, size_t *done_elements)
{
	if (!operation)
		return DXP_EINVAL;

	struct dxp_inc_group *g = operation->group;
	struct dxp_inc *inc = g->inc;
	int status = DXP_EAGAIN;

	if (!endpoint_owns(inc))
		return DXP_ECLOSED;
	pthread_mutex_lock(&inc->lock);
	uint64_t now_ns = endpoint_now(inc);
	if (!operation->core.done) {
		struct port *hot = port_hot(g, &operation->core);
		if (traffic_port_receive(inc, hot, now_ns) == 0)
			others_look(inc, g, hot, now_ns);
		endpoint_flush_due(g, now_ns);
	}
	inc->active_ns = now_ns;
	if (operation->core.done)
		status = operation_end(operation, done_elements, now_ns);
	pthread_mutex_unlock(&inc->lock);
	return status;
}
