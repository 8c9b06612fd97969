/* SPDX-License-Identifier: BSD-3-Clause */
/* A node: one NIC on one UDP endpoint, its membership in a fabric, and the loop that runs both.
 * Function 0 of the NIC is open, with its window in this process. Its queue pair 0 carries commands
 * and replies. Threads: one thread at a time may call these functions. Any thread may use the
 * window and call
 *         node_wake, which it must do after posting unless it also polls. */
#ifndef NODE_NODE_H
#define NODE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "keys/identity.h"
#include "nic/nic.h"
#include "nic/user.h"
#include "node/table.h"

struct node;

#define NODE_OUTSIDE_MAX 16 /* ranges of addresses: as many as fit a command line */
#define NODE_SERVICE_QP  0  /* receives commands; the node table has its magic */

/* Addresses of nodes outside of the node table that register mode may reach, and that may send to
 * receive registers; they must have the fabric key. */
struct node_outside {
	struct address_prefix prefixes[NODE_OUTSIDE_MAX];
	uint32_t count;
};

struct node_options {
	const char *name; /* [A-Za-z0-9._-], unique in the fabric. All strings are copied. */
	bool xpu;         /* otherwise a host */
	/* with the same uuid, the node keeps its id over a restart; all zero: a random one */
	uint8_t uuid[16];
	const char *engine, *device; /* xPU: for display in the node table; NULL: "" */
	uint64_t memory_bytes;       /* xPU */
	uint32_t capabilities;       /* MANAGE_CAPABILITY_..., for the node table */
	struct udp_address manager;
	const uint8_t *fabric_key; /* FABRIC_KEY_BYTES, copied */
	/* The key pair that the manager has admitted; NULL: joins with the fabric key. Copied. */
	const struct identity *identity;
	/* If not 0: use this id without a manager; node_peer adds peers. */
	uint16_t static_id;
	/* Requested id; 0: any. The manager assigns another one if it is in use. */
	uint16_t wanted_id;
	struct udp_address bind; /* port 0: any */
	/* 0: use only the port of `bind`. Otherwise use the first free port of this many from it
	 * on; if none is free, any port. */
	uint16_t bind_ports;
	/* Where other nodes reach this one, if not at the address that it sends from: behind NAT,
	 * or with several interfaces. Port 0: the bound one. All zero: not used. */
	struct udp_address advertise;
	/* `bind` is from this machine's routes: follow their changes. */
	bool follow_address;
	/* Nodes with the same crossbar, all polled by one thread, exchange datagrams without the
	 * kernel. It must outlive them. NULL: none. */
	struct crossbar *crossbar;
	uint32_t spin_ns; /* spin time of node_wait; 0: WAIT_SPIN_NS; UINT32_MAX: no spin */
	/* xPU: time to keep resources of a silent host after its last packet or renewal. A time up
	 * to RLTP_DEAD_NS has no effect, because other peers are kept as long. */
	uint64_t keep_hosts_ns;
	uint32_t qps;            /* queue pairs of function 0 for this node; 0: all */
	uint32_t window_packets; /* 0: derived from the socket's receive buffer */
	bool no_payload_crc;
	const char *protect;         /* as DXP_PROTECT, and instead of it; NULL: DXP_PROTECT */
	struct node_outside outside; /* zeroed: none */
	/* All zero: recommended values, with DXP_CC of the environment as congestion control. */
	struct rltp_tuning tuning;
	const struct nic_cfg_ops *cfg; /* xPU: its registers */
	void *cfg_context;
	/* Reports each change of the node table, from node_poll, after the NIC has applied it. A
	 * TABLE_SILENT peer is reported lost only when its session is silent too; a host of an xPU
	 * only after keep_hosts_ns. May be NULL. */
	void (*changed)(void *context, const struct table_change *change);
	/* Reports a session that closed for another reason: outstanding requests, and state on
	 * either side, may be lost. May be NULL. */
	void (*session_ended)(void *context, uint16_t peer, int status);
	void *changed_context; /* context of both callbacks */
};

/* Opens socket, NIC and window, and starts to join. Logs errors. DXP_EBUSY: the port is in use;
 * DXP_EIO, DXP_ENOMEM, DXP_EINVAL. */
int node_open(const struct node_options *options, struct node **out);

/* Leaves the fabric with one unacknowledged datagram and frees everything. Accepts NULL. */
void node_close(struct node *n);

/* Adds a peer to a node with a static id. Statuses of nic_peer_set; DXP_EUNSUPPORTED, logged: the
 * path's MTU is too small. */
int node_peer(struct node *n, uint16_t id, const struct udp_address *address, uint64_t incarnation);
uint64_t node_incarnation(const struct node *n);

