/* SPDX-License-Identifier: BSD-3-Clause */
/* The software NIC: functions with windows, queue pairs, memory regions, and engines between
 * windows and RLTP. No I/O: bytes and clock are arguments, bytes and deadlines results. One thread
 * calls these functions; other threads and processes use the windows. Sources: C-01 .. C-37, X-02,
 * */
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

/* CFG registers of this NIC, 4 bytes each. Returns 0 or an enum wire_nack code. Called once
 * per request, in the order of the sender's queue pair. */
struct nic_cfg_ops {
	uint8_t (*read)(void *context, uint16_t src_node, uint32_t first, uint32_t count,
			uint32_t *values);
	uint8_t (*write)(void *context, uint16_t src_node, uint32_t first, uint32_t count,
			 const uint32_t *values);
};

struct nic_options {
	uint16_t node; /* WIRE_NODE_NONE until nic_node_set */
	uint64_t incarnation;
	uint8_t uuid[16];
	uint32_t window_packets;  /* largest send window; 0: the default */
	uint32_t receive_packets; /* up to `tuning`: see rltp_endpoint_options */
	/* the next six: see rltp_endpoint_options */
	bool (*authenticate)(void *context, enum rltp_key key, const uint8_t *frame, size_t bytes,
			     uint8_t tag[WIRE_TAG_BYTES]);
	void *authenticate_context;
	uint8_t (*protect)(void *context, const struct udp_address *peer);
	void *protect_context;
	const struct rltp_seal_ops *seal;
	void *seal_context;
	uint64_t machine;
	uint8_t (*path)(void *context, const struct udp_address *peer, bool same_machine);
	void *path_context;
	bool long_frames;
	struct rltp_tuning tuning;
	entropy_fn entropy;
	void *entropy_context;
	uint64_t (*token)(void *context, uint32_t session_id); /* see rltp_endpoint_options */
	void *token_context;
	/* NAPs of each peer to each queue pair before a grant; 0: the default */
	uint16_t nap_credit;
	uint16_t receive_entries; /* per user, 1 .. NIC_EVENTS; 0: all */
	/* GET, ATOMIC and CFG requests outstanding per peer, and answers in progress; 0:
	 * NIC_READS_MAX */
	uint16_t reads_max;
	const struct nic_cfg_ops *cfg; /* NULL: CFG requests are rejected */
	void *cfg_context;
};

/* All counters wrap. */
struct nic_counters {
	uint64_t doorbells, descriptors_bad;
	uint64_t magic_reject, key_reject, bounds_reject, rights_reject, type_reject;
	uint64_t receiver_busy; /* the receive ring or a table was full */
	uint64_t key_waits;     /* comparisons delayed after too many wrong values (guess.h) */
	uint64_t naps_sent, naps_received, puts_sent, puts_received, gets_sent, gets_received,
		atomics_sent, atomics_received, cfg_sent, cfg_received;
};

/* All wrap. */
struct nic_qp_counters {
	uint64_t sent_messages;
	uint64_t sent_bytes;        /* that these moved; GET, CFG_READ: fetched */
	uint64_t failed;            /* operations posted here */
	uint64_t received_messages; /* completed requests to this queue pair */
	uint64_t received_bytes;    /* that these moved; GET, CFG_READ: sent back */
	uint64_t refused;           /* packets and requests to this queue pair */
	uint64_t waits_for_credit;  /* NAPs, and PUTs with an event */
};

/* DXP_ENOMEM. DXP_EINVAL: an option is out of range. */
int nic_create(const struct nic_options *options, struct nic **out);
void nic_destroy(struct nic *n);

void nic_node_set(struct nic *n, uint16_t node);

/* A user's number: its function plus NIC_FUNCTIONS times its first queue pair; for a whole
 * function, the function's number. */
#define NIC_USER(function, qp) ((uint32_t)(function) + NIC_FUNCTIONS * (uint32_t)(qp))

/* Opens `qps` queue pairs, from that of NIC_USER on, for a user on a zeroed window, and writes
 * their new magics there. The window must stay until nic_destroy, or until the closed user is idle.
 * DXP_EEXIST: a queue pair is open. DXP_EBUSY: the last user is not idle yet. DXP_EINVAL: no such
 * user or queue pairs. */
int nic_user_open(struct nic *n, uint32_t user, uint32_t qps, struct dxp_window *w);
int nic_function_open(struct nic *n, uint32_t function, struct dxp_window *w);

