/* SPDX-License-Identifier: BSD-3-Clause */
/* A software NIC: functions with windows, queue pairs, memory regions, and the engines between
 * windows and RLTP. Bytes and the clock go in, bytes and deadlines come out. Single-threaded but
 * for the windows, whose users may be anywhere. Sources: C-01 .. C-36, X-02, X-05, X-07, X-09. */
#ifndef NIC_NIC_H
#define NIC_NIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "nic/window.h"
#include "rltp/endpoint.h"

struct nic;
struct nic_staged_read; /* a GET of staged memory that is being answered */

/* The CFG registers behind this NIC, 4 bytes each. Each returns 0 or an enum wire_nack code.
 * Called in the order of the sender's queue pair, once per request. */
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
	uint32_t window_packets;  /* 0: the default */
	uint32_t receive_packets; /* these as rltp_endpoint_options has them */
	void (*authenticate)(void *context, const uint8_t *frame, size_t bytes,
			     uint8_t tag[WIRE_TAG_BYTES]);
	void *authenticate_context;
	bool payload_crc;
	struct rltp_tuning tuning;
	entropy_fn entropy;
	void *entropy_context;
	uint64_t (*token)(void *context, uint32_t session_id); /* rltp_endpoint_options */
	void *token_context;
	uint16_t nap_credit; /* NAPs of each peer to each queue pair before a grant; 0: the default
			      */
	uint16_t receive_slots; /* of each function, 1 .. NIC_EVENTS; 0: all */
	uint16_t reads_max;     /* GET and CFG requests outstanding per peer, 1 .. NIC_READS_MAX,
				   and answered to it at once; 0: the most */
	const struct nic_cfg_ops *cfg; /* NULL: CFG requests are refused as unsupported */
	void *cfg_context;
};

/* All counts wrap. */
struct nic_counters {
	uint64_t doorbells, descriptors_bad;
	uint64_t magic_reject, key_reject, bounds_reject, rights_reject, type_reject;
	uint64_t receiver_busy; /* refused because the receive ring or a table was full */
	uint64_t naps_sent, naps_received, puts_sent, puts_received, gets_sent, gets_received,
		atomics_sent, atomics_received, cfg_sent, cfg_received;
};

/* Of one queue pair. All counts wrap. */
struct nic_qp_counters {
	uint64_t sent_messages; /* operations posted here that ended well */
	uint64_t sent_bytes;    /* that they moved; GET and CFG_READ: fetched */
	uint64_t failed;        /* operations posted here that ended with an error */
	uint64_t received_messages,
		received_bytes;    /* complete here: NAP, PUT, GET and CFG requests */
	uint64_t refused;          /* packets for it that were not taken */
	uint64_t waits_for_credit; /* times that a NAP, or a PUT with an event, had to wait */
};

/* DXP_ENOMEM; DXP_EINVAL for an option out of its range. */
int nic_create(const struct nic_options *options, struct nic **out);
void nic_destroy(struct nic *n);

/* The own id, once the manager has given it. */
void nic_node_set(struct nic *n, uint16_t node);

/* Opens function 0 .. 7 on a zeroed window that the caller owns (sizeof(struct dxp_window)) and
 * keeps until nic_destroy. Queue pairs 0 .. 3 get fresh magics, readable in the window. DXP_EEXIST,
 * DXP_EINVAL. */
int nic_function_open(struct nic *n, uint32_t function, struct dxp_window *w);

/* Ends a function for good: its window gets `status` as its error and is not looked at any more;
 * what it has not sent is not sent, what is in RLTP's hands is cancelled, peers that still address
 * it are refused like those who never knew its magic, its keys are worthless and its lookup table
 * empty. Window and regions may go when nic_function_idle says so, which is at once, and what
 * nic_send gave out before has left. Then it can be opened again. DXP_ENOENT: not open. */
int nic_function_close(struct nic *n, uint32_t function, int status, uint64_t now_ns);
bool nic_function_idle(const struct nic *n,
		       uint32_t function); /* closed, and nothing points there */

