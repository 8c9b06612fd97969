/* SPDX-License-Identifier: BSD-3-Clause */
/* Private state of the NIC. No part of it lies in a window, so no user can change it. */
#ifndef NIC_STATE_H
#define NIC_STATE_H

#include "base/bucket.h"
#include "base/util.h"
#include "nic/guess.h"
#include "nic/limit.h"
#include "nic/limits.h"
#include "nic/nic.h"

/* ---- regions (region.c) ---- */
struct nic_region {
	uint8_t *base; /* NULL: the memory is staged */
	uint64_t bytes;
	const struct nic_staged_ops *staged; /* NULL: the memory is at `base` */
	void *staged_context;
	uint32_t key; /* 0: the entry is free */
	uint32_t user;
	uint32_t rights;
	uint32_t uses;       /* operations in progress that use the region's memory */
	uint32_t generation; /* number of registrations at this index */
	/* the key is invalid; the entry becomes free when `uses` is 0 */
	bool revoked;
	bool guarded; /* true: the fields below are valid */
	struct nic_guard guard;
	struct nic_reach reach; /* the guard's last answer */
	uint64_t reach_epoch;   /* value of the guard's *epoch for which `reach` is valid */
};

/* ---- register mode (area.c, registers.c) ---- */

/* State of a window's register mode. It is allocated with the first entry of the window's lookup
 * table. */
struct nic_registers {
	struct nic_area areas[NIC_AREAS_MAX];
	uint32_t area_count;

	/* Send: idle, sending, or delayed because something was full. */
	bool sending;        /* the PUT of the last GO is in a queue pair */
	uint64_t again_ns;   /* time in ns of the next attempt; 0: not delayed */
	uint64_t give_up_ns; /* time in ns from which a receiver without space is an error */
	uint32_t pause_ns;   /* next delay in ns */
	/* the engine's copy of the register, since the device may overwrite it */
	uint32_t send_done;
	/* node id of the peer that was last found by its address */
	uint16_t found_node;
	/* copy of the registers at the last GO, from the first one up to `send_go` */
	struct dxp_registers order;

	/* Receive. */
	uint64_t recv_offset; /* offset in bytes of the present area in its region */
	uint32_t recv_key;
	/* size of the present area, 0: no message is accepted; bytes of it that messages use */
	uint32_t recv_bytes, recv_used;
	uint32_t recv_go; /* the device's number of the present area */
	uint32_t arming;  /* the engine's number of the present area, never 0 */
	int recv_status;  /* result of looking up the present area */
	/* The previous area, while DMA may still write it; `bytes` 0: none. Until DMA has stopped,
	 * `recv_done` is not stored and no message is accepted. */
	struct nic_area left;
};

/* Destination of a message's first byte. */
struct nic_place {
	struct nic_region *region;
	uint64_t offset;
};

/* Position of a message in a receive area. */
struct nic_register_range {
	uint32_t arming; /* number of the area, see nic_registers; 0: none */
	uint32_t at;
};

/* ---- requests and their messages (request.c, send.c) ---- */
struct nic_message;
struct nic_chain;
struct nic_bounce;

/* A piece of memory that a descriptor in progress names. Its address is resolved once. Local memory
 * is resolved when the descriptor is read. Remote memory on this NIC is resolved when the function
 * that owns the memory admits the access. */
struct nic_piece {
	/* NULL: the memory belongs to another NIC, is a receive area, or is staged */
	uint8_t *base;
	union {
		uint64_t offset; /* remote or staged memory: offset in its region */
		/* receive area of a user of this NIC (WIRE_KEY_REGISTERS) */
		struct nic_register_range range;
	};
	uint32_t bytes, key;
	/* region of `base` or of the staged memory; its `uses` counts this piece */
	struct nic_region *region;
};

