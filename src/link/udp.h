/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP endpoint that moves datagrams in batches: by GSO and GRO if the kernel has them, otherwise
 * one sendmsg per datagram. It uses the kernel's receive time stamps, and its wait spins before it
 * sleeps. It does not interpret datagrams.
 *
 * Not thread-safe: one thread at a time per endpoint. Any thread and any signal handler may call
 * link_wake. */
#ifndef LINK_UDP_H
#define LINK_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/datagram.h"

struct crossbar;

struct link_options {
	struct udp_address bind; /* port 0: the kernel chooses */
	uint32_t buffer_bytes;   /* bytes per socket buffer; 0: LINK_SOCKET_BUFFER_BYTES */
	/* ns that link_wait spins before it sleeps; adapts between 1/32 and twice this
	 * (base/spin.h). 0: never spin. */
	uint32_t spin_ns;
	/* Drop datagrams that are too long for the path; do not fragment. */
	bool whole;
	/* Do not use connected sockets for busy peers. Unfragmented datagrams then have IP
	 * identification 0, as an ICRC requires. */
	bool unconnected;
	/* Do not log an error if the port is in use: the caller tries the next port. */
	bool choosy;
	bool shared;             /* other endpoints may bind the port too, one per peer */
	struct udp_address peer; /* receive only from this peer; port 0: from any */
	/* Address of the interface on which to join the IPv4 multicast group `bind`, in host order.
	 * 0: no group. */
	uint32_t group_on;
	bool rejections; /* keep ICMP errors for link_rejected */
	/* us that link_receive_wait waits, rounded up to kernel ticks; 0: no wait. */
	uint32_t block_us;
	/* Returns true for a datagram that must not be in a GSO batch. NULL: all datagrams may
	 * be. */
	bool (*alone)(const struct datagram *d);
	/* Datagrams between endpoints with the same crossbar (link/crossbar.h) do not pass the
	 * kernel. It must outlive the endpoint. NULL: none. */
	struct crossbar *crossbar;
	int priority; /* SO_PRIORITY of sent packets, for queueing disciplines; 0 .. 6 */
	bool no_gso;  /* do not use GSO; for tests and as workaround */
	bool no_gro;  /* do not use GRO */
};

/* Counts since the endpoint was opened; all wrap. */
struct link_counters {
	uint64_t sent_datagrams, sent_bytes, send_calls;
	uint64_t received_datagrams, received_bytes;
	uint64_t receive_calls; /* calls with arrivals */
	uint64_t send_again;    /* times that the kernel had no space; the caller retries */
	/* datagrams dropped for another reason; the transport retransmits them */
	uint64_t send_errors;
	uint64_t too_big; /* datagrams that the kernel rejected as longer than the path */
	/* number of times that GSO failed; after each, the endpoint avoids that kind of GSO
	 * batch */
	uint64_t gso_fallbacks;
	/* Drops by a full socket buffer (SO_RXQ_OVFL), in datagrams; a merged GSO batch counts as
	 * one. */
	uint64_t receive_drops;
	uint64_t faults; /* datagrams with an injected fault */
	/* Datagrams that left by the crossbar, also in sent_datagrams; those that a full queue of
	 * the crossbar dropped are in receive_drops. */
	uint64_t crossed_datagrams;
};

struct link;

/* Faults of a datagram, as bits. */
enum link_fate {
	LINK_FATE_LOST = 1 << 0,
	LINK_FATE_TWICE = 1 << 1,
	LINK_FATE_CORRUPT = 1 << 2, /* one bit was flipped after the call of `sent` */
	LINK_FATE_LATE = 1 << 3,
};

/* Observer of every datagram. Its functions must not use the endpoint. */
struct link_tap {
	/* `at_ns`: time at which the kernel or the fault injector gets the datagram. */
	void (*sent)(void *context, const struct datagram *d, unsigned fate, uint64_t at_ns);
	void (*received)(void *context, const struct datagram_arrival *a);
	void *context;
};

/* Sets the observer; NULL: none. `tap` must stay valid while set. */
void link_tap_set(struct link *l, const struct link_tap *tap);

/* Opens and binds an endpoint; close it with link_close. DXP_EBUSY: the port is in use; DXP_EIO:
 * another kernel error, logged; DXP_ENOMEM. DXP_FAULT in the environment
 * ("loss=1%,dup=0.1%,corrupt=0.01%,reorder=1%,seed=7") inserts a fault injector between protocol
 * and socket, which acts per datagram. DXP_EINVAL, logged: its text does not parse. */
