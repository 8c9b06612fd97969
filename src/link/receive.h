/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive buffers. One receive call fills several, and a cursor walks over their datagrams. GRO
 * merges datagrams of one sender into one buffer; they are split here.
 *
 * Invariant: messages cursor .. filled - 1 contain datagrams not yet handed out. The kernel gets
 * the buffers only when there are none. */
#ifndef LINK_RECEIVE_H
#define LINK_RECEIVE_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "link/clock.h"
#include "link/sockaddr.h"
#include "link/udp.h"

/* bytes: space for the five control messages that the socket options request */
#define INBOX_CONTROL_BYTES 192

/* A socket becomes quiet if its datagrams arrive one at a time for a waiting reader. A quiet socket
 * has no GRO, no time stamps and no ECN bits (unless peers use them), and is read by recv. This
 * saves 0.3 us of a round trip of 5 us (Zen 5). */
struct link_socket {
	int fd;
	struct udp_address peer; /* peer of a connected socket */
	/* number of further polls that read the sender's address; unlimited for socket 0 */
	unsigned named;
	unsigned wanted; /* messages per receive: doubles while all arrive, 1 after none */
	bool quiet;
	bool marked;         /* "congestion experienced" was received since `quiet` changed */
	unsigned alone;      /* consecutive polls with one short datagram */
	unsigned streak;     /* consecutive polls with arrivals */
	uint64_t used;       /* number of the poll in which a datagram last arrived */
	uint32_t drops_seen; /* the kernel's drop count; wraps */
	uint8_t ecn;         /* ECN bits of messages without control message */
	unsigned ecn_other;  /* consecutive messages with other ECN bits */
};

struct inbox {
	uint8_t *buffers; /* `count` buffers of LINK_RECEIVE_BYTES */
	unsigned count;
	unsigned filled;            /* messages in the last receive */
	struct link_socket *source; /* socket of the last receive */
	bool named;                 /* the last receive includes the senders' addresses */
	unsigned cursor;            /* next message; `offset` is the position in it */
	size_t offset;
	size_t segment_bytes; /* bytes of each datagram but the last in message `cursor` */
	struct datagram_arrival common; /* fields common to the datagrams of message `cursor` */
	struct clock_pair read_at;      /* time of the last receive */
	struct mmsghdr messages[DATAGRAM_BATCH];
	struct iovec iovecs[DATAGRAM_BATCH];
	union link_sockaddr names[DATAGRAM_BATCH];
	union {
		struct cmsghdr align;
		uint8_t bytes[INBOX_CONTROL_BYTES];
	} control[DATAGRAM_BATCH];
};

/* Allocates `count` buffers, at most DATAGRAM_BATCH. DXP_ENOMEM. */
int link_inbox_open(struct inbox *in, unsigned count);
void link_inbox_close(struct inbox *in);

static inline bool inbox_pending(const struct inbox *in)
{
	return in->cursor < in->filled;
}

/* Receives once from the kernel; `wait`: blocks until an arrival or the socket's timeout. The inbox
 * must be empty. Returns true for an arrival. */
bool link_inbox_poll(struct inbox *in, struct link_socket *s, bool wait,
		     struct link_counters *counters);

/* Hands out up to `count` datagrams without a system call; returns their number. */
size_t link_inbox_dequeue(struct inbox *in, struct datagram_arrival *arrivals, size_t count,
			  struct link_counters *counters);

#endif
