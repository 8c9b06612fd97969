/* SPDX-License-Identifier: BSD-3-Clause */
/* Private state of the NIC. None of it lies in a window. */
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
	uint8_t *base; /* NULL: staged memory */
	uint64_t bytes;
	const struct nic_staged_ops *staged; /* NULL: the memory is at `base` */
	void *staged_context;
	uint32_t key; /* 0: the entry is free */
	uint32_t user;
	uint32_t rights;
	uint32_t uses;       /* operations in progress that use the region */
	uint32_t generation; /* number of registrations in this entry */
	bool revoked;        /* the key is invalid; the entry is free when it has no uses */
	bool guarded;        /* true: the fields below are valid */
	struct nic_guard guard;
	struct nic_reach reach; /* the guard's last answer */
	uint64_t reach_epoch;   /* value of *guard.epoch for which `reach` is valid */
};

/* ---- register mode (area.c, registers.c) ---- */

/* State of a window's register mode, allocated with the first entry of its lookup table. */
struct nic_registers {
	struct nic_area areas[NIC_AREAS_MAX];
	uint32_t area_count;

	/* Send side: idle, sending, or delayed because a queue or the receiver was full. */
	bool sending;        /* the request is in a queue pair */
	uint64_t again_ns;   /* time of the next attempt; 0: not delayed */
	uint64_t give_up_ns; /* time from which on a full receiver is an error */
	uint32_t pause_ns;   /* delay before the next attempt */
	uint32_t send_done;  /* copy of the register, which the device may overwrite */
	uint16_t found_node; /* node that was found last by its address */
	/* copy of the registers up to `send_go`, made when `send_go` was stored */
	struct dxp_registers order;

	/* Receive side. */
	uint64_t recv_offset; /* offset of the present area in its region */
	uint32_t recv_key;
	/* length and used part of the present area, in bytes; `recv_bytes` 0: accepts no message */
	uint32_t recv_bytes, recv_used;
	uint32_t recv_go; /* `recv_go` of the present area */
	uint32_t arming;  /* number of the present area; never 0 */
	int recv_status;  /* result of the lookup for the present area */
	/* The previous area, if DMA may still write it; otherwise it has 0 bytes. Until DMA has
	 * finished, `recv_done` is not stored and no message is accepted. */
	struct nic_area left;
};

/* Destination of a message's first byte, as an offset in a region. */
struct nic_place {
	struct nic_region *region;
	uint64_t offset;
};

/* Position of a message in a receive area: `at` is the offset in bytes. */
struct nic_register_range {
	uint32_t arming; /* number of the area; 0: none */
	uint32_t at;
};

/* ---- requests and their messages (request.c, send.c) ---- */
struct nic_message;
struct nic_chain;
struct nic_bounce;

/* A piece of memory of a descriptor in progress. It is resolved to a pointer once. Local memory is
 * resolved when the descriptor is read. Remote memory of this NIC is resolved when its function
 * admits the access. */
struct nic_piece {
	uint8_t *base; /* NULL: memory of another NIC, staged memory, or a receive area */
	union {
		uint64_t offset;                 /* remote or staged memory: offset in its region */
		struct nic_register_range range; /* remote memory of this NIC in a receive area */
	};
	uint32_t bytes, key;
	/* region of the memory, or NULL; the piece counts in its `uses` */
	struct nic_region *region;
};

struct nic_request {
	struct nic_request *next; /* next request of the queue pair, in order of posting */
	struct nic_user *user;
	struct nic_function *function; /* function of `user` */
	struct dxp_descriptor head;
	uint32_t total;   /* bytes to move; both lists have this total */
	uint32_t cut;     /* bytes for which messages were made, or that were copied */
	uint32_t pending; /* messages and reads that have not completed */
	bool cut_done;
	/* the request completes in the registers of register mode, not in the event ring */
	bool registers;
	int status;
	uint64_t old; /* atomics: the previous value, if the request succeeded; else 0 */
	uint16_t local_count, remote_count;
	uint32_t local_index, local_used, remote_index, remote_used; /* position in each list */
	/* for a descriptor by reference with too many entries for `pieces`; else NULL (chain.c) */
	struct nic_chain *chain;
	/* with a chain: values of `cut` at the start and the end of `pieces`; else 0 */
	uint32_t first, last;
	struct nic_bounce *bounce;        /* for local staged memory (bounce.c), or NULL */
	struct nic_peer *waits;           /* the request waits for credit of this peer; or NULL */
	struct nic_piece *local, *remote; /* both point into `pieces` */
	/* Only for operations inside this NIC (local.c): */
	bool admitted; /* access was checked, and `remote` has pointers */
	/* the request waits for a receive entry of this user; NULL: it waits for none */
	struct nic_user *space_of;
	struct staged_put *put; /* incomplete PUT into staged memory, or NULL */
	/* the request waits for space in staged memory, or for earlier PUTs there */
	bool staged_waits;
	uint64_t look_ns, pause_ns; /* receive entry: time of the next check; last interval */
	/* Not cleared on reuse from here on: the counts above define which entries are valid. */
	uint8_t immediate[NIC_NAP_BYTES_MAX]; /* payload of a NAP or CFG write */
	struct nic_piece pieces[NIC_LIST_ENTRIES_MAX];
};

