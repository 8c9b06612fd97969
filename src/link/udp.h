/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP endpoint that moves datagrams in batches, by GSO and GRO if available, with the kernel's
 * receive time stamps.
 *
 * Only one thread at a time may use an endpoint; but any thread and any signal handler may call
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
	uint32_t buffer_bytes;   /* per socket buffer; 0: LINK_SOCKET_BUFFER_BYTES */
	/* Spin of link_wait before it sleeps, adapted between 1/32 and twice this value
	 * (base/spin.h). 0: never spin. */
	uint32_t spin_ns;
	/* Do not fragment; drop what is too long for the path. */
	bool whole;
	/* No connected sockets for busy peers: unfragmented datagrams then have IP identification
	 * 0, as an ICRC requires. */
	bool unconnected;
	/* Do not log that the port is in use. */
	bool choosy;
	bool shared;             /* other endpoints may bind this port too, one per peer */
	struct udp_address peer; /* the only peer; port 0: any */
	/* IPv4 address, in host byte order, of the interface that joins the multicast group `bind`.
	 * 0: no group. */
	uint32_t group_on;
	bool rejections; /* keep ICMP errors for link_rejected */
	/* Longest wait of link_receive_wait, rounded up to kernel ticks; 0: none. */
	uint32_t block_us;
	/* Must not be in a GSO batch. NULL: all may be. */
	bool (*alone)(const struct datagram *d);
	/* Returns the length of the frame that starts with these bytes; 0: unknown. Needed for long
	 * frames (datagram.segment_bytes): a GSO batch that starts with a frame longer than its
	 * datagrams is one arrival. NULL: there are none. */
	size_t (*frame_bytes)(const uint8_t *data, size_t bytes);
	/* Switch without the kernel; must outlive the endpoint. NULL: none. */
	struct crossbar *crossbar;
	int priority; /* SO_PRIORITY, for queueing disciplines; 0 .. 6 */
	bool no_gso;  /* for tests and as workaround */
	bool no_gro;
};

/* Counted since the open; all wrap. */
struct link_counters {
	uint64_t sent_datagrams, sent_bytes, send_calls;
	uint64_t received_datagrams, received_bytes;
	uint64_t receive_calls; /* calls with arrivals */
	/* stopped without space in the kernel; the caller retries */
	uint64_t send_again;
	/* dropped because of another error; the transport retransmits */
	uint64_t send_errors;
	uint64_t too_big; /* rejected as too long for the path */
	/* GSO batches rejected, but accepted singly; avoided afterwards */
	uint64_t gso_fallbacks;
	/* Dropped by the kernel because a socket buffer was full (SO_RXQ_OVFL; a merged GSO batch
	 * counts as one), or by a full crossbar queue. */
	uint64_t receive_drops;
	uint64_t faults; /* datagrams with an injected fault */
	/* through the crossbar; included in sent_datagrams */
	uint64_t crossed_datagrams;
};

struct link;

enum link_fate {
	LINK_FATE_LOST = 1 << 0,
	LINK_FATE_TWICE = 1 << 1,
	/* one bit; `sent` gets the datagram before */
	LINK_FATE_CORRUPT = 1 << 2,
	LINK_FATE_LATE = 1 << 3,
};

/* Observer of every datagram; must not use the endpoint. */
struct link_tap {
	/* `at_ns`: when kernel or injector gets it; `fate`: enum link_fate. */
	void (*sent)(void *context, const struct datagram *d, unsigned fate, uint64_t at_ns);
	void (*received)(void *context, const struct datagram_arrival *a);
	void *context;
};

/* NULL: none. `tap` must stay valid while set. */
void link_tap_set(struct link *l, const struct link_tap *tap);

/* Opens and binds an endpoint. DXP_EBUSY: the port is in use, or the crossbar has no free port;
 * DXP_EIO: another error, logged; DXP_ENOMEM.
 *
 * With DXP_FAULT in the environment, a fault injector acts on each datagram before the socket
 * (link/fault.h). DXP_EINVAL, logged: it does not parse. */
int link_open(const struct link_options *options, struct link **out);
void link_close(struct link *l);

/* Peers of the same network reach it there, unless it is the wildcard address. */
void link_address(const struct link *l, struct udp_address *out);

/* This machine's, without port, on the route to `to`. DXP_EIO, logged: no route. */
int link_address_towards(const struct udp_address *to, struct udp_address *out);