int link_open(const struct link_options *options, struct link **out);
void link_close(struct link *l);

/* Returns the bound address with its port, for peers on the same network. */
void link_address(const struct link *l, struct udp_address *out);

/* Returns this machine's address, without port, on the route to `to`. DXP_EIO, logged: no route. */
int link_address_towards(const struct udp_address *to, struct udp_address *out);

/* Does what link_address_towards does, for repeated checks: returns false without a log entry if
 * there is no route. */
bool link_address_now(const struct udp_address *to, struct udp_address *out);

/* Binds the endpoint to another address, with the same port if it is free. Datagrams that wait in
 * the kernel are lost; link_fd stays the same. DXP_EIO: the kernel rejects it, and nothing
 * changed. */
int link_move(struct link *l, const struct udp_address *address);

/* Returns the largest UDP payload that fits in one packet to `to`: interface MTU less IP and UDP
 * headers, at most 65507; 1472 if unknown. */
size_t link_path_payload(const struct link *l, const struct udp_address *to);

/* Returns true if the kernel rejected datagrams as longer than their path (EMSGSIZE) since the last
 * call. *to and *bytes are destination and length of the last one; link_path_payload may return a
 * length that fits. Reports one destination at a time. After the caller lowers the size for it, the
 * next send reports another one. Does not detect a smaller MTU beyond the first link. */
bool link_too_big(struct link *l, struct udp_address *to, size_t *bytes);

/* Returns the size of the receive buffer in bytes of skb truesize, as the kernel granted it. */
size_t link_receive_buffer(const struct link *l);

/* Returns the fill level of the fullest receive buffer: 0 (less than 1/31) .. 31. Makes one system
 * call per socket, so call it each millisecond or after a full link_receive, not at each poll. */
unsigned link_receive_level(const struct link *l);

/* Sends up to `count` datagrams in order. Runs of equal size to one address leave as one GSO batch.
 * Returns how many were accepted; fewer than `count`: the kernel has no space. A datagram rejected
 * for another reason counts as accepted and in send_errors. */
size_t link_send(struct link *l, const struct datagram *datagrams, size_t count);

/* Does what link_send does, for a list of pointers to datagrams. */
size_t link_send_list(struct link *l, const struct datagram *const *list, size_t count);

/* Receives up to `count` datagrams without waiting; returns their number. It polls each socket at
 * most once, so the kernel may have more. */
size_t link_receive(struct link *l, struct datagram_arrival *arrivals, size_t count);

/* Does what link_receive does, but waits for the first datagram, up to block_us of the options, in
 * one system call. No other thread may use the endpoint meanwhile. */
size_t link_receive_wait(struct link *l, struct datagram_arrival *arrivals, size_t count);

/* Returns true if received datagrams are not handed out yet, or wait in the crossbar. A poll of the
 * socket does not show these. */
bool link_pending(const struct link *l);

/* Returns the errno of the oldest ICMP error not returned yet (ECONNREFUSED: no listener;
 * EHOSTUNREACH, ENETUNREACH ...); 0: none. Needs `rejections` of the options. */
int link_rejected(struct link *l);

/* Returns the bound socket, for polling several endpoints. Before each poll, call link_receive
 * until it returns 0. Do not use link_wait or link_wake. */
int link_socket_fd(const struct link *l);

/* Waits for an arrival, link_wake or `deadline_ns`: spins for spin_ns, then sleeps. Returns true if
 * something may have arrived. May return early. */
bool link_wait(struct link *l, uint64_t deadline_ns);

/* Makes the current or the next link_wait return. */
void link_wake(struct link *l);

/* Adds a descriptor. While `fd` is readable, link_wait returns, link_fd is readable and
 * link_watched returns true. `edge`, for an eventfd with another reader: each change ends one wait,
 * and link_watched does not report it. Call link_unwatch before closing `fd`. DXP_EIO: no
 * memory. */
int link_watch(struct link *l, int fd, bool edge);
void link_unwatch(struct link *l, int fd);

/* Returns true if a wait since the last call found a watched descriptor (not `edge`) readable. */
bool link_watched(struct link *l);

/* Returns a descriptor for an event loop over several endpoints: readable while the kernel has
 * datagrams or after link_wake. It does not show datagrams that were received but not handed out,
 * so call link_receive until it returns 0 before sleeping. link_wait with deadline 0 consumes a
 * wakeup. */
int link_fd(struct link *l);

void link_counters(const struct link *l, struct link_counters *out);

#endif
