/* SPDX-License-Identifier: BSD-3-Clause */
/* A node: one NIC on one UDP endpoint, its membership in a fabric, and the loop that runs both.
 * Function 0 of the NIC is open, with its window in this process. Queue pair 0 of function 0
 * carries commands and replies. Threads: only one thread at a time may call these functions. Any
 * thread may use the window and call node_wake. It must call node_wake after posting, unless it
 * also polls. */
#ifndef NODE_NODE_H
#define NODE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "keys/identity.h"
#include "nic/nic.h"
#include "nic/user.h"
#include "node/managers.h"
#include "node/table.h"

struct node;

#define NODE_OUTSIDE_MAX 16 /* ranges of addresses: as many as fit a command line */
/* queue pair that receives commands; the node table contains its magic */
#define NODE_SERVICE_QP 0

/* Addresses of nodes outside of the node table. Register mode may send to these nodes, and they may
 * send to receive registers. They must have the fabric key. */
struct node_outside {
	struct address_prefix prefixes[NODE_OUTSIDE_MAX];
	uint32_t count;
};

struct node_options {
	/* [A-Za-z0-9._-], unique in the fabric. All strings of the options are copied. */
	const char *name;
	bool xpu; /* true: an xPU; false: a host */
	/* With the same uuid, the node keeps its id when it restarts; all zero: a random uuid. */
	uint8_t uuid[16];
	const char *engine, *device; /* for an xPU, shown in the node table; NULL: "" */
	uint64_t memory_bytes;       /* for an xPU, shown in the node table */
	uint32_t capabilities;       /* MANAGE_CAPABILITY_... bits, for the node table */
	struct udp_address manager;
	struct manager_backups other_managers; /* see member_options */
	const uint8_t *fabric_key;             /* FABRIC_KEY_BYTES bytes; copied */
	/* The key pair that the manager has admitted; NULL: the node joins with the fabric key.
	 * Copied. */
	const struct identity *identity;
	/* File of the private key of `identity`. The node looks at it a few times a second, and
	 * uses the new key when `dxp keys rotate` has replaced the file. NULL: it does not look.
	 * Copied. */
	const char *identity_file;
	/* File of the fabric key, where the node stores a new one after a rotation. NULL: nowhere.
	 * Copied. */
	const char *key_file;
	/* If not 0, the node uses this id without a manager, and node_peer adds its peers. */
	uint16_t static_id;
	/* Requested id; 0: any. If the id is in use, the manager assigns another one. */
	uint16_t wanted_id;
	struct udp_address bind; /* own address; port 0: any free port */
	/* Number of ports to try, from the port of `bind` on. The first free one is used; if none
	 * is free, any port. 0: use only the port of `bind`. */
	uint16_t bind_ports;
	/* Where other nodes reach this one if that is not the address it sends from, for example
	 * behind NAT, or with several interfaces. Port 0: the bound port. All zero: not used. */
	struct udp_address advertise;
	/* True: `bind` was chosen by this machine's routes, so the node follows their changes. */
	bool follow_address;
	/* Nodes with the same crossbar exchange datagrams without the kernel; one thread must poll
	 * all of them. The crossbar must outlive the nodes. NULL: none. */
	struct crossbar *crossbar;
	/* ns for which node_wait spins before it sleeps; 0: WAIT_SPIN_NS; UINT32_MAX: it does not
	 * spin */
	uint32_t spin_ns;
	/* For an xPU: ns for which resources of a silent host are kept after its last packet or
	 * renewal. A time up to RLTP_DEAD_NS has no effect, because resources of all peers are kept
	 * that long. */
	uint64_t keep_hosts_ns;
	uint32_t qps; /* queue pairs of function 0 that this node itself uses; 0: all */
	/* packets outstanding per session; 0: computed from the socket's receive buffer */
	uint32_t window_packets;
	/* replaces the variable DXP_PAYLOAD_CRC: auto, always or never; NULL: DXP_PAYLOAD_CRC
	 * decides */
	const char *payload_crc;
	bool no_long_frames; /* neither sends nor accepts long frames */
	/* replaces the variable DXP_PROTECT, with the same values; NULL: DXP_PROTECT decides */
	const char *protect;
	/* replaces the variable DXP_PEER_KEYS: auto, require or allow sessions with nodes that
	 * prove no key pair; NULL: DXP_PEER_KEYS decides */
	const char *peer_keys;
	struct node_outside outside; /* all zero: no such nodes */
	/* All zero: the recommended values, and the congestion control that the variable DXP_CC
	 * names. */
	struct rltp_tuning tuning;
	const struct nic_cfg_ops *cfg; /* registers of an xPU; NULL: none */
	void *cfg_context;
	/* Reports each change of the node table. node_poll calls it after the NIC has applied the
	 * change. A TABLE_SILENT peer is reported as lost only when its session is silent too. An
	 * xPU reports a silent host as lost only after keep_hosts_ns. May be NULL. */
	void (*changed)(void *context, const struct table_change *change);
	/* Reports a session that closed although the table did not change. Outstanding requests,
	 * and state on either side, may be lost. May be NULL. */
	void (*session_ended)(void *context, uint16_t peer, int status);
	void *changed_context; /* context of `changed` and `session_ended` */
};

/* Opens socket, NIC and window, and starts to join. Logs errors. DXP_EBUSY: the port is in use;
 * DXP_EIO, DXP_ENOMEM, DXP_EINVAL. */
int node_open(const struct node_options *options, struct node **out);

/* Leaves the fabric with one unacknowledged datagram and frees everything. `n` may be NULL. */
void node_close(struct node *n);
/* Closes all sessions and leaves the fabric, each with one datagram, and waits for nothing. Only
 * node_close may follow. */