/* 0: free; CLOSED: closed, and not idle yet. */
enum dxp_function_state nic_function_state(const struct nic *n, uint32_t function);

/* As it was opened; NULL: it is not open. */
const struct dxp_window *nic_function_window(const struct nic *n, uint32_t function);

/* How others of this NIC find an open function, unique among them; ends with it. DXP_EEXIST:
 * another one is called so. */
int nic_function_label(struct nic *n, uint32_t function, const char label[FABRIC_NAME_BYTES]);
const char *nic_function_label_of(const struct nic *n, uint32_t function); /* "": none */
/* NIC_FUNCTIONS: none is called so. */
uint32_t nic_function_labelled(const struct nic *n, const char *label);

/* Of an open function, from memory that its user cannot change; 0: there is none. */
uint32_t nic_qp_magic(const struct nic *n, uint32_t function, uint32_t qp);

/* The function's share of what this NIC moves, 1 .. 64 against the weights of the other functions,
 * whomever they send to; 1 at first. DXP_EINVAL. */
int nic_function_weight(struct nic *n, uint32_t function, uint32_t weight);

/* Completions of this open function come as its requests end, and not in the order of posting: its
 * user works for many peers, and one that never answers keeps nobody else's end from them. */
void nic_function_unordered(struct nic *n, uint32_t function);

/* At most this many bytes per second, sent or copied; 0: no limit, as at first. DXP_EINVAL. */
int nic_function_limit(struct nic *n, uint32_t function, uint64_t bytes_per_s);

/* What the window's page 0 shows, from memory that its user cannot change. */
void nic_function_counters(const struct nic *n, uint32_t function,
			   struct dxp_function_counters *out);

/* Bit i: the user of function i sleeps (`user_waits`) and there is an event for it, or its end.
 * Asked after each turn; each sleep is told once. */
uint32_t nic_wakes(struct nic *n);

/* The engine is about to sleep: every open window says so. False when somebody has rung meanwhile:
 * then it must not sleep. nic_sleep_end comes after either. */
bool nic_sleep_announce(struct nic *n);
void nic_sleep_end(struct nic *n);

/* Memory that the descriptors of one function, and peers who address it, may name. `base` stays the
 * caller's and must outlive the region. */
enum nic_rights {
	NIC_LOCAL = 0, /* own descriptors only: source and destination of own operations */
	NIC_REMOTE_READ = 1 << 0,   /* GET by whoever has the key */
	NIC_REMOTE_WRITE = 1 << 1,  /* PUT by whoever has the key */
	NIC_REMOTE_ATOMIC = 1 << 2, /* fetch-and-op by whoever has the key */
};
int nic_region_register(struct nic *n, uint32_t function, void *base, uint64_t bytes,
			uint32_t rights, uint32_t *key);

/* Memory that this process cannot address (S-01): whoever reaches it by DMA answers these. All are
 * called by the NIC's thread, from its own calls, and must not call the NIC. `offset` is of the
 * region, `at` of the message. A status other than those named ends the operation with DXP_EDEVICE
 * at whoever asked for it. */
