/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree of hosts and switches with a virtual clock in nanoseconds, for in-network computing. A
 * node is any object that can receive, send and return a deadline, so any protocol can run on it.
 * Datagrams cross wire after wire (inc_tree.h). Each wire has a rate, a delay, a queue that drops
 * what does not fit, and the faults of fault.h. All random numbers come from one seed, so each run
 * can be replayed.
 *
 * A node has one CPU. It needs `receive_ns` to receive a packet. It then needs `send_ns` for each
 * packet that is due, and receives the next one. `latency_ns` is a delay that uses no CPU. A packet
 * that a switch forwards costs `forward_ns` of delay, and no CPU. */
#ifndef SIM_INC_NET_H
#define SIM_INC_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/fault.h"
#include "sim/inc_tree.h"
#include "sim/path.h"
#include "wire/inc.h"

/* Functions of a node. `node` is the context given to inc_net_set. */
struct inc_node_ops {
	void (*receive)(void *node, const uint8_t *data, size_t bytes, const struct roce_path *path,
			uint64_t now_ns);
	size_t (*send)(void *node, struct inc_batch *out, uint64_t now_ns);
	uint64_t (*deadline)(void *node); /* time in ns at which to call `send` again; 0: now */
};

struct inc_cost {
	uint64_t receive_ns, send_ns; /* CPU time for each packet */
	/* from the arrival of a packet at the machine until the CPU can receive it */
	uint64_t latency_ns;
};

/* Observers of the network; each of them may be NULL. `data` is the datagram as on the wire. */
struct inc_tap {
	/* To simulate broken nodes: may change a packet that a node sends. Returns false to drop
	 * the packet. */
	bool (*changes)(void *context, uint32_t node, const struct roce_path *path, uint8_t *data,
			size_t bytes);
	void (*sent)(void *context, uint32_t node, const struct roce_path *path,
		     const uint8_t *data, size_t bytes, uint64_t now_ns);
	void (*delivered)(void *context, uint32_t node, const struct roce_path *path,
			  const uint8_t *data, size_t bytes, uint64_t now_ns);
	/* Called after each poll of a node. */
	void (*polled)(void *context, uint32_t node, uint64_t now_ns);
	/* Returns true to drop the packet on the wire from `node` to `next`. */
	bool (*loses)(void *context, uint32_t node, uint32_t next, const struct roce_path *path,
		      const uint8_t *data, size_t bytes);
	void *context;
};

struct inc_net_options {
	struct inc_tree_options tree;
	uint64_t seed;
	uint64_t delay_ns;    /* delay of each wire; 0: 1 us */
	uint64_t rate_bps;    /* rate of each wire; 0: unlimited */
	uint32_t queue_bytes; /* bytes that the queue before each wire holds; 0: unlimited */
	/* bytes that a node's buffer holds for packets not received yet; 0: unlimited */
	uint32_t socket_bytes;
	struct inc_cost host, hop;
	uint64_t forward_ns;
	struct sim_faults faults;
};

struct inc_net;

/* Creates the network. DXP_ENOMEM, DXP_EINVAL. */
int inc_net_create(const struct inc_net_options *options, struct inc_net **out);
void inc_net_destroy(struct inc_net *n); /* does not free the nodes' contexts */

/* Sets a node. If `ops` is NULL, removes the node; packets that it has not received are lost. */
void inc_net_set(struct inc_net *n, uint32_t node, const struct inc_node_ops *ops, void *context);
void inc_net_tap(struct inc_net *n, const struct inc_tap *tap);

/* Schedule a poll of the node: inc_net_touch at the present instant, inc_net_wake at `at_ns` at the
 * latest. */
void inc_net_touch(struct inc_net *n, uint32_t node);
void inc_net_wake(struct inc_net *n, uint32_t node, uint64_t at_ns);

/* Switches a node's machine on or off. While it is off, no packet passes the node. */
void inc_net_power(struct inc_net *n, uint32_t node, bool on);

/* Cuts or restores the wire from `node` to `next`. DXP_EINVAL: they are not neighbours. */
int inc_net_cut(struct inc_net *n, uint32_t node, uint32_t next, bool cut);

void inc_net_faults(struct inc_net *n, const struct sim_faults *faults);

/* Runs until `done` returns true, `limit_ns` have passed, or no event is left. `done` is called
 * after each instant. Returns true if `done` did. */
bool inc_net_run(struct inc_net *n, uint64_t limit_ns, bool (*done)(void *context), void *context);

uint64_t inc_net_now(const struct inc_net *n);
const struct inc_tree *inc_net_tree(const struct inc_net *n);

struct inc_net_counters {
	/* `sent` counts packets that nodes send; `delivered` counts packets that nodes receive */
	struct sim_counters packets;
	uint64_t crossings; /* wires that packets crossed, lost packets included */
	uint64_t host_sent, host_received;
	uint64_t host_busy_ns; /* CPU time used by all hosts */
	uint64_t hop_busy_ns;
};
const struct inc_net_counters *inc_net_counters(const struct inc_net *n);
uint64_t inc_net_pool_bytes(const struct inc_net *n);

/* Returns a hash of all deliveries and their times. Equal seeds give equal hashes. */
uint64_t inc_net_trace_hash(const struct inc_net *n);

#endif