/* Extension fields of a message, equal in all its packets except `addr`. */
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
	struct nic_request *request; /* NULL for answers, and after its user was closed */
	struct nic_peer *peer;
	struct nic_fields fields;
	const struct nic_piece *pieces; /* source pieces, or NULL when the payload is `data` */
	uint32_t piece_offset;          /* bytes of pieces[0] before this message */
	/* index in the table of reads, if the message is a request for data; 0: none */
	uint32_t read_id;
	uint32_t unsent;     /* bytes of this message that `unsent` of the function contains */
	const uint8_t *data; /* contiguous payload: of the request, a region or this message */
	struct nic_region *region;    /* region of `data`, for answers to GET */
	uint8_t *body;                /* memory for NIC_CFG_WORDS_MAX registers, or NULL */
	struct tx_stream *stream;     /* stream whose msg_id this message has; NULL for answers */
	struct nic_staged_read *read; /* GET of staged memory that this message answers, or NULL */
	void *piece;                  /* answered piece, as the memory's owner names it */
	bool handed;                  /* true: `piece` must be returned to the memory's owner */
	uint8_t small[WIRE_GET_BYTES];
};

/* Order of service among queue pairs or functions that compete for ids of a stream or entries of a
 * table of reads. Each one that was served moves to the end. A fixed rotation could always favour
 * the same one, if resources become free in step with it. */
struct nic_order {
	uint8_t at[NIC_FUNCTIONS];
	uint8_t served; /* bit i: number i was served since the order was last updated */
};

/* ---- functions ---- */
struct nic_queue {
	struct nic_request *head, *tail;
	/* first request not cut completely; no later request is cut */
	struct nic_request *uncut;
	uint32_t outstanding; /* requests not completed, up to NIC_OUTSTANDING_MAX */
	int32_t left;         /* bytes left of the queue pair's quantum (share.c) */
	/* PUTs into staged memory of this NIC that have bytes which are not in the device yet */
	uint32_t puts;
};

/* The user of a window: one queue pair of a function, or several in a row. Only this user can name
 * these queue pairs. Its keys open only its own regions. */
struct nic_user {
	/* Fields that an idle poll reads: */
	_Alignas(64) struct nic *nic;
	struct dxp_window *window; /* NULL: not open */
	struct nic_function *function;
	uint32_t index; /* number of the user; see NIC_USER() in nic.h */
	uint8_t first_qp, qp_count;
	bool row_body;          /* the last descriptor of the last burst had more than a head */
	bool unordered;         /* the user permits completions in any order */
	bool stopped;           /* the user broke the window's rules */
	bool counted;           /* a counter has a new value that the window does not show yet */
	bool chain_full;        /* a descriptor waits until a chain has completed */
	uint32_t consumer;      /* copy of the index, which the user may overwrite in the window */
	uint32_t outstanding;   /* requests of this user's queue pairs that have not completed */
	uint32_t row;           /* number of descriptors in the last burst */
	uint32_t full_pause_ns; /* interval between the last two checks of a full event ring */
	/* The event ring has no space for a completion: time of the next check; 0: it has space. */
	uint64_t full_ns;
	struct nic_registers *registers; /* NULL: no register mode */
	/* credit.c: streams that used all credit and found no free entries */
	struct rx_stream *waiting;

	/* Fields that each message uses: */
	uint32_t sent_index; /* number of events written to `sent` */
	uint32_t received_index;
	uint32_t sent_consumed;     /* value of sent_consumer in the window, read last */
	uint32_t received_consumed; /* value of received_consumer in the window, read last */
	uint32_t received_reserved; /* receive entries reserved for incomplete messages */
	uint32_t promised;          /* receive entries granted and not used, except first credits */
	uint32_t waiters;           /* bit i: queue pair i of this NIC waits for an entry */
	uint32_t waits_answered;    /* wake.c: last value of `user_waits` that got a wakeup */
	uint64_t total_bytes;       /* bytes that PUTs placed in this user's memory */
	uint32_t buffers_fetched;   /* entries read from the window's ring of buffers */
	uint32_t buffer_count;      /* buffers in `buffer_ahead` */
	uint16_t buffer_ahead[NIC_BUFFERS_AHEAD];
	/* bit i: the user holds buffer i, or returned it and it was not fetched yet */
	uint64_t buffer_held[NIC_EVENTS / 64];
	struct guesses guesses; /* attempts of this user at other users' keys and magics */
	/* counters that are not per queue pair; the members per queue pair stay 0 */
	struct dxp_function_counters counts;

