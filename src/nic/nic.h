/* SPDX-License-Identifier: BSD-3-Clause */
/* The software NIC: functions with windows, queue pairs, memory regions, and engines between
 * windows and RLTP. It does no I/O: bytes and the clock are arguments, bytes and deadlines are
 * results. One thread calls these functions; other threads and processes use the windows. Sources:
 * C-01 .. C-37, X-02, X-05, X-07, X-09. */
#ifndef NIC_NIC_H
#define NIC_NIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "nic/limits.h"
#include "nic/window.h"
#include "rltp/endpoint.h"
#include "wire/limits.h"

struct nic;
struct nic_staged_read; /* an incoming GET of staged memory */

/* Accesses CFG registers of this NIC. `first` and `count` are in registers of 4 bytes.
 * Returns 0 or an enum wire_nack code. The NIC calls it once per request, in the order of the
 * sender's queue pair. */
struct nic_cfg_ops {
	uint8_t (*read)(void *context, uint16_t src_node, uint32_t first, uint32_t count,
			uint32_t *values);
	uint8_t (*write)(void *context, uint16_t src_node, uint32_t first, uint32_t count,
			 const uint32_t *values);
};

struct nic_options {
	uint16_t node; /* id of this NIC; WIRE_NODE_NONE until nic_node_set */
	uint64_t incarnation;
	uint8_t uuid[16];
	uint32_t window_packets;  /* packets, largest send window; 0: the default */
	uint32_t receive_packets; /* from here to `tuning`: see rltp_endpoint_options */
	void (*authenticate)(void *context, const uint8_t *frame, size_t bytes,
			     uint8_t tag[WIRE_TAG_BYTES]);
	void *authenticate_context;
	uint8_t (*protect)(void *context, const struct udp_address *peer);
	void *protect_context;
	const struct rltp_seal_ops *seal;
	void *seal_context;
	bool payload_crc;
	struct rltp_tuning tuning;
	entropy_fn entropy;
	void *entropy_context;
	uint64_t (*token)(void *context, uint32_t session_id); /* see rltp_endpoint_options */
	void *token_context;
	/* NAPs of each peer to each queue pair before the first grant; 0: the default */
	uint16_t nap_credit;
	uint16_t receive_entries; /* receive entries of each user, 1 .. NIC_EVENTS; 0: all */
	/* GET, ATOMIC and CFG requests outstanding per peer, and answers in progress per peer: 1 ..
	 * NIC_READS_MAX; 0: the maximum */
	uint16_t reads_max;
	const struct nic_cfg_ops *cfg; /* NULL: CFG requests are rejected as unsupported */
	void *cfg_context;
};

/* All counters wrap. */
struct nic_counters {
	uint64_t doorbells, descriptors_bad;
	uint64_t magic_reject, key_reject, bounds_reject, rights_reject, type_reject;
	uint64_t receiver_busy; /* rejections because the receive ring or a table was full */
	uint64_t key_waits;     /* comparisons delayed after too many wrong values (guess.h) */
	uint64_t naps_sent, naps_received, puts_sent, puts_received, gets_sent, gets_received,
		atomics_sent, atomics_received, cfg_sent, cfg_received;
};

/* Counters of one queue pair. All wrap. */
struct nic_qp_counters {
	uint64_t sent_messages; /* successful operations posted on this queue pair */
	uint64_t sent_bytes;    /* bytes that these operations moved; GET, CFG_READ: fetched */
	uint64_t failed;        /* failed operations posted on this queue pair */
	uint64_t received_messages,
		/* requests to this queue pair that completed, and the bytes of their messages */
		received_bytes;
	uint64_t refused;          /* rejected packets and requests to this queue pair */
	uint64_t waits_for_credit; /* times that a NAP, or a PUT with an event, waited for credit */
};

/* Creates a NIC. DXP_ENOMEM: out of memory. DXP_EINVAL: an option is out of range. */
int nic_create(const struct nic_options *options, struct nic **out);
void nic_destroy(struct nic *n);

/* Sets the NIC's own node id, as the manager assigned it. */
void nic_node_set(struct nic *n, uint16_t node);

/* Users of windows. The number of a user is its function's number plus NIC_FUNCTIONS times its
 * first queue pair. So the user of a whole function has the function's number. */
