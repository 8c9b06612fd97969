/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/receive.h"

#include <netinet/udp.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "link/endpoint.h"

#define ECN_BITS   3 /* of the TOS and traffic class bytes */
#define ECN_MARKED 3 /* "congestion experienced" */

/* Restores the buffer lengths of the first `used` headers. */
static void headers_reset(struct inbox *in, unsigned used)
{
	for (unsigned i = 0; i < used; i++) {
		struct msghdr *m = &in->messages[i].msg_hdr;
		m->msg_namelen = sizeof(in->names[i]);
		m->msg_controllen = sizeof(in->control[i].bytes);
		m->msg_flags = 0;
	}
}

int link_inbox_open(struct inbox *in, unsigned count)
{
	/* mmap, because pages never written use no memory */
	void *buffers = mmap(NULL, (size_t)count * LINK_RECEIVE_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buffers == MAP_FAILED)
		return DXP_ENOMEM;
	in->buffers = buffers;
	in->count = count;
	for (unsigned i = 0; i < count; i++) {
		in->iovecs[i] = (struct iovec){in->buffers + (size_t)i * LINK_RECEIVE_BYTES,
					       LINK_RECEIVE_BYTES};
		in->messages[i].msg_hdr = (struct msghdr){
			.msg_name = &in->names[i],
			.msg_iov = &in->iovecs[i],
			.msg_iovlen = 1,
			.msg_control = in->control[i].bytes,
		};
	}
	headers_reset(in, count);
	return DXP_OK;
}

void link_inbox_close(struct inbox *in)
{
	munmap(in->buffers, (size_t)in->count * LINK_RECEIVE_BYTES);
}

static uint64_t stamp_ns(const struct cmsghdr *c)
{
	struct timespec t;

	memcpy(&t, CMSG_DATA(c), sizeof(t));
	return (uint64_t)t.tv_sec * S_NS + (uint64_t)t.tv_nsec;
}

static uint32_t control_u32(const struct cmsghdr *c)
{
	uint32_t v;

	memcpy(&v, CMSG_DATA(c), sizeof(v));
	return v;
}

static void control_parse(struct inbox *in, const struct cmsghdr *c, struct link_counters *counters)
{
	if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
		in->common.arrived_ns = clock_arrived_ns(&in->read_at, stamp_ns(c));
		in->common.stamped = true;
	} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
		uint32_t drops = control_u32(c);
		counters->receive_drops += (uint32_t)(drops - in->source->drops_seen);
		in->source->drops_seen = drops;
	} else if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
		in->segment_bytes = control_u32(c);
	} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
		in->common.ecn = *CMSG_DATA(c) & ECN_BITS;
	} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
		in->common.ecn = control_u32(c) & ECN_BITS;
	}
}

/* Finds the datagrams of message `cursor` by the length of its first frame. A long frame is one
 * datagram; so is a part of one, whose other segments could look like frames. A quiet socket does
 * not report where datagrams begin. */
static void frames_measure(struct inbox *in)
{
	const uint8_t *data = in->buffers + (size_t)in->cursor * LINK_RECEIVE_BYTES;
	size_t bytes = in->messages[in->cursor].msg_len;
	size_t frame = in->frame_bytes(data, min_u64(bytes, in->segment_bytes));

	if (frame > in->segment_bytes)
		in->segment_bytes = bytes;
	else if (frame > 0 && in->source->quiet)
		in->segment_bytes = frame;
}

/* Sets what all datagrams of message `cursor` share, such as sender and ECN bits. */
static void message_start(struct inbox *in, struct link_counters *counters)
{
	struct mmsghdr *message = &in->messages[in->cursor];
	struct msghdr *m = &message->msg_hdr;

	in->offset = 0;
	in->segment_bytes = message->msg_len;
	in->common.arrived_ns = in->read_at.monotonic_ns;
	in->common.stamped = false;
	in->common.ecn = 0;
	if (in->named)
		sockaddr_to_wire(&in->names[in->cursor], &in->common.from);
	else
		in->common.from = in->source->peer;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		control_parse(in, c, counters);
	in->source->marked |= in->common.ecn == ECN_MARKED;
	if (in->segment_bytes == 0 || in->segment_bytes > message->msg_len)
		in->segment_bytes = message->msg_len;
	if (in->frame_bytes)
		frames_measure(in);
}

