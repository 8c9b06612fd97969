/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends GSO batches in order. A rejected one's datagrams go singly; if any of these is accepted,
 * such GSO batches are avoided from then on. */
#include <errno.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "link/endpoint.h"

/* Datagrams per batch_fill: a multiple of common GSO batches (44, 64, 128), so that few are cut
 * short. */
#define ROUND 1408

_Static_assert(ROUND >= 2 * FAULT_OUT_MAX, "a round holds all faulty datagrams");

/* A single piece goes by sendto, which is 0.08 us faster (Zen 5). */
static ssize_t message_send(int fd, const struct msghdr *m)
{
	if (m->msg_iovlen == 1 && m->msg_controllen == 0)
		return sendto(fd, m->msg_iov->iov_base, m->msg_iov->iov_len, MSG_DONTWAIT,
			      m->msg_name, m->msg_namelen);
	return sendmsg(fd, m, MSG_DONTWAIT);
}

static int messages_send(int fd, struct mmsghdr *messages, size_t count)
{
	if (count > 1)
		return sendmmsg(fd, messages, (unsigned)count, MSG_DONTWAIT);
	return message_send(fd, &messages->msg_hdr) < 0 ? -1 : 1;
}

/* Adapts a connected socket's ECN bits to its messages, saving a control message of 0.1 us each.
 * True: they are equal now. */
static bool ecn_follow(const struct link *l, struct link_socket *s, uint8_t ecn)
{
	if (s->ecn == ecn)
		s->ecn_other = 0;
	else if (++s->ecn_other >= LINK_ECN_OTHER)
		socket_ecn(l, s, ecn);
	return s->ecn == ecn;
}

/* Returns the socket for message `m`, which starts with `first`. For a connected socket, removes
 * the destination. */
static uint8_t socket_choose(struct link *l, struct msghdr *m, size_t length,
			     const struct datagram *first)
{
	unsigned number = m->msg_namelen ? busy_socket(l, &first->to) : 0;

	if (number == 0)
		return 0;
	bool same = ecn_follow(l, &l->sockets[number], first->ecn);
	if (!same && first->ecn == 0)
		/* a control message of value 0 does not override the socket's bits */
		return 0;
	m->msg_name = NULL;
	m->msg_namelen = 0;
	if (same && length == 1 && first->segment_bytes == 0)
		m->msg_controllen = 0;
	return (uint8_t)number;
}

static void sockets_choose(struct link *l, struct link_batch *b, const struct datagram *const *list)
{
	for (size_t i = 0; i < b->message_count; i++) {
		b->sockets[i] = socket_choose(l, &b->messages[i].msg_hdr, b->lengths[i], list[0]);
		list += b->lengths[i];
	}
}

/* Counts consecutive messages of one socket. */
static size_t run_length(const struct link_batch *b, size_t first)
{
	size_t end = first + 1;

	while (end < b->message_count && b->sockets[end] == b->sockets[first])
		end++;
	return end - first;
}

/* *sent: accepted messages. Returns 0, or the errno of the first that was not. */
static int batch_flush(struct link *l, size_t *sent)
{
	struct link_batch *b = &l->batch;

	*sent = 0;
	while (*sent < b->message_count) {
		int fd = l->sockets[b->sockets[*sent]].fd;
		int n = messages_send(fd, b->messages + *sent, run_length(b, *sent));
		l->counters.send_calls++;
		if (n < 0 && errno != EINTR)
			return errno;
		for (; n > 0; n--, ++*sent) {
			l->counters.sent_datagrams += b->lengths[*sent];
			l->counters.sent_bytes += b->bytes[*sent];
		}
	}
	return 0;
}

static bool no_space(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS || error == ENOMEM;
}

static void too_big_note(struct link *l, const struct datagram *d)
{
	l->counters.too_big++;
	l->too_big_to = d->to;
	l->too_big_bytes = batch_datagram_bytes(d);
}

bool link_too_big(struct link *l, struct udp_address *to, size_t *bytes)
{
	if (l->too_big_bytes == 0)
		return false;
	*to = l->too_big_to;
	*bytes = l->too_big_bytes;
	l->too_big_bytes = 0;
	return true;
}

/* One was rejected, but its datagrams were accepted singly: avoids such batches. */
static void batch_blame(struct link *l, const struct datagram *first, int error)
{
	char text[UDP_ADDRESS_TEXT_BYTES];

	errno = error;
	l->counters.gso_fallbacks++;
	if (error == EMSGSIZE) {
		too_big_note(l, first);
		l->limits.rejected_to = first->to;
		l->limits.rejected_bytes = batch_datagram_bytes(first);
		log_info("datagrams of %zu bytes to %s exceed the path MTU and are sent one by "
			 "one; raise the interface's MTU for speed",
			 l->limits.rejected_bytes, address_format(&first->to, text));
	} else {
		l->limits.segments = 1;
		log_info("the kernel rejects UDP segmentation offload (%m), so datagrams are sent "
			 "one by one; \"ethtool -k\" shows whether checksum offload is off");
	}
}

static size_t kernel_send(struct link *l, const struct datagram *const *list, size_t count);