struct nic_request {
	struct nic_request *next; /* next request of the same queue pair, in the order of posting */
	struct nic_user *user;
	struct nic_function *function; /* the function of `user` */
	struct dxp_descriptor head;
	uint32_t total;   /* bytes of the whole request; both lists have as many */
	uint32_t cut;     /* bytes for which messages were made */
	uint32_t pending; /* messages and reads that have not completed */
	bool cut_done;
	/* completes in the registers, not in the event ring */
	bool registers;
	int status;
	uint64_t old; /* atomics: the previous value on success; otherwise 0 */
	uint16_t local_count, remote_count;
	/* how far cutting has come: index of a piece, and bytes of this piece that are cut */
	uint32_t local_index, local_used, remote_index, remote_used;
	/* chain of a descriptor by reference with too many entries for `pieces`, or of staged
	 * memory; else NULL (chain.c) */
	struct nic_chain *chain;
	/* With a chain: values of `cut` at the first and behind the last byte of the present
	 * `pieces`. Without a chain, first is 0. */
	uint32_t first, last;
	/* buffer for the request's own staged memory, or NULL (bounce.c) */
	struct nic_bounce *bounce;
	struct nic_peer *waits;           /* peer for whose credit the request waits, or NULL */
	struct nic_piece *local, *remote; /* parts of `pieces` */
	/* The next fields are for operations inside this NIC (local.c). */
	bool admitted; /* access was checked, so the pieces in `remote` have addresses */
	/* user of this NIC for whose receive entry the request waits, or NULL */
	struct nic_user *space_of;
	struct staged_put *put; /* incomplete put into staged memory, or NULL */
	/* The request waits for space in staged memory, or for earlier PUTs of its queue pair into
	 * such memory. */
	bool staged_waits;
	/* time in ns of the next check for an entry; interval in ns of these checks */
	uint64_t look_ns, pause_ns;
	/* The fields from here on are not cleared on reuse, because the counts above define which
	 * part is valid. */
	/* payload of a NAP with inline data, or of a CFG write */
	uint8_t immediate[NIC_NAP_BYTES_MAX];
	struct nic_piece pieces[NIC_LIST_ENTRIES_MAX];
};

/* Extension fields of a message. They are equal in all packets of a message, except `addr`. */
struct nic_fields {
	uint64_t addr, imm, trailer;
	uint32_t qp_magic, msg_id, key;
	uint16_t dst_qp;
	uint8_t dst_function;
};

/* A message that RLTP holds. */
struct nic_message {
	struct rltp_message rltp;
	struct nic_message *next_free;
	struct nic_request *request; /* NULL for an answer, or if the request's user is gone */
	struct nic_peer *peer;
	struct nic_fields fields;
	const struct nic_piece *pieces; /* source pieces; NULL: the payload is at `data` */
	uint32_t piece_offset;          /* offset in pieces[0] of the message's first byte */
	/* id of the entry in the table of reads that waits for the answer; 0: none */
	uint32_t read_id;
	uint32_t unsent;     /* bytes of this message that the function's `unsent` counts */
	const uint8_t *data; /* contiguous payload, in the request, a region or this message */
	struct nic_region *region; /* region of `data` for an answer to GET; NULL: none */
	/* NIC_CFG_WORDS_MAX registers, freed with the message; or NULL */
	uint8_t *body;
	struct tx_stream *stream;     /* stream that msg_id belongs to; NULL for an answer */
	struct nic_staged_read *read; /* staged GET that the message answers, or NULL */
	/* the memory owner's handle of the piece that the message carries */
	void *piece;
	/* true: `piece` must be returned to the memory's owner */
	bool handed;
	uint8_t small[WIRE_GET_BYTES];
};

/* Order in which queue pairs or functions are served that compete for ids of a stream or for
 * entries of a table of reads. Those that were served move to the end. A fixed rotation could
 * always favour the same one, if it is in step with the resources that become free. */
struct nic_order {
	uint8_t at[NIC_FUNCTIONS];
	uint8_t served; /* bit i: queue pair or function i was served */
};

/* ---- functions ---- */
struct nic_queue {
	struct nic_request *head, *tail;
	/* first request that is not cut completely; the requests behind it are not cut either */
	struct nic_request *uncut;
	uint32_t outstanding; /* requests, at most NIC_OUTSTANDING_MAX */
	int32_t left;         /* bytes that the queue pair may still copy in its slice (share.c) */
	/* PUTs of this queue pair into staged memory of this NIC whose bytes are not in the device
	 * yet */
	uint32_t puts;
};

/* The user of a window: one queue pair of a function, or several in a row. Only this user can name
 * these queue pairs in its descriptors, and its keys are valid only for its own regions. */
