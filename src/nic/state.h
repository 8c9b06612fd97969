/* SPDX-License-Identifier: BSD-3-Clause */
/* Private state of the NIC, outside of the windows. */
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
	uint32_t key; /* 0: free */
	uint32_t user;
	uint32_t rights;
	uint32_t uses;       /* operations in progress */
	uint32_t generation; /* registrations at this index */
	bool revoked;        /* free when it has no uses */
	bool guarded;        /* the fields below are valid */
	struct nic_guard guard;
	struct nic_reach reach; /* last answer of the guard */
	uint64_t reach_epoch;   /* *guard.epoch of `reach` */
};

/* ---- register mode (area.c, registers.c) ---- */

/* Allocated with the first entry of the user's lookup table. */
struct nic_registers {
	struct nic_area areas[NIC_AREAS_MAX];
	uint32_t area_count;

	/* Send side: idle, sending, or delayed by a full queue or receiver. */
	bool sending;
	uint64_t again_ns;   /* next attempt; 0: not delayed */
	uint64_t give_up_ns; /* later, a full receiver is an error */
	uint32_t pause_ns;   /* before the next attempt */
	uint32_t send_done;  /* copy; the device may overwrite the register */
	uint16_t found_node; /* found last, by its address */
	/* registers up to `send_go`, copied at its store */
	struct dxp_registers order;

	/* Receive side. */
	uint64_t recv_offset; /* in its region */
	uint32_t recv_key;
	/* `recv_bytes` 0: accepts no message */
	uint32_t recv_bytes, recv_used;
	uint32_t recv_go;
	uint32_t arming; /* number of the area; never 0 */
	int recv_status; /* status of the area's lookup */
	/* The previous area while DMA may still write it, else 0 bytes. Meanwhile `recv_done` is
	 * not stored and no message is accepted. */
	struct nic_area left;
};

/* Destination of a message's first byte. */
struct nic_place {
	struct nic_region *region;
	uint64_t offset;
};

/* Position of a message in a receive area. */
struct nic_register_range {
	uint32_t arming; /* of the area; 0: none */
	uint32_t at;
};

/* ---- requests and their messages (request.c, send.c) ---- */
struct nic_message;
struct nic_chain;
struct nic_bounce;

/* A piece of memory of a descriptor, resolved once: local memory when the descriptor is read,
 * memory of this NIC when access is admitted. */
struct nic_piece {
	uint8_t *base; /* NULL: memory of another NIC, staged memory, or a receive area */
	union {
		uint64_t offset;                 /* in a remote or staged region */
		struct nic_register_range range; /* receive area of this NIC */
	};
	uint32_t bytes, key;
	/* counts the piece in its `uses`, or NULL */
	struct nic_region *region;
};

struct nic_request {
	struct nic_request *next; /* in order of posting */
	struct nic_user *user;
	struct nic_function *function;
	struct dxp_descriptor head;
	uint32_t total;
	uint32_t cut;     /* copied, or in messages */
	uint32_t pending; /* incomplete messages and reads */
	bool cut_done;
	/* completes in the registers, not in the ring */
	bool registers;
	int status;
	uint64_t old; /* value of the word before an atomic; else 0 */
	uint16_t local_count, remote_count;
	uint32_t local_index, local_used, remote_index, remote_used; /* positions */
	/* lists too long for `pieces`, or staged (chain.c); else NULL */
	struct nic_chain *chain;
	/* chain: `cut` at the start and end of `pieces` */
	uint32_t first, last;
	struct nic_bounce *bounce;        /* bounce buffers for staged local memory, or NULL */
	struct nic_peer *waits;           /* peer whose credit it waits for, or NULL */
	struct nic_piece *local, *remote; /* point into `pieces` */
	/* only inside this NIC (local.c) */
	bool admitted; /* access checked; `remote` has pointers */
	/* user whose receive entry it waits for, or NULL */
	struct nic_user *space_of;
	struct staged_put *put; /* incomplete, into staged memory, or NULL */
	/* waits for space in staged memory, or for earlier PUTs there */
	bool staged_waits;
	/* receive entry: next check, last interval */
	uint64_t look_ns, pause_ns;
	/* Not cleared on reuse from here on; the counts above define valid entries. */
	uint8_t immediate[NIC_NAP_BYTES_MAX]; /* immediate data of a NAP or CFG write */
	struct nic_piece pieces[NIC_LIST_ENTRIES_MAX];
};

