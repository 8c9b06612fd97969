/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP endpoint that moves datagrams in batches: by GSO and GRO if the kernel has them, otherwise by
 * one message per datagram. It uses the kernel's receive time stamps. link_wait spins before it
 * sleeps. The endpoint does not interpret datagrams.
 *
 * Not thread-safe: only one thread at a time may use an endpoint. Exception: any thread and any
 * signal handler may call link_wake. */
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
	/* ns that link_wait spins before it sleeps. The time adapts between 1/32 of this value and
	 * twice this value (base/spin.h). 0: never spin. */
	uint32_t spin_ns;
	/* Do not fragment; drop datagrams that are too long for the path. */
	bool whole;
	/* Do not use connected sockets for busy peers. Unfragmented datagrams then have IP
	 * identification 0, as an ICRC requires. */
	bool unconnected;
	/* Do not log an error if the port is in use, because the caller then tries the next
	 * port. */
	bool choosy;
	bool shared;             /* allow other endpoints to bind this port too, one per peer */
	struct udp_address peer; /* receive only from this peer; port 0: from any peer */
	/* Local IPv4 address of the interface on which to join the multicast group `bind`, in host
	 * byte order. 0: no group. */
	uint32_t group_on;
	bool rejections; /* keep ICMP errors, for link_rejected */
	/* us that link_receive_wait waits at most, rounded up to kernel ticks; 0: no wait. */
	uint32_t block_us;
	/* Returns true for a datagram that must not be in a GSO batch. NULL: all datagrams may
	 * be. */
	bool (*alone)(const struct datagram *d);
	/* Switch for datagrams between endpoints of this process without the kernel
	 * (link/crossbar.h). The crossbar must outlive the endpoint. NULL: none. */
	struct crossbar *crossbar;
	int priority; /* SO_PRIORITY of sent packets, for queueing disciplines; 0 .. 6 */
	bool no_gso;  /* do not use GSO; for tests and as workaround */
	bool no_gro;  /* do not use GRO */
};

/* Counts since the endpoint was opened; all wrap around. */
struct link_counters {
	uint64_t sent_datagrams, sent_bytes, send_calls;
	uint64_t received_datagrams, received_bytes;
	uint64_t receive_calls; /* calls with arrivals */
	/* send calls that stopped because the kernel had no space; the caller retries */
	uint64_t send_again;
	/* datagrams that were dropped because of another send error; the transport retransmits
	 * them */
	uint64_t send_errors;
	uint64_t too_big; /* datagrams that the kernel rejected as too long for the path */
	/* GSO batches that the kernel rejected although it then accepted their datagrams singly;
	 * after each, the endpoint avoids that kind of GSO batch */
	uint64_t gso_fallbacks;
	/* Datagrams that the kernel dropped because a socket buffer was full (SO_RXQ_OVFL); a
	 * merged GSO batch counts as one. Includes the drops of a full crossbar queue. */
	uint64_t receive_drops;
	uint64_t faults; /* datagrams with an injected fault */
	/* Datagrams sent through the crossbar; sent_datagrams includes them. */
	uint64_t crossed_datagrams;
};

struct link;

/* Faults of a datagram, as bits. */
enum link_fate {
	LINK_FATE_LOST = 1 << 0,
	LINK_FATE_TWICE = 1 << 1,
	/* one bit was flipped; `sent` gets the datagram before this change */
	LINK_FATE_CORRUPT = 1 << 2,
	LINK_FATE_LATE = 1 << 3,
};

/* Observer of every datagram of an endpoint. Its functions must not use the endpoint. */
struct link_tap {
	/* `at_ns`: time at which the kernel or the fault injector gets the datagram. `fate`: bits
	 * of enum link_fate. */
	void (*sent)(void *context, const struct datagram *d, unsigned fate, uint64_t at_ns);
	void (*received)(void *context, const struct datagram_arrival *a);
	void *context;
};

/* Sets the observer; NULL: none. `tap` must stay valid while set. */
void link_tap_set(struct link *l, const struct link_tap *tap);

/* Opens and binds an endpoint; close it with link_close. DXP_EBUSY: the port is in use, or the
 * crossbar has no free port; DXP_EIO: another kernel error, logged; DXP_ENOMEM.
 *
 * If DXP_FAULT is set in the environment, a fault injector acts on each datagram before the socket
 * (link/fault.h shows the format). DXP_EINVAL, logged: the text of DXP_FAULT does not parse. */
int link_open(const struct link_options *options, struct link **out);
void link_close(struct link *l);

/* Returns the bound address with its port. Peers on the same network can reach the endpoint there,
 * unless it is the wildcard address. */