	uint16_t cfg_node;      /* node that the user's CFG accesses count for; 0: this node */
	uint32_t chain_entries; /* entries of chains in progress: at most NIC_CHAIN_ENTRIES_MAX */
	uint32_t bounces;       /* requests with a bounce: at most NIC_BOUNCES_MAX */
	uint32_t runner;        /* queue pair to which space.c gave the last receive entry */
	uint32_t run;           /* receive entries that `runner` got in a row */
	uint32_t active_count;  /* credit.c: number of streams in the list `active` */
	struct rx_stream *active, *active_last; /* streams that sent lately; they get grants */
	struct rx_stream *waiting_last;         /* end of the list `waiting` */
	char label[FABRIC_NAME_BYTES];          /* name for other users of this NIC; "": none */
};

/* A function shares the NIC as a unit: its users have one weight, priority and limit. */
struct nic_function {
	_Alignas(64) struct nic *nic;
	uint32_t index;
	uint32_t outstanding; /* requests of the function's queue pairs that have not completed */
	uint8_t open;         /* bit q: the user whose first queue pair is q is open */

	/* share.c */
	uint8_t busy;     /* bit i: queue pair i has copies to do, but its share is used up */
	uint8_t copy_qp;  /* queue pair that copies next */
	uint32_t weight;  /* 1 .. RLTP_WEIGHT_MAX */
	uint32_t poll_at; /* number of the poll that `share` is for */
	int64_t share;    /* bytes left for copies in that poll; negative: a debt */

	struct nic_user *user_of[NIC_QPS_PER_FUNCTION]; /* user of each queue pair, open or not */
	struct nic_order order; /* round robin over the function's queue pairs */
	uint32_t qp_magic[NIC_QPS_PER_FUNCTION];
	struct nic_queue queues[NIC_QPS_PER_FUNCTION];
	struct nic_qp_counters counters[NIC_QPS_PER_FUNCTION];
	struct bucket limit; /* rate limit (limit.c); RLTP charges it too */
	uint64_t unsent;     /* bytes of messages that have begun and are not sent yet */
	/* true: the limit delays the function's messages until all is paid */
	bool gathers;
};

/* ---- per peer (stream.c, read.c) ---- */
enum record_state {
	RECORD_EMPTY,
	RECORD_PARTIAL,
	RECORD_HELD, /* all packets arrived, but not all bytes are in the device */
	RECORD_WHOLE,
	/* the device failed; the state lasts until the sender gives the message up */
	RECORD_FAILED,
	RECORD_ABORTED
};

/* An incoming message. */
struct rx_record {
	uint8_t state; /* enum record_state */
	uint8_t type;  /* enum wire_type */
	bool reserved; /* the message holds a receive entry: NAP, or PUT with an event */
	uint8_t nack;  /* RECORD_FAILED: the enum wire_nack that answers all packets */
	uint32_t bytes;
	/* packets: number that arrived; packet_count: all packets, 0 until the last packet
	 * arrived */
	uint32_t packets, packet_count;
	uint64_t imm, trailer;
	uint32_t src_qp, key;
	uint64_t addr;
	uint8_t *held;             /* payload until its execution; the record frees it */
	struct nic_region *region; /* memory of a GET or ATOMIC; the record counts in its `uses` */
	/* message for the answer (GET, ATOMIC, CFG), reserved before the request is accepted */
	struct nic_message *answer;
	union {
		struct staged_put *put;       /* PUT into staged memory, else NULL */
		struct nic_staged_read *read; /* GET of staged memory, else NULL */
	};
	union {
		struct wire_get get;
		struct wire_atomic atomic;
		struct nic_register_range range; /* PUT with key 0 */
	};
};

/* Messages from one peer to one queue pair of this NIC, executed in the order of their ids. */
struct rx_stream {
	uint32_t next; /* lowest id not executed */
	uint32_t held; /* records that are not empty */

	/* Credits count messages that raise an event. limit - accepted more messages may arrive. */
	uint32_t accepted; /* messages that arrived, or that their sender gave up */
	uint32_t limit;    /* messages that the sender may send in total */
	/* Part of limit - accepted that is not in `promised` of the user. */
	uint32_t first_left;
	uint32_t low; /* unspent credit at which more is granted */
	/* the stream is in the user's list of active streams; in the list of waiting streams */
	bool listed, waits;
	uint8_t index;
	uint64_t used_ns; /* time when the stream was listed, or of the last counted message */
	struct nic_peer *peer;
	struct rx_stream *previous_active, *next_active, *next_waiting;

	struct rx_record records[NIC_STREAM_WINDOW];
};