/* Closes a user: stores `status` as the window's last error, drops requests and messages, revokes
 * keys, empties the lookup table. Later packets are rejected as with a wrong magic. Window and
 * regions may be freed once nic_user_idle returns true and the datagrams of earlier nic_send calls
 * have left. DXP_ENOENT: not open. */
int nic_user_close(struct nic *n, uint32_t user, int status, uint64_t now_ns);
/* Closed, and no operation uses its regions. */
bool nic_user_idle(const struct nic *n, uint32_t user);

/* 0: the queue pairs are free. DXP_FUNCTION_CLOSED: closed, but not idle yet. */
enum dxp_function_state nic_user_state(const struct nic *n, uint32_t user);

/* NULL: not open. */
const struct dxp_window *nic_user_window(const struct nic *n, uint32_t user);
/* 0: not open. */
uint32_t nic_user_qps(const struct nic *n, uint32_t user);

/* Names this open user for other users of this NIC, until it closes. DXP_EEXIST: the name is
 * used. */
int nic_user_label(struct nic *n, uint32_t user, const char label[FABRIC_NAME_BYTES]);
/* "": none. */
const char *nic_user_label_of(const struct nic *n, uint32_t user);
/* NIC_USERS: none. */
uint32_t nic_user_labelled(const struct nic *n, const char *label);

/* Reads memory that the user cannot change; 0: not open. */
uint32_t nic_qp_magic(const struct nic *n, uint32_t function, uint32_t qp);

/* Sets the function's share of all moved bytes, 1 .. 64 relative to other functions; initially 1.
 * DXP_EINVAL: out of range. */
int nic_function_weight(struct nic *n, uint32_t function, uint32_t weight);

/* Functions of high priority go first; while both classes compete, normal ones get one byte of
 * every RLTP_GUARD_SHARE. Weights count within a class. Initially normal. DXP_EINVAL: out of
 * range. */
enum nic_priority { NIC_PRIORITY_NORMAL, NIC_PRIORITY_HIGH };
int nic_function_priority(struct nic *n, uint32_t function, uint32_t priority);

/* Completions in order of completion, not of posting, so a silent peer delays no others. */
void nic_user_unordered(struct nic *n, uint32_t user);

/* CFG accesses of this user to its own NIC count as accesses by `node`, for whose kernels the user
 * is open. 0, initially: by this node. Valid until the user closes. */
void nic_user_cfg_node(struct nic *n, uint32_t user, uint16_t node);

/* Limits what the function sends and copies; 0: no limit, initially. DXP_EINVAL: out of range. */
int nic_function_limit(struct nic *n, uint32_t function, uint64_t bytes_per_s);

/* Copy counters of a user, and the sums of a function's open users, from memory that users cannot
 * change. `rate_waits` counts the whole function. */
void nic_user_counters(const struct nic *n, uint32_t user, struct dxp_function_counters *out);
void nic_function_counters(const struct nic *n, uint32_t function,
			   struct dxp_function_counters *out);

/* Returns the users to wake. Bit i: user i sleeps (`user_waits`) and has an event or an error; once
 * per sleep. Call after each poll. */
uint32_t nic_wakes(struct nic *n);

/* Announces in every open window that the engine will sleep. False: there is work, do not sleep.
 * Call nic_sleep_end in both cases. */
bool nic_sleep_announce(struct nic *n);
void nic_sleep_end(struct nic *n);

enum nic_rights {
	NIC_LOCAL = 0,
	NIC_REMOTE_READ = 1 << 0,
	NIC_REMOTE_WRITE = 1 << 1,
	NIC_REMOTE_ATOMIC = 1 << 2,
};
/* Registers memory that descriptors of the user, and its peers, may name; `base` must outlive the
 * region. DXP_EINVAL: out of range. DXP_EBUSY: NIC_REGIONS_MAX are registered. */
int nic_region_register(struct nic *n, uint32_t user, void *base, uint64_t bytes, uint32_t rights,
			uint32_t *key);

/* Memory that only its owner can access, by DMA (S-01). The NIC calls these functions of the owner
 * on its thread; they must not call the NIC. `offset` is in the region, `at` in the message.
 * DXP_EACCESS (also to nic_staged_refuse): the memory has another owner now; the operation fails
 * with it. Statuses that are not listed fail the operation with DXP_EDEVICE. */
