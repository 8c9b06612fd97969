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

/* Finds the peer with most arrivals on socket 0 by majority vote (Boyer and Moore). Arrivals of the
 * candidate add votes, other arrivals subtract votes. */
struct busy {
	struct udp_address candidate;
	unsigned votes;
	uint64_t since; /* poll number of its first vote */
};

struct link {
	/* Socket 0 is bound and receives from any peer. The other sockets are connected to one peer
	 * each (busy.c); fd is -1 while unused. */
	struct link_socket sockets[1 + LINK_BUSY_PEERS];
	unsigned hot;         /* socket of the last arrival; polled first */
	unsigned next_socket; /* next other socket to poll */
	uint64_t looks;       /* calls of link_inbox_look */
	struct busy busy;     /* candidate for a connected socket */
	int wake_fd;          /* eventfd: readable after link_wake */
	int epoll_fd;         /* contains wake_fd and, while `watching`, the sockets */
	bool watching;        /* the sockets are in epoll, which costs 0.1 us per arrival */
	bool watched_always;  /* link_fd was called */
	bool watched;         /* result of link_watched */
	unsigned unslept;     /* polls with arrivals since the last sleep */
	struct spin spin;
	struct udp_address address;
	uint32_t buffer_bytes; /* bytes requested for each socket buffer */
	bool gro;
	bool whole, unconnected, block; /* options of the same name in link_options */
	size_t receive_buffer_bytes;
	struct crossbar *crossbar;     /* NULL: none */
	struct crossbar_port *port;    /* its port; NULL without crossbar */
	unsigned port_looks;           /* calls of link_receive with a port; wraps */
	struct fault *fault;           /* NULL without DXP_FAULT */
	const struct link_tap *tap;    /* NULL: none */
	struct udp_address too_big_to; /* destination for link_too_big */
	size_t too_big_bytes;          /* length for link_too_big; 0: none */
	struct link_counters counters;
	_Atomic int woken; /* set by link_wake on any thread; cleared by link_wait */
	struct batch_limits limits;
	struct link_batch batch;
	struct inbox inbox;
};

/* socket.c: creates and binds socket 0; sets the endpoint's address and limits.family. DXP_EBUSY or
 * DXP_EIO, logged; then nothing is open. */
int socket_open(struct link *l, const struct link_options *options);

/* socket.c: makes `s` a socket on the endpoint's port that receives only from `peer`. Some
 * datagrams of other peers may enter before the connect; see link_socket.named. False: the kernel
 * rejects it, and nothing is open. */
bool socket_connect(struct link *l, struct link_socket *s, const struct udp_address *peer);
void socket_close(struct link_socket *s);

/* socket.c: makes `s` quiet or not, see link_socket. Does not make it quiet while datagrams
 * wait. */
void socket_quiet(const struct link *l, struct link_socket *s, bool quiet);

/* socket.c: sets the ECN bits of messages without a control message. */
void socket_ecn(const struct link *l, struct link_socket *s, uint8_t ecn);

/* socket.c: returns the bytes of skb truesize in the receive buffer; 0 if unknown. */
uint32_t socket_waiting_bytes(const struct link_socket *s);

/* busy.c: counts an arrival on socket 0. */
void busy_note(struct link *l, const struct udp_address *from);
/* busy.c: returns the index of the socket for sending to `to`. */
unsigned busy_socket(const struct link *l, const struct udp_address *to);

/* wait.c: adds a new socket to epoll while the endpoint watches its sockets. */
void link_watch_add(struct link *l, unsigned index);

/* receive.c: polls the sockets once; the inbox must be empty. Returns true for an arrival. */
bool link_inbox_look(struct link *l);

/* segments.c: returns the longest GSO batch, in datagrams, that the kernel accepts; 1: no GSO.
 * Sends a few datagrams to itself over loopback. */
unsigned segments_probe(void);

/* wait.c: opens eventfd and epoll set; the socket must be open. */
int wait_open(struct link *l);
void wait_close(struct link *l);

/* send.c: sends the due datagrams that the fault injector delayed. */
void send_held(struct link *l);

#endif
