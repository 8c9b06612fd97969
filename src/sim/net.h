/* SPDX-License-Identifier: BSD-3-Clause */
/* The network, with a virtual clock in nanoseconds. A host is any object that can receive, send and
 * return a deadline: a NIC in sim.h, an RLTP endpoint alone in crowd.h. Datagrams leave through the
 * ports of path.h, and have the faults of fault.h. All random numbers come from one seed, so each
 * run can be replayed.
 *
 * A poll of a host empties its socket buffer, then sends until nothing is due or its port is full.
 * All packets that arrive at an instant arrive before the polls of this instant. */
#ifndef SIM_NET_H
#define SIM_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/datagram.h"
#include "sim/fault.h"
#include "sim/path.h"

/* Functions of a host. `host` is the context given to net_host_set. */
struct net_host_ops {
	void (*receive)(void *host, const struct datagram_arrival *arrival, uint64_t now_ns);
	size_t (*send)(void *host, struct datagram *out, size_t count, uint64_t now_ns);
	uint64_t (*deadline)(void *host); /* time in ns at which to call `send` again; 0: now */
};

/* Observes each datagram when it is sent and when it is received. An observer must not change
 * anything. */
struct net_tap {
	void (*sent)(void *context, const struct sim_packet *packet, uint64_t now_ns);
	void (*delivered)(void *context, const struct sim_packet *packet, uint64_t now_ns);
	void *context;
};

struct net_options {
	uint64_t seed;
	uint32_t hosts; /* 1 .. NET_HOSTS_MAX */
	enum net_topology topology;
	uint32_t leaf_hosts, spines; /* for leaf-spine: hosts of each leaf; number of spines */
	uint64_t delay_ns;           /* delay of each wire; 0: 10 us */
	uint64_t rate_bps, host_rate_bps, spine_rate_bps; /* see path.h */
	uint32_t queue_bytes, mark_bytes;
	/* a host does not send while its port holds more bytes; 0: no limit */
	uint32_t backlog_bytes;
	uint32_t socket_bytes; /* bytes that a host's socket buffer holds; 0: unlimited */
	/* Shortest time between two polls of a host if the first poll did work. */
	uint64_t poll_ns;
	/* true: payload is only counted, not copied; for hosts that do not read payload */
	bool headers_only;
	uint64_t start_ns; /* time at which the clock starts; 0: 1 s */
	struct sim_faults faults;
};

#define NET_HOSTS_MAX 65533 /* the largest node id limits the number of hosts */

struct net;

/* Creates the network. DXP_ENOMEM, DXP_EINVAL. */
int net_create(const struct net_options *options, struct net **out);
void net_destroy(struct net *n); /* does not free the hosts' contexts */

void net_host_set(struct net *n, uint32_t host, const struct net_host_ops *ops, void *context);
void net_tap_set(struct net *n, const struct net_tap *tap);

void net_address(uint32_t host, struct udp_address *out);

/* Schedules a poll of the host at the present instant, for example after a request was posted. */
void net_touch(struct net *n, uint32_t host);

/* Runs until `done` returns true, `limit_ns` have passed, or no event is left. `done` is called
 * after each instant. Returns true if `done` did. If `done` posts requests, it must call
 * net_touch. */
bool net_run(struct net *n, uint64_t limit_ns, bool (*done)(void *context), void *context);

uint64_t net_now(const struct net *n);

/* Replaces the faults. If reorder_ns is 0, it becomes 10 times the delay of a wire. */
void net_faults_set(struct net *n, const struct sim_faults *faults);
const struct sim_faults *net_faults(const struct net *n);

/* While `on` is true, drops all datagrams from host `from` to host `to`. Only for hosts below
 * 64. */
void net_blackhole(struct net *n, uint32_t from, uint32_t to, bool on);

/* Drops datagrams from host `from` to host `to` that are longer than `bytes`; 0: drops none. Only
 * for hosts below 64. */
void net_mtu(struct net *n, uint32_t from, uint32_t to, uint32_t bytes);

/* Suspends the host for a time, while its socket buffer fills. duration_ns 0: resumes the host. */
void net_stall(struct net *n, uint32_t host, uint64_t duration_ns);

/* Empties the host's socket buffer, as when a process exits. */
void net_discard(struct net *n, uint32_t host);

/* Steps the host's wall clock, and sets its drift. Negative values: the step goes back; the clock
 * is slow. */
void net_wall_clock(struct net *n, uint32_t host, int64_t step_ns, int32_t drift_ppm);

const struct sim_counters *net_counters(const struct net *n);
struct net_paths *net_paths(struct net *n);
uint64_t net_pool_bytes(const struct net *n);

/* Returns a hash over all deliveries and their times. Equal seeds give equal hashes. */
uint64_t net_trace_hash(const struct net *n);

#endif
