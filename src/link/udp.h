/* SPDX-License-Identifier: BSD-3-Clause */
/* A UDP endpoint that moves datagrams in batches: GSO and GRO where the kernel has them, one
 * sendmsg per datagram where it has not, kernel receive time stamps, and a wait that spins before
 * it sleeps. Nothing here knows what a datagram means.
 *
 * Not thread-safe: one thread at a time per endpoint (link_wake may be called from any thread, and
 * from a signal handler). */
#ifndef LINK_UDP_H
#define LINK_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "wire/datagram.h"

struct link_options {
	struct wire_address bind; /* address to bind; port 0 lets the kernel choose */
	uint32_t buffer_bytes; /* wanted size of each socket buffer; 0 = LINK_SOCKET_BUFFER_BYTES */
	uint32_t spin_ns; /* about how long link_wait spins before it sleeps: 1/32 to twice this, as
			   * it has paid lately (base/spin.h); 0 = never spin */
	bool whole;       /* a datagram too long for the path is lost, not cut into IP fragments */
	bool unconnected; /* busy peers get no socket of their own: all that it sends unfragmented
			   * has IP identification 0, which an ICRC counts on */
	bool choosy; /* a port in use is no error to be logged: the caller tries the next one */
	bool shared; /* other endpoints may bind the port too: one each for one peer */
	struct wire_address peer; /* takes datagrams from there alone; port 0: from anybody */
	uint32_t group_on; /* `bind` is an IPv4 multicast group: joined on the interface that has
			    * this address (host order); 0: it is none */
	bool refusals;     /* what the network refuses (ICMP) is kept for link_refused */
	uint32_t block_us; /* longest wait of link_receive_wait, at least: the kernel counts it in
			    * ticks; 0: that does not wait */
	bool (*alone)(const struct link_datagram *d); /* it may not be in a train; NULL: all may */
	bool no_gso; /* pretend the kernel has no GSO (tests, and a user's way out) */
	bool no_gro; /* the same for GRO */
};

/* What happened since the endpoint was opened. All counts wrap. */
struct link_counters {
	uint64_t sent_datagrams, sent_bytes, send_calls;
	uint64_t received_datagrams, received_bytes;
	uint64_t receive_calls; /* calls that brought something; looks in vain are not counted */
	uint64_t send_again;    /* kernel had no room; the caller retries */
	uint64_t send_errors; /* datagrams given up for any other reason; the transport repeats them
			       */
	uint64_t too_big;     /* times the kernel found datagrams longer than their path */
	uint64_t gso_fallbacks; /* times GSO was found missing or broken, then avoided */
	/* what the kernel dropped because the socket buffer was full (SO_RXQ_OVFL): datagrams, but
	 * a train that came in one piece counts once */
	uint64_t receive_drops;
	uint64_t faults; /* datagrams the fault injector dropped, repeated, delayed or changed */
};

struct link;

/* What the fault injector did to a datagram: bits. */
enum link_fate {
	LINK_FATE_LOST = 1 << 0,
	LINK_FATE_TWICE = 1 << 1,
	LINK_FATE_CORRUPT = 1 << 2, /* one bit was flipped, after `sent` saw it */
	LINK_FATE_LATE = 1 << 3,
};

/* Somebody who sees every datagram. Calls must not use the endpoint. */
struct link_tap {
	/* `at_ns`: when it was handed to the kernel, or to the fault injector. */
	void (*sent)(void *context, const struct link_datagram *d, unsigned fate, uint64_t at_ns);
	void (*received)(void *context, const struct link_arrival *a);
	void *context;
};

/* From now on, or with NULL no more. `tap` stays the caller's and outlives its use. */
void link_tap_set(struct link *l, const struct link_tap *tap);

/* Opens and binds. On success *out must be closed with link_close. DXP_EBUSY: the port is in use;
 * DXP_EIO: anything else the kernel refused (logged with its reason and the next step); DXP_ENOMEM.
 * DXP_FAULT in the environment ("loss=1%,dup=0.1%,corrupt=0.01%,reorder=1%,seed=7") puts a fault
 * injector between the protocol and the socket, so that trains are cut per datagram; a text that
 * does not parse is DXP_EINVAL, logged. */
int link_open(const struct link_options *options, struct link **out);
void link_close(struct link *l);

/* The address that peers on the same network use: the bound one, its port filled in. */
void link_address(const struct link *l, struct wire_address *out);

