/* SPDX-License-Identifier: BSD-3-Clause */
/* The network alone, with a virtual clock in nanoseconds: hosts are whatever can receive, send and
 * name a deadline (whole NICs in sim.h, bare RLTP endpoints in crowd.h). Datagrams leave through
 * the ports of path.h and suffer what fault.h says. One seed decides everything, so every run
 * replays.
 *
 * A host's turn: it takes what lies in its socket buffer, then sends until it has nothing more or
 * its port holds enough. All arrivals of one instant come before the turns of that instant. */
#ifndef SIM_NET_H
#define SIM_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/fault.h"
#include "sim/path.h"
#include "wire/datagram.h"

/* What a host is. `host` is what net_host_set was given. */
struct net_host_ops {
	void (*receive)(void *host, const struct link_arrival *arrival, uint64_t now_ns);
	size_t (*send)(void *host, struct link_datagram *out, size_t count, uint64_t now_ns);
	uint64_t (*deadline)(void *host); /* when `send` must be called again; 0: now */
};

/* Sees each datagram as its host sends it and as a host receives it. Neither may change anything.
 */
struct net_tap {
	void (*sent)(void *context, const struct sim_packet *packet, uint64_t now_ns);
	void (*delivered)(void *context, const struct sim_packet *packet, uint64_t now_ns);
	void *context;
};

struct net_options {
	uint64_t seed;
	uint32_t hosts; /* 1 .. NET_HOSTS_MAX */
	enum net_topology topology;
	uint32_t leaf_hosts, spines; /* leaf-spine: hosts at each leaf; spines */
	uint64_t delay_ns;           /* of each wire; 0: 10 us */
	uint64_t rate_bps, host_rate_bps, spine_rate_bps; /* as in path.h */
	uint32_t queue_bytes, mark_bytes;
	uint32_t backlog_bytes; /* a host waits while its own port holds more; 0: it never waits */
	uint32_t socket_bytes;  /* room of a host's socket buffer; 0: no bound */
	uint64_t turn_ns;  /* between two turns of one host, as a loop that does other things too */
	bool headers_only; /* payload is counted and not carried: for hosts that do not look at it
			    */
	uint64_t start_ns; /* what the clock shows at first; 0: 1 s */
	struct sim_faults faults;
};

#define NET_HOSTS_MAX 65533 /* node ids end there */

struct net;

/* DXP_ENOMEM, DXP_EINVAL. */
int net_create(const struct net_options *options, struct net **out);
void net_destroy(struct net *n); /* not the hosts */

void net_host_set(struct net *n, uint32_t host, const struct net_host_ops *ops, void *context);
void net_tap_set(struct net *n, const struct net_tap *tap);

/* Where a host can be reached. */
void net_address(uint32_t host, struct wire_address *out);

/* The host has its turn at this instant: somebody posted, or it is a new one. */
void net_touch(struct net *n, uint32_t host);

/* Runs until `done` says so, `limit_ns` of virtual time have passed from now, or nothing is left to
 * happen. `done` is asked after every instant and may post; then it touches. True when `done` was
 * true. */
bool net_run(struct net *n, uint64_t limit_ns, bool (*done)(void *context), void *context);

uint64_t net_now(const struct net *n);

/* The faults from now on; reorder_ns 0: 10 times the delay. */
void net_faults_set(struct net *n, const struct sim_faults *faults);
const struct sim_faults *net_faults(const struct net *n);

/* Nothing from `from` reaches `to` any more, or again. Hosts below 64 only. */
void net_blackhole(struct net *n, uint32_t from, uint32_t to, bool on);

/* Datagrams of more than `bytes` from `from` do not reach `to`; 0: all do. Hosts below 64 only. */
void net_mtu(struct net *n, uint32_t from, uint32_t to, uint32_t bytes);

/* The host does nothing for this long, 0: it goes on; meanwhile its socket buffer fills. */
void net_stall(struct net *n, uint32_t host, uint64_t duration_ns);

/* What its socket buffer holds is lost: the process ended. */
void net_discard(struct net *n, uint32_t host);

/* The host's wall clock steps, and runs fast by so much from now on (negative: back, slow). */
void net_wall_clock(struct net *n, uint32_t host, int64_t step_ns, int32_t drift_ppm);

const struct sim_counters *net_counters(const struct net *n);
struct net_paths *net_paths(struct net *n);
uint64_t net_pool_bytes(const struct net *n);

/* A hash over every delivery and its time: equal for equal seeds. */
uint64_t net_trace_hash(const struct net *n);

#endif