#define NIC_USER(function, qp) ((uint32_t)(function) + NIC_FUNCTIONS * (uint32_t)(qp))

/* Opens `qps` queue pairs of a function for a user on a zeroed window. The first one is the queue
 * pair of NIC_USER. Writes new magics of these queue pairs to the window. The caller keeps the
 * window until nic_destroy, or until the closed user is idle. DXP_EEXIST: one of the queue pairs is
 * open. DXP_EBUSY: their last user is not idle yet. DXP_EINVAL: no such user or queue pairs. */
int nic_user_open(struct nic *n, uint32_t user, uint32_t qps, struct dxp_window *w);
/* Opens all queue pairs of function 0 .. 7 for one user. The user has the function's number.
 * Statuses of nic_user_open(). */
int nic_function_open(struct nic *n, uint32_t function, struct dxp_window *w);

/* Closes a user: stores `status` as the window's last error, drops its requests and messages,
 * revokes its keys, empties its lookup table. Later packets of peers are rejected as if their magic
 * were wrong. The caller may free window and regions once nic_user_idle returns true and the
 * datagrams of earlier nic_send calls have left. DXP_ENOENT: the user is not open. */
int nic_user_close(struct nic *n, uint32_t user, int status, uint64_t now_ns);
/* Returns true if the user is closed and no operation uses its regions. */
bool nic_user_idle(const struct nic *n, uint32_t user);

/* Returns the state of the user. 0: its queue pairs are free. DXP_FUNCTION_CLOSED: the user is
 * closed, but not idle yet. */
enum dxp_function_state nic_user_state(const struct nic *n, uint32_t user);

/* Returns the window of the open user; NULL: not open. */
const struct dxp_window *nic_user_window(const struct nic *n, uint32_t user);
/* Returns the number of queue pairs of the user; 0: the user is not open. */
uint32_t nic_user_qps(const struct nic *n, uint32_t user);

/* Sets the name by which other users of this NIC find this open user, until it is closed.
 * DXP_EEXIST: another user has this name. */
int nic_user_label(struct nic *n, uint32_t user, const char label[FABRIC_NAME_BYTES]);
/* Returns the name of a user; "": none. */
const char *nic_user_label_of(const struct nic *n, uint32_t user);
/* Returns the user with this name; NIC_USERS: none. */
uint32_t nic_user_labelled(const struct nic *n, const char *label);

/* Returns the magic of a queue pair, from memory that its user cannot change; 0: not open. */
uint32_t nic_qp_magic(const struct nic *n, uint32_t function, uint32_t qp);

/* Sets the function's share of the bytes that this NIC moves, to any destination. The weight is 1
 * .. 64, relative to the other functions; initially 1. DXP_EINVAL: out of range. */
int nic_function_weight(struct nic *n, uint32_t function, uint32_t weight);

/* Selects the function's class. Functions of high priority are served before functions of normal
 * priority. While both compete, normal priority gets one byte of every RLTP_GUARD_SHARE. Within a
 * class the weights count. Initially normal. DXP_EINVAL: out of range. */
enum nic_priority { NIC_PRIORITY_NORMAL, NIC_PRIORITY_HIGH };
int nic_function_priority(struct nic *n, uint32_t function, uint32_t priority);

/* Writes the user's completions in the order in which requests complete, not in the order of
 * posting. So a silent peer does not delay the completions of requests to other peers. */
void nic_user_unordered(struct nic *n, uint32_t user);

/* Makes CFG accesses of this user to its own NIC count as accesses by `node`: the user is open for
 * the kernels of that node. 0, the initial value: they count as accesses by this node. Valid until
 * the user is closed. */
void nic_user_cfg_node(struct nic *n, uint32_t user, uint16_t node);

/* Limits what the function sends and copies to `bytes_per_s`; 0: no limit, the initial value.
 * DXP_EINVAL: out of range. */
int nic_function_limit(struct nic *n, uint32_t function, uint64_t bytes_per_s);

/* Copy the counters of a user, and the sums of a function's open users, from memory that users
 * cannot change. `rate_waits` always counts the waits of the whole function. */