static ssize_t datagram_receive(struct inbox *in, const struct link_socket *s, int flags)
{
	socklen_t name_bytes = sizeof(in->names[0]);

	in->messages[0].msg_hdr.msg_controllen = 0;
	return recvfrom(s->fd, in->buffers, LINK_RECEIVE_BYTES, flags,
			in->named ? &in->names[0].any : NULL, in->named ? &name_bytes : NULL);
}

/* recvmsg is faster than recvmmsg for one message. */
static ssize_t message_receive(struct inbox *in, const struct link_socket *s, int flags)
{
	struct msghdr *m = &in->messages[0].msg_hdr;

	if (!in->named) {
		m->msg_name = NULL;
		m->msg_namelen = 0;
	}
	ssize_t bytes = recvmsg(s->fd, m, flags);
	m->msg_name = &in->names[0];
	return bytes;
}

static unsigned messages_receive(struct inbox *in, const struct link_socket *s, bool wait)
{
	int flags = wait ? 0 : MSG_DONTWAIT;

	if (s->wanted > 1) {
		int got = recvmmsg(s->fd, in->messages, s->wanted,
				   wait ? MSG_WAITFORONE : MSG_DONTWAIT, NULL);
		return got < 0 ? 0 : (unsigned)got;
	}
	ssize_t bytes = s->quiet ? datagram_receive(in, s, flags) : message_receive(in, s, flags);
	in->messages[0].msg_len = (unsigned)bytes;
	return bytes >= 0;
}

bool link_inbox_poll(struct inbox *in, struct link_socket *s, bool wait,
		     struct link_counters *counters)
{
	in->named = s->named > 0;
	in->filled = messages_receive(in, s, wait);
	in->cursor = 0;
	/* An error counts as no arrival. An empty receive costs a tenth of a round trip, so the
	 * next poll requests one message. */
	if (in->filled == 0) {
		s->wanted = 1;
		s->streak = 0;
		headers_reset(in, 1);
		return false;
	}
	if (s->quiet)
		in->read_at.monotonic_ns = clock_now_ns();
	else
		in->read_at = clock_read();
	if (!s->quiet)
		s->wanted = in->filled == s->wanted ? (unsigned)min_u64(s->wanted * 2, in->count)
						    : in->filled;
	s->streak++;
	in->source = s;
	counters->receive_calls++;
	message_start(in, counters);
	return true;
}

static void cursor_advance(struct inbox *in, size_t bytes, struct link_counters *counters)
{
	in->offset += bytes;
	if (in->offset < in->messages[in->cursor].msg_len)
		return;
	in->cursor++;
	if (inbox_pending(in))
		message_start(in, counters);
	else
		headers_reset(in, in->filled);
}

size_t link_inbox_dequeue(struct inbox *in, struct datagram_arrival *arrivals, size_t count,
			  struct link_counters *counters)
{
	size_t dequeued = 0;

	for (; dequeued < count && inbox_pending(in); dequeued++) {
		size_t left = in->messages[in->cursor].msg_len - in->offset;
		size_t bytes = min_u64(left, in->segment_bytes);
		arrivals[dequeued] = in->common;
		arrivals[dequeued].data =
			in->buffers + (size_t)in->cursor * LINK_RECEIVE_BYTES + in->offset;
		arrivals[dequeued].bytes = bytes;
		counters->received_bytes += bytes;
		cursor_advance(in, bytes, counters);
	}
	counters->received_datagrams += dequeued;
	return dequeued;
}

