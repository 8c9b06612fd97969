/* SPDX-License-Identifier: BSD-3-Clause */
/* State of an endpoint, for this folder and its tests. */
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

/* Finds the peer with most arrivals on socket 0 by majority vote (Boyer and Moore): its arrivals
 * add votes, others remove them. */
struct busy {
	struct udp_address candidate;
	unsigned votes;
	uint64_t since; /* poll with the candidate's first vote */
};

struct link {
	/* Socket 0 is bound and receives from any peer; the others are connected (busy.c), fd -1 if
	 * unused. */
	struct link_socket sockets[1 + LINK_BUSY_PEERS];
	unsigned hot;         /* socket of the last arrival; polled first */
	unsigned next_socket; /* other than `hot`, to poll */
	uint64_t looks;       /* calls of link_inbox_look */
	struct busy busy;     /* votes for the peer of the next connected socket */
	int wake_fd;          /* eventfd, readable after link_wake */
	int epoll_fd;         /* has wake_fd and, while `watching`, the sockets */
	/* the sockets are in the epoll set, at 0.1 us per arrival */
	bool watching;
	bool watched_always; /* link_fd was called, so the sockets stay in the epoll set */
	/* a watched descriptor was readable, for link_watched */
	bool watched;
	unsigned unslept; /* polls with arrivals since the last sleep */
	struct spin spin;
	struct udp_address address;
	uint32_t buffer_bytes; /* requested per socket buffer */
	bool gro;
	bool whole, unconnected, block; /* see link_options; `block`: block_us is not 0 */
	size_t receive_buffer_bytes;
	struct crossbar *crossbar; /* NULL: none */
	/* in the crossbar; NULL without one */
	struct crossbar_port *port;
	unsigned port_looks;           /* calls of link_receive with a port; wraps */
	struct fault *fault;           /* NULL without DXP_FAULT */
	const struct link_tap *tap;    /* NULL: none */
	struct udp_address too_big_to; /* for link_too_big */
	size_t too_big_bytes;          /* for link_too_big; 0: none */
	struct link_counters counters;
	_Atomic int woken; /* set on any thread; cleared by link_wait */
	struct batch_limits limits;
	struct link_batch batch;
	struct inbox inbox;
};

/* socket.c: creates and binds socket 0; sets address and limits.family. DXP_EBUSY or DXP_EIO,
 * logged, with nothing open. */
int socket_open(struct link *l, const struct link_options *options);

/* socket.c: creates a socket on the endpoint's port that receives only from `peer`; before its
 * connect, others may enter (link_socket.named). False: rejected by the kernel; nothing is open. */
bool socket_connect(struct link *l, struct link_socket *s, const struct udp_address *peer);
void socket_close(struct link_socket *s);

/* socket.c: makes `s` quiet (link_socket) or not; not quiet while datagrams wait in it. */
void socket_quiet(const struct link *l, struct link_socket *s, bool quiet);

/* socket.c: sets the bits of messages without a control message. */
void socket_ecn(const struct link *l, struct link_socket *s, uint8_t ecn);

/* socket.c: bytes of the receive buffer in use, as skb truesize; 0: unknown. */
uint32_t socket_waiting_bytes(const struct link_socket *s);

/* busy.c: counts an arrival on socket 0; may connect a socket to its peer. */
void busy_note(struct link *l, const struct udp_address *from);
/* busy.c: the socket that sends to `to`: a connected one, or 0. */
unsigned busy_socket(const struct link *l, const struct udp_address *to);

/* wait.c: adds a new socket to the epoll set, while `watching`. */
void link_watch_add(struct link *l, unsigned index);

/* receive.c: polls the last arrival's socket, and sometimes another one before. The inbox must be
 * empty. True: an arrival. */
bool link_inbox_look(struct link *l);

/* segments.c: the most datagrams of a GSO batch, by trial over loopback; 1: no GSO. */
unsigned segments_probe(void);

int wait_open(struct link *l);
void wait_close(struct link *l);

/* send.c: sends what the fault injector delayed and is due. */
void send_held(struct link *l);

#endif