void nic_user_counters(const struct nic *n, uint32_t user, struct dxp_function_counters *out);
void nic_function_counters(const struct nic *n, uint32_t function,
			   struct dxp_function_counters *out);

/* Returns a mask of users to wake. Bit i: user i sleeps (`user_waits`) and has an event or an
 * error. Returns each user once per sleep. Call it after each poll. */
uint32_t nic_wakes(struct nic *n);

/* Announces in every open window that the engine will sleep. Returns false if there is work, so
 * that the caller must not sleep. Call nic_sleep_end in both cases. */
bool nic_sleep_announce(struct nic *n);
void nic_sleep_end(struct nic *n);

/* Registers memory that descriptors of the user, and its peers, may name. `base` must outlive the
 * region. DXP_EINVAL: an argument is out of range. DXP_EBUSY: NIC_REGIONS_MAX regions are
 * registered. */
enum nic_rights {
	NIC_LOCAL = 0,              /* local access only */
	NIC_REMOTE_READ = 1 << 0,   /* remote GET */
	NIC_REMOTE_WRITE = 1 << 1,  /* remote PUT */
	NIC_REMOTE_ATOMIC = 1 << 2, /* remote fetch-and-op */
};
int nic_region_register(struct nic *n, uint32_t user, void *base, uint64_t bytes, uint32_t rights,
			uint32_t *key);

/* Access to memory that only its owner can read and write, by DMA (S-01). The owner implements
 * these functions. The NIC calls them on its thread; they must not call the NIC. `offset` is an
 * offset in the region, `at` an offset in the message. DXP_EACCESS means that the memory has
 * another owner now. It fails the operation with DXP_EACCESS, also as an argument of
 * nic_staged_refuse. Any other status that is not listed fails the operation with DXP_EDEVICE. */
struct nic_staged_write;
struct nic_staged_span {
	uint64_t offset, bytes;
	/* Payload bytes of each packet except the last. 0: pieces may have any size, and the sender
	 * retries by itself after any answer of write_place. */
	uint32_t unit;
	/* sender, for fairness: id of its node; 0: a function of this NIC */
	uint32_t source;
	/* write_begin sets this if write_place may return DXP_EBUSY: the owner grants space in
	 * multiples of this many bytes. It must be a multiple of `unit`. */
	uint32_t block;
};
struct nic_staged_ops {
	/* Begins a PUT and returns its handle, valid until write_end. NULL: no space now; the NIC
	 * makes the sender wait. There must be space for more than NIC_STAGED_LATER writes: that
	 * many may wait for bytes that their senders send only after other writes have begun. */
	struct nic_staged_write *(*write_begin)(void *context, struct nic_staged_span *span);
	/* Stores payload, each byte once, in any order. `first`: no earlier byte of its sender
	 * waits for space, so the owner may use its reserve (bridge_feed). The NIC sets `first`
	 * only in a retry after DXP_EAGAIN or DXP_EBUSY. DXP_EAGAIN: no space now, nothing was
	 * stored. DXP_EBUSY: no space now, and the owner calls nic_staged_granted() later. */
	int (*write_place)(void *context, struct nic_staged_write *w, uint64_t at,
			   const uint8_t *payload, uint32_t bytes, bool first);
	/* Called when all bytes are stored. DXP_OK: they are in the device's memory. DXP_EAGAIN:
	 * not yet; the owner calls nic_staged_settled() later. Other statuses: the reason of a
	 * failure. */
	int (*write_settled)(void *context, struct nic_staged_write *w);
	/* Ends a write that is complete, failed or given up. The handle is invalid afterwards. */
	void (*write_end)(void *context, struct nic_staged_write *w);
	/* Returns true if a write, ended or not, may still change these bytes of the region. */
	bool (*write_touches)(void *context, uint64_t offset, uint64_t bytes);
	/* Begins a GET of `bytes` from `offset` on. After this call the owner answers by
	 * nic_staged_answer(), in any pieces and order, or by nic_staged_refuse(). DXP_EAGAIN: no
	 * space now; the request waits. */
	int (*read_begin)(void *context, struct nic_staged_read *r, uint64_t offset,
			  uint64_t bytes);
	/* Cancels a GET whose initiator or user is gone. The owner must not use `r` after this
	 * call. When the owner has answered all bytes, it must not use `r` any more either, and the
	 * NIC does not cancel the GET. Answered pieces return by read_sent(), before or after this
	 * call. */
	void (*read_cancel)(void *context, struct nic_staged_read *r);
	/* Returns a piece to the owner: the initiator has received it, or will never receive it. */
	void (*read_sent)(void *context, void *piece, int status);
};