/* Equal in all packets of a message except `addr`. */
struct nic_fields {
	uint64_t addr, imm, trailer;
	uint32_t qp_magic, msg_id, key;
	uint16_t dst_qp;
	uint8_t dst_function;
};

/* A message in RLTP. */
struct nic_message {
	struct rltp_message rltp;
	struct nic_message *next_free;
	struct nic_request *request; /* NULL: an answer, or its user was closed */
	struct nic_peer *peer;
	struct nic_fields fields;
	const struct nic_piece *pieces; /* or NULL: the payload is `data` */
	uint32_t piece_offset;          /* bytes of pieces[0] before this message */
	/* in the table of reads; 0: none */
	uint32_t read_id;
	uint32_t unsent;     /* part of the function's `unsent` */
	const uint8_t *data; /* contiguous payload: of the request, a region or this message */
	struct nic_region *region;    /* of `data`, for answers to GET */
	uint8_t *body;                /* NIC_CFG_WORDS_MAX registers, or NULL */
	struct tx_stream *stream;     /* counts msg_id; NULL: an answer */
	struct nic_staged_read *read; /* that this answers, or NULL */
	void *piece;                  /* owner's handle */
	bool handed;                  /* `piece` must return to its owner */
	uint8_t small[WIRE_GET_BYTES];
};

/* Order of service of queue pairs or functions; those served move to the end. A fixed rotation
 * could always favour the same one, if resources become free in step with it. */
struct nic_order {
	uint8_t at[NIC_FUNCTIONS];
	uint8_t served; /* bit i: since the last update */
};

/* ---- functions ---- */
struct nic_queue {
	struct nic_request *head, *tail;
	/* first request not cut completely */
	struct nic_request *uncut;
	uint32_t outstanding; /* up to NIC_OUTSTANDING_MAX */
	int32_t left;         /* bytes left of the quantum (share.c) */
	/* in staged memory of this NIC, not all in the device */
	uint32_t puts;
};

/* The user of a window: one queue pair of a function, or several in a row, which only this user can
 * name. Its keys open only its own regions. */
struct nic_user {
	/* read by an idle poll */
	_Alignas(64) struct nic *nic;
	struct dxp_window *window; /* NULL: not open */
	struct nic_function *function;
	uint32_t index; /* see NIC_USER() in nic.h */
	uint8_t first_qp, qp_count;
	bool row_body;     /* the last burst had more than heads */
	bool unordered;    /* completions in any order */
	bool stopped;      /* broke the window's rules */
	bool counted;      /* the window lacks a new value of a counter */
	bool chain_full;   /* a descriptor waits until a chain has completed */
	uint32_t consumer; /* copy; the user may overwrite the index */
	uint32_t outstanding;
	uint32_t row;           /* descriptors of the last burst */
	uint32_t full_pause_ns; /* interval of these checks */
	/* next check of a full event ring; 0: not full */
	uint64_t full_ns;
	struct nic_registers *registers; /* NULL: no register mode */
	/* credit.c: streams without credit or free entries */
	struct rx_stream *waiting;

	/* used by each message */
	uint32_t sent_index;
	uint32_t received_index;
	uint32_t sent_consumed;     /* sent_consumer as last read */
	uint32_t received_consumed; /* received_consumer as last read */
	uint32_t received_reserved; /* for incomplete messages */
	uint32_t promised;          /* granted and not used, except first credits */
	uint32_t waiters;           /* bit i: queue pair i of this NIC waits for an entry */
	uint32_t waits_answered;    /* wake.c: `user_waits` of the last wakeup */
	uint64_t total_bytes;       /* placed by PUTs */
	uint32_t buffers_fetched;   /* read from the window's ring */
	uint32_t buffer_count;
	uint16_t buffer_ahead[NIC_BUFFERS_AHEAD];
	/* bit i: buffer i is the user's, or returned and not fetched */
	uint64_t buffer_held[NIC_EVENTS / 64];
	struct guesses guesses; /* wrong keys and magics of other users */
	/* not per queue pair */
	struct dxp_function_counters counts;

