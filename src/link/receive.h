/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive buffers. One receive call fills several buffers, and a cursor walks over their datagrams.
 * GRO merges datagrams of one sender into one buffer; this code splits them again.
 *
 * Invariant: messages cursor .. filled - 1 contain datagrams that were not returned yet. The kernel
 * writes to the buffers only when there are no such messages. */
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

/* A socket becomes quiet if its datagrams arrive one at a time, as in a ping-pong. A quiet socket
 * has no GRO, no time stamps and no ECN bits, and is read by recvfrom. This saves 0.3 us of a round
 * trip of 5 us (Zen 5). A socket does not become quiet if "congestion experienced" was received. */
struct link_socket {
	int fd;
	struct udp_address peer; /* peer of a connected socket; unused for socket 0 */
	/* Number of further polls with arrivals that read the sender's address. Socket 0 always
	 * reads it. */
	unsigned named;
	/* messages to request per receive: doubled if all arrive, otherwise the number that
	 * arrived, but at least 1 */
	unsigned wanted;
	bool quiet;
	bool marked;         /* true: "congestion experienced" was received since `quiet` changed */
	unsigned alone;      /* consecutive polls with one short datagram */
	unsigned streak;     /* consecutive polls with arrivals */
	uint64_t used;       /* number of the poll in which a datagram last arrived */
	uint32_t drops_seen; /* the kernel's drop count; wraps */
	/* ECN bits that the socket sets in messages without a control message */
	uint8_t ecn;
	unsigned ecn_other; /* consecutive messages with ECN bits other than `ecn` */
};

struct inbox {
	uint8_t *buffers; /* `count` buffers of LINK_RECEIVE_BYTES */
	unsigned count;
	unsigned filled;            /* messages in the last receive */
	struct link_socket *source; /* socket of the last receive */
	bool named;                 /* true: the last receive includes the senders' addresses */
	/* index of the current message; `offset` is the position in it */
	unsigned cursor;
	size_t offset;
	/* bytes of each datagram in message `cursor`; the last one may be shorter */
	size_t segment_bytes;
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

/* Receives once from the kernel. If `wait` is true, blocks until an arrival or the socket's
 * timeout. The inbox must be empty. Returns true if a message arrived. */
bool link_inbox_poll(struct inbox *in, struct link_socket *s, bool wait,
		     struct link_counters *counters);

/* Returns up to `count` datagrams in `arrivals`, and their number. Makes no system call. */
size_t link_inbox_dequeue(struct inbox *in, struct datagram_arrival *arrivals, size_t count,
			  struct link_counters *counters);

#endif