void node_leave(struct node *n);

/* Adds a peer to a node with a static id. Returns the statuses of nic_peer_set. DXP_EUNSUPPORTED,
 * logged: the path's MTU is too small. */
int node_peer(struct node *n, uint16_t id, const struct udp_address *address, uint64_t incarnation);
uint64_t node_incarnation(const struct node *n);

/* Polls until the node has a lease or the time `deadline_ns` passes. DXP_ETIMEDOUT, DXP_EAUTH,
 * DXP_EBUSY: node_error returns the reason. */
int node_join(struct node *n, uint64_t deadline_ns);
const char *node_error(const struct node *n);
/* Returns the version of the wire format in which the manager answered, if it is not that of this
 * program; else 0. */
uint8_t node_other_version(const struct node *n);

/* Polls once: processes arrivals, doorbells and timers, then sends. Returns the amount of work
 * done; 0: none. */
uint32_t node_poll(struct node *n);

/* Processes doorbells without sending; returns their number. Use it if a thread that polls posts
 * more requests than the doorbell FIFO holds. The next node_poll sends all of them in one batch. */
uint32_t node_doorbells_accept(struct node *n);

/* Returns the time in ns at which to call node_poll even without an arrival. */
uint64_t node_deadline(const struct node *n);

/* node_wait spins, then sleeps, until node_poll has work, the time `deadline_ns` passes or
 * node_wake is called. */
void node_wait(struct node *n, uint64_t deadline_ns);
void node_wake(struct node *n);

/* Adds `delta` to the number of devices that post to this node's windows but cannot wake it. While
 * the number is not 0, the node does not sleep. Any thread may call this. */
void node_arm(struct node *n, int delta);
bool node_armed(const struct node *n);

/* Sets the eventfd or socket that wakes a user of the NIC (nic.h); -1, the default: none. The node
 * writes the number 1 (8 bytes) to it when an event arrives for a sleeping user. The descriptor
 * must be nonblocking. The caller still owns it. */
void node_user_fd(struct node *n, uint32_t user, int fd);

/* Offers functions 1 .. `functions`, and the queue pairs of function 0 that this node does not use.
 * `path` is the socket; NULL: the sockets of this node's name (node/offer_folder.h). node_poll
 * serves the sockets until node_close. DXP_EEXIST: already offered; DXP_EUNSUPPORTED: DXP_RUN is
 * empty; DXP_EBUSY, DXP_EACCESS, DXP_EINVAL, DXP_ENOENT, DXP_EIO, logged; DXP_ENOMEM. */
int node_offer(struct node *n, uint32_t functions, const char *path);

/* Returns a descriptor that is readable when node_poll has work. A loop over several nodes waits
 * for it. */
int node_fd(struct node *n);

/* Lets writes to the eventfd `fd` wake node_wait, and a thread that sleeps on node_fd, until
 * node_close. The node does not read the eventfd. DXP_EIO: no memory. */
int node_watch(struct node *n, int fd);

/* Announces a sleep: from now on, users of the windows must wake the node after posting
 * (nic/wake.c). Returns false, without an announcement, if a doorbell is pending, a user must be
 * woken, or a device is armed (node_arm). */
bool node_sleep_announce(struct node *n);
void node_sleep_end(struct node *n);

/* Clears the wakeup; call it after a sleep on node_fd. */
void node_wait_clear(struct node *n);

/* Returns the node's id; WIRE_NODE_NONE before the first lease. */
uint16_t node_id(const struct node *n);
struct nic *node_nic(struct node *n);
struct dxp_window *node_window(struct node *n);
const struct node_table *node_table(const struct node *n);
void node_address(const struct node *n, struct udp_address *out);
/* Writes the address that this node advertises. Returns false if it advertises none. */
bool node_advertised(const struct node *n, struct udp_address *out);

/* Returns the service queue pair of a node. DXP_ENOENT: no such node; DXP_EACCESS: not granted;
 * DXP_EPEERLOST: dead. */
int node_target(const struct node *n, uint16_t id, struct dxp_target *out);

/* Returns the time in ns since which a peer is silent; 0: it is not silent. A peer is silent if its
 * lease expired, or if it owes this node an answer for more than RLTP_DEAD_NS. */
uint64_t node_silent_since(const struct node *n, uint16_t peer);

/* Closes the session with a peer and fails the session's requests with `status`. The peer learns of
 * it when it sends its next packet, and may then start a handshake. */
void node_peer_reset(struct node *n, uint16_t peer, int status);

/* Writes the number of payload bytes exchanged with a peer, without retransmissions and duplicates;
 * 0 for unknown peers. */
void node_traffic(struct node *n, uint16_t peer, uint64_t *sent_bytes, uint64_t *received_bytes);

/* Polls several nodes in the calling thread until *stop is not 0. */
struct node_loop {
	struct node **nodes;
	uint32_t count;
	uint32_t spin_ns;
	/* Processes events of the windows, once per round. Returns the amount of work done. */
	uint32_t (*service)(void *context);
	/* Called after a round without work; returns the amount of work done. May be NULL. */
	uint32_t (*idle)(void *context);
	/* Returns true if `service` woke a thread since the last call. The loop then yields,
	 * because that thread may need this core. May be NULL. */
	bool (*woke)(void *context);
	void *service_context; /* context of these callbacks */
	/* Returns the time in ns at which to call `service` again. May be NULL. */
	uint64_t (*service_deadline)(void *context);
	const _Atomic int *stop; /* set by another thread or a signal handler */
};
int node_loop_run(struct node_loop *loop);

#endif