/* Messages of this NIC to one queue pair of one peer. */
struct tx_stream {
	uint32_t next, una;
	uint32_t naps; /* number of sent messages that raise an event */
	/* messages with an event that the peer permits in total; valid if `credited` */
	uint32_t limit;
	bool credited; /* true: `limit` includes the first credit, which the handshake carries */
	uint64_t done[NIC_STREAM_WINDOW / 64];
	/* Requests with a NAP, or a PUT with an event, that has arrived. They are delivered, and
	 * complete, when all messages with earlier ids have arrived too. */
	struct nic_request *arrived[NIC_STREAM_WINDOW];
};

/* A GET, ATOMIC or CFG request of this NIC that waits for its answer. */
struct nic_read {
	struct nic_request *request; /* NULL: the entry is free */
	uint32_t id;
	uint8_t type; /* enum wire_type of the answer */
	uint8_t *to;  /* NULL: the answer carries no data */
	uint64_t addr;
	uint32_t bytes, left;
	uint64_t seam; /* checksum of the offsets that arrived (read.c) */
};

#define NIC_STREAMS (NIC_FUNCTIONS * NIC_QPS_PER_FUNCTION)

/* The state of a stream while its session is idle: no message is outstanding, so the oldest id is
 * the next one. */
struct stream_mark {
	uint32_t next, counted; /* next id; number of messages with an event */
	uint16_t unspent;       /* credit left */
	uint8_t index;
	bool receives : 1; /* true: mark of a struct rx_stream; false: of a struct tx_stream */
	bool credited : 1; /* see struct tx_stream */
};

/* State of a peer, which exists only while the peer's session is active. */
struct nic_work {
	struct rx_stream *rx[NIC_STREAMS]; /* allocated at first use */
	struct tx_stream *tx[NIC_STREAMS];
	struct nic_read *reads; /* NIC_READS_MAX entries, allocated at first use */
	uint32_t read_count, read_id;
	uint32_t answers;             /* answers to the peer's requests, reserved or in RLTP */
	uint32_t due;                 /* bit i: the limit of rx[i] must be sent to the peer */
	uint32_t blocked;             /* bit i: requests wait for credit of tx[i] from the peer */
	uint8_t waiters[NIC_STREAMS]; /* requests that wait for credit of tx[i] */
};

struct nic_peer {
	struct nic *nic;
	struct rltp_session *session;
	struct nic_peer *next;
	struct nic_work *work;     /* NULL: the session is idle */
	struct stream_mark *marks; /* one mark for each stream that this session has used */
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
	struct nic_region *regions; /* NIC_REGIONS_MAX entries */
	uint32_t region_hint;
	uint64_t key_seed[2];
	struct guess_allowance guesses; /* allowance of all peers and users together */
	uint64_t mark_seed;             /* secret number of mark() (read.c) */
	struct nic_peer *peers;
	struct nic_message *free_messages;
	struct nic_request *free_requests;
	struct nic_buffer *free_buffers;
	uint32_t free_buffer_count;
	struct staged_put *puts, *puts_last; /* PUTs into staged memory, oldest first */
	uint32_t put_count;
	/* GETs of staged memory, oldest first */
	struct nic_staged_read *staged_reads, *staged_reads_last;
	struct nic_peer *recent; /* peer that was found last, or NULL */
	uint64_t now_ns;         /* time of the current call, for callbacks */
	uint64_t retry_ns;       /* time of a retry after a lack of memory; UINT64_MAX: none */
	/* time of the next check for requests that wait without a signal: for space in a ring, a
	 * receive entry, a rate limit, the allowance of wrong keys, or staged memory; UINT64_MAX:
	 * none */
	uint64_t look_ns;
	uint64_t registers_ns;  /* time of the next attempt in register mode; UINT64_MAX: none */
	uint32_t poll;          /* number of nic_doorbells calls; wraps */
	struct nic_order order; /* round robin over functions */
	uint8_t high;           /* bit i: function i has high priority */
	/* share.c: sums of weights, indexed by priority */
	/* sums of functions that copy in this poll, and in the last poll */
	uint32_t weights[2], weights_last[2];
	uint32_t weights_open[2]; /* sum of all open functions, by priority */
	uint64_t high_bytes;      /* bytes that functions of high priority copied in this poll */
	uint32_t stops; /* bit i: user i was stopped, and the NIC must drop its operations */
	/* true: an operation has completed since the last poll, so waiting requests may advance */
	bool space;
	struct nic_counters counters;
	struct nic_outside outside; /* policy; if zeroed, it admits no peer */
	uint32_t events_new;        /* bit i: user i got an event since the last nic_wakes() */
	/* wake.c: bit i: user i got an event before that, and the engine has not checked after a
	 * fence whether the user sleeps */
	uint32_t events_earlier;
};

#endif