/* Returns how many were accepted. */
static size_t batch_send_singly(struct link *l, const struct datagram *const *list, size_t count,
				int error)
{
	unsigned segments = l->limits.segments;
	uint64_t sent_before = l->counters.sent_datagrams;

	l->limits.segments = 1; /* so kernel_send does not call this again */
	size_t accepted = kernel_send(l, list, count);
	l->limits.segments = segments;
	if (l->counters.sent_datagrams != sent_before)
		batch_blame(l, list[0], error);
	return accepted;
}

static size_t kernel_send(struct link *l, const struct datagram *const *list, size_t count)
{
	size_t done = 0, sent;

	while (done < count) {
		batch_fill(&l->batch, &l->limits, list + done, count - done);
		sockets_choose(l, &l->batch, list + done);
		int error = batch_flush(l, &sent);
		for (size_t i = 0; i < sent; i++)
			done += l->batch.lengths[i];
		if (error == 0)
			continue;
		if (no_space(error)) {
			l->counters.send_again++;
			break;
		}
		if (l->batch.sockets[sent] > 0) {
			/* The connected socket closes: socket 0 may not have its error, such as a
			 * rejecting port or a removed address of this machine. */
			socket_close(&l->sockets[l->batch.sockets[sent]]);
			continue;
		}
		size_t length = l->batch.lengths[sent];
		if (length > 1 && (error == EIO || error == EINVAL || error == EMSGSIZE)) {
			size_t accepted = batch_send_singly(l, list + done, length, error);
			done += accepted;
			if (accepted < length)
				break;
		} else {
			if (error == EMSGSIZE)
				too_big_note(l, list[done]);
			l->counters.send_errors += length;
			done += length;
		}
	}
	return done;
}

/* Copies datagrams to ports, as long as these are the destinations; returns their number. *others:
 * next datagrams with other destinations. */
static size_t crossbar_send(struct link *l, const struct datagram *const *list, size_t count,
			    size_t *others)
{
	struct crossbar_port *to = NULL;
	size_t done = 0, end;
	uint64_t now_ns = 0;

	for (; done < count && (to = crossbar_find(l->crossbar, &list[done]->to)); done++) {
		now_ns = now_ns ? now_ns : clock_now_ns();
		crossbar_port_put(to, &l->address, list[done], now_ns);
		l->counters.sent_bytes += batch_datagram_bytes(list[done]);
	}
	l->counters.sent_datagrams += done;
	l->counters.crossed_datagrams += done;
	for (end = done; end < count && !crossbar_find(l->crossbar, &list[end]->to);)
		end++;
	*others = end - done;
	return done;
}

static size_t list_send(struct link *l, const struct datagram *const *list, size_t count)
{
	size_t done = 0;

	if (!l->crossbar)
		return kernel_send(l, list, count);
	while (done < count) {
		size_t others;
		done += crossbar_send(l, list + done, count - done, &others);
		size_t sent = kernel_send(l, list + done, others);
		done += sent;
		if (sent < others)
			break;
	}
	return done;
}

void send_held(struct link *l)
{
	const struct datagram *out[FAULT_OUT_MAX];
	size_t count = fault_release(l->fault, clock_now_ns(), out);

	if (count == 0)
		return;
	size_t sent = list_send(l, out, count);
	fault_settle(l->fault, out + sent, count - sent);
}

/* Keeps what the kernel has no space for, so that faults are drawn once, and accepts no new
 * datagrams until these are sent. */
static size_t send_faulty(struct link *l, const struct datagram *const *list, size_t count)
{
	const struct datagram *out[ROUND];
	size_t accepted = 0, sent = 0, ready = 0;

	send_held(l);
	while (accepted < count && sent == ready && !fault_backlog(l->fault)) {
		ready = 0;
		while (accepted < count && ready + FAULT_OUT_MAX <= ROUND) {
			uint64_t now_ns = clock_now_ns();
			ready += fault_pass(l->fault, list[accepted], now_ns, out + ready);
			if (l->tap)
				l->tap->sent(l->tap->context, list[accepted], fault_fate(l->fault),
					     now_ns);
			accepted++;
		}
		sent = list_send(l, out, ready);
		fault_settle(l->fault, out + sent, ready - sent);
	}
	l->counters.faults = fault_count(l->fault);
	return accepted;
}

size_t link_send_list(struct link *l, const struct datagram *const *list, size_t count)
{
	if (l->fault)
		return send_faulty(l, list, count);
	uint64_t at_ns = l->tap ? clock_now_ns() : 0;
	size_t accepted = list_send(l, list, count);
	for (size_t i = 0; l->tap && i < accepted; i++)
		l->tap->sent(l->tap->context, list[i], 0, at_ns);
	return accepted;
}

size_t link_send(struct link *l, const struct datagram *datagrams, size_t count)
{
	const struct datagram *list[ROUND];
	size_t done = 0;

	while (done < count) {
		size_t round = min_u64(count - done, ROUND);
		for (size_t i = 0; i < round; i++)
			list[i] = &datagrams[done + i];
		size_t accepted = link_send_list(l, list, round);
		done += accepted;
		if (accepted < round)
			break;
	}
	return done;
}
