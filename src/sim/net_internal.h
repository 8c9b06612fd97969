/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by net.c (hosts and clock) and departure.c (from the sender onto the path). */
#ifndef SIM_NET_INTERNAL_H
#define SIM_NET_INTERNAL_H

#include "sim/alarm.h"
#include "sim/net.h"

#define BATCH 64
#define PAIRS 65 /* hosts with settings for pairs (net_blackhole, net_mtu) */

struct net_host {
	const struct net_host_ops *ops; /* NULL: no such host */
	void *context;
	struct sim_packet *head, *tail;
	uint64_t socket_bytes;
	uint64_t busy_ns; /* until then */
	uint64_t wall_since_ns;
	int64_t wall_offset_ns;
	int32_t wall_drift_ppm;
	uint32_t spins;
};

struct net_pair {
	bool blackhole;
	uint32_t mtu;
};

struct net {
	struct net_options options;
	struct net_paths paths;
	struct net_host *hosts;
	struct sim_alarms alarms;
	struct sim_queue queue;
	struct sim_pool pool;
	struct sim_fault_state fault_state;
	bool faulty; /* some fault is set */
	struct net_pair pairs[PAIRS][PAIRS];
	struct net_tap tap;
	uint64_t now_ns, start_ns, hash;
	struct sim_counters counters;
	struct datagram batch[BATCH];
};

/* ---- departure.c ---- */
void net_packet_forward(struct net *n, struct sim_packet *p, uint64_t now_ns, uint64_t extra_ns);
void net_datagram_send(struct net *n, uint32_t from, const struct datagram *d);
size_t net_port_space(const struct net *n, uint32_t host, uint64_t *at_ns);

#endif
