/* SPDX-License-Identifier: BSD-3-Clause */
/* A node: one NIC on one UDP endpoint, its membership in a fabric, and the loop that moves them.
 * Function 0 of the NIC is open, its window in this process's memory; service is on queue pair 0.
 *
 * Threads: everything here is for one thread at a time but node_wake and the window, which any
 * thread may use. After posting to the window from another thread than the one that turns the node,
 * call node_wake. */
#ifndef NODE_NODE_H
#define NODE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/nic.h"
#include "nic/user.h"
#include "node/table.h"

struct node;

#define NODE_SERVICE_QP 0 /* where commands arrive; its magic is what the node table tells */

struct node_options {
	const char *name; /* [A-Za-z0-9._-], unique in the fabric; copied, as all texts here */
	bool xpu;         /* else a host */
	uint8_t uuid[16]; /* the same after a restart keeps the id; all zero: a new random one */
	const char *engine, *device; /* xPU: what the table says of it; NULL: "" */
	uint64_t memory_bytes;       /* xPU */
	uint32_t capabilities;       /* MANAGE_CAPABILITY_..., for the table */
	struct wire_address manager;
	const uint8_t *fabric_key; /* FABRIC_KEY_BYTES, copied */
	/* Not 0: a node with this id and without a manager; its peers come from node_peer alone. */
	uint16_t static_id;
	/* The id to ask the manager for, which gives another one where it is taken; 0: any. */
	uint16_t wanted_id;
	struct wire_address bind; /* port 0: any */
	bool follow_address;      /* `bind` is what this machine's routes said, not the user: when
				     they say otherwise, the node moves there and goes on */
	uint32_t spin_ns;         /* node_wait; 0: LINK_SPIN_NS; UINT32_MAX: never spin */
	uint64_t keep_hosts_ns;  /* xPU: what a silent host has here is kept this long from its last
				    sign of life; up to RLTP_DEAD_NS, 0 among them: not longer
				    than any peer */
	uint32_t window_packets; /* 0: as the socket's buffer allows */
	bool no_payload_crc;
	struct rltp_tuning tuning;     /* zeros: what people should use, with the congestion control
					  that DXP_CC in the environment names */
	const struct nic_cfg_ops *cfg; /* xPU: its registers */
	void *cfg_context;
	/* Called from node_turn for each change of the node table, after the NIC knows of it. A
	 * peer that the manager takes for dead (TABLE_SILENT) is lost only when its session has not
	 * heard it either, and a silent host of an xPU only after keep_hosts_ns. May be NULL. */
	void (*changed)(void *context, const struct table_change *change);
	/* Likewise when the session with a peer has ended otherwise: what either end had under way,
	 * or kept for the other, may be gone. May be NULL. */
	void (*session_ended)(void *context, uint16_t peer, int status);
	void *changed_context; /* of both */
};

/* Opens endpoint, NIC and window and begins to join. DXP_EBUSY: port in use; DXP_EIO, DXP_ENOMEM,
 * DXP_EINVAL: as logged. */
int node_open(const struct node_options *options, struct node **out);

/* Leaves the fabric (one datagram, not awaited) and frees everything. NULL is allowed. */
void node_close(struct node *n);

/* A peer of a node with a static id. Statuses as nic_peer_set; DXP_EUNSUPPORTED, logged: the path's
 * packets are too small. */
int node_peer(struct node *n, uint16_t id, const struct wire_address *address,
	      uint64_t incarnation);
uint64_t node_incarnation(const struct node *n);

/* Turns until the node holds a lease or `deadline_ns`. DXP_ETIMEDOUT, DXP_EAUTH, DXP_EBUSY;
 * node_error says it in words. */
int node_join(struct node *n, uint64_t deadline_ns);
const char *node_error(const struct node *n);

/* One turn: takes what arrived, doorbells and timers, sends what is due. Returns how much happened;
 * 0 for nothing. */
uint32_t node_turn(struct node *n);

/* Takes the doorbells and sends nothing yet; returns how many there were. For who turns the node
 * himself and has more to post than the FIFO holds: the next turn sends it all in one train. */
