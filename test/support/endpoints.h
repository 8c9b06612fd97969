/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs bare RLTP endpoints on a virtual network, for tests of how sessions open, live and close. A
 * node can restart, move to another address, be cut off and get another key. Messages are PUTs of
 * one stream; the payload identifies sender and message. The layer above counts arrivals and
 * completions. */
#ifndef TEST_SUPPORT_ENDPOINTS_H
#define TEST_SUPPORT_ENDPOINTS_H

#include "base/rng.h"
#include "rltp/endpoint.h"
#include "sim/net.h"

#define RIG_NODES    4
#define RIG_MESSAGES 4096

struct rig;

struct rig_message {
	struct rltp_message rltp;
	uint32_t id;
	bool ended;
	int status;
};

struct rig_node {
	struct rig *rig;
	struct rltp_endpoint *endpoint;
	uint32_t host_index; /* index of its host in the network */
	uint64_t incarnation;
	uint8_t key;     /* key of its fabric; 0: none */
	uint8_t protect; /* enum wire_protect that it requires */
	uint16_t path;   /* payload bytes that its interface carries */
	struct seal *seal;
	uint32_t receive_packets;
	struct rig_message *messages;
	uint32_t posted, ended;
	/* completions by status; failed: all other statuses */
	uint32_t ok, reset, closed, timed_out, path_less, failed;
	uint32_t tags; /* tags computed */
	/* payload that arrived for the first time, over all incarnations */
	uint64_t delivered_bytes;
	uint16_t *seen; /* arrivals of a message's last byte, by sender and message */
	uint64_t last_delivery_ns;
	uint32_t sent_type[256]; /* datagrams sent, by type */
};

struct rig {
	struct net *net;
	struct rng rng;
	struct rig_node nodes[RIG_NODES];
	uint32_t count;
	uint64_t alarm_ns;         /* virtual time advances to this even without events */
	uint64_t sent, sent_bytes; /* totals of all nodes */
	uint8_t (*kept)[2048];     /* if set, keeps every sent datagram that fits */
	uint32_t *kept_bytes, *kept_from, *kept_to, kept_count;
	bool keep;
};

#define RIG_KEPT           4096
#define RIG_UPDATE_PACKETS 64 /* packets per key */

/* Protection of the nodes of rigs that are created later: enum wire_protect, initially none. */
extern uint8_t rig_protect;

/* Creates `count` nodes with ids from 1, each in all peer tables, on a network of 20 us one way.
 * Returns NULL if out of memory. */
struct rig *rig_create(uint32_t count, uint64_t seed, const struct sim_faults *faults,
		       uint16_t path);
void rig_destroy(struct rig *r);

struct rltp_session *rig_session(struct rig *r, uint32_t from, uint32_t to);

/* Queues one message. If it is rejected, records its status. */
void rig_post(struct rig *r, uint32_t from, uint32_t to, uint32_t bytes);

/* Stops a node's process and starts it again with a larger incarnation. `announce`: the others are
 * notified as by a node table. */
int rig_restart(struct rig *r, uint32_t node, bool announce);

/* Gives the node another address; rig_introduce notifies one other node. */
void rig_move(struct rig *r, uint32_t node, uint32_t host_index);
void rig_introduce(struct rig *r, uint32_t to, uint32_t node);

/* rig_run runs for the duration. rig_finish runs until all messages of a node have completed, and
 * returns whether they did. */
void rig_run(struct rig *r, uint64_t duration_ns);
bool rig_finish(struct rig *r, uint32_t node, uint64_t limit_ns);

#endif
