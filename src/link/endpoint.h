/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of an endpoint, shared by the files of this folder and their tests. */
#ifndef LINK_ENDPOINT_H
#define LINK_ENDPOINT_H

#include <stdatomic.h>

#include "base/spin.h"
#include "link/fault.h"
#include "link/receive.h"
#include "link/train.h"
#include "link/udp.h"

/* Finding the peer that most of what comes through socket 0 is from (Boyer and Moore's majority
 * vote): arrivals from him add to the votes, others take away. */
struct busy {
	struct wire_address candidate;
	unsigned votes;
	uint64_t since; /* in looks */
};

struct link {
	/* Number 0 is bound and takes what comes from anybody; the others are connected to peers
	 * (busy.c), their fd is -1 while they are free. */
	struct link_socket sockets[1 + LINK_BUSY_PEERS];
	unsigned hot;        /* the socket that brought something last: looked at first */
	unsigned turn;       /* one of the others, which take turns */
	uint64_t looks;      /* calls of inbox_look */
	struct busy busy;    /* who may be worth a socket of his own */
	int wake_fd;         /* an eventfd: readable after link_wake */
	int epoll_fd;        /* watches wake_fd and, while `watching`, the sockets */
	bool watching;       /* a watched socket tells epoll of every arrival, which costs 0.1 us */
	bool watched_always; /* link_fd was asked for */
	bool watched;        /* link_watched's answer */
	unsigned unslept;    /* looks that brought something since the last sleep */
	struct spin spin;
	struct wire_address address;
	uint32_t buffer_bytes; /* asked for, of each socket */
	bool gro;
	bool whole, unconnected, block; /* link_options */
	size_t receive_buffer_bytes;
	struct fault *fault;            /* NULL without DXP_FAULT */
	const struct link_tap *tap;     /* NULL: nobody watches */
	struct wire_address too_big_to; /* link_too_big's answer; ... */
	size_t too_big_bytes;           /* ... 0: none */
	struct link_counters counters;
	_Atomic int woken; /* set by link_wake on any thread, cleared by link_wait */
	struct train_limits limits;
	struct train_batch trains;
	struct inbox inbox;
};

/* socket.c: makes and binds socket 0 of an endpoint whose address and limits.family it fills in.
 * DXP_EBUSY or DXP_EIO, logged, and nothing is left open then. */
int socket_open(struct link *l, const struct link_options *options);

/* socket.c: makes `s` one that shares the endpoint's port and takes what comes from `peer` alone,
 * but for the few datagrams that come while it is made: see link_socket.named. False when the
 * kernel refuses; nothing is open then. */
bool socket_connect(struct link *l, struct link_socket *s, const struct wire_address *peer);
void socket_close(struct link_socket *s);

/* socket.c: see link_socket. Stays as it was when datagrams are waiting. */
void socket_quiet(const struct link *l, struct link_socket *s, bool quiet);

/* socket.c: see link_socket. */
void socket_ecn(const struct link *l, struct link_socket *s, uint8_t ecn);

/* socket.c: what waits in the receive buffer, in bytes of skb truesize; 0 when it cannot be told.
 */
uint32_t socket_waiting_bytes(const struct link_socket *s);

/* busy.c: something came from `from` through socket 0. */
void busy_note(struct link *l, const struct wire_address *from);
/* busy.c: the number of the socket to reach `to` with. */
unsigned busy_socket(const struct link *l, const struct wire_address *to);

/* wait.c: a socket was made while the endpoint is watched. */
void watch_add(struct link *l, unsigned index);

/* receive.c: asks the sockets once for something; the inbox must be empty. Returns whether
 * something came. */
bool inbox_look(struct link *l);

/* segments.c: the longest GSO train that this kernel takes; 1 when it has no GSO. Sends a few
 * datagrams to itself over loopback. */
unsigned segments_probe(void);

/* wait.c: the eventfd and the epoll set of an endpoint whose socket is open. */
int wait_open(struct link *l);
void wait_close(struct link *l);

/* send.c: lets out what the fault injector held back for long enough. */
void send_held(struct link *l);

#endif