/* Logs nothing, for repeated checks; false: no route. */
bool link_address_now(const struct udp_address *to, struct udp_address *out);

/* Keeps the port if it is free there. Datagrams that wait in the kernel are lost; link_fd stays the
 * same. DXP_EIO: rejected, and nothing changes. */
int link_move(struct link *l, const struct udp_address *address);

/* Largest UDP payload in one packet to `to`: the interface MTU less IP and UDP headers, at most
 * 65507; 1472 if unknown. */
size_t link_path_payload(const struct link *l, const struct udp_address *to);

/* True: datagrams to `to` enter a veth interface, which has no wire. Beyond its other end, a bridge
 * may still send them to a wire. Makes several system calls. False also if unknown. */
bool link_path_virtual(const struct udp_address *to);

/* True: can send long frames, because the kernel splits GSO batches; can receive them, because it
 * joins them. */
bool link_splits(const struct link *l);
bool link_joins(const struct link *l);

/* The fault injector acts on sent datagrams. */
bool link_faulty(const struct link *l);

/* True: the kernel rejected datagrams as too long (EMSGSIZE) since the last call; *to and *bytes
 * are of the last one. link_path_payload may then return a length that fits.
 *
 * Reports one destination at a time: the next send reports another. A smaller MTU beyond the first
 * link is not detected. */
bool link_too_big(struct link *l, struct udp_address *to, size_t *bytes);

/* Returns the size of the receive buffer as the kernel granted it, in bytes of skb truesize. */
size_t link_receive_buffer(const struct link *l);

/* How full the fullest receive buffer is: 0 (less than 1/31) .. 31 (full). One system call per
 * socket, so call it once a millisecond or after a full link_receive. */
unsigned link_receive_level(const struct link *l);

/* Sends in order; consecutive datagrams of equal length and address form GSO batches. Returns how
 * many were accepted; fewer than `count`: the kernel has no space, retry the rest. A datagram
 * rejected for another reason counts as accepted and in send_errors. */
size_t link_send(struct link *l, const struct datagram *datagrams, size_t count);

/* The same for a list of pointers. */
size_t link_send_list(struct link *l, const struct datagram *const *list, size_t count);

/* Does not wait. Polls each socket at most once, so the kernel may have more. */
size_t link_receive(struct link *l, struct datagram_arrival *arrivals, size_t count);

/* Waits for the first datagram up to `block_us`, in one system call. No other thread may use the
 * endpoint meanwhile. */
size_t link_receive_wait(struct link *l, struct datagram_arrival *arrivals, size_t count);

/* True: received datagrams wait in this process, where a poll() of the socket does not show
 * them. */
bool link_pending(const struct link *l);

/* The errno of the oldest ICMP error not returned yet (ECONNREFUSED: no listener; EHOSTUNREACH,
 * ENETUNREACH ...); 0: none. Needs the option `rejections`. */
int link_rejected(struct link *l);

/* The bound socket, for a poll() over several endpoints. Before each poll(), call link_receive
 * until it returns 0. Not with link_wait or link_wake. */
int link_socket_fd(const struct link *l);

/* Waits for an arrival, link_wake or `deadline_ns`: spins for `spin_ns`, then sleeps. True:
 * something may have arrived. May return early. */
bool link_wait(struct link *l, uint64_t deadline_ns);

/* Makes the current or the next link_wait return. */
void link_wake(struct link *l);

/* Adds `fd` to the wait: while it is readable, link_wait returns at once, link_fd is readable and
 * link_watched true. `edge`, for an eventfd that another thread reads: each write ends one wait,
 * and link_watched does not report it. Call link_unwatch before closing `fd`. DXP_EIO: memory is
 * short. */
int link_watch(struct link *l, int fd, bool edge);
void link_unwatch(struct link *l, int fd);

/* True: a link_wait since the last call found a watched descriptor readable, without `edge`. */
bool link_watched(struct link *l);

/* Returns a descriptor for an event loop over several endpoints, readable while the kernel has
 * datagrams or after link_wake. It does not show datagrams in the receive buffers, so call
 * link_receive until it returns 0 before the loop sleeps. link_wait with deadline 0 resets a
 * wakeup. */
int link_fd(struct link *l);

void link_counters(const struct link *l, struct link_counters *out);

#endif