static void quiet_review(const struct link *l, struct link_socket *s)
{
	const struct inbox *in = &l->inbox;
	size_t bytes = in->messages[0].msg_len;
	bool alone = in->filled == 1 && in->segment_bytes == bytes && bytes <= LINK_SHORT_BYTES &&
		     s->streak < LINK_STREAK_MAX;

	s->alone = alone ? s->alone + 1 : 0;
	if (s->quiet && (!alone || s->alone >= LINK_QUIET_LOOKS))
		socket_quiet(l, s, false);
	else if (!s->quiet && s->alone >= LINK_ALONE_MAX)
		socket_quiet(l, s, !s->marked);
}

static bool socket_look(struct link *l, unsigned index, bool wait)
{
	struct link_socket *s = &l->sockets[index];

	if (s->fd < 0 || !link_inbox_poll(&l->inbox, s, wait, &l->counters))
		return false;
	l->hot = index;
	l->unslept++;
	s->used = l->looks;
	quiet_review(l, s);
	if (index > 0 && s->named > 0)
		s->named--;
	if (index == 0 && !l->unconnected)
		busy_note(l, &l->inbox.common.from);
	return true;
}

/* Every LINK_OTHERS_EVERY polls, another socket comes first, so that none waits forever. */
bool link_inbox_look(struct link *l)
{
	unsigned hot = l->sockets[l->hot].fd >= 0 ? l->hot : 0;

	if (l->looks++ % LINK_OTHERS_EVERY == 0) {
		l->next_socket = (l->next_socket + 1) % ARRAY_COUNT(l->sockets);
		if (l->next_socket != hot && socket_look(l, l->next_socket, false))
			return true;
	}
	return socket_look(l, hot, false);
}

bool link_pending(const struct link *l)
{
	return inbox_pending(&l->inbox) || (l->port && crossbar_port_pending(l->port));
}

static size_t arrivals_process(struct link *l, struct datagram_arrival *arrivals, size_t dequeued)
{
	for (size_t i = 0; l->tap && i < dequeued; i++)
		l->tap->received(l->tap->context, &arrivals[i]);
	return dequeued;
}

/* Makes no system call while unreturned datagrams are in the buffers. */
static size_t kernel_receive(struct link *l, struct datagram_arrival *arrivals, size_t count)
{
	if (!inbox_pending(&l->inbox) && !link_inbox_look(l))
		return 0;
	return link_inbox_dequeue(&l->inbox, arrivals, count, &l->counters);
}

static size_t port_receive(struct link *l, struct datagram_arrival *arrivals, size_t count)
{
	size_t dequeued = crossbar_port_dequeue(l->port, arrivals, count);

	l->counters.received_datagrams += dequeued;
	for (size_t i = 0; i < dequeued; i++)
		l->counters.received_bytes += arrivals[i].bytes;
	return dequeued;
}

/* The crossbar first, which needs no system call, except every LINK_OTHERS_EVERY calls. */
static size_t both_receive(struct link *l, struct datagram_arrival *arrivals, size_t count)
{
	bool sockets_first = l->port_looks++ % LINK_OTHERS_EVERY == 0 || inbox_pending(&l->inbox);
	size_t got = sockets_first ? kernel_receive(l, arrivals, count) : 0;

	got += port_receive(l, arrivals + got, count - got);
	if (got == 0 && !sockets_first)
		got = kernel_receive(l, arrivals, count);
	return got;
}

size_t link_receive(struct link *l, struct datagram_arrival *arrivals, size_t count)
{
	if (l->fault)
		send_held(l);
	size_t got =
		l->port ? both_receive(l, arrivals, count) : kernel_receive(l, arrivals, count);
	return arrivals_process(l, arrivals, got);
}

size_t link_receive_wait(struct link *l, struct datagram_arrival *arrivals, size_t count)
{
	if (l->fault)
		send_held(l);
	if (!inbox_pending(&l->inbox) && !socket_look(l, 0, l->block))
		return 0;
	return arrivals_process(l, arrivals,
				link_inbox_dequeue(&l->inbox, arrivals, count, &l->counters));
}
