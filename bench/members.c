/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/members.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/datagram.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "base/util.h"

#define FILES_OTHER 64 /* descriptors besides the sockets */
#define EVENTS      64
#define BATCH       4

struct one {
	struct member *m; /* NULL: does not run */
	struct node_entry self;
	uint64_t deadline_ns;
	int fd;
};

struct members {
	struct members_options options;
	struct one *all;
	int poll_fd;
};

static bool files_allow(unsigned count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return false;
	limit.rlim_cur = max_u64(limit.rlim_cur, count + FILES_OTHER);
	if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
		return true;
	log_error("%u members need as many open files: raise `ulimit -n`", count);
	return false;
}

static bool socket_open(struct members *m, unsigned index)
{
	const struct sockaddr_in any = {.sin_family = AF_INET};
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = index};
	struct one *o = &m->all[index];

	o->fd = descriptor_raise(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	if (o->fd >= 0 && bind(o->fd, (const struct sockaddr *)&any, sizeof(any)) == 0 &&
	    epoll_ctl(m->poll_fd, EPOLL_CTL_ADD, o->fd, &event) == 0)
		return true;
	log_error("cannot open socket %u of the members: %s", index + 1, strerror(errno));
	return false;
}

static void one_describe(struct members *m, unsigned index)
{
	struct one *o = &m->all[index];

	o->deadline_ns = UINT64_MAX;
	o->fd = -1;
	o->self = (struct node_entry){.kind = index < m->options.xpus ? MANAGE_XPU : MANAGE_HOST,
				      .engine = "none"};
	snprintf(o->self.name, sizeof(o->self.name), "%s-%u", m->options.name, index);
	rng_entropy_kernel(NULL, o->self.uuid, sizeof(o->self.uuid));
}

int members_open(const struct members_options *options, struct members **out)
{
	struct members *m = calloc(1, sizeof(*m));

	if (!m)
		return DXP_ENOMEM;
	m->options = *options;
	m->poll_fd = -1;
	m->all = calloc(options->count, sizeof(*m->all));
	if (!m->all) {
		members_close(m);
		return DXP_ENOMEM;
	}
	for (unsigned i = 0; i < options->count; i++)
		one_describe(m, i);
	bool good = files_allow(options->count);
	if (good) {
		m->poll_fd = descriptor_raise(epoll_create1(EPOLL_CLOEXEC));
		good = m->poll_fd >= 0;
	}
	for (unsigned i = 0; good && i < options->count; i++)
		good = socket_open(m, i);
	if (!good) {
		members_close(m);
		return DXP_EIO;
	}
	*out = m;
	return DXP_OK;
}

void members_close(struct members *m)
{
	if (!m)
		return;
	for (unsigned i = 0; m->all && i < m->options.count; i++) {
		members_kill(m, i);
		if (m->all[i].fd >= 0)
			close(m->all[i].fd);
	}
	if (m->poll_fd >= 0)
		close(m->poll_fd);
	free(m->all);
	keys_erase(m, sizeof(*m));
	free(m);
}

int members_start(struct members *m, unsigned index)
{
	struct one *o = &m->all[index];
	struct member_options options = {.manager = m->options.manager,
					 .others = m->options.others,
					 .join_timeout_ns = UINT64_MAX,
					 .entropy = rng_entropy_kernel};
	const uint64_t now_ns = clock_now_ns();

	o->self.incarnation = now_ns;
	o->self.magic = 1;
	options.self = o->self;
	memcpy(options.key, m->options.key, sizeof(options.key));
	int status = member_create(&options, now_ns, &o->m);
	keys_erase(options.key, sizeof(options.key));
	o->deadline_ns = status == DXP_OK ? now_ns : UINT64_MAX;
	return status;
}

void members_kill(struct members *m, unsigned index)
{
	member_destroy(m->all[index].m);
	m->all[index].m = NULL;
	m->all[index].deadline_ns = UINT64_MAX;
}

struct member *members_at(struct members *m, unsigned index)
{
	return m->all[index].m;
}

void members_kick(struct members *m, unsigned index)
{
	if (m->all[index].m)
		m->all[index].deadline_ns = clock_now_ns();
}

/* A datagram that the kernel does not take is lost, as in a network. */
static void one_send(const struct one *o, const struct datagram *d)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(d->to.port)};
	struct iovec parts[1 + DATAGRAM_SLICES_MAX] = {
		{.iov_base = (void *)d->header, .iov_len = d->header_bytes}};
	struct msghdr message = {
		.msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = parts, .msg_iovlen = 1};

	memcpy(&to.sin_addr, d->to.ip + 12, sizeof(to.sin_addr));
	for (unsigned i = 0; i < d->slice_count; i++)
		parts[message.msg_iovlen++] =
			(struct iovec){(void *)d->slices[i].base, d->slices[i].bytes};
	if (sendmsg(o->fd, &message, MSG_NOSIGNAL) < 0)
		return;
}

/* Sends what is due. */
static void one_progress(struct one *o, uint64_t now_ns)
{
	struct table_change change;
	struct datagram out[BATCH];
	size_t count;

	while ((count = member_send(o->m, out, BATCH, now_ns)) > 0)
		for (size_t i = 0; i < count; i++)
			one_send(o, &out[i]);
	while (node_table_next_change(member_table(o->m), &change))
		continue;
	o->deadline_ns = member_deadline(o->m);
}

static void one_receive(struct one *o)
{
	uint8_t data[FABRIC_DATAGRAM_BYTES];
	struct sockaddr_in from;
	socklen_t from_bytes = sizeof(from);
	ssize_t bytes;

	while ((bytes = recvfrom(o->fd, data, sizeof(data), 0, (struct sockaddr *)&from,
				 &from_bytes)) >= 0) {
		const struct udp_address address =
			address_v4(ntohl(from.sin_addr.s_addr), ntohs(from.sin_port));
		if (o->m)
			member_receive(o->m, &address, data, (size_t)bytes, clock_now_ns());
		from_bytes = sizeof(from);
	}
}

static uint64_t deadline(const struct members *m)
{
	uint64_t next_ns = UINT64_MAX;

	for (unsigned i = 0; i < m->options.count; i++)
		next_ns = min_u64(next_ns, m->all[i].deadline_ns);
	return next_ns;
}

void members_run(struct members *m, uint64_t until_ns)
{
	struct epoll_event events[EVENTS];
	const uint64_t next_ns = min_u64(until_ns, deadline(m)), before_ns = clock_now_ns();
	const uint64_t wait_ns = next_ns - min_u64(next_ns, before_ns);
	const int wait_ms = (int)min_u64((wait_ns + MS_NS - 1) / MS_NS, 1000);
	const int count = epoll_wait(m->poll_fd, events, EVENTS, wait_ms);

	for (int i = 0; i < count; i++) {
		one_receive(&m->all[events[i].data.u32]);
		members_kick(m, events[i].data.u32);
	}
	const uint64_t now_ns = clock_now_ns();
	for (unsigned i = 0; i < m->options.count; i++)
		if (m->all[i].deadline_ns <= now_ns)
			one_progress(&m->all[i], now_ns);
}

unsigned members_joined(const struct members *m)
{
	unsigned joined = 0;

	for (unsigned i = 0; i < m->options.count; i++)
		joined += m->all[i].m && member_state(m->all[i].m) == MEMBER_JOINED;
	return joined;
}
