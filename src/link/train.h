/* SPDX-License-Identifier: BSD-3-Clause */
/* Grouping datagrams into GSO trains. A train is one sendmsg whose payload the kernel cuts into
 * datagrams of one size: same destination, same ECN bits, same total bytes, only the last may be
 * shorter. A datagram that fits no train, or wants to be `alone`, is a train of one, sent the
 * ordinary way. No system call is made here.
 *
 * Where the pieces of a message (headers, slices) are short, they are copied together here before
 * the kernel copies them again: its copy is slow to start and starts anew with each piece. Measured
 * on Zen 4, 44 datagrams of 64 + 1408 bytes, payload outside the cache: 168 instead of 201 ns per
 * KB.
 *
 * Invariant of a filled batch: message i carries lengths[i] consecutive datagrams, and messages
 * follow the order of the datagrams, so that what the kernel took is always a prefix. */
#ifndef LINK_TRAIN_H
#define LINK_TRAIN_H

#include <sys/socket.h>
#include <sys/uio.h>

#include "base/limits.h"
#include "link/sockaddr.h"
#include "link/udp.h"

struct train_limits {
	int family;                     /* of the socket: how destinations are written */
	unsigned segments;              /* longest train in datagrams; 1 = no GSO */
	struct wire_address refused_to; /* the kernel refused trains of datagrams of refused_bytes
					   to this peer: ... */
	size_t refused_bytes; /* ... such ones, and larger, go alone; 0 = nothing was refused */
	bool (*alone)(const struct link_datagram *d); /* may not be in a train; NULL: all may */
};

#define TRAIN_CONTROL_BYTES (CMSG_SPACE(sizeof(uint16_t)) + CMSG_SPACE(sizeof(int)))

struct train_batch {
	size_t message_count;
	size_t iovec_count;
	size_t gathered_bytes; /* of `gather` in use */
	struct mmsghdr messages[LINK_MESSAGES];
	uint16_t lengths[LINK_MESSAGES]; /* datagrams in each message */
	uint32_t bytes[LINK_MESSAGES];   /* payload of each message */
	uint8_t sockets[LINK_MESSAGES];  /* which to send each with; filled in by send.c */
	union link_sockaddr names[LINK_MESSAGES];
	struct iovec iovecs[LINK_IOVECS];
	union {
		struct cmsghdr align;
		uint8_t bytes[TRAIN_CONTROL_BYTES];
	} control[LINK_MESSAGES];
	uint8_t gather[LINK_GATHER_BYTES];
};

/* Fills `b` anew from the front of the list; points into the datagrams and at the memory that they
 * name. Returns how many found room: at least one if count > 0. */
size_t train_fill(struct train_batch *b, const struct train_limits *limits,
		  const struct link_datagram *const *datagrams, size_t count);

size_t train_datagram_bytes(const struct link_datagram *d);

#endif
