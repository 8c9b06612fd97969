/* SPDX-License-Identifier: BSD-3-Clause */
/* A node: one NIC on one UDP endpoint, its membership in a fabric, and the loop that runs both.
 * Function 0 of the NIC is open, with its window in this process's memory; queue pair 0 carries the
 * service.
 *
 * Threads: one thread at a time calls these functions. Exceptions: any thread may call node_wake
 * and use the window. After posting from a thread other than the polling one, call node_wake. */
#ifndef NODE_NODE_H
#define NODE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/nic.h"
#include "nic/user.h"
#include "node/table.h"

struct node;

#define NODE_SERVICE_QP 0 /* receives commands; the node table holds its magic */

struct node_options {
	const char *name; /* [A-Za-z0-9._-], unique in the fabric; all strings are copied */
	bool xpu;         /* else a host */
	uint8_t uuid[16]; /* the same after a restart keeps the id; all zero: random */
	const char *engine, *device; /* xPU: shown in the node table; NULL: "" */
	uint64_t memory_bytes;       /* xPU */
	uint32_t capabilities;       /* MANAGE_CAPABILITY_..., shown in the node table */
	struct udp_address manager;
	const uint8_t *fabric_key; /* FABRIC_KEY_BYTES, copied */
	/* Not 0: use this id, without a manager; peers come from node_peer only. */
	uint16_t static_id;
	/* Id to request; the manager assigns another one if it is in use. 0: any. */
	uint16_t wanted_id;
	struct udp_address bind; /* port 0: any */
	/* `bind` comes from this machine's routes, not from the user: follow their changes. */
	bool follow_address;
	uint32_t spin_ns; /* spin time of node_wait; 0: WAIT_SPIN_NS; UINT32_MAX: no spin */
	/* xPU: time to keep resources of a silent host after its last packet or renewal. Up to
	 * RLTP_DEAD_NS, 0 included: as for other peers. */
	uint64_t keep_hosts_ns;
	uint32_t window_packets; /* 0: from the size of the socket's receive buffer */
	bool no_payload_crc;
	/* All zero: recommended values, with the congestion control named by DXP_CC in the
	 * environment. */
	struct rltp_tuning tuning;
	const struct nic_cfg_ops *cfg; /* xPU: its registers */
	void *cfg_context;
	/* Called from node_poll for each change of the node table, after the NIC has applied it. A
	 * TABLE_SILENT peer is reported lost only when its session is silent too; a host of an xPU,
	 * only after keep_hosts_ns. May be NULL. */
	void (*changed)(void *context, const struct table_change *change);
	/* Called when a session closes for another reason: requests under way and state of either
	 * side may be lost. May be NULL. */
	void (*session_ended)(void *context, uint16_t peer, int status);
	void *changed_context; /* of both */
};

/* Opens socket, NIC and window and starts to join. DXP_EBUSY: the port is in use; DXP_EIO,
 * DXP_ENOMEM, DXP_EINVAL: as logged. */
int node_open(const struct node_options *options, struct node **out);

/* Leaves the fabric with one unacknowledged datagram and frees everything. NULL is allowed. */
void node_close(struct node *n);

/* Adds a peer to a node with a static id. Statuses as nic_peer_set; DXP_EUNSUPPORTED, logged: the
 * path's MTU is too small. */
int node_peer(struct node *n, uint16_t id, const struct udp_address *address, uint64_t incarnation);
uint64_t node_incarnation(const struct node *n);

/* Polls until the node holds a lease or `deadline_ns` passes. DXP_ETIMEDOUT, DXP_EAUTH, DXP_EBUSY:
 * node_error explains. */
int node_join(struct node *n, uint64_t deadline_ns);
const char *node_error(const struct node *n);

/* Polls once: handles arrivals, doorbells and timers, then sends. Returns the amount of work; 0:
 * none. */
uint32_t node_poll(struct node *n);

/* Handles doorbells without sending; returns how many. For a polling caller that posts more than
 * the doorbell FIFO holds: the next node_poll sends all in one batch. */