struct nic_staged_write;
struct nic_staged_span {
	uint64_t offset, bytes;
	/* Payload of each packet but the last. 0: pieces of any size, and the sender retries after
	 * any answer of write_place. */
	uint32_t unit;
	/* for fairness: the sender's node; 0: a function of this NIC */
	uint32_t source;
	/* Set by write_begin if write_place may return DXP_EBUSY: space is granted in multiples of
	 * it, which are multiples of `unit`. */
	uint32_t block;
};
struct nic_staged_ops {
	/* Begins a PUT; the handle is valid until write_end. NULL: no space now; the sender waits.
	 * There must be space for more than NIC_STAGED_LATER writes: that many may wait for bytes
	 * that are sent only after other writes have begun. */
	struct nic_staged_write *(*write_begin)(void *context, struct nic_staged_span *span);
	/* Stores payload, each byte once, in any order. `first`: no earlier byte of its sender
	 * waits for space, so the owner may use its reserve (bridge_feed); only in a retry.
	 * DXP_EAGAIN: no space, nothing stored. DXP_EBUSY: the same, and the owner calls
	 * nic_staged_granted() later. */
	int (*write_place)(void *context, struct nic_staged_write *w, uint64_t at,
			   const uint8_t *payload, uint32_t bytes, bool first);
	/* Called when all bytes are stored. DXP_OK: they are in the device. DXP_EAGAIN: the owner
	 * calls nic_staged_settled() later. Other statuses: a failure. */
	int (*write_settled)(void *context, struct nic_staged_write *w);
	/* Ends a complete, failed or given up write and its handle. */
	void (*write_end)(void *context, struct nic_staged_write *w);
	/* A write, ended or not, may still change these bytes of the region. */
	bool (*write_touches)(void *context, uint64_t offset, uint64_t bytes);
	/* Begins a GET. The owner answers by nic_staged_answer(), in any pieces and order, or by
	 * nic_staged_refuse(). DXP_EAGAIN: no space now; the request waits. */
	int (*read_begin)(void *context, struct nic_staged_read *r, uint64_t offset,
			  uint64_t bytes);
	/* Cancels a GET whose initiator or user is gone. The owner must not use `r` after this
	 * call, nor after answering all bytes; such a GET is not cancelled. Answered pieces return
	 * by read_sent(), before or after. */
	void (*read_cancel)(void *context, struct nic_staged_read *r);
	/* Returns a piece that the initiator has received, or never will. */
	void (*read_sent)(void *context, void *piece, int status);
};

/* Registers memory behind `ops`. Peers use it like a region of nic_region_register(), but without
 * atomics. The user's descriptors may name it as local memory only in PUT, GET and register mode. A
 * PUT completes when its bytes are in the device; later messages of its queue pair follow. `ops`
 * and `context` must outlive the region and its uses (nic_region_busy). DXP_EINVAL, DXP_EBUSY: see
 * nic_region_register. docs/guide/bridge.md */
int nic_region_register_staged(struct nic *n, uint32_t user, const struct nic_staged_ops *ops,
			       void *context, uint64_t bytes, uint32_t rights, uint32_t *key);

/* The initiator's node; WIRE_NODE_NONE: a function of this NIC. read_begin() may call it. */
uint16_t nic_staged_node(const struct nic_staged_read *r);

/* Grants the first `bytes` of a write that found no space: a multiple of `unit`, or all. */
void nic_staged_granted(struct nic *n, struct nic_staged_write *w, uint64_t bytes, uint64_t now_ns);

/* The NIC calls write_settled() again. Also releases a sender that waits for a grant of a failed
 * write. */
void nic_staged_settled(struct nic *n, struct nic_staged_write *w, uint64_t now_ns);

/* Answers bytes [at, at + bytes) of `r`. `data` must not change until read_sent() returns `piece`.
 * DXP_ENOMEM: not accepted; retry. */
int nic_staged_answer(struct nic *n, struct nic_staged_read *r, uint64_t at, const uint8_t *data,
		      uint32_t bytes, void *piece, uint64_t now_ns);
/* Fails a GET; `r` becomes invalid. Outstanding pieces still return. */
void nic_staged_refuse(struct nic *n, struct nic_staged_read *r, int status, uint64_t now_ns);

/* Controls access to parts of a region while the key stays valid. The NIC calls these functions of
 * the memory's owner on its thread; they must not call the NIC. After the key was revoked, only
 * `drop` is called. */