/* Registers memory behind `ops`. Peers may use it as a region of nic_region_register(), except that
 * atomics are rejected as unsupported. Descriptors of the user may name it as local memory only in
 * PUT, GET and register mode. A PUT completes when its bytes are in the device; later messages of
 * its queue pair are delivered after that. `ops` and `context` must outlive the region and its uses
 * (nic_region_busy). DXP_EINVAL, DXP_EBUSY: see nic_region_register. docs/guide/bridge.md */
int nic_region_register_staged(struct nic *n, uint32_t user, const struct nic_staged_ops *ops,
			       void *context, uint64_t bytes, uint32_t rights, uint32_t *key);

/* Returns the initiator's node; WIRE_NODE_NONE: a function of this NIC. May be called from
 * read_begin(). */
uint16_t nic_staged_node(const struct nic_staged_read *r);

/* Grants the first `bytes` of a write that found no space, and notifies the sender. `bytes` is a
 * multiple of `unit`, or the whole write. */
void nic_staged_granted(struct nic *n, struct nic_staged_write *w, uint64_t bytes, uint64_t now_ns);

/* Makes the NIC call write_settled() again after DXP_EAGAIN. If the write failed early, this call
 * also releases a sender that waits for a grant. */
void nic_staged_settled(struct nic *n, struct nic_staged_write *w, uint64_t now_ns);

/* Answers bytes [at, at + bytes) of `r` from `data`. The owner must not change `data` until
 * read_sent() returns `piece`. DXP_ENOMEM: nothing was accepted; retry. */
int nic_staged_answer(struct nic *n, struct nic_staged_read *r, uint64_t at, const uint8_t *data,
		      uint32_t bytes, void *piece, uint64_t now_ns);
/* Fails a GET at its initiator. Outstanding pieces are still returned. `r` is invalid
 * afterwards. */
void nic_staged_refuse(struct nic *n, struct nic_staged_read *r, int status, uint64_t now_ns);

/* Controls access to parts of a region; access may change while the key stays valid. The memory's
 * owner implements these functions. The NIC calls them on its thread; they must not call the NIC.
 * After the key was revoked, the NIC calls only `drop`. */
struct nic_reach {
	uint64_t first, end; /* offsets in the region */
	/* Memory that holds these bytes at the same offsets; NULL: the region's own memory. */
	uint8_t *base;
};
struct nic_guard {
	/* Checks access to [offset, offset + bytes), which lie in the region. The NIC calls it for
	 * a whole message before any byte moves, and again for each packet. Returns 0 if access is
	 * permitted; then access to all of *out is permitted until *epoch changes. Else returns an
	 * enum wire_nack code. WIRE_NACK_RNR: not yet, so peers retry. */
	uint8_t (*reach)(void *context, uint64_t offset, uint64_t bytes, struct nic_reach *out);
	/* Returns true if this node may use the key. If not, the key counts as wrong. The NIC calls
	 * it at the node's first use of the key. `node` is 0 for a function of this NIC, unless the
	 * function is open for another node (nic_user_cfg_node). NULL: every node that knows the
	 * key may use it. */
	bool (*permits)(void *context, uint16_t node);
	/* Reserves bytes that a descriptor of the region's user names, until `drop` with the same
	 * offset. The NIC may call `drop` after the key was revoked, until the user closes.
	 * DXP_EACCESS: not permitted. NULL: no descriptor may name the region. */
	int (*hold)(void *context, uint64_t offset, uint64_t bytes);
	void (*drop)(void *context, uint64_t offset);
	void *context;
	const uint64_t *epoch; /* changes when access shrinks; outlives the region */
};
/* Sets the guard of a region before its first use. A guarded region cannot be in a lookup table.
 * DXP_ENOENT: unknown key. */
int nic_region_guard(struct nic *n, uint32_t key, const struct nic_guard *guard);