uint32_t node_take(struct node *n);

/* When node_turn must be called again though nothing arrives. */
uint64_t node_deadline(const struct node *n);

/* Waits (spinning first) until there is something for node_turn, `deadline_ns` or node_wake. */
void node_wait(struct node *n, uint64_t deadline_ns);
void node_wake(struct node *n);

/* `delta` devices more or fewer post to windows of this node and cannot wake it: while there are
 * any it never sleeps. Any thread. */
void node_arm(struct node *n, int delta);
bool node_armed(const struct node *n);

/* What is written, 8 bytes that make the number 1, when the user of `function` sleeps and there is
 * an event for it: an eventfd, or a socket; it must not block, whatever the user does. -1:
 * nothing, as at first. Stays the caller's. */
void node_user_fd(struct node *n, uint32_t function, int fd);

/* Offers functions 1 .. `functions`, as far as they are free, to other processes: at `path`, or
 * when that is NULL at the sockets of this node's name (node/offer_place.h). They are served by
 * node_turn, until node_close. DXP_EEXIST: they are offered already; DXP_EUNSUPPORTED: DXP_RUN says
 * nowhere; DXP_EBUSY, DXP_EACCESS, DXP_EINVAL, DXP_ENOENT, DXP_EIO, logged; DXP_ENOMEM. */
int node_offer(struct node *n, uint32_t functions, const char *path);

/* For a loop over several nodes: readable when node_turn has something to do. */
int node_fd(struct node *n);

/* From now on a write to this eventfd ends a sleep on node_fd, and node_wait; nobody has to read
 * it. Until node_close. DXP_EIO: no memory. */
int node_watch(struct node *n, int fd);

/* The engine is about to sleep: users of the windows must wake it after posting (nic/wake.c).
 * False, and nothing to end, when a doorbell is waiting or a device is armed. */
bool node_sleep_announce(struct node *n);
void node_sleep_end(struct node *n);

/* After sleeping on node_fd: forgets a wake that has done its work. */
void node_wait_clear(struct node *n);

uint16_t node_id(const struct node *n); /* WIRE_NODE_NONE before the lease */
struct nic *node_nic(struct node *n);
struct dxp_window *node_window(struct node *n);
const struct node_table *node_table(const struct node *n);
void node_address(const struct node *n, struct wire_address *out);

/* Service queue pair of another node, from the table. DXP_ENOENT: no such node; DXP_EACCESS: not
 * granted; DXP_EPEERLOST: dead. */
int node_target(const struct node *n, uint16_t id, struct dxp_target *out);

/* Since when a peer has been silent: the manager has not heard it, or it owes our session an answer
 * for longer than RLTP_DEAD_NS. 0: it is not. */
uint64_t node_silent_since(const struct node *n, uint16_t peer);

/* Ends the session with a peer and all that is under way with it, with `status`. The peer learns it
 * when it sends the next packet, and may greet again. */
void node_peer_reset(struct node *n, uint16_t peer, int status);

/* Traffic with one peer: payload bytes sent first and received first. 0 for unknown ones. */
void node_traffic(struct node *n, uint16_t peer, uint64_t *sent_bytes, uint64_t *received_bytes);

/* Turns several nodes in the calling thread until *stop is not 0. */
struct node_loop {
	struct node **nodes;
	uint32_t count;
	uint32_t spin_ns;
	/* Called once per round, to take events from the windows; returns how much it did. */
	uint32_t (*service)(void *context);
	/* Called when a round found nothing to do; returns how much it did nevertheless. May be
	 * NULL. */
	uint32_t (*idle)(void *context);
	/* Has `service` woken somebody since it was asked last, who may need this core? May be
	 * NULL.
	 */
	bool (*woke)(void *context);
	void *service_context; /* of all four */
	/* When `service` must be called again; may be NULL. */
	uint64_t (*service_deadline)(void *context);
	const _Atomic int *stop; /* set by another thread or a signal handler */
};
int node_loop_run(struct node_loop *loop);

#endif