struct nic_user {
	/* An idle poll reads the fields from here to `waiting`. */
	_Alignas(64) struct nic *nic;
	struct dxp_window *window; /* NULL: the user is not open */
	struct nic_function *function;
	uint32_t index; /* the user's number, see NIC_USER in nic.h */
	uint8_t first_qp, qp_count;
	/* the last descriptor of the last burst used more than its head */
	bool row_body;
	bool unordered; /* completions are written in any order, see nic_user_unordered */
	bool stopped;   /* the user broke the window's rules */
	/* true: a counter changed, and the window does not show the new value yet */
	bool counted;
	bool chain_full; /* true: a descriptor waits until a chain completes */
	/* index of the next descriptor to read; the window's copy cannot be trusted */
	uint32_t consumer;
	uint32_t outstanding;   /* outstanding requests of the user's queue pairs */
	uint32_t row;           /* number of descriptors in the last burst */
	uint32_t full_pause_ns; /* interval in ns of the checks for space in the completion ring */
	/* time in ns of the next such check while the completion ring is full; 0: it is not full */
	uint64_t full_ns;
	struct nic_registers *registers; /* NULL: the user has no register mode */
	/* credit.c: first of the streams that used all credit and found no free entries */
	struct rx_stream *waiting;

	/* Each message uses the fields from here on. */
	/* events written to the completion ring (sent) and to the receive ring */
	uint32_t sent_index;
	uint32_t received_index;
	/* consumer index of completions, as last read from the window */
	uint32_t sent_consumed;
	/* consumer index of received events, as last read from the window */
	uint32_t received_consumed;
	uint32_t received_reserved; /* receive entries reserved for incomplete messages */
	/* receive entries granted to peers and not used, without first credits */
	uint32_t promised;
	/* bit i: queue pair i of this NIC waits for a receive entry of this user */
	uint32_t waiters;
	/* wake.c: last value of `user_waits` for which the user was woken */
	uint32_t waits_answered;
	uint64_t total_bytes;     /* bytes that PUTs placed in this user's memory */
	uint32_t buffers_fetched; /* entries read from the window's ring of free buffers */
	uint32_t buffer_count;    /* entries in `buffer_ahead` */
	uint16_t buffer_ahead[NIC_BUFFERS_AHEAD];
	/* bit i: the user holds buffer i, or has returned it and the engine has not fetched it */
	uint64_t buffer_held[NIC_EVENTS / 64];
	struct guesses guesses; /* keys and magics that the user tried at other users of this NIC */
	/* counters that are not kept per queue pair; the other fields are 0 */
	struct dxp_function_counters counts;

	/* node id for which the user's CFG accesses to this NIC count; 0: this node */
	uint16_t cfg_node;
	/* entries of the user's chains in progress, at most NIC_CHAIN_ENTRIES_MAX */
	uint32_t chain_entries;
	uint32_t bounces; /* requests of the user with a bounce, at most NIC_BOUNCES_MAX */
	/* queue pair of this NIC that got the last receive entry while others waited */
	uint32_t runner;
	uint32_t run;          /* entries that `runner` got in a row */
	uint32_t active_count; /* credit.c: number of streams in the list `active` */
	/* streams that sent messages lately; they share the receive entries */
	struct rx_stream *active, *active_last;
	struct rx_stream *waiting_last; /* last stream of the list `waiting` */
	char label[FABRIC_NAME_BYTES];  /* name of the user; "": none */
};

/* One function of the NIC. All users of the function share its weight, priority and limit. */
struct nic_function {
	_Alignas(64) struct nic *nic;
	uint32_t index;
	uint32_t outstanding; /* outstanding requests of all queue pairs of the function */
	uint8_t open;         /* bit q: the user whose first queue pair is q is open */

	/* The next fields belong to share.c. */
	/* bit i: queue pair i has more to copy, but used up its share */
	uint8_t busy;
	uint8_t copy_qp;  /* queue pair that copies next */
	uint32_t weight;  /* 1 .. RLTP_WEIGHT_MAX */
	uint32_t poll_at; /* number of the NIC's poll for which `share` was computed */
	/* bytes that the function may still copy in this poll; negative: copied in advance */
	int64_t share;

