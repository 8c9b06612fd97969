/* SPDX-License-Identifier: BSD-3-Clause */
/* State of an endpoint, for the files of this folder and their tests. */
#ifndef LINK_ENDPOINT_H
#define LINK_ENDPOINT_H

#include <stdatomic.h>

#include "base/spin.h"
#include "link/crossbar.h"
#include "link/fault.h"
#include "link/limits.h"
#include "link/receive.h"
#include "link/batch.h"
#include "link/udp.h"

/* Finds the peer with the most arrivals on socket 0 by majority vote (Boyer and Moore). An arrival
 * from the candidate adds a vote; an arrival from another peer removes one. */
struct busy {
	struct udp_address candidate;
	unsigned votes;
	uint64_t since; /* number of the poll with the candidate's first vote */
};

struct link {
	/* Socket 0 is bound and receives from any peer. The other sockets are connected to one peer
	 * each (busy.c); fd is -1 while unused. */
	struct link_socket sockets[1 + LINK_BUSY_PEERS];
	unsigned hot;         /* socket of the last arrival; polled first */
	unsigned next_socket; /* next socket, other than `hot`, to poll */
	uint64_t looks;       /* calls of link_inbox_look */
	struct busy busy;     /* candidate for a connected socket */
	int wake_fd;          /* eventfd: readable after link_wake */
	int epoll_fd;         /* contains wake_fd and, while `watching`, the sockets */
	/* true: the sockets are in the epoll set, which costs 0.1 us per arrival */
	bool watching;
	bool watched_always; /* true: link_fd was called, so the sockets stay in the epoll set */
	/* true: a watched descriptor was readable; the next link_watched returns it */
	bool watched;
	unsigned unslept; /* polls with arrivals since the last sleep */
	struct spin spin;
	struct udp_address address;
	uint32_t buffer_bytes; /* bytes requested for each socket buffer */
	bool gro;
	bool whole, unconnected, block; /* see link_options; `block`: block_us is not 0 */
	size_t receive_buffer_bytes;
	struct crossbar *crossbar; /* NULL: none */
	/* this endpoint's port of the crossbar; NULL without crossbar */
	struct crossbar_port *port;
	unsigned port_looks;           /* calls of link_receive with a port; wraps */
	struct fault *fault;           /* NULL without DXP_FAULT */
	const struct link_tap *tap;    /* NULL: none */
	struct udp_address too_big_to; /* destination that link_too_big returns */
	size_t too_big_bytes;          /* datagram length that link_too_big returns; 0: none */
	struct link_counters counters;
	_Atomic int woken; /* set by link_wake on any thread; cleared by link_wait */
	struct batch_limits limits;
	struct link_batch batch;
	struct inbox inbox;
};

/* socket.c: creates and binds socket 0; sets the endpoint's address and limits.family. DXP_EBUSY or
 * DXP_EIO, logged; then nothing is open. */
int socket_open(struct link *l, const struct link_options *options);

/* socket.c: creates `s` on the endpoint's port, to receive only from `peer`. Before the connect,
 * some datagrams of other peers may enter the socket; see link_socket.named. Returns false if the
 * kernel rejects the socket; then nothing is open. */
bool socket_connect(struct link *l, struct link_socket *s, const struct udp_address *peer);
void socket_close(struct link_socket *s);

/* socket.c: makes `s` quiet or not, see link_socket. The socket does not become quiet while
 * datagrams wait in it. */
void socket_quiet(const struct link *l, struct link_socket *s, bool quiet);

/* socket.c: sets the ECN bits for messages that have no control message. */
void socket_ecn(const struct link *l, struct link_socket *s, uint8_t ecn);

/* socket.c: returns how many bytes of the receive buffer are in use, in skb truesize; 0 if
 * unknown. */
uint32_t socket_waiting_bytes(const struct link_socket *s);

/* busy.c: counts an arrival on socket 0 from peer `from`. May connect a socket to this peer. */
void busy_note(struct link *l, const struct udp_address *from);
/* busy.c: returns the index of the socket that sends to `to`: the connected socket, or 0. */
unsigned busy_socket(const struct link *l, const struct udp_address *to);

/* wait.c: adds the new socket `index` to the epoll set. Call it only while `watching`. */
void link_watch_add(struct link *l, unsigned index);

/* receive.c: polls the socket of the last arrival, and sometimes another one before it. The inbox
 * must be empty. Returns true for an arrival. */
bool link_inbox_look(struct link *l);

/* segments.c: returns the maximum number of datagrams that the kernel accepts in a GSO batch; 1: no
 * GSO. Tests this with a few datagrams to its own socket over loopback. */
unsigned segments_probe(void);

/* wait.c: creates the eventfd and the epoll set. */
int wait_open(struct link *l);
void wait_close(struct link *l);

/* send.c: sends those datagrams that the fault injector delayed and that are due now. */
void send_held(struct link *l);

#endif