	uint16_t cfg_node;      /* CFG accesses count for it; 0: this node */
	uint32_t chain_entries; /* at most NIC_CHAIN_ENTRIES_MAX */
	uint32_t bounces;       /* at most NIC_BOUNCES_MAX */
	uint32_t runner;        /* queue pair with the last receive entry (space.c) */
	uint32_t run;           /* its entries in a row */
	uint32_t active_count;  /* credit.c: streams in `active` */
	struct rx_stream *active, *active_last; /* credit.c: sent lately; they get grants */
	struct rx_stream *waiting_last;
	char label[FABRIC_NAME_BYTES]; /* for other users of this NIC; "": none */
};

/* Its users share one weight, priority and limit. */
struct nic_function {
	_Alignas(64) struct nic *nic;
	uint32_t index;
	uint32_t outstanding;
	uint8_t open; /* bit q: the user from queue pair q on */

	/* share.c */
	uint8_t busy;     /* bit i: queue pair i has copies left, but no share */
	uint8_t copy_qp;  /* copies next */
	uint32_t weight;  /* 1 .. RLTP_WEIGHT_MAX */
	uint32_t poll_at; /* poll of `share` */
	int64_t share;    /* bytes left in that poll; negative: a debt */

	struct nic_user *user_of[NIC_QPS_PER_FUNCTION]; /* open or not */
	struct nic_order order;                         /* of the queue pairs */
	uint32_t qp_magic[NIC_QPS_PER_FUNCTION];
	struct nic_queue queues[NIC_QPS_PER_FUNCTION];
	struct nic_qp_counters counters[NIC_QPS_PER_FUNCTION];
	struct bucket limit; /* RLTP charges it too */
	uint64_t unsent;     /* bytes of begun messages */
	/* messages wait until all is paid */
	bool gathers;
};

/* ---- per peer (stream.c, read.c) ---- */
enum record_state {
	RECORD_EMPTY,
	RECORD_PARTIAL,
	RECORD_HELD, /* all packets arrived, but the device lacks bytes */
	RECORD_WHOLE,
	/* device failed; until the sender gives up */
	RECORD_FAILED,
	RECORD_ABORTED
};

struct rx_record {
	uint8_t state;
	uint8_t type;
	bool reserved; /* NAP, or PUT with an event: has a receive entry */
	uint8_t nack;  /* RECORD_FAILED: answers all packets */
	uint32_t bytes;
	/* arrived; total, 0 until the last one arrived */
	uint32_t packets, packet_count;
	uint64_t imm, trailer;
	uint32_t src_qp, key;
	uint64_t addr;
	uint8_t *held;             /* until execution; the record frees it */
	struct nic_region *region; /* of a GET or ATOMIC; counts in its `uses` */
	/* GET, ATOMIC, CFG: reserved before acceptance */
	struct nic_message *answer;
	union {
		struct staged_put *put;       /* into staged memory, else NULL */
		struct nic_staged_read *read; /* of staged memory, else NULL */
	};
	union {
		struct wire_get get;
		struct wire_atomic atomic;
		struct nic_register_range range; /* PUT with key 0 */
	};
};

/* Messages from one peer to one queue pair of this NIC, executed in the order of ids. */
struct rx_stream {
	uint32_t next; /* lowest id not executed */
	uint32_t held; /* records that are not empty */

	/* Credits: limit - accepted more messages with an event may arrive. */
	uint32_t accepted; /* arrived, or given up by the sender */
	uint32_t limit;    /* granted in total */
	/* the part of limit - accepted that is not in `promised` */
	uint32_t first_left;
	uint32_t low; /* unspent credit at which more is granted */
	/* whether it is in the user's list `active`, and in `waiting` */
	bool listed, waits;
	uint8_t index;
	uint64_t used_ns; /* when listed, or of the last counted message */
	struct nic_peer *peer;
	struct rx_stream *previous_active, *next_active, *next_waiting;

	struct rx_record records[NIC_STREAM_WINDOW];
};