void link_address(const struct link *l, struct udp_address *out);

/* Returns this machine's address, without port, on the route to `to`. DXP_EIO, logged: no route. */
int link_address_towards(const struct udp_address *to, struct udp_address *out);

/* Does what link_address_towards does, but logs nothing; for repeated checks. Returns false if
 * there is no route. */
bool link_address_now(const struct udp_address *to, struct udp_address *out);

/* Binds the endpoint to another address. The port stays the same if it is free at the new address.
 * Datagrams that wait in the kernel are lost; link_fd stays the same. DXP_EIO: the kernel rejects
 * the address, and nothing changes. */
int link_move(struct link *l, const struct udp_address *address);

/* Returns the largest UDP payload that fits in one packet to `to`, in bytes. This is the interface
 * MTU less IP and UDP headers, at most 65507; 1472 if the MTU is unknown. */
size_t link_path_payload(const struct link *l, const struct udp_address *to);

/* Returns true if, since the last call, the kernel rejected datagrams as too long for their path
 * (EMSGSIZE). *to and *bytes are the destination and length of the last such datagram.
 * link_path_payload may then return a length that fits.
 *
 * Reports one destination at a time: after the caller lowers the size for it, the next send reports
 * another one. A smaller MTU beyond the first link is not detected. */
bool link_too_big(struct link *l, struct udp_address *to, size_t *bytes);

/* Returns the size of the receive buffer in bytes of skb truesize, as the kernel granted it. */
size_t link_receive_buffer(const struct link *l);

/* Returns how full the fullest receive buffer is: 0 (less than 1/31) .. 31 (full). Makes one system
 * call per socket. So call it once a millisecond or after a full link_receive, not at each poll. */
unsigned link_receive_level(const struct link *l);

/* Sends up to `count` datagrams in order. Consecutive datagrams of equal length to one address
 * leave as one GSO batch. Returns how many were accepted. If fewer than `count`, the kernel has no
 * space; retry with the rest. A datagram that was rejected for another reason counts as accepted
 * and in send_errors. */
size_t link_send(struct link *l, const struct datagram *datagrams, size_t count);

/* Does what link_send does, for a list of pointers to datagrams. */
size_t link_send_list(struct link *l, const struct datagram *const *list, size_t count);

/* Receives up to `count` datagrams without waiting; returns their number. It polls each socket at
 * most once, so the kernel may have more. */
size_t link_receive(struct link *l, struct datagram_arrival *arrivals, size_t count);

/* Does what link_receive does, but waits for the first datagram for up to `block_us` of the
 * options, in one system call. No other thread may use the endpoint during the call. */
size_t link_receive_wait(struct link *l, struct datagram_arrival *arrivals, size_t count);

/* Returns true if received datagrams wait in this process: in the receive buffers or in the
 * crossbar. A poll() of the socket does not report these. */
bool link_pending(const struct link *l);

/* Returns the errno of the oldest ICMP error that was not returned yet (ECONNREFUSED: no listener;
 * EHOSTUNREACH, ENETUNREACH ...); 0: none. Works only with option `rejections`. */
int link_rejected(struct link *l);

/* Returns the bound socket, for a poll() over several endpoints. Before each poll(), call
 * link_receive until it returns 0. Do not use link_wait or link_wake with it. */
int link_socket_fd(const struct link *l);

/* Waits for an arrival, for link_wake or until `deadline_ns`: first spins for `spin_ns`, then
 * sleeps. Returns true if something may have arrived. May return early. */
bool link_wait(struct link *l, uint64_t deadline_ns);

/* Makes the current or the next link_wait return. */
void link_wake(struct link *l);

/* Adds descriptor `fd` to the wait. While `fd` is readable, link_wait returns at once, link_fd is
 * readable and link_watched returns true. Set `edge` for an eventfd that another thread reads: each
 * write then ends one wait, and link_watched does not report it. Call link_unwatch before you close
 * `fd`. DXP_EIO: memory is short. */
int link_watch(struct link *l, int fd, bool edge);
void link_unwatch(struct link *l, int fd);

/* Returns true if a link_wait since the last call of link_watched found a watched descriptor
 * readable. Descriptors with `edge` do not count. */
bool link_watched(struct link *l);

/* Returns a descriptor for an event loop over several endpoints. It is readable while the kernel
 * has datagrams, or after link_wake. It does not show datagrams that wait in the receive buffers.
 * So call link_receive until it returns 0 before the loop sleeps. link_wait with deadline 0 resets
 * a wakeup. */
int link_fd(struct link *l);

void link_counters(const struct link *l, struct link_counters *out);

#endif
