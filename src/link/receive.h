/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive buffers: a call fills several, and a cursor walks over their datagrams, after splitting
 * what GRO merged of one sender.
 *
 * Invariant: messages cursor .. filled - 1 have unreturned datagrams; the kernel writes only when
 * there are none. */
#ifndef LINK_RECEIVE_H
#define LINK_RECEIVE_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "link/clock.h"
#include "link/sockaddr.h"
#include "link/udp.h"

/* five control messages of the socket options */
#define INBOX_CONTROL_BYTES 192

/* A socket whose datagrams come one at a time, as in a ping-pong, becomes quiet: no time stamps and
 * ECN bits, read by recvfrom; and no GRO, unless frames state their length. This saves 0.3 us of a
 * round trip of 5 us (Zen 5). Not if "congestion experienced" was received. */
struct link_socket {
	int fd;
	struct udp_address peer; /* of a connected socket */
	/* further polls with arrivals that read the sender's address; socket 0 always does */
	unsigned named;
	/* messages per receive: doubled if all arrive, else the number that arrived, at least 1 */
	unsigned wanted;
	bool quiet;
	bool marked;         /* "congestion experienced" since `quiet` changed */
	unsigned alone;      /* consecutive polls with one short datagram */
	unsigned streak;     /* consecutive polls with arrivals */
	uint64_t used;       /* poll of the last arrival */
	uint32_t drops_seen; /* kernel's count; wraps */
	/* bits of messages without a control message */
	uint8_t ecn;
	unsigned ecn_other; /* consecutive messages with other bits */
};

struct inbox {
	uint8_t *buffers; /* `count` of LINK_RECEIVE_BYTES */
	size_t (*frame_bytes)(const uint8_t *data, size_t bytes); /* see link_options */
	unsigned count;
	unsigned filled;            /* number of messages in the last receive */
	struct link_socket *source; /* socket of the last receive */
	bool named;                 /* the last receive has the senders' addresses */
	/* message, and position in it */
	unsigned cursor;
	size_t offset;
	/* length of each datagram of message `cursor`; the last may be shorter */
	size_t segment_bytes;
	struct datagram_arrival common; /* what the datagrams of message `cursor` share */
	struct clock_pair read_at;      /* of the last receive */
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

/* Receives once from the kernel; with `wait`, blocks until an arrival or the socket's timeout. The
 * inbox must be empty. True: an arrival. */
bool link_inbox_poll(struct inbox *in, struct link_socket *s, bool wait,
		     struct link_counters *counters);

/* Returns up to `count`, without a system call. */
size_t link_inbox_dequeue(struct inbox *in, struct datagram_arrival *arrivals, size_t count,
			  struct link_counters *counters);

#endif
