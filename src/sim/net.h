/* SPDX-License-Identifier: BSD-3-Clause */
/* The network, with a virtual clock in nanoseconds. A host receives, sends and has a deadline, as a
 * NIC (sim.h) or an RLTP endpoint (crowd.h). Ports (path.h) and faults (fault.h) are on the way;
 * one seed replays a run.
 *
 * A poll empties the socket buffer, then sends until nothing is due or the port is full. All
 * arrivals of an instant precede its polls. */
#ifndef SIM_NET_H
#define SIM_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/datagram.h"
#include "sim/fault.h"
#include "sim/path.h"

/* `host`: context of net_host_set. */
struct net_host_ops {
	void (*receive)(void *host, const struct datagram_arrival *arrival, uint64_t now_ns);
	size_t (*send)(void *host, struct datagram *out, size_t count, uint64_t now_ns);
	uint64_t (*deadline)(void *host); /* next `send`; 0: now */
};

/* Each datagram when sent and when received; must not change anything. */
struct net_tap {
	void (*sent)(void *context, const struct sim_packet *packet, uint64_t now_ns);
	void (*delivered)(void *context, const struct sim_packet *packet, uint64_t now_ns);
	void *context;
};

struct net_options {
	uint64_t seed;
	uint32_t hosts; /* 1 .. NET_HOSTS_MAX */
	enum net_topology topology;
	uint32_t leaf_hosts, spines; /* of leaf-spine: hosts per leaf; spines */
	uint64_t delay_ns;           /* per wire; 0: 10 us */
	uint64_t rate_bps, host_rate_bps, spine_rate_bps; /* see path.h */
	uint32_t queue_bytes, mark_bytes;
	/* beyond which a host does not send; 0: no limit */
	uint32_t backlog_bytes;
	uint32_t socket_bytes; /* per host; 0: unlimited */
	/* Shortest time to the next poll after one that did work. */
	uint64_t poll_ns;
	/* payload is counted, not copied */
	bool headers_only;
	uint64_t start_ns; /* clock at the start; 0: 1 s */
	struct sim_faults faults;
};

#define NET_HOSTS_MAX 65533 /* by the largest node id */

struct net;

/* DXP_ENOMEM, DXP_EINVAL. */
int net_create(const struct net_options *options, struct net **out);
void net_destroy(struct net *n); /* not the hosts' contexts */

void net_host_set(struct net *n, uint32_t host, const struct net_host_ops *ops, void *context);
void net_tap_set(struct net *n, const struct net_tap *tap);

void net_address(uint32_t host, struct udp_address *out);

/* Polls the host at this instant, such as after a post. */
void net_touch(struct net *n, uint32_t host);

/* Runs until `done`, called after each instant, returns true, `limit_ns` have passed, or no event
 * is left. Returns whether `done` did. If `done` posts requests, it must call net_touch. */
bool net_run(struct net *n, uint64_t limit_ns, bool (*done)(void *context), void *context);

uint64_t net_now(const struct net *n);

/* Replaces the faults; reorder_ns 0 becomes 10 times a wire's delay. */
void net_faults_set(struct net *n, const struct sim_faults *faults);
const struct sim_faults *net_faults(const struct net *n);

/* Drops all datagrams between hosts below 65. */
void net_blackhole(struct net *n, uint32_t from, uint32_t to, bool on);

/* Drops longer datagrams between hosts below 65; 0: none. */
void net_mtu(struct net *n, uint32_t from, uint32_t to, uint32_t bytes);

/* Its socket buffer fills meanwhile. duration_ns 0: resumes. */
void net_stall(struct net *n, uint32_t host, uint64_t duration_ns);

/* Empties the socket buffer, as when a process exits. */
void net_discard(struct net *n, uint32_t host);

/* Negative: the step goes back; the clock is slow. */
void net_wall_clock(struct net *n, uint32_t host, int64_t step_ns, int32_t drift_ppm);

const struct sim_counters *net_counters(const struct net *n);
struct net_paths *net_paths(struct net *n);
uint64_t net_pool_bytes(const struct net *n);

/* Hashes all deliveries with their times; equal seeds give equal hashes. */
uint64_t net_trace_hash(const struct net *n);

#endif
