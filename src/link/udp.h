/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP endpoint that moves datagrams in batches: GSO and GRO if the kernel has them, otherwise one
 * sendmsg per datagram; kernel receive time stamps; a wait that spins before it sleeps. It does not
 * interpret datagrams.
 *
 * Not thread-safe: one thread at a time per endpoint. link_wake may be called from any thread and
 * from a signal handler. */
#ifndef LINK_UDP_H
#define LINK_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/datagram.h"

struct link_options {
	struct udp_address bind; /* port 0: the kernel chooses one */
	uint32_t buffer_bytes;   /* size of each socket buffer; 0: LINK_SOCKET_BUFFER_BYTES */
	/* Spin time of link_wait before it sleeps; adapts between 1/32 and twice this
	 * (base/spin.h). 0: never spin. */
	uint32_t spin_ns;
	/* Drop datagrams too long for the path instead of IP fragmentation. */
	bool whole;
	/* No connected sockets for busy peers. Then unfragmented datagrams have IP identification
	 * 0, as an ICRC requires. */
	bool unconnected;
	/* A port in use is not logged as error: the caller tries the next one. */
	bool choosy;
	bool shared;             /* other endpoints may bind the port too, one per peer */
	struct udp_address peer; /* receive from this peer only; port 0: from any */
	/* `bind` is an IPv4 multicast group: joins it on the interface with this address (host
	 * order). 0: no group. */
	uint32_t group_on;
	bool refusals; /* keep ICMP errors for link_refused */
	/* Wait of link_receive_wait, rounded up to kernel ticks; 0: no wait. */
	uint32_t block_us;
	/* Returns true for a datagram that must not be in a GSO batch; NULL: all may. */
	bool (*alone)(const struct datagram *d);
	bool no_gso; /* act as without GSO: for tests and as workaround */
	bool no_gro; /* act as without GRO */
};

/* Counts since the endpoint was opened; all wrap. */
struct link_counters {
	uint64_t sent_datagrams, sent_bytes, send_calls;
	uint64_t received_datagrams, received_bytes;
	uint64_t receive_calls; /* calls with arrivals; empty polls are not counted */
	uint64_t send_again;    /* kernel had no space; the caller retries */
	/* Datagrams dropped for any other reason; the transport retransmits them. */
	uint64_t send_errors;
	uint64_t too_big;       /* times the kernel reported a datagram longer than its path */
	uint64_t gso_fallbacks; /* times GSO was found missing or broken and then avoided */
	/* Drops by a full socket buffer (SO_RXQ_OVFL): datagrams, but one count per merged GSO
	 * batch. */
	uint64_t receive_drops;
	uint64_t faults; /* datagrams the fault injector dropped, duplicated, delayed or changed */
};

struct link;

/* Effects of the fault injector on a datagram, as bits. */
enum link_fate {
	LINK_FATE_LOST = 1 << 0,
	LINK_FATE_TWICE = 1 << 1,
	LINK_FATE_CORRUPT = 1 << 2, /* one bit flipped, after `sent` was called */
	LINK_FATE_LATE = 1 << 3,
};

/* Observer of every datagram. Its functions must not use the endpoint. */
struct link_tap {
	/* `at_ns`: time of the hand-over to the kernel, or to the fault injector. */
	void (*sent)(void *context, const struct datagram *d, unsigned fate, uint64_t at_ns);
	void (*received)(void *context, const struct datagram_arrival *a);
	void *context;
};

/* Sets the observer; NULL: none. The caller owns `tap` and keeps it alive while set. */
void link_tap_set(struct link *l, const struct link_tap *tap);

/* Opens and binds an endpoint; the caller closes it with link_close. DXP_EBUSY: the port is in use;
 * DXP_EIO: any other kernel error (logged with reason and next step); DXP_ENOMEM. DXP_FAULT in the
 * environment ("loss=1%,dup=0.1%,corrupt=0.01%,reorder=1%,seed=7") inserts a fault injector between
 * protocol and socket, which acts per datagram, not per GSO batch. DXP_EINVAL, logged: its text
 * does not parse. */
int link_open(const struct link_options *options, struct link **out);
void link_close(struct link *l);

/* Returns the address for peers on the same network: the bound one, with its port. */
void link_address(const struct link *l, struct udp_address *out);

