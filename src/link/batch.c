/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/batch.h"

#include <assert.h>
#include <netinet/udp.h>
#include <string.h>

#include "base/util.h"

#define PIECES_MAX (1 + DATAGRAM_SLICES_MAX) /* per datagram */

_Static_assert(LINK_IOVECS >= PIECES_MAX, "a batch holds at least one datagram");
_Static_assert(LINK_GATHER_BYTES >= DATAGRAM_BYTES_MAX,
	       "an empty batch holds any run of datagrams");

size_t batch_datagram_bytes(const struct datagram *d)
{
	size_t bytes = d->header_bytes;

	for (unsigned i = 0; i < d->slice_count; i++)
		bytes += d->slices[i].bytes;
	return bytes;
}

static void pieces_add(struct link_batch *b, const struct datagram *d)
{
	assert(d->header_bytes <= DATAGRAM_HEADER_BYTES_MAX &&
	       d->slice_count <= DATAGRAM_SLICES_MAX);
	/* The casts remove `const`; the kernel only reads. */
	if (d->header_bytes)
		b->iovecs[b->iovec_count++] = (struct iovec){(void *)d->header, d->header_bytes};
	for (unsigned i = 0; i < d->slice_count; i++)
		if (d->slices[i].bytes)
			b->iovecs[b->iovec_count++] =
				(struct iovec){(void *)d->slices[i].base, d->slices[i].bytes};
}

/* Copies the pieces of a GSO batch, from `first_iovec` on, into one if that is faster than many
 * short iovecs. */
static void pieces_gather(struct link_batch *b, size_t first_iovec, size_t batch_bytes)
{
	size_t pieces = b->iovec_count - first_iovec;
	uint8_t *start = b->gather + b->gathered_bytes, *at = start;

	assert(batch_bytes <= LINK_GATHER_BYTES - b->gathered_bytes);
	if (pieces < 2 || batch_bytes >= pieces * LINK_GATHER_PIECE_BYTES)
		return;
	for (size_t i = first_iovec; i < b->iovec_count; i++) {
		memcpy(at, b->iovecs[i].iov_base, b->iovecs[i].iov_len);
		at += b->iovecs[i].iov_len;
	}
	b->iovecs[first_iovec] = (struct iovec){start, batch_bytes};
	b->iovec_count = first_iovec + 1;
	b->gathered_bytes += batch_bytes;
}

static void control_add(struct msghdr *m, int level, int type, const void *value, size_t bytes)
{
	struct cmsghdr *c =
		(struct cmsghdr *)(void *)((uint8_t *)m->msg_control + m->msg_controllen);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(c), value, bytes);
	m->msg_controllen += CMSG_SPACE(bytes);
}

/* Sets the ECN bits. IPv4 peers of an AF_INET6 socket need the IPv4 control message. */
static void control_add_ecn(struct msghdr *m, const struct datagram *d)
{
	int tos = d->ecn;

	if (sockaddr_is_v4(&d->to))
		control_add(m, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	else
		control_add(m, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos));
}

static void message_write(struct link_batch *b, size_t first_iovec, const struct datagram *d,
			  int family, uint16_t segment_bytes)
{
	struct msghdr *m = &b->messages[b->message_count].msg_hdr;
	union link_sockaddr *name = &b->names[b->message_count];

	*m = (struct msghdr){
		/* 0 if this socket cannot reach the peer's family; the kernel then returns
		 * EDESTADDRREQ. */
		.msg_namelen = sockaddr_from_wire(&d->to, family, name),
		.msg_iov = b->iovecs + first_iovec,
		.msg_iovlen = b->iovec_count - first_iovec,
		.msg_control = b->control[b->message_count].bytes,
	};
	m->msg_name = m->msg_namelen ? name : NULL;
	if (segment_bytes)
		control_add(m, IPPROTO_UDP, UDP_SEGMENT, &segment_bytes, sizeof(segment_bytes));
	if (d->ecn)
		control_add_ecn(m, d);
}

static bool goes_alone(const struct batch_limits *limits, const struct datagram *d)
{
	return limits->alone && limits->alone(d);
}

static unsigned segments_max(const struct batch_limits *limits, const struct datagram *d,
			     size_t bytes)
{
	bool refused = limits->rejected_bytes && bytes >= limits->rejected_bytes &&
		       address_equal(&d->to, &limits->rejected_to);

	return bytes == 0 || d->segment_bytes || refused || goes_alone(limits, d)
		       ? 1
		       : limits->segments;
}

/* Returns its number of datagrams; 0: too few iovecs are left. */
static size_t batch_form(struct link_batch *b, const struct batch_limits *limits,
			 const struct datagram *const *datagrams, size_t count)
{
	const struct datagram *first = datagrams[0];
	size_t segment_bytes = batch_datagram_bytes(first), batch_bytes = 0, length = 0;
	unsigned most = segments_max(limits, first, segment_bytes);
	size_t first_iovec = b->iovec_count;

	while (length < count && length < most && b->iovec_count + PIECES_MAX <= LINK_IOVECS) {
		const struct datagram *d = datagrams[length];
		size_t bytes = batch_datagram_bytes(d);
		if (length > 0 &&
		    (bytes > segment_bytes || bytes == 0 || d->segment_bytes ||
		     d->ecn != first->ecn || batch_bytes + bytes > DATAGRAM_BYTES_MAX ||
		     goes_alone(limits, d) || !address_equal(&d->to, &first->to)))
			break;
		pieces_add(b, d);
		batch_bytes += bytes;
		length++;
		if (bytes < segment_bytes)
			break; /* only the last may be shorter */
	}
	if (length == 0)
		return 0;
	pieces_gather(b, first_iovec, batch_bytes);
	b->lengths[b->message_count] = (uint16_t)length;
	b->bytes[b->message_count] = (uint32_t)batch_bytes;
	message_write(b, first_iovec, first, limits->family,
		      length > 1 ? (uint16_t)segment_bytes : first->segment_bytes);
	b->message_count++;
	return length;
}

size_t batch_fill(struct link_batch *b, const struct batch_limits *limits,
		  const struct datagram *const *datagrams, size_t count)
{
	size_t accepted = 0;

	b->message_count = 0;
	b->iovec_count = 0;
	b->gathered_bytes = 0;
	while (accepted < count && b->message_count < LINK_MESSAGES &&
	       b->gathered_bytes + DATAGRAM_BYTES_MAX <= LINK_GATHER_BYTES) {
		size_t length = batch_form(b, limits, datagrams + accepted, count - accepted);
		if (length == 0)
			break;
		accepted += length;
	}
	return accepted;
}
