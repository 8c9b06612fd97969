/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree of hosts and switches with a virtual clock in nanoseconds, for in-network computing. A
 * node is any object that can receive, send and return a deadline, so no protocol is fixed.
 * Datagrams cross wire after wire (inc_tree.h). Each wire has a rate, a delay, a tail-drop queue
 * and the faults of fault.h. One seed decides everything, so each run can be replayed.
 *
 * A node is one CPU. It receives a packet for `receive_ns`, then sends due packets for `send_ns`
 * each, then receives the next. `latency_ns` adds a delay that uses no CPU. A packet that a switch
 * forwards costs `forward_ns` and no CPU. */
#ifndef SIM_INC_NET_H
#define SIM_INC_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/fault.h"
#include "sim/inc_tree.h"
#include "sim/path.h"
#include "wire/inc.h"

/* Functions of a node; `node` is the context of inc_net_set. */
struct inc_node_ops {
	void (*receive)(void *node, const uint8_t *data, size_t bytes, const struct roce_path *path,
			uint64_t now_ns);
	size_t (*send)(void *node, struct inc_batch *out, uint64_t now_ns);
	uint64_t (*deadline)(void *node); /* when to call `send` again; 0: now */
};

struct inc_cost {
	uint64_t receive_ns, send_ns; /* CPU time per packet */
	uint64_t latency_ns;          /* time from a packet's arrival to its receipt */
};

/* Observers; each may be NULL. `data` is the datagram on the wire. */
struct inc_tap {
	/* For broken nodes: may change a packet that a node sends; false: drop it. */
	bool (*changes)(void *context, uint32_t node, const struct roce_path *path, uint8_t *data,
			size_t bytes);
	void (*sent)(void *context, uint32_t node, const struct roce_path *path,
		     const uint8_t *data, size_t bytes, uint64_t now_ns);
	void (*delivered)(void *context, uint32_t node, const struct roce_path *path,
			  const uint8_t *data, size_t bytes, uint64_t now_ns);
	/* Called after each poll of a node. */
	void (*polled)(void *context, uint32_t node, uint64_t now_ns);
	/* Returns whether to drop the packet on the wire from `node` to `next`. */
	bool (*loses)(void *context, uint32_t node, uint32_t next, const struct roce_path *path,
		      const uint8_t *data, size_t bytes);
	void *context;
};

struct inc_net_options {
	struct inc_tree_options tree;
	uint64_t seed;
	uint64_t delay_ns;     /* per wire; 0: 1 us */
	uint64_t rate_bps;     /* per wire; 0: unlimited */
	uint32_t queue_bytes;  /* queue before each wire; 0: unbounded */
	uint32_t socket_bytes; /* buffer for packets not yet received; 0: unbounded */
	struct inc_cost host, hop;
	uint64_t forward_ns;
	struct sim_faults faults;
};

struct inc_net;

/* Creates the network. DXP_ENOMEM, DXP_EINVAL. */
int inc_net_create(const struct inc_net_options *options, struct inc_net **out);
void inc_net_destroy(struct inc_net *n); /* does not free the nodes */

/* Sets a node. `ops` NULL removes it; its unread packets are lost. */
void inc_net_set(struct inc_net *n, uint32_t node, const struct inc_node_ops *ops, void *context);
void inc_net_tap(struct inc_net *n, const struct inc_tap *tap);

/* Schedule a poll of the node: inc_net_touch at this instant, inc_net_wake at `at_ns` at the
 * latest. */
void inc_net_touch(struct inc_net *n, uint32_t node);
void inc_net_wake(struct inc_net *n, uint32_t node, uint64_t at_ns);

/* Switches a node's machine off or on. Off: no packet passes. */
void inc_net_power(struct inc_net *n, uint32_t node, bool on);

/* Cuts or restores the wire from `node` to `next`. DXP_EINVAL: not a neighbour. */
int inc_net_cut(struct inc_net *n, uint32_t node, uint32_t next, bool cut);

void inc_net_faults(struct inc_net *n, const struct sim_faults *faults);

/* Runs until `done` (called after each instant) returns true, `limit_ns` have passed, or no event
 * is left. Returns whether `done` did. */
bool inc_net_run(struct inc_net *n, uint64_t limit_ns, bool (*done)(void *context), void *context);

uint64_t inc_net_now(const struct inc_net *n);
const struct inc_tree *inc_net_tree(const struct inc_net *n);

struct inc_net_counters {
	struct sim_counters packets; /* `sent` by nodes, `delivered` to nodes */
	uint64_t crossings;          /* wires crossed, also by lost packets */
	uint64_t host_sent, host_received;
	uint64_t host_busy_ns; /* CPU time of all hosts */
	uint64_t hop_busy_ns;
};
const struct inc_net_counters *inc_net_counters(const struct inc_net *n);
uint64_t inc_net_pool_bytes(const struct inc_net *n);

/* Returns a hash of all deliveries and their times. Equal seeds give equal hashes. */
uint64_t inc_net_trace_hash(const struct inc_net *n);

#endif
