/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree (inc_tree.h) of hosts and switches with a virtual clock in nanoseconds. A node receives,
 * sends and has a deadline, so any protocol can run. Each wire has rate, delay, a queue that drops,
 * and the faults of fault.h. One seed replays a run.
 *
 * A node's CPU receives one packet (`receive_ns`), then sends each that is due (`send_ns`).
 * `latency_ns`, and `forward_ns` of a forwarded packet, cost no CPU. */
#ifndef SIM_INC_NET_H
#define SIM_INC_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/fault.h"
#include "sim/inc_tree.h"
#include "sim/path.h"
#include "wire/inc.h"

/* `node`: context of inc_net_set. */
struct inc_node_ops {
	void (*receive)(void *node, const uint8_t *data, size_t bytes, const struct roce_path *path,
			uint64_t now_ns);
	size_t (*send)(void *node, struct inc_batch *out, uint64_t now_ns);
	uint64_t (*deadline)(void *node); /* next `send`; 0: now */
};

struct inc_cost {
	uint64_t receive_ns, send_ns; /* CPU time per packet */
	/* from a packet's arrival until the CPU can receive it */
	uint64_t latency_ns;
};

/* Observers; each may be NULL. `data`: as on the wire. */
struct inc_tap {
	/* A broken node may change what it sends; false: dropped. */
	bool (*changes)(void *context, uint32_t node, const struct roce_path *path, uint8_t *data,
			size_t bytes);
	void (*sent)(void *context, uint32_t node, const struct roce_path *path,
		     const uint8_t *data, size_t bytes, uint64_t now_ns);
	void (*delivered)(void *context, uint32_t node, const struct roce_path *path,
			  const uint8_t *data, size_t bytes, uint64_t now_ns);
	/* After each poll. */
	void (*polled)(void *context, uint32_t node, uint64_t now_ns);
	/* true: dropped on the wire from `node` to `next`. */
	bool (*loses)(void *context, uint32_t node, uint32_t next, const struct roce_path *path,
		      const uint8_t *data, size_t bytes);
	void *context;
};

struct inc_net_options {
	struct inc_tree_options tree;
	uint64_t seed;
	uint64_t delay_ns;    /* per wire; 0: 1 us */
	uint64_t rate_bps;    /* per wire; 0: unlimited */
	uint32_t queue_bytes; /* before each wire; 0: unlimited */
	/* of a node, for packets not received yet; 0: unlimited */
	uint32_t socket_bytes;
	struct inc_cost host, hop;
	uint64_t forward_ns;
	struct sim_faults faults;
};

struct inc_net;

/* DXP_ENOMEM, DXP_EINVAL. */
int inc_net_create(const struct inc_net_options *options, struct inc_net **out);
void inc_net_destroy(struct inc_net *n); /* not the nodes' contexts */

/* Sets a node; `ops` NULL removes it, and its packets are lost. */
void inc_net_set(struct inc_net *n, uint32_t node, const struct inc_node_ops *ops, void *context);
void inc_net_tap(struct inc_net *n, const struct inc_tap *tap);

/* Schedule a poll: now; at `at_ns` at the latest. */
void inc_net_touch(struct inc_net *n, uint32_t node);
void inc_net_wake(struct inc_net *n, uint32_t node, uint64_t at_ns);

/* While off, no packet passes. */
void inc_net_power(struct inc_net *n, uint32_t node, bool on);

/* DXP_EINVAL: not neighbours. */
int inc_net_cut(struct inc_net *n, uint32_t node, uint32_t next, bool cut);

void inc_net_faults(struct inc_net *n, const struct sim_faults *faults);

/* Runs until `done`, called after each instant, returns true, `limit_ns` have passed, or no event
 * is left. Returns whether `done` did. */
bool inc_net_run(struct inc_net *n, uint64_t limit_ns, bool (*done)(void *context), void *context);

uint64_t inc_net_now(const struct inc_net *n);
const struct inc_tree *inc_net_tree(const struct inc_net *n);

struct inc_net_counters {
	/* `sent` by nodes; `delivered` to nodes */
	struct sim_counters packets;
	uint64_t crossings; /* wires crossed, also by lost packets */
	uint64_t host_sent, host_received;
	uint64_t host_busy_ns; /* of all hosts */
	uint64_t hop_busy_ns;
};
const struct inc_net_counters *inc_net_counters(const struct inc_net *n);
uint64_t inc_net_pool_bytes(const struct inc_net *n);

/* Hashes all deliveries with their times; equal seeds give equal hashes. */
uint64_t inc_net_trace_hash(const struct inc_net *n);

#endif
