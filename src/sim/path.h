/* SPDX-License-Identifier: BSD-3-Clause */
/* Output ports, and the paths through them. A port is a queue before a wire. Packets leave in
 * order, at the port's rate. The port drops a packet that does not fit (tail drop), and marks a
 * packet that finds a long queue (ECN). Only ports delay and drop packets.
 *
 *   wire        host -> host; the only queue is the host's port
 *   star        host -> one switch -> host
 *   leaf-spine  host -> leaf (-> spine -> leaf) -> host; a hash of both ends selects the spine
 * (ECMP) */
#ifndef SIM_PATH_H
#define SIM_PATH_H

#include <stdbool.h>
#include <stdint.h>

#define NET_NO_PORT   UINT32_MAX
#define WIRE_OVERHEAD 66 /* Ethernet with preamble and gap, IPv4, UDP */

enum net_topology { NET_WIRE, NET_STAR, NET_LEAF_SPINE };

struct net_port {
	uint64_t rate_bps; /* 0: unlimited */
	/* At most in the queue; from which on packets are marked; 0: no limit. */
	uint32_t queue_bytes, mark_bytes;
	uint64_t free_ps; /* when all queued bytes have left */
	/* Since the start, with all headers. */
	uint64_t packets, bytes, dropped, marked;
	/* waiting when a packet arrives: maximum, and sum over packets */
	uint64_t queue_max, queue_sum;
};

struct net_paths {
	enum net_topology topology;
	uint32_t hosts, leaf_hosts, leaves, spines;
	uint64_t seed; /* of the ECMP hash */
	struct net_port *ports;
	uint32_t port_count;
};

struct net_path_options {
	enum net_topology topology;
	/* leaf_hosts, spines: of leaf-spine, at least 1 */
	uint32_t hosts, leaf_hosts, spines;
	uint64_t seed;
	/* Towards hosts; in `wire`, of hosts; 0: unlimited. */
	uint64_t rate_bps;
	uint64_t host_rate_bps;  /* of hosts' ports; 0: rate_bps */
	uint64_t spine_rate_bps; /* between leaf and spine; 0: rate_bps */
	/* Limits of the ports of switches; in `wire`, of hosts. */
	uint32_t queue_bytes, mark_bytes;
};

/* DXP_ENOMEM, DXP_EINVAL. */
int net_paths_create(struct net_paths *p, const struct net_path_options *o);
void net_paths_free(struct net_paths *p);

/* Returns the port after `port`, or the first after NET_NO_PORT. NET_NO_PORT: the host follows. */
uint32_t net_path_next(const struct net_paths *p, uint32_t from, uint32_t to, uint32_t port);

/* Returns ns after the start at which the packet has left; UINT64_MAX: dropped. *mark: must be
 * marked. */
uint64_t net_port_pass(struct net_port *port, uint64_t now_ns, uint32_t bytes, bool *mark);

/* Return the waiting bytes at `now_ns`, and the ns from which fewer than `bytes` wait. */
uint64_t net_port_backlog(const struct net_port *port, uint64_t now_ns);
uint64_t net_port_below(const struct net_port *port, uint64_t bytes);

#endif