struct nic_staged_write;
struct nic_staged_span {
	uint64_t offset, bytes;
	/* It comes in packets of so many bytes, but for the last; 0: in any pieces, and whoever
	 * brings them asks again, whatever write_place answers. */
	uint32_t unit;
	uint32_t source; /* who sends it, to be fair; a node's id, 0: a function of this NIC */
	uint32_t block;  /* write_begin's answer where it will say DXP_EBUSY: multiples of so many
			    bytes get their room at once; a multiple of `unit` */
};
struct nic_staged_ops {
	/* A PUT begins; what comes back stands for it in the calls below
	 * and lives until write_end. NULL: no room now, the sender is asked to wait. There must be
	 * room for more than NIC_STAGED_LATER: so many may wait for what their senders send only
	 * when others have begun. */
	struct nic_staged_write *(*write_begin)(void *context, struct nic_staged_span *span);
	/* Takes payload, each byte once, in any order. `first`: nothing that its sender sent before
	 * waits for room, so it may take what is kept for such (bridge_feed); it is asked so only
	 * after DXP_EAGAIN or DXP_EBUSY without. DXP_EAGAIN: no room now, nothing was taken;
	 * DXP_EBUSY: likewise, but nic_staged_called() will say when there is. */
	int (*write_place)(void *context, struct nic_staged_write *w, uint64_t at,
			   const uint8_t *payload, uint32_t bytes, bool first);
	/* Everything has come. DXP_OK: it is in the device's memory; DXP_EAGAIN: not yet,
	 * nic_staged_settled() will be called; else how it failed. */
	int (*write_settled)(void *context, struct nic_staged_write *w);
	/* It is over, well or not, or given up by its sender: forget it. */
	void (*write_end)(void *context, struct nic_staged_write *w);
	/* A GET: `bytes` from `offset` on are wanted. They are handed over in any order and in any
	 * pieces with nic_staged_answer(), or refused with nic_staged_refuse(), not before this
	 * returned. DXP_EAGAIN: no room now; the asker waits. */
	int (*read_begin)(void *context, struct nic_staged_read *r, uint64_t offset,
			  uint64_t bytes);
	/* Whoever asked is gone, or the function that was asked: no call names `r` any more. Pieces
	 * that were handed over are given back, before or after. Not called once all bytes were
	 * handed over: no call may name `r` from then on, whatever becomes of the pieces. */
	void (*read_cancel)(void *context, struct nic_staged_read *r);
	/* A piece that was handed over is the owner's again: it has arrived, or never will. */
	void (*read_sent)(void *context, void *piece, int status);
};

/* As nic_region_register, for memory behind `ops`. Peers and functions of this NIC use its key as
 * any other's; atomics are refused as unsupported, and so are own descriptors that name it as their
 * local memory, and register mode. A PUT ends when its bytes are in the device's memory, and a
 * message after it on the same queue pair is delivered after that. `ops` and `context` must outlive
 * the region, and whatever points into it (nic_region_busy). DXP_EINVAL, DXP_EBUSY.
 * docs/bridge.md */
int nic_region_register_staged(struct nic *n, uint32_t function, const struct nic_staged_ops *ops,
			       void *context, uint64_t bytes, uint32_t rights, uint32_t *key);

/* The node that asks; WIRE_NODE_NONE: a function of this NIC. May be called from read_begin(). */
uint16_t nic_staged_node(const struct nic_staged_read *r);

/* The first `bytes` of a write for which there was no room may come now, whole units or all: its
 * sender is told. */
void nic_staged_called(struct nic *n, struct nic_staged_write *w, uint64_t bytes, uint64_t now_ns);

/* A write that write_settled() called EAGAIN has settled since: it is asked again. Or one has
 * failed, of which not everything has come: whoever waits to be called waits for nothing. */
void nic_staged_settled(struct nic *n, struct nic_staged_write *w, uint64_t now_ns);

/* Bytes [at, at + bytes) of what `r` wants are at `data`, which stays as it is until read_sent()
 * with `piece`. DXP_ENOMEM: nothing was taken; try again. */
int nic_staged_answer(struct nic *n, struct nic_staged_read *r, uint64_t at, const uint8_t *data,
		      uint32_t bytes, void *piece, uint64_t now_ns);
/* The GET ends with an error at whoever asked; pieces under way are still given back. `r` is gone.
 */
void nic_staged_refuse(struct nic *n, struct nic_staged_read *r, int status, uint64_t now_ns);

/* Of a region some parts of which may be reached by its key and others not, and which, changes: its
 * key stays. Whoever has the memory says so. All are called by the NIC's thread, from its own
 * calls, must not call the NIC, and are not called once the key was revoked. */
