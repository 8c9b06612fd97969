/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs bare RLTP endpoints on a virtual network, for tests of how sessions open, live and close. A
 * node can restart, move to another address, be unreachable, and get another key. Messages are PUTs
 * of one stream; the payload identifies sender and message. The layer above counts arrivals and
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
	uint32_t host_index; /* network host on which the node runs */
	uint64_t incarnation;
	uint8_t key; /* of the node's fabric; 0: none */
	/* key that is also accepted, or sent if `send_former`; 0: none */
	uint8_t former_key;
	bool send_former;
	uint8_t protect;  /* required by the node, an enum wire_protect */
	uint16_t path;    /* payload bytes that the node's interface can carry */
	uint64_t machine; /* see rltp_endpoint_options */
	uint8_t wireless; /* properties of paths to the same machine, enum rltp_path */
	bool long_frames; /* see rltp_endpoint_options */
	struct seal *seal;
	/* key pair of the node, if `keyed`; `bound`: the others have its public key */
	uint8_t private_key[32], public_key[32];
	bool keyed, bound;
	bool strict; /* from its next start on, the node requires key pairs of its peers */
	uint32_t receive_packets;
	struct rig_message *messages;
	uint32_t posted, ended;
	/* completions by status; `failed`: all statuses without an own counter */
	uint32_t ok, reset, closed, timed_out, path_less, failed;
	uint32_t tags;
	/* payload bytes that arrived for the first time, over all incarnations of the node */
	uint64_t delivered_bytes;
	uint16_t *seen; /* for each sender and message, how often its last byte arrived */
	uint64_t last_delivery_ns;
	uint32_t sent_type[256]; /* datagrams that the node sent, by type */
};

struct rig {
	struct net *net;
	struct rng rng;
	struct rig_node nodes[RIG_NODES];
	uint32_t count;
	uint64_t alarm_ns;         /* virtual time advances to this time even if no event occurs */
	uint64_t sent, sent_bytes; /* sent by all nodes */
	uint8_t (*kept)[2048];     /* copies of the sent datagrams that fit, while `keep` is true */
	uint32_t *kept_bytes, *kept_from, *kept_to, kept_count;
	bool keep;
};

#define RIG_KEPT           4096
#define RIG_UPDATE_PACKETS 64 /* packets for which a key of a protected session is used */

/* Protection of nodes that are created later, an enum wire_protect. Initially none. */
extern uint8_t rig_protect;

/* Creates `count` nodes with ids from 1, each with all others in its peer table. The network delays
 * 20 us one way. NULL: out of memory. */
struct rig *rig_create(uint32_t count, uint64_t seed, const struct sim_faults *faults,
		       uint16_t path);
void rig_destroy(struct rig *r);

struct rltp_session *rig_session(struct rig *r, uint32_t from, uint32_t to);

/* If the endpoint rejects the message, records its status. */
void rig_post(struct rig *r, uint32_t from, uint32_t to, uint32_t bytes);

/* Restarts the process with a larger incarnation. With `announce`, notifies the other nodes, as a
 * node table does. */
int rig_restart(struct rig *r, uint32_t node, bool announce);

/* rig_move gives the node another address; rig_introduce notifies one other node of it. */
void rig_move(struct rig *r, uint32_t node, uint32_t host_index);
void rig_introduce(struct rig *r, uint32_t to, uint32_t node);

/* Gives the node a present and a former key (0: none). With `send_former`, it sends with that one.
 */
int rig_rekey(struct rig *r, uint32_t node, uint8_t present, uint8_t former, bool send_former);

/* Gives the node a key pair made from `number`, and makes it known to the others; 0: none. */
int rig_identity(struct rig *r, uint32_t node, uint8_t number);

/* rig_finish runs until all messages of a node have completed, at most for `limit_ns`, and returns
 * whether they have. */
void rig_run(struct rig *r, uint64_t duration_ns);
bool rig_finish(struct rig *r, uint32_t node, uint64_t limit_ns);

#endif
