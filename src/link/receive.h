/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive buffers: one receive call fills a row of them, and a cursor walks over their datagrams.
 * GRO merges many datagrams of one sender into one buffer; they are split here.
 *
 * Invariant: messages cursor .. filled - 1 hold datagrams not yet handed out. The kernel gets the
 * buffers again only when there are none. */
#ifndef LINK_RECEIVE_H
#define LINK_RECEIVE_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "link/clock.h"
#include "link/sockaddr.h"
#include "link/udp.h"

/* Space for the five control messages that the socket options request. */
#define INBOX_CONTROL_BYTES 192

/* One socket of the inbox. A socket whose datagrams arrive one at a time for a waiting reader
 * becomes quiet: no GRO, no time stamps, no ECN bits (unless peers use them), read by recv. That
 * saves 0.3 us of a round trip of 5 us (Zen 5). */
struct link_socket {
	int fd;
	struct udp_address peer; /* of a connected socket */
	unsigned named;  /* polls that still read the sender's address; of socket 0 never used up */
	unsigned wanted; /* messages per receive: doubles while they come, 1 after none */
	bool quiet;      /* as above */
	bool marked;     /* congestion experienced since the last change of `quiet` */
	unsigned alone;  /* consecutive polls with one short datagram */
	unsigned streak; /* consecutive polls with arrivals */
	uint64_t used;   /* poll number of the endpoint at the last arrival */
	uint32_t drops_seen; /* the kernel's drop count, which wraps at 32 bits */
	uint8_t ecn;         /* ECN bits of messages without a control message */
	unsigned ecn_other;  /* consecutive messages with other bits */
};

struct inbox {
	uint8_t *buffers; /* `count` of LINK_RECEIVE_BYTES */
	unsigned count;
	unsigned filled;            /* messages of the last receive */
	struct link_socket *source; /* socket of the last receive */
	bool named;                 /* the last receive read the senders' addresses */
	unsigned cursor;            /* next message to hand out, and `offset` in it */
	size_t offset;
	size_t segment_bytes; /* of message `cursor`: length of each datagram but the last */
	struct datagram_arrival common; /* of message `cursor`: common to its datagrams */
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

/* Receives once from the kernel; `wait`: blocks until something arrives or the socket's timeout, if
 * any. The inbox must be empty. Returns true if something arrived. */
bool link_inbox_poll(struct inbox *in, struct link_socket *s, bool wait,
		     struct link_counters *counters);

/* Hands out up to `count` datagrams without a system call; returns their number. */
size_t link_inbox_dequeue(struct inbox *in, struct datagram_arrival *arrivals, size_t count,
			  struct link_counters *counters);

#endif