/* Messages of this NIC to one queue pair of one peer. */
struct tx_stream {
	uint32_t next, una;
	uint32_t naps; /* messages that raise an event */
	/* permitted in total; valid if `credited` */
	uint32_t limit;
	bool credited; /* the first credit, from the handshake, is in `limit` */
	uint64_t done[NIC_STREAM_WINDOW / 64];
	/* Requests whose NAP, or PUT with an event, has arrived; complete when all earlier ids
	 * have. */
	struct nic_request *arrived[NIC_STREAM_WINDOW];
};

/* A GET, ATOMIC or CFG request that waits for its answer. */
struct nic_read {
	struct nic_request *request; /* NULL: free */
	uint32_t id;
	uint8_t type; /* enum wire_type of the answer */
	uint8_t *to;
	uint64_t addr;
	uint32_t bytes, left;
	uint64_t seam; /* sum of the arrived offsets' marks (read.c) */
};

#define NIC_STREAMS (NIC_FUNCTIONS * NIC_QPS_PER_FUNCTION)

/* A stream of an idle session without outstanding messages. */
struct stream_mark {
	uint32_t next, counted; /* next id; messages with an event */
	uint16_t unspent;       /* credit left */
	uint8_t index;
	bool receives : 1; /* a struct rx_stream, else a struct tx_stream */
	bool credited : 1;
};

/* Exists only while the peer's session is active. */
struct nic_work {
	struct rx_stream *rx[NIC_STREAMS]; /* allocated at first use */
	struct tx_stream *tx[NIC_STREAMS];
	struct nic_read *reads; /* NIC_READS_MAX entries, allocated at first use */
	uint32_t read_count, read_id;
	uint32_t answers;             /* reserved or in RLTP */
	uint32_t due;                 /* bit i: the peer lacks the limit of rx[i] */
	uint32_t blocked;             /* bit i: requests wait for credit of tx[i] */
	uint8_t waiters[NIC_STREAMS]; /* requests that wait for credit of tx[i] */
};

struct nic_peer {
	struct nic *nic;
	struct rltp_session *session;
	struct nic_peer *next;
	struct nic_work *work;     /* NULL: the session is idle */
	struct stream_mark *marks; /* one per stream used in this session */
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
	uint32_t open;              /* bit i: user i */
	struct nic_region *regions; /* NIC_REGIONS_MAX entries */
	uint32_t region_hint;
	uint64_t key_seed[2];
	struct guess_allowance guesses; /* of all peers and users together */
	uint64_t mark_seed;             /* of mark() (read.c) */
	struct nic_peer *peers;
	struct nic_message *free_messages;
	struct nic_request *free_requests;
	struct nic_buffer *free_buffers;
	uint32_t free_buffer_count;
	struct staged_put *puts, *puts_last; /* into staged memory, oldest first */
	uint32_t put_count;
	/* oldest first */
	struct nic_staged_read *staged_reads, *staged_reads_last;
	struct nic_peer *recent; /* found last, or NULL */
	uint64_t now_ns;         /* time of the current call */
	uint64_t retry_ns;       /* time of the retry after a lack of memory; UINT64_MAX: none */
	/* next check of what has no signal: space in a ring, a receive entry, a rate limit, the
	 * allowance of wrong keys, staged memory; UINT64_MAX: none */
	uint64_t look_ns;
	uint64_t registers_ns;  /* next attempt in register mode; UINT64_MAX: none */
	uint32_t poll;          /* nic_doorbells calls; wraps */
	struct nic_order order; /* of the functions */
	uint8_t high;           /* bit i: function i has high priority */
	/* share.c: sums of weights by priority */
	/* weights of the functions that copy in this poll, and in the last one */
	uint32_t weights[2], weights_last[2];
	uint32_t weights_open[2]; /* weights of all open functions */
	uint64_t high_bytes;      /* copied in this poll by high priority */
	uint32_t stops;           /* bit i: user i was stopped; its operations must be dropped */
	/* waiting requests may advance: an operation completed since the last poll */
	bool space;
	struct nic_counters counters;
	struct nic_outside outside; /* zeroed: admits no peer */
	uint32_t events_new;        /* bit i: user i got an event since nic_wakes() */
	/* wake.c: bit i: user i got an event before, and no check after a fence has shown whether
	 * it sleeps */
	uint32_t events_earlier;
};

#endif
