/* SPDX-License-Identifier: BSD-3-Clause */
/* The network, with a virtual clock in nanoseconds. A host is any object that can receive, send and
 * return a deadline: NICs in sim.h, bare RLTP endpoints in crowd.h. Datagrams leave through the
 * ports of path.h and have the faults of fault.h. One seed decides everything, so each run can be
 * replayed.
 *
 * A poll of a host empties its socket buffer, then sends until nothing is due or its port is full.
 * All arrivals of an instant come before its polls. */
#ifndef SIM_NET_H
#define SIM_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/datagram.h"
#include "sim/fault.h"
#include "sim/path.h"

/* Functions of a host; `host` is the context of net_host_set. */
struct net_host_ops {
	void (*receive)(void *host, const struct datagram_arrival *arrival, uint64_t now_ns);
	size_t (*send)(void *host, struct datagram *out, size_t count, uint64_t now_ns);
	uint64_t (*deadline)(void *host); /* when to call `send` again; 0: now */
};

/* Observes each datagram when sent and when received. Must not change anything. */
struct net_tap {
	void (*sent)(void *context, const struct sim_packet *packet, uint64_t now_ns);
	void (*delivered)(void *context, const struct sim_packet *packet, uint64_t now_ns);
	void *context;
};

struct net_options {
	uint64_t seed;
	uint32_t hosts; /* 1 .. NET_HOSTS_MAX */
	enum net_topology topology;
	uint32_t leaf_hosts, spines; /* leaf-spine: hosts per leaf; number of spines */
	uint64_t delay_ns;           /* per wire; 0: 10 us */
	uint64_t rate_bps, host_rate_bps, spine_rate_bps; /* see path.h */
	uint32_t queue_bytes, mark_bytes;
	uint32_t backlog_bytes; /* a host waits while its port holds more; 0: never */
	uint32_t socket_bytes;  /* size of a host's socket buffer; 0: unbounded */
	/* shortest time between two polls of a host, if the first one did work */
	uint64_t poll_ns;
	bool headers_only; /* payload is only counted, not copied; for hosts that ignore it */
	uint64_t start_ns; /* initial clock; 0: 1 s */
	struct sim_faults faults;
};

#define NET_HOSTS_MAX 65533 /* hosts: limited by the largest node id */

struct net;

/* Creates the network. DXP_ENOMEM, DXP_EINVAL. */
int net_create(const struct net_options *options, struct net **out);
void net_destroy(struct net *n); /* does not free the hosts */

void net_host_set(struct net *n, uint32_t host, const struct net_host_ops *ops, void *context);
void net_tap_set(struct net *n, const struct net_tap *tap);

void net_address(uint32_t host, struct udp_address *out);

/* Schedules a poll of the host at this instant, for instance after a post. */
void net_touch(struct net *n, uint32_t host);

/* Runs until `done` (called after each instant) returns true, `limit_ns` have passed, or no event
 * is left. Returns whether `done` did. If `done` posts requests, it calls net_touch. */
bool net_run(struct net *n, uint64_t limit_ns, bool (*done)(void *context), void *context);

uint64_t net_now(const struct net *n);

/* Replaces the faults; reorder_ns 0: 10 times the delay. */
void net_faults_set(struct net *n, const struct sim_faults *faults);
const struct sim_faults *net_faults(const struct net *n);

/* While `on`, drops all datagrams from `from` to `to`. Only hosts below 64. */
void net_blackhole(struct net *n, uint32_t from, uint32_t to, bool on);

/* Drops datagrams longer than `bytes` from `from` to `to`; 0: none. Only hosts below 64. */
void net_mtu(struct net *n, uint32_t from, uint32_t to, uint32_t bytes);

/* Suspends the host, while its socket buffer fills. 0: resumes it. */
void net_stall(struct net *n, uint32_t host, uint64_t duration_ns);

/* Empties the host's socket buffer, as when a process exits. */
void net_discard(struct net *n, uint32_t host);

/* Steps the host's wall clock and sets its drift. Negative values: the step is backwards, the clock
 * is slow. */
void net_wall_clock(struct net *n, uint32_t host, int64_t step_ns, int32_t drift_ppm);

const struct sim_counters *net_counters(const struct net *n);
struct net_paths *net_paths(struct net *n);
uint64_t net_pool_bytes(const struct net *n);

/* Returns a hash of all deliveries and their times. Equal seeds give equal hashes. */
uint64_t net_trace_hash(const struct net *n);

#endif