	/* owner of each queue pair; it may be closed */
	struct nic_user *user_of[NIC_QPS_PER_FUNCTION];
	struct nic_order order; /* order in which the function's queue pairs are served */
	uint32_t qp_magic[NIC_QPS_PER_FUNCTION];
	struct nic_queue queues[NIC_QPS_PER_FUNCTION];
	struct nic_qp_counters counters[NIC_QPS_PER_FUNCTION];
	struct bucket limit; /* rate limit (limit.c); RLTP reads it too */
	/* bytes of messages that began under the limit and were not sent yet */
	uint64_t unsent;
	/* true: the function used up its limit, and waits until all is paid */
	bool gathers;
};

/* ---- per peer (stream.c, read.c) ---- */
enum record_state {
	RECORD_EMPTY,
	RECORD_PARTIAL,
	RECORD_HELD, /* all packets arrived, but the device does not have all bytes */
	RECORD_WHOLE,
	/* the device failed; the record stays until the sender gives the message up */
	RECORD_FAILED,
	RECORD_ABORTED
};

/* A message that arrives. */
struct rx_record {
	uint8_t state; /* enum record_state */
	uint8_t type;  /* enum wire_type */
	bool reserved; /* true: holds a receive entry, for a NAP or a PUT with an event */
	uint8_t nack;  /* enum wire_nack that answers all packets in RECORD_FAILED */
	uint32_t bytes;
	/* packets that arrived; packets of the whole message, 0 until the last one arrived */
	uint32_t packets, packet_count;
	uint64_t imm, trailer;
	uint32_t src_qp, key;
	uint64_t addr;
	/* payload kept until the message is executed in order, freed with the record */
	uint8_t *held;
	struct nic_region *region; /* region of a GET or ATOMIC; its `uses` counts this record */
	/* message for the answer to a GET, ATOMIC or CFG request, reserved before that is
	 * accepted */
	struct nic_message *answer;
	union {
		struct staged_put *put;       /* put into staged memory, else NULL */
		struct nic_staged_read *read; /* GET of staged memory, else NULL */
	};
	union {
		struct wire_get get;
		struct wire_atomic atomic;
		/* position in the receive area, for a PUT with key 0 */
		struct nic_register_range range;
	};
};

/* Messages from one peer to one queue pair of this NIC, executed in the order of their ids. */
struct rx_stream {
	uint32_t next; /* lowest id not executed */
	uint32_t held; /* number of records that are not empty */

	/* Credits count messages that raise an event. limit - accepted more messages may come. */
	uint32_t accepted; /* messages that arrived, or that their sender gave up */
	uint32_t limit;    /* messages that the peer may send in total */
	/* part of limit - accepted that `promised` of the user does not include */
	uint32_t first_left;
	uint32_t low; /* when limit - accepted falls to this number, more is granted */
	/* true: the stream is in the user's list `active`, in the list `waiting` */
	bool listed, waits;
	uint8_t index;
	/* time in ns at which the stream was last listed or last counted a message */
	uint64_t used_ns;
	struct nic_peer *peer;
	struct rx_stream *previous_active, *next_active, *next_waiting;

	struct rx_record records[NIC_STREAM_WINDOW];
};

/* Ids of messages from this NIC to one queue pair of one peer. */
struct tx_stream {
	uint32_t next, una;
	uint32_t naps;  /* messages that raise an event, sent since the session opened */
	uint32_t limit; /* messages with an event that may be sent in total; valid if `credited` */
	/* true: the handshake has reported the first credit, and `limit` includes it */
	bool credited;
	uint64_t done[NIC_STREAM_WINDOW / 64];
	/* Requests whose NAP, or PUT with an event, was acknowledged. Such a request completes when
	 * the messages with all earlier ids were acknowledged, too. */
	struct nic_request *arrived[NIC_STREAM_WINDOW];
};

/* A GET, ATOMIC or CFG request of this NIC that waits for its answer. */
struct nic_read {
	struct nic_request *request; /* NULL: the entry is free */
	uint32_t id;
	uint8_t type; /* enum wire_type of the answer */
	uint8_t *to;  /* where the answer's data goes; NULL: the answer carries no data */
	uint64_t addr;
	uint32_t bytes, left;
	uint64_t seam; /* checksum over the positions of the parts that arrived (read.c) */
};

