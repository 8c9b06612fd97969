/* SPDX-License-Identifier: BSD-3-Clause */
/* recvmmsg into the inbox, control messages, and the cut of GRO buffers into datagrams. */
#include "link/receive.h"

#include <netinet/udp.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <dxp/status.h>

#include "base/util.h"
#include "link/endpoint.h"

#define ECN_BITS 3 /* of the TOS and traffic class bytes */

/* Gives the first `used` headers back their rooms, which the kernel has replaced by lengths. */
static void headers_reset(struct inbox *in, unsigned used)
{
	for (unsigned i = 0; i < used; i++) {
		struct msghdr *m = &in->messages[i].msg_hdr;
		m->msg_namelen = sizeof(in->names[i]);
		m->msg_controllen = sizeof(in->control[i].bytes);
		m->msg_flags = 0;
	}
}

int inbox_open(struct inbox *in, unsigned count)
{
	/* Mapped, so that pages no datagram ever reached cost nothing. */
	void *buffers = mmap(NULL, (size_t)count * LINK_RECEIVE_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buffers == MAP_FAILED)
		return DXP_ENOMEM;
	in->buffers = buffers;
	in->count = count;
	in->wanted = 1;
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

void inbox_close(struct inbox *in)
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

static void control_take(struct inbox *in, const struct cmsghdr *c, struct link_counters *counters)
{
	if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
		in->common.arrived_ns = clock_arrived_ns(&in->read_at, stamp_ns(c));
	} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
		uint32_t drops = control_u32(c);
		counters->receive_drops += (uint32_t)(drops - in->drops_seen);
		in->drops_seen = drops;
	} else if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
		in->segment_bytes = control_u32(c);
	} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
		in->common.ecn = *CMSG_DATA(c) & ECN_BITS;
	} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
		in->common.ecn = control_u32(c) & ECN_BITS;
	}
}

/* Reads what the datagrams of message `cursor` share. */
static void message_start(struct inbox *in, struct link_counters *counters)
{
	struct mmsghdr *message = &in->messages[in->cursor];
	struct msghdr *m = &message->msg_hdr;

	in->offset = 0;
	in->segment_bytes = message->msg_len;
	in->common.arrived_ns = in->read_at.monotonic_ns;
	in->common.ecn = 0;
	sockaddr_to_wire(&in->names[in->cursor], &in->common.from);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		control_take(in, c, counters);
	if (in->segment_bytes == 0 || in->segment_bytes > message->msg_len)
		in->segment_bytes = message->msg_len;
}

bool inbox_poll(struct inbox *in, int fd, struct link_counters *counters)
{
	int got = recvmmsg(fd, in->messages, in->wanted, MSG_DONTWAIT, NULL);

	/* Any error is treated as silence: EAGAIN is, and an ICMP error that the socket reports is
	 * cleared by the report. A second recvmsg that finds nothing is a tenth of a round trip, so
	 * after silence ask for one only. */
	if (got <= 0) {
		in->wanted = 1;
		return false;
	}
	in->read_at = clock_read();
	in->wanted = (unsigned)got == in->wanted ? (unsigned)min_u64(in->wanted * 2, in->count)
						 : (unsigned)got;
	in->filled = (unsigned)got;
	in->cursor = 0;
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

size_t inbox_take(struct inbox *in, struct link_arrival *arrivals, size_t count,
		  struct link_counters *counters)
{
	size_t taken = 0;

	for (; taken < count && inbox_pending(in); taken++) {
		size_t left = in->messages[in->cursor].msg_len - in->offset;
		size_t bytes = min_u64(left, in->segment_bytes);
		arrivals[taken] = in->common;
		arrivals[taken].data =
			in->buffers + (size_t)in->cursor * LINK_RECEIVE_BYTES + in->offset;
		arrivals[taken].bytes = bytes;
		counters->received_bytes += bytes;
		cursor_advance(in, bytes, counters);
	}
	counters->received_datagrams += taken;
	return taken;
}

size_t link_receive(struct link *l, struct link_arrival *arrivals, size_t count)
{
	if (l->fault)
		send_held(l);
	/* One call to the kernel at most, and none while buffers still hold datagrams: the arrivals
	 * point into them. */
	if (!inbox_pending(&l->inbox) && !inbox_poll(&l->inbox, l->fd, &l->counters))
		return 0;
	size_t taken = inbox_take(&l->inbox, arrivals, count, &l->counters);
	for (size_t i = 0; l->tap && i < taken; i++)
		l->tap->received(l->tap->context, &arrivals[i]);
	return taken;
}