struct nic_reach {
	uint64_t first, end; /* offsets in the region */
	/* memory of these bytes at the same offsets; NULL: the region's own */
	uint8_t *base;
};
struct nic_guard {
	/* Checks [offset, offset + bytes) in the region: for a whole message before any byte moves,
	 * and again for each packet. 0 permits access to all of *out until *epoch changes. Else an
	 * enum wire_nack code; WIRE_NACK_RNR: not yet, so peers retry. */
	uint8_t (*reach)(void *context, uint64_t offset, uint64_t bytes, struct nic_reach *out);
	/* False: this node must not use the key, which counts as wrong. Called at the node's first
	 * use. `node` is 0 for a function of this NIC, unless it is open for another node
	 * (nic_user_cfg_node). NULL: every node may. */
	bool (*permits)(void *context, uint16_t node);
	/* Holds bytes that a descriptor of the region's user names, until `drop` with the same
	 * offset, which may follow after revocation, until the user closes. DXP_EACCESS: not
	 * permitted. NULL: no descriptor may name the region. */
	int (*hold)(void *context, uint64_t offset, uint64_t bytes);
	void (*drop)(void *context, uint64_t offset);
	void *context;
	const uint64_t *epoch; /* changes when access shrinks; outlives the region */
};
/* Call before the region's first use. A guarded region cannot be in a lookup table. DXP_ENOENT:
 * unknown key. */
int nic_region_guard(struct nic *n, uint32_t key, const struct nic_guard *guard);

/* These bytes of guarded regions get a new owner: fails answers that send them with DXP_EACCESS.
 * Not for staged memory. */
void nic_memory_reclaim(struct nic *n, const uint8_t *base, uint64_t bytes, uint64_t now_ns);

/* DXP_EBUSY: an operation uses the region. DXP_ENOENT: unknown key. */
int nic_region_deregister(struct nic *n, uint32_t key);

/* Operations in progress may complete. DXP_ENOENT: unknown key. */
int nic_region_revoke(struct nic *n, uint32_t key);

/* True while operations use the region, revoked or not: its memory must stay. */
bool nic_region_busy(const struct nic *n, uint32_t key);

struct nic_area {
	uint64_t vaddr, bytes, offset;
	uint32_t key;
};
/* Adds an entry to register mode's lookup table (P-01): bytes [vaddr, vaddr + bytes) of the user's
 * device are at `offset` of the user's region `key`. The first entry enables the user's registers.
 * An entry goes with its key. DXP_EEXIST: overlaps another. DXP_EBUSY: NIC_AREAS_MAX entries.
 * DXP_EINVAL: no bytes, or the end is beyond 2^64. DXP_EACCESS: not a key of this user. DXP_ERANGE:
 * outside of the region. DXP_ENOENT: the user is not open. DXP_ENOMEM. */
int nic_area_add(struct nic *n, uint32_t user, const struct nic_area *area);
/* Copies up to `count` entries with a valid key; returns how many. */
uint32_t nic_areas(const struct nic *n, uint32_t user, struct nic_area *out, uint32_t count);

/* Peers of the node table. Statuses of rltp_endpoint_peer() and rltp_endpoint_peer_lost(). */
int nic_peer_set(struct nic *n, const struct rltp_peer_info *peer, uint64_t now_ns);
void nic_peer_lost(struct nic *n, uint16_t node, int status);
/* Completes all requests to a peer with `status`; the peer stays. */
void nic_peer_reset(struct nic *n, uint16_t node, int status);

/* Policy for peers that have the fabric key, but are not in the node table; register mode addresses
 * them by IP address and port. They may only send to receive registers. admits: may a node at this
 * address be such a peer? payload_bytes: largest payload to it. added: reports a new one; may be
 * NULL. Initially none is admitted. */
struct nic_outside {
	bool (*admits)(void *context, const struct udp_address *at);
	uint16_t (*payload_bytes)(void *context, const struct udp_address *at);
	void (*added)(void *context, const struct udp_address *at);
	void *context;
};
void nic_outside_set(struct nic *n, const struct nic_outside *policy);

/* Statuses of rltp_endpoint_receive. */
int nic_receive(struct nic *n, const struct datagram_arrival *arrival, uint64_t now_ns);

/* Reads doorbells and advances requests; returns the number of descriptors read. */
uint32_t nic_doorbells(struct nic *n, uint64_t now_ns);

/* True: nic_doorbells would read a descriptor or detect an overrun now. Descriptors of a full queue
 * pair do not count, because its next completion wakes the loop. */
bool nic_doorbell_ready(const struct nic *n);

size_t nic_send(struct nic *n, struct datagram *out, size_t count, uint64_t now_ns);

/* Returns when nic_doorbells and nic_send must be called; 0: now. */
uint64_t nic_deadline(const struct nic *n);

const struct nic_counters *nic_counters(const struct nic *n);

/* Function 0 .. 7, queue pair 0 .. 3; all zero if not open. */
void nic_qp_counters(const struct nic *n, uint32_t function, uint32_t qp,
		     struct nic_qp_counters *out);
struct rltp_endpoint *nic_endpoint(struct nic *n);

#endif