#define NIC_STREAMS (NIC_FUNCTIONS * NIC_QPS_PER_FUNCTION)

/* The state of a stream while its session is idle. No message is outstanding then, so the oldest id
 * is the next one. */
struct stream_mark {
	/* the next id; messages with an event, as in `naps` or `accepted` */
	uint32_t next, counted;
	uint16_t unspent; /* credit left */
	uint8_t index;
	bool receives : 1; /* true: the mark of a struct rx_stream; false: of a struct tx_stream */
	bool credited : 1; /* valid only for a struct tx_stream */
};

/* State of a peer that exists only while its session is active. */
struct nic_work {
	struct rx_stream *rx[NIC_STREAMS]; /* by stream index; each is allocated at first use */
	struct tx_stream *tx[NIC_STREAMS];
	struct nic_read *reads; /* table of NIC_READS_MAX entries, allocated at first use */
	uint32_t read_count, read_id;
	/* answers to the peer's requests that RLTP holds, or that are reserved */
	uint32_t answers;
	uint32_t due;                 /* bit i: the limit of rx[i] must be sent to the peer */
	uint32_t blocked;             /* bit i: requests wait for credit of tx[i] */
	uint8_t waiters[NIC_STREAMS]; /* number of requests that wait for credit, by stream index */
};

struct nic_peer {
	struct nic *nic;
	struct rltp_session *session;
	struct nic_peer *next;
	struct nic_work *work;     /* NULL: the session is idle */
	struct stream_mark *marks; /* one for each stream used since this session opened */
	uint32_t mark_count;
	uint16_t node;
	struct guesses guesses;
};

static inline struct nic *peer_nic(const struct nic_peer *p)
{
	return p->nic;
}

struct nic {
	struct nic_options options;
	struct rltp_endpoint *endpoint;
	struct nic_function functions[NIC_FUNCTIONS];
	struct nic_user users[NIC_USERS];
	uint32_t open;              /* bit i: user i is open */
	struct nic_region *regions; /* table of NIC_REGIONS_MAX entries */
	uint32_t region_hint;
	uint64_t key_seed[2];
	struct guess_allowance guesses; /* allowance of all peers and users together */
	uint64_t mark_seed;             /* secret of the marks in read.c */
	struct nic_peer *peers;
	struct nic_message *free_messages;
	struct nic_request *free_requests;
	struct nic_buffer *free_buffers;
	uint32_t free_buffer_count;
	struct staged_put *puts, *puts_last; /* puts into staged memory, oldest first */
	uint32_t put_count;
	/* GETs of staged memory, oldest first */
	struct nic_staged_read *staged_reads, *staged_reads_last;
	struct nic_peer *recent; /* peer that was found last, or NULL */
	uint64_t now_ns;         /* time in ns of the current call, for callbacks */
	/* time in ns of the retry after memory was short; UINT64_MAX: it was not */
	uint64_t retry_ns;
	/* Time in ns of the next check for all that waits without a signal: a full event ring,
	 * missing receive entries, a used-up limit, wrong keys, staged memory. UINT64_MAX: none
	 * waits. */
	uint64_t look_ns;
	/* time in ns of the next attempt in register mode; UINT64_MAX: none */
	uint64_t registers_ns;
	uint32_t poll;          /* number of calls of nic_doorbells; wraps */
	struct nic_order order; /* order in which functions are served */
	uint8_t high;           /* bit i: function i has high priority */
	/* Sums of weights (share.c), by priority. */
	/* weights of the functions that copied in this poll; of those that copied in the last
	 * poll */
	uint32_t weights[2], weights_last[2];
	uint32_t weights_open[2]; /* weights of all open functions */
	uint64_t high_bytes;      /* bytes that functions of high priority copied in this poll */
	uint32_t stops; /* bit i: user i was stopped, but its operations are not dropped yet */
	/* An operation completed since the last poll, so waiting requests may advance. */
	bool space;
	struct nic_counters counters;
	struct nic_outside outside; /* all zero: admits no peer outside of the node table */
	uint32_t events_new;        /* bit i: user i got an event since the last nic_wakes */
	/* wake.c: bit i: user i got an event before the last nic_wakes, and its sleep was not yet
	 * checked after a fence */
	uint32_t events_earlier;
};

#endif