/* Polls until the node has a lease or `deadline_ns` passes. DXP_ETIMEDOUT, DXP_EAUTH, DXP_EBUSY:
 * see node_error. */
int node_join(struct node *n, uint64_t deadline_ns);
const char *node_error(const struct node *n);

/* Polls once: processes arrivals, doorbells and timers, then sends. Returns the amount of work; 0:
 * none. */
uint32_t node_poll(struct node *n);

/* Processes doorbells without sending; returns their number. For a polling caller that posts more
 * than the doorbell FIFO holds; the next node_poll sends all in one batch. */
uint32_t node_doorbells_accept(struct node *n);

/* Returns when to call node_poll even without an arrival. */
uint64_t node_deadline(const struct node *n);

/* Spins, then sleeps until node_poll has work, `deadline_ns` passes or node_wake is called. */
void node_wait(struct node *n, uint64_t deadline_ns);
void node_wake(struct node *n);

/* Adds `delta` to the number of devices that post to this node's windows but cannot wake it. While
 * it is not 0, the node does not sleep. Any thread may call this. */
void node_arm(struct node *n, int delta);
bool node_armed(const struct node *n);

/* Sets the eventfd or socket that wakes a user of the NIC (nic.h); -1, the default: none. The node
 * writes the number 1 (8 bytes) when an event arrives for a sleeping user. The descriptor must be
 * nonblocking and stays the caller's. */
void node_user_fd(struct node *n, uint32_t user, int fd);

/* Offers functions 1 .. `functions`, and queue pairs of function 0 that are not this node's, at the
 * socket `path`; NULL: at the sockets of this node's name (node/offer_folder.h). node_poll serves
 * them until node_close. DXP_EEXIST: already offered; DXP_EUNSUPPORTED: DXP_RUN is empty;
 * DXP_EBUSY, DXP_EACCESS, DXP_EINVAL, DXP_ENOENT, DXP_EIO, logged; DXP_ENOMEM. */
int node_offer(struct node *n, uint32_t functions, const char *path);

/* Returns a descriptor that is readable when node_poll has work; for a loop over several nodes. */
int node_fd(struct node *n);

/* Lets writes to this eventfd wake node_wait and a sleep on node_fd until node_close; nothing reads
 * it. DXP_EIO: no memory. */
int node_watch(struct node *n, int fd);

/* Announces a sleep: users of the windows must then wake the node after posting (nic/wake.c).
 * Returns false without announcing if a doorbell is pending, a user must be woken, or a device is
 * armed. */
bool node_sleep_announce(struct node *n);
void node_sleep_end(struct node *n);

/* Clears the wakeup after a sleep on node_fd. */
void node_wait_clear(struct node *n);

uint16_t node_id(const struct node *n); /* WIRE_NODE_NONE before a lease */
struct nic *node_nic(struct node *n);
struct dxp_window *node_window(struct node *n);
const struct node_table *node_table(const struct node *n);
void node_address(const struct node *n, struct udp_address *out);
/* Returns false if this node advertises no address. */
bool node_advertised(const struct node *n, struct udp_address *out);

/* Returns the service queue pair of a node. DXP_ENOENT: no such node; DXP_EACCESS: not granted;
 * DXP_EPEERLOST: dead. */
int node_target(const struct node *n, uint16_t id, struct dxp_target *out);

/* Returns the time since which a peer is silent; 0: it is not. A peer is silent if its lease
 * expired, or if an answer to this node is missing for more than RLTP_DEAD_NS. */
uint64_t node_silent_since(const struct node *n, uint16_t peer);

/* Closes the session with a peer and fails its requests with `status`. The peer's next packet
 * notifies it, and it may then start a handshake. */
void node_peer_reset(struct node *n, uint16_t peer, int status);

/* Returns the payload exchanged with a peer, in bytes, without retransmissions and duplicates; 0
 * for unknown peers. */
void node_traffic(struct node *n, uint16_t peer, uint64_t *sent_bytes, uint64_t *received_bytes);

/* Polls several nodes in the calling thread until *stop is not 0. */
struct node_loop {
	struct node **nodes;
	uint32_t count;
	uint32_t spin_ns;
	/* Processes events of the windows, once per round. Returns the amount of work. */
	uint32_t (*service)(void *context);
	/* Called after a round without work; returns the amount of work. May be NULL. */
	uint32_t (*idle)(void *context);
	/* Returns true if `service` woke a thread since the last call, because it may need this
	 * core. May be NULL. */
	bool (*woke)(void *context);
	void *service_context; /* context of all callbacks */
	/* Returns when to call `service` again. May be NULL. */
	uint64_t (*service_deadline)(void *context);
	const _Atomic int *stop; /* set by another thread or a signal handler */
};
int node_loop_run(struct node_loop *loop);

#endif