/* If answers to peers send these bytes of guarded regions, fails them with DXP_EACCESS, because the
 * bytes get a new owner. Does not affect staged memory. */
void nic_memory_reclaim(struct nic *n, const uint8_t *base, uint64_t bytes, uint64_t now_ns);

/* Deregisters a region; its key is invalid afterwards. DXP_EBUSY: an operation uses the region.
 * DXP_ENOENT: unknown key. */
int nic_region_deregister(struct nic *n, uint32_t key);

/* Makes a key invalid. Operations in progress on the region may complete. DXP_ENOENT: unknown
 * key. */
int nic_region_revoke(struct nic *n, uint32_t key);

/* Returns true while operations use the region, revoked or not. Its memory must stay that long. */
bool nic_region_busy(const struct nic *n, uint32_t key);

/* Adds an entry to register mode's lookup table (P-01): bytes [vaddr, vaddr + bytes) of the user's
 * device are bytes [offset, ...) of the user's region `key`. The first entry enables the user's
 * registers. An entry is removed with its key. DXP_EEXIST: it overlaps another entry. DXP_EBUSY:
 * there are NIC_AREAS_MAX entries. DXP_EINVAL: `bytes` is 0, or the end is beyond 2^64.
 * DXP_EACCESS: not a key of this user. DXP_ERANGE: outside of its region. DXP_ENOENT: the user is
 * not open. DXP_ENOMEM: out of memory. */
struct nic_area {
	uint64_t vaddr, bytes, offset;
	uint32_t key;
};
int nic_area_add(struct nic *n, uint32_t user, const struct nic_area *area);
/* Copies up to `count` entries with a valid key; returns how many. */
uint32_t nic_areas(const struct nic *n, uint32_t user, struct nic_area *out, uint32_t count);

/* nic_peer_set() adds or updates a peer of the node table, nic_peer_lost() removes it. Statuses of
 * rltp_endpoint_peer() and rltp_endpoint_peer_lost(). */
int nic_peer_set(struct nic *n, const struct rltp_peer_info *peer, uint64_t now_ns);
void nic_peer_lost(struct nic *n, uint16_t node, int status);
/* Completes all outstanding requests to a peer with `status`; the peer stays. */
void nic_peer_reset(struct nic *n, uint16_t node, int status);

/* Policy for peers outside of the node table, to which register mode sends by IP address and port.
 * They need the fabric key. They may send to receive registers and do nothing else. admits: returns
 * true if a node at this address may be such a peer. payload_bytes: returns the largest payload to
 * this address. added: reports a new peer of this kind; may be NULL. Initially no such peer is
 * admitted. */
struct nic_outside {
	bool (*admits)(void *context, const struct udp_address *at);
	uint16_t (*payload_bytes)(void *context, const struct udp_address *at);
	void (*added)(void *context, const struct udp_address *at);
	void *context;
};
void nic_outside_set(struct nic *n, const struct nic_outside *policy);

/* Processes one received datagram. Returns the statuses of rltp_endpoint_receive. */
int nic_receive(struct nic *n, const struct datagram_arrival *arrival, uint64_t now_ns);

/* Polls all functions: reads doorbells, advances requests. Returns the number of descriptors
 * read. */
uint32_t nic_doorbells(struct nic *n, uint64_t now_ns);

/* Returns true if nic_doorbells would read a descriptor or detect an overrun now. A descriptor of a
 * full queue pair does not count, because the next completion of this queue pair wakes the loop. */
bool nic_doorbell_ready(const struct nic *n);

size_t nic_send(struct nic *n, struct datagram *out, size_t count, uint64_t now_ns);

/* Returns the time at which nic_doorbells and nic_send must be called even without an arrival or a
 * doorbell; 0: now. */
uint64_t nic_deadline(const struct nic *n);

const struct nic_counters *nic_counters(const struct nic *n);

/* Copies the counters of function 0 .. 7, queue pair 0 .. 3; all zero if the function is not
 * open. */
void nic_qp_counters(const struct nic *n, uint32_t function, uint32_t qp,
		     struct nic_qp_counters *out);
struct rltp_endpoint *nic_endpoint(struct nic *n);

#endif
