/* SPDX-License-Identifier: BSD-3-Clause */
/* Output ports and the paths through them. A port is a queue before a wire: packets leave in order,
 * at its rate. It drops a packet that does not fit (tail drop), and marks one that finds a long
 * queue. Only ports delay and drop.
 *
 * wire        host -> host; the only queue is the host's port
 * star        host -> one switch -> host
 * leaf-spine  host -> leaf (-> spine -> leaf) -> host; a hash of both selects the spine (ECMP) */
#ifndef SIM_PATH_H
#define SIM_PATH_H

#include <stdbool.h>
#include <stdint.h>

#define NET_NO_PORT   UINT32_MAX
#define WIRE_OVERHEAD 66 /* bytes: Ethernet with preamble and gap, IPv4, UDP */

enum net_topology { NET_WIRE, NET_STAR, NET_LEAF_SPINE };

struct net_port {
	uint64_t rate_bps;                /* 0: unlimited */
	uint32_t queue_bytes, mark_bytes; /* 0: unbounded; never */
	uint64_t free_ps;                 /* when all queued bytes will have left */
	/* Since the start; bytes include all headers. */
	uint64_t packets, bytes, dropped, marked;
	uint64_t queue_max, queue_sum; /* waiting bytes when a packet arrives */
};

struct net_paths {
	enum net_topology topology;
	uint32_t hosts, leaf_hosts, leaves, spines;
	uint64_t seed; /* seed of the ECMP hash */
	struct net_port *ports;
	uint32_t port_count;
};

struct net_path_options {
	enum net_topology topology;
	uint32_t hosts, leaf_hosts, spines; /* leaf_hosts, spines: leaf-spine only, 1 or more */
	uint64_t seed;
	/* rate of ports towards hosts; in topology `wire`, of hosts' ports; 0: unlimited */
	uint64_t rate_bps;
	uint64_t host_rate_bps;  /* rate of hosts' own ports; 0: rate_bps */
	uint64_t spine_rate_bps; /* rate between leaf and spine; 0: rate_bps */
	/* limits of switch ports; in topology `wire`, of hosts' ports */
	uint32_t queue_bytes, mark_bytes;
};

/* DXP_ENOMEM, DXP_EINVAL. */
int net_paths_create(struct net_paths *p, const struct net_path_options *o);
void net_paths_free(struct net_paths *p);

/* Returns the port after `port` (NET_NO_PORT: the first one) on the path between two hosts;
 * NET_NO_PORT: the host. */
uint32_t net_path_next(const struct net_paths *p, uint32_t from, uint32_t to, uint32_t port);

/* Passes a packet to a port at now_ns after the start. Returns when it has left; UINT64_MAX:
 * dropped. Sets *mark if it must be marked. */
uint64_t net_port_pass(struct net_port *port, uint64_t now_ns, uint32_t bytes, bool *mark);

/* Return the waiting bytes, and the time from which fewer than `bytes` wait. */
uint64_t net_port_backlog(const struct net_port *port, uint64_t now_ns);
uint64_t net_port_below(const struct net_port *port, uint64_t bytes);

#endif