/* Returns the own address, without port, that the kernel's routes use towards `to`. DXP_EIO: no
 * route (logged). */
int link_address_towards(const struct udp_address *to, struct udp_address *out);

/* The same for repeated checks: returns false without a log entry if there is no route now. */
bool link_address_now(const struct udp_address *to, struct udp_address *out);

/* Binds the endpoint to another address, with the same port if free, otherwise any. Datagrams that
 * the kernel still holds for the old address are lost; link_fd stays the same. DXP_EIO: the kernel
 * rejects it, nothing changed. */
int link_move(struct link *l, const struct udp_address *address);

/* Returns the largest UDP payload that fits one packet to `to`: interface MTU less IP and UDP
 * headers, at most 65507. 1472 if unknown. */
size_t link_path_payload(const struct link *l, const struct udp_address *to);

/* Returns true if the kernel rejected datagrams as longer than their path (EMSGSIZE) since the last
 * call. *to and *bytes are destination and length of the last one: lower the size for it, and the
 * next send reports others. link_path_payload may return a length that fits. Datagrams too long
 * beyond the first link are not detected here. */
bool link_too_big(struct link *l, struct udp_address *to, size_t *bytes);

/* Returns the size of the receive buffer that the kernel granted, in bytes of skb truesize. */
size_t link_receive_buffer(const struct link *l);

/* Returns the fill level of the fullest receive buffer: 0 (less than 1/31) .. 31. Costs one system
 * call per socket: call it every millisecond or after a full link_receive, not every poll. */
unsigned link_receive_level(const struct link *l);

/* Sends up to `count` datagrams in order; runs of equal size to one address leave as one GSO batch.
 * Returns how many were accepted; fewer than `count`: the kernel has no space now. A datagram
 * rejected for another reason counts as accepted and in send_errors. */
size_t link_send(struct link *l, const struct datagram *datagrams, size_t count);

/* The same for datagrams named by a list of pointers. */
size_t link_send_list(struct link *l, const struct datagram *const *list, size_t count);

/* Receives up to `count` datagrams without waiting; returns their number. Fewer than `count` may be
 * returned although the kernel has more: one call polls each socket at most once. */
size_t link_receive(struct link *l, struct datagram_arrival *arrivals, size_t count);

/* The same, but waits up to block_us of the options for the first datagram: one system call instead
 * of two. No other thread may use the endpoint meanwhile. */
size_t link_receive_wait(struct link *l, struct datagram_arrival *arrivals, size_t count);

/* Returns true if datagrams are received but not handed out yet; a poll of the socket does not show
 * these. */
bool link_pending(const struct link *l);

/* With `refusals` of the options: returns the errno of the oldest ICMP error not returned yet
 * (ECONNREFUSED: no listener; EHOSTUNREACH, ENETUNREACH ...); 0: none. */
int link_refused(struct link *l);

/* Returns the bound socket, to poll several endpoints at once. The caller must call link_receive
 * until it returns 0 before each poll, and use neither link_wait nor link_wake. */
int link_socket_fd(const struct link *l);

/* Waits for an arrival, link_wake or `deadline_ns`: spins for spin_ns, then sleeps. Returns true if
 * there may be something to receive. May return early. */
bool link_wait(struct link *l, uint64_t deadline_ns);

/* Makes the current link_wait, or the next one, return. */
void link_wake(struct link *l);

/* Adds a descriptor: while `fd` is readable, link_wait returns, link_fd is readable and
 * link_watched returns true. `edge`: reports each change once and not by link_watched, for an
 * eventfd of which this endpoint is not the reader. DXP_EIO: no memory. Call link_unwatch before
 * closing `fd`. */
int link_watch(struct link *l, int fd, bool edge);
void link_unwatch(struct link *l, int fd);

/* Returns true if a wait found a watched descriptor (not `edge`) readable since the last call. */
bool link_watched(struct link *l);

/* Returns a descriptor for an event loop over several endpoints: readable while the kernel has
 * datagrams or after link_wake. It does not show datagrams received but not handed out, so call
 * link_receive until it returns 0 before sleeping. link_wait with deadline 0 consumes a wakeup. */
int link_fd(struct link *l);

void link_counters(const struct link *l, struct link_counters *out);

#endif
