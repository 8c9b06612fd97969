/* SPDX-License-Identifier: BSD-3-Clause */
/* Where datagrams arrive: a row of buffers that one receive call fills, and a cursor that walks
 * over the datagrams in them. GRO puts many datagrams of one sender into one buffer; they are cut
 * apart here.
 *
 * Invariant: messages cursor .. filled - 1 hold datagrams not yet handed out; the buffers are given
 * to the kernel again only when there are none. */
#ifndef LINK_RECEIVE_H
#define LINK_RECEIVE_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "link/clock.h"
#include "link/sockaddr.h"
#include "link/udp.h"

/* Room for the five control messages that the socket options ask for. */
#define INBOX_CONTROL_BYTES 192

/* One socket as the inbox sees it. Where datagrams come one at a time to a reader who is waiting
 * for them, the socket is quiet: no GRO, no time stamps, no ECN bits (unless the peers use them),
 * read by recv. That saves 0.3 us of a round trip of 5 (Zen 5). */
struct link_socket {
	int fd;
	struct wire_address peer; /* of a connected socket */
	unsigned named;      /* looks that still ask who the sender is; of socket 0 never used up */
	unsigned wanted;     /* messages to ask for: doubles while they come, 1 after none came */
	bool quiet;          /* as above */
	bool marked;         /* congestion was experienced since the last change of `quiet` */
	unsigned alone;      /* looks that brought one short datagram, since one that did not */
	unsigned streak;     /* looks that brought something, since the last in vain */
	uint64_t used;       /* the last look that brought something, in looks of the endpoint */
	uint32_t drops_seen; /* the kernel's own count, which wraps at 32 bits */
	uint8_t ecn;         /* what leaves through it carries these bits if nothing else is said */
	unsigned ecn_other;  /* messages in a row that wanted other ones */
};

struct inbox {
	uint8_t *buffers; /* `count` of LINK_RECEIVE_BYTES */
	unsigned count;
	unsigned filled;            /* by the last call */
	struct link_socket *source; /* of the last call */
	bool named;                 /* the last call asked for the senders */
	unsigned cursor;            /* the message to hand out next, and where in it */
	size_t offset;
	size_t segment_bytes;       /* of message `cursor`: bytes of each datagram but the last */
	struct link_arrival common; /* of message `cursor`: what all its datagrams share */
	struct clock_pair read_at;  /* when the last call returned */
	struct mmsghdr messages[LINK_BATCH];
	struct iovec iovecs[LINK_BATCH];
	union link_sockaddr names[LINK_BATCH];
	union {
		struct cmsghdr align;
		uint8_t bytes[INBOX_CONTROL_BYTES];
	} control[LINK_BATCH];
};

/* DXP_ENOMEM. `count` buffers, at most LINK_BATCH. */
int inbox_open(struct inbox *in, unsigned count);
void inbox_close(struct inbox *in);

static inline bool inbox_pending(const struct inbox *in)
{
	return in->cursor < in->filled;
}

/* Asks the kernel once; `wait`: until something comes or the socket's own time is up, if it has
 * one. The inbox must be empty. Returns whether something came.
 */
bool inbox_poll(struct inbox *in, struct link_socket *s, bool wait, struct link_counters *counters);

/* Hands out up to `count` datagrams; never asks the kernel. */
size_t inbox_take(struct inbox *in, struct link_arrival *arrivals, size_t count,
		  struct link_counters *counters);

#endif
