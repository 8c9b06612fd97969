/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree of hosts and switches with a virtual clock in nanoseconds, for in-network computing. It
 * knows no protocol: nodes are whatever can receive, send and name a deadline. Datagrams go from
 * wire to wire (inc_tree.h), each with a rate, a delay and a tail-drop queue, and suffer on each
 * wire what fault.h says. One seed decides everything, so every run replays.
 *
 * A node is one CPU: it takes a packet, which costs `receive_ns`, then sends what is due, each for
 * `send_ns`; only then it takes the next. `latency_ns` comes on top and keeps nobody busy. Packets
 * that merely pass through a switch cost `forward_ns` of time and no CPU. */
#ifndef SIM_INC_NET_H
#define SIM_INC_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/fault.h"
#include "sim/inc_tree.h"
#include "sim/path.h"
#include "wire/inc.h"

/* What a node is. `node` is what inc_net_set was given. */
struct inc_node_ops {
	void (*receive)(void *node, const uint8_t *data, size_t bytes, const struct roce_path *path,
			uint64_t now_ns);
	size_t (*send)(void *node, struct inc_batch *out, uint64_t now_ns);
	uint64_t (*deadline)(void *node); /* when `send` must be called again; 0: now */
};

struct inc_cost {
	uint64_t receive_ns, send_ns; /* of CPU, for each packet */
	uint64_t latency_ns;          /* until a packet that arrived is looked at */
};

/* Looks on; all may be NULL. `data` is as it lies on the wire. */
struct inc_tap {
	/* For broken nodes: may change what a node sends; false: it does not leave. */
	bool (*changes)(void *context, uint32_t node, const struct roce_path *path, uint8_t *data,
			size_t bytes);
	void (*sent)(void *context, uint32_t node, const struct roce_path *path,
		     const uint8_t *data, size_t bytes, uint64_t now_ns);
	void (*delivered)(void *context, uint32_t node, const struct roce_path *path,
			  const uint8_t *data, size_t bytes, uint64_t now_ns);
	/* A node had its turn. */
	void (*turned)(void *context, uint32_t node, uint64_t now_ns);
	/* True: it does not survive the wire from `node` to `next`. */
	bool (*loses)(void *context, uint32_t node, uint32_t next, const struct roce_path *path,
		      const uint8_t *data, size_t bytes);
	void *context;
};

struct inc_net_options {
	struct inc_tree_options tree;
	uint64_t seed;
	uint64_t delay_ns;     /* of each wire; 0: 1 us */
	uint64_t rate_bps;     /* of each wire; 0: unlimited */
	uint32_t queue_bytes;  /* in front of each wire; 0: no bound */
	uint32_t socket_bytes; /* room for what a node has not looked at; 0: no bound */
	struct inc_cost host, hop;
	uint64_t forward_ns;
	struct sim_faults faults;
};

struct inc_net;

/* DXP_ENOMEM; DXP_EINVAL. */
int inc_net_create(const struct inc_net_options *options, struct inc_net **out);
void inc_net_destroy(struct inc_net *n); /* not the nodes */

/* `ops` NULL: nobody is there any more, and what it had not looked at is lost. */
void inc_net_set(struct inc_net *n, uint32_t node, const struct inc_node_ops *ops, void *context);
void inc_net_tap(struct inc_net *n, const struct inc_tap *tap);

/* The node has its turn at this instant, or then at the latest. */
void inc_net_touch(struct inc_net *n, uint32_t node);
void inc_net_wake(struct inc_net *n, uint32_t node, uint64_t at_ns);

/* Nothing goes through the node any more (its machine is off), or again. */
void inc_net_power(struct inc_net *n, uint32_t node, bool on);

/* Nothing passes the wire from `node` to its neighbour `next`, or again. */
int inc_net_cut(struct inc_net *n, uint32_t node, uint32_t next, bool cut);

void inc_net_faults(struct inc_net *n, const struct sim_faults *faults);

/* Runs until `done` says so, `limit_ns` have passed from now, or nothing is left to happen. `done`
 * is asked after every instant. True when it was true. */
bool inc_net_run(struct inc_net *n, uint64_t limit_ns, bool (*done)(void *context), void *context);

uint64_t inc_net_now(const struct inc_net *n);
const struct inc_tree *inc_net_tree(const struct inc_net *n);

struct inc_net_counters {
	struct sim_counters packets; /* sent and delivered: by nodes */
	uint64_t crossings;          /* of wires, lost ones included */
	uint64_t host_sent, host_received;
	uint64_t host_busy_ns; /* of all hosts */
	uint64_t hop_busy_ns;
};
const struct inc_net_counters *inc_net_counters(const struct inc_net *n);
uint64_t inc_net_pool_bytes(const struct inc_net *n);

/* Over every delivery and its time: equal for equal seeds. */
uint64_t inc_net_trace_hash(const struct inc_net *n);

#endif