/* The own address, without a port, that the kernel would use towards `to`. DXP_EIO: there is no way
 * (logged). */
int link_address_towards(const struct wire_address *to, struct wire_address *out);

/* The same for who looks now and then: false, and nothing logged, when there is no way at present.
 */
bool link_address_now(const struct wire_address *to, struct wire_address *out);

/* Binds the endpoint to another address, at the same port where it is free, at any otherwise. What
 * the kernel still holds for the old one is lost; link_fd stays the same. DXP_EIO: the kernel
 * refuses, nothing changed. */
int link_move(struct link *l, const struct wire_address *address);

/* Largest UDP payload that fits one packet on the way to `to` (interface MTU less IP and UDP
 * headers, at most 65507); 1472 when it cannot be told. */
size_t link_path_payload(const struct link *l, const struct wire_address *to);

/* Has the kernel refused datagrams as longer than their path (EMSGSIZE) since this was last asked?
 * Then *to and *bytes are whose and how long: of several the last, so lower what goes to him and
 * let the next send tell of others. link_path_payload may know the length that fits. A datagram too
 * long for the path beyond the first link is not noticed here. */
bool link_too_big(struct link *l, struct wire_address *to, size_t *bytes);

/* The receive buffer the kernel really gave, in bytes of skb truesize. */
size_t link_receive_buffer(const struct link *l);

/* How full the fullest receive buffer is now: 0 (less than 1/31) .. 31. Costs a system call for
 * each socket: ask every millisecond, or when link_receive fills the whole batch, not every turn.
 */
unsigned link_receive_level(const struct link *l);

/* Sends up to `count` datagrams in order; runs of equal size to one address leave as one GSO train.
 * Returns how many were taken (fewer than count: the kernel has no room now). A datagram the kernel
 * refuses for another reason counts as taken, and in send_errors. */
size_t link_send(struct link *l, const struct link_datagram *datagrams, size_t count);

/* The same of datagrams that do not lie in one row. */
size_t link_send_list(struct link *l, const struct link_datagram *const *list, size_t count);

/* Takes what has arrived, up to `count` datagrams, without waiting. Returns how many; fewer than
 * `count` does not mean that the kernel has no more: one call asks each of
 * its sockets once at most. */
size_t link_receive(struct link *l, struct link_arrival *arrivals, size_t count);

/* The same, but waits for the first of them, for block_us of the options: one system call where
 * waiting and receiving are two. Another thread must not use the endpoint meanwhile. */
size_t link_receive_wait(struct link *l, struct link_arrival *arrivals, size_t count);

/* Datagrams that were received and not taken yet, of which a poll of the socket does not tell. */
bool link_pending(const struct link *l);

/* With `refusals` of the options: the errno of the oldest refusal by the network that was not told
 * yet (ECONNREFUSED: nothing listens there; EHOSTUNREACH, ENETUNREACH ...); 0: none. */
int link_refused(struct link *l);

/* The bound socket, for polls of several endpoints by somebody who calls link_receive until it
 * returns 0 before, and neither link_wait nor link_wake. */
int link_socket_fd(const struct link *l);

/* Waits until something arrives, link_wake is called or `deadline_ns` has come: spins for spin_ns,
 * then sleeps. Returns true when there may be something to receive. May return early. */
bool link_wait(struct link *l, uint64_t deadline_ns);

/* Makes the link_wait that is running, or the next one, return. */
void link_wake(struct link *l);

/* From now on link_wait ends, and link_fd is readable, when `fd` is; link_watched tells of it.
 * `edge`: once for each change, so that nobody has to read it: for an eventfd that somebody else
 * holds too. DXP_EIO: no memory for it. Unwatch before closing it. */
int link_watch(struct link *l, int fd, bool edge);
void link_unwatch(struct link *l, int fd);

/* Has a wait seen a watched descriptor that is not `edge` readable? Forgets what it told. */
bool link_watched(struct link *l);

/* For an event loop over several endpoints: readable when the kernel has datagrams or link_wake was
 * called. Datagrams that the endpoint took from the kernel but has not handed out yet do not show
 * here, so before sleeping on it call link_receive until it returns 0. link_wait with deadline 0
 * consumes a wake. */
int link_fd(struct link *l);

void link_counters(const struct link *l, struct link_counters *out);

/* CLOCK_MONOTONIC in ns: the clock of everything in the project that is not simulated. */
uint64_t link_now_ns(void);

#endif