uint32_t node_doorbells_accept(struct node *n);

/* Returns when node_poll must be called even if nothing arrives. */
uint64_t node_deadline(const struct node *n);

/* Spins, then blocks until node_poll has work, `deadline_ns` passes or node_wake is called. */
void node_wait(struct node *n, uint64_t deadline_ns);
void node_wake(struct node *n);

/* Adds `delta` to the number of devices that post to this node's windows and cannot wake it. While
 * it is not 0 the node does not sleep. Any thread. */
void node_arm(struct node *n, int delta);
bool node_armed(const struct node *n);

/* Sets the eventfd or socket that wakes the user of `function`. The number 1, 8 bytes, is written
 * when an event arrives while the user sleeps. It must never block; the caller keeps it. -1, the
 * default: none. */
void node_user_fd(struct node *n, uint32_t function, int fd);

/* Offers functions 1 .. `functions`, if free, to other processes at the socket `path`; NULL: at the
 * sockets of this node's name (node/offer_folder.h). node_poll serves them until node_close.
 * DXP_EEXIST: already offered; DXP_EUNSUPPORTED: DXP_RUN is empty; DXP_EBUSY, DXP_EACCESS,
 * DXP_EINVAL, DXP_ENOENT, DXP_EIO, logged; DXP_ENOMEM. */
int node_offer(struct node *n, uint32_t functions, const char *path);

/* Returns a descriptor, readable when node_poll has work; for a loop over several nodes. */
int node_fd(struct node *n);

/* Until node_close, a write to this eventfd wakes node_wait and a sleep on node_fd; no read is
 * needed. DXP_EIO: no memory. */
int node_watch(struct node *n, int fd);

/* Announces a sleep: from now users of the windows must wake the node after posting (nic/wake.c).
 * False, and withdrawn, if a doorbell is pending, a user must be woken, or a device is armed. */
bool node_sleep_announce(struct node *n);
void node_sleep_end(struct node *n);

/* Clears the wakeup after a sleep on node_fd. */
void node_wait_clear(struct node *n);

uint16_t node_id(const struct node *n); /* WIRE_NODE_NONE before the lease */
struct nic *node_nic(struct node *n);
struct dxp_window *node_window(struct node *n);
const struct node_table *node_table(const struct node *n);
void node_address(const struct node *n, struct udp_address *out);

/* Returns the service queue pair of another node. DXP_ENOENT: no such node; DXP_EACCESS: not
 * granted; DXP_EPEERLOST: dead. */
int node_target(const struct node *n, uint16_t id, struct dxp_target *out);

/* Returns since when a peer is silent; 0: it is not. Silent: its lease expired, or an answer to our
 * session is overdue by more than RLTP_DEAD_NS. */
uint64_t node_silent_since(const struct node *n, uint16_t peer);

/* Closes the session with a peer and fails its requests with `status`. The peer notices at its next
 * packet and may then start a new handshake. */
void node_peer_reset(struct node *n, uint16_t peer, int status);

/* Returns payload bytes exchanged with one peer, without retransmissions and duplicates; 0 for
 * unknown peers. */
void node_traffic(struct node *n, uint16_t peer, uint64_t *sent_bytes, uint64_t *received_bytes);

/* Polls several nodes in the calling thread until *stop is not 0. */
struct node_loop {
	struct node **nodes;
	uint32_t count;
	uint32_t spin_ns;
	/* Polls events from the windows, once per round; returns the amount of work. */
	uint32_t (*service)(void *context);
	/* Called after a round without work; returns the amount of work. May be NULL. */
	uint32_t (*idle)(void *context);
	/* Returns whether `service` woke a thread since the last call; it may need this core. May
	 * be NULL. */
	bool (*woke)(void *context);
	void *service_context; /* of all four */
	/* Returns when `service` must be called again; may be NULL. */
	uint64_t (*service_deadline)(void *context);
	const _Atomic int *stop; /* set by another thread or a signal handler */
};
int node_loop_run(struct node_loop *loop);

#endif