struct nic_reach {
	uint64_t first, end; /* offsets in the region */
};
struct nic_guard {
	/* May [offset, offset + bytes), which lie in the region, be reached? Asked for the whole of
	 * a message before any byte of it moves, and for each packet. 0: yes, and all of *out
	 * around it too, until *epoch is another; else an enum wire_nack code; WIRE_NACK_RNR: not
	 * yet, peers ask again. */
	uint8_t (*reach)(void *context, uint64_t offset, uint64_t bytes, struct nic_reach *out);
	/* An own descriptor names these bytes: nobody else gets them until `drop` with the same
	 * offset, which may come after the key was revoked, up to the function's end. DXP_EACCESS:
	 * it may not. NULL: none may name the region. */
	int (*hold)(void *context, uint64_t offset, uint64_t bytes);
	void (*drop)(void *context, uint64_t offset);
	void *context;
	const uint64_t *epoch; /* changes when less may be reached; outlives the region */
};
/* Before anybody uses it. Such a region can be in no lookup table. DXP_ENOENT. */
int nic_region_guard(struct nic *n, uint32_t key, const struct nic_guard *guard);

/* These bytes are somebody else's from now on: answers to peers that are under way out of them,
 * through a guarded region, end with DXP_EACCESS there. Memory that is staged is its owner's to
 * deal with. */
void nic_memory_reclaim(struct nic *n, const uint8_t *base, uint64_t bytes, uint64_t now_ns);

/* DXP_EBUSY while an operation uses it; DXP_ENOENT for an unknown key. Afterwards the key is
 * worthless. */
int nic_region_deregister(struct nic *n, uint32_t key);

/* From now on the key opens nothing; what points into the region already may end. DXP_ENOENT. */
int nic_region_revoke(struct nic *n, uint32_t key);

/* Does anything still point into the region, revoked or not? Its memory stays until not. */
bool nic_region_busy(const struct nic *n, uint32_t key);

/* Register mode's lookup table (P-01): bytes [vaddr, vaddr + bytes) of the function's device are
 * bytes [offset, ...) of its region `key`. From the first entry on the function's registers are
 * served; an entry goes with its key. DXP_EEXIST: overlaps; DXP_EBUSY: NIC_AREAS_MAX are there;
 * DXP_EINVAL: no bytes, or beyond 2^64; DXP_EACCESS: no key of this function; DXP_ERANGE: outside
 * its region; DXP_EUNSUPPORTED: that is staged or guarded; DXP_ENOENT: not open; DXP_ENOMEM. */
struct nic_area {
	uint64_t vaddr, bytes, offset;
	uint32_t key;
};
int nic_area_add(struct nic *n, uint32_t function, const struct nic_area *area);
/* Those whose key lives, up to `count`; returns how many. */
uint32_t nic_areas(const struct nic *n, uint32_t function, struct nic_area *out, uint32_t count);

/* Peers, from the node table; as the endpoint's. */
int nic_peer_set(struct nic *n, const struct rltp_peer_info *peer, uint64_t now_ns);
void nic_peer_lost(struct nic *n, uint16_t node, int status);
/* All that is under way with a peer ends with `status`; it stays a peer. */
void nic_peer_reset(struct nic *n, uint16_t node, int status);

/* One datagram in; statuses as rltp_endpoint_receive. */
int nic_receive(struct nic *n, const struct link_arrival *arrival, uint64_t now_ns);

/* Takes doorbells of all functions and moves requests on. Returns how many doorbells were taken. */
uint32_t nic_doorbells(struct nic *n, uint64_t now_ns);

/* Has somebody rung whom nic_doorbells would take now? For a loop about to sleep: a doorbell whose
 * queue pair is full waits for completions, which wake it anyway. */
bool nic_doorbell_ready(const struct nic *n);

size_t nic_send(struct nic *n, struct link_datagram *out, size_t count, uint64_t now_ns);

/* When nic_doorbells and nic_send must be called again even if nothing arrives and nobody posts; 0:
 * now. */
uint64_t nic_deadline(const struct nic *n);

const struct nic_counters *nic_counters(const struct nic *n);

/* Function 0 .. 7, queue pair 0 .. 3; all zero for a function that is not open. */
void nic_qp_counters(const struct nic *n, uint32_t function, uint32_t qp,
		     struct nic_qp_counters *out);
struct rltp_endpoint *nic_endpoint(struct nic *n);

#endif
