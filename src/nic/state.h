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
	uint8_t *base; /* NULL: staged */
	uint64_t bytes;
	const struct nic_staged_ops *staged; /* NULL: its memory is at `base` */
	void *staged_context;
	uint32_t key; /* 0: free */
	uint32_t user;
	uint32_t rights;
	uint32_t uses;       /* operations in progress that point into it */
	uint32_t generation; /* registrations at this index */
	bool revoked;        /* key invalid; the entry is free when it has no uses */
	bool guarded;        /* only then the fields below are valid */
	struct nic_guard guard;
	struct nic_reach reach; /* the guard's last answer */
	uint64_t reach_epoch;   /* epoch in which `reach` is valid */
};

/* ---- register mode (area.c, registers.c) ---- */

/* State of a window's register mode, allocated with the first entry of its lookup table. */
struct nic_registers {
	struct nic_area areas[NIC_AREAS_MAX];
	uint32_t area_count;

	/* send: idle, sending, or delayed because something was full */
	bool sending;               /* the request is in a queue pair */
	uint64_t again_ns;          /* delayed until then; 0: not delayed */
	uint64_t give_up_ns;        /* time from which a full receiver is an error */
	uint32_t pause_ns;          /* next delay */
	uint32_t send_done;         /* own copy */
	uint16_t found_node;        /* the peer found last by its address */
	struct dxp_registers order; /* copy of the registers at GO, up to `send_go` */

	/* receive */
	uint64_t recv_offset; /* offset of the area in its region */
	uint32_t recv_key;
	uint32_t recv_bytes, recv_used; /* 0: no message is accepted */
	uint32_t recv_go;               /* number of the present area */
	uint32_t arming;                /* counts areas, skipping 0 */
	int recv_status;                /* result of the lookup for the present area */
	/* The area before it, which DMA may still write; no bytes: none. Until then `recv_done` is
	 * not stored and no message is accepted. */
	struct nic_area left;
};

/* Place of a message's first byte. */
struct nic_place {
	struct nic_region *region;
	uint64_t offset;
};

/* Position of a message in a receive area. */
struct nic_register_range {
	uint32_t arming; /* 0: none */
	uint32_t at;
};

/* ---- requests and their messages (request.c, send.c) ---- */
struct nic_message;
struct nic_chain;
struct nic_bounce;

/* A piece of memory of a descriptor in progress. It is resolved to a pointer once. Local memory is
 * resolved when the descriptor is read; remote memory of this NIC when its function admits the
 * access. */
struct nic_piece {
	uint8_t *base; /* NULL: memory of another NIC, or a receive area */
	union {
		uint64_t offset;                 /* remote, or staged: offset in its region */
		struct nic_register_range range; /* remote, of this NIC, with WIRE_KEY_REGISTERS */
	};
	uint32_t bytes, key;
	struct nic_region *region; /* of `base`: held by `uses` */
};

struct nic_request {
	struct nic_request *next; /* in the queue pair, in order of posting */
	struct nic_user *user;
	struct nic_function *function; /* of `user` */
	struct dxp_descriptor head;
	uint32_t total;   /* bytes of either list */
	uint32_t cut;     /* bytes that messages were made for */
	uint32_t pending; /* messages and reads not completed */
	bool cut_done;
	bool registers; /* completes in the registers, not in the event ring */
	int status;
	uint64_t old; /* atomics: the previous value, on success; else 0 */
	uint16_t local_count, remote_count;
	uint32_t local_index, local_used, remote_index, remote_used; /* progress of cutting */
	/* for a descriptor by reference with too many entries for `pieces`; else NULL (chain.c) */
	struct nic_chain *chain;
	/* with a chain: values of `cut` before and behind `pieces`; else first is 0 */
	uint32_t first, last;
	struct nic_bounce *bounce;        /* own staged memory, or NULL (bounce.c) */
	struct nic_peer *waits;           /* waits for credit of this peer, or NULL */
	struct nic_piece *local, *remote; /* both in `pieces` */
	/* inside this NIC (local.c) */
	bool admitted; /* `remote` has pointers, too */
	/* the request waits for a receive entry of this user; NULL: it does not */
	struct nic_user *space_of;
	struct staged_put *put; /* incomplete put into staged memory, or NULL */
	/* the request waits for space in staged memory, or for earlier PUTs there */
	bool staged_waits;
	uint64_t look_ns, pause_ns; /* time of the next check; interval of the last two */
	/* Not cleared on reuse from here on: the counts above define what is valid. */
	uint8_t immediate[NIC_NAP_BYTES_MAX]; /* payload of a NAP or CFG write */
	struct nic_piece pieces[NIC_LIST_ENTRIES_MAX];
};

/* Extension fields of a message, equal in each packet except `addr`. */
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
	struct nic_request *request; /* NULL for answers, and when its user is gone */
	struct nic_peer *peer;
	struct nic_fields fields;
	const struct nic_piece *pieces; /* source pieces, or NULL when the payload is `data` */
	uint32_t piece_offset;          /* bytes of pieces[0] before this message */
	/* entry in the table of reads that waits for the answer; 0: none */
	uint32_t read_id;
	uint32_t unsent;     /* part of the function's `unsent` */
	const uint8_t *data; /* contiguous payload: of the request, a region or this message */
	struct nic_region *region;    /* region of `data`, for answers to GET */
	uint8_t *body;                /* owned: NIC_CFG_WORDS_MAX registers, or NULL */
	struct tx_stream *stream;     /* owner of its msg_id; NULL for answers */
	struct nic_staged_read *read; /* staged read that it answers, or NULL */
	void *piece;                  /* the piece of that read's owner */
	bool handed;                  /* `piece` must be returned to its owner */
	uint8_t small[WIRE_GET_BYTES];
};

/* Order of service among queue pairs or functions that compete for ids of a stream or entries of a
 * table of reads. Those served move to the end. A fixed rotation could always favour the same one,
 * in step with resources that become free. */
struct nic_order {
	uint8_t at[NIC_FUNCTIONS];
	uint8_t served; /* bit i: number i was served */
};

/* ---- functions ---- */
struct nic_queue {
	struct nic_request *head, *tail;
	/* first request not cut completely; those behind it are not cut either */
	struct nic_request *uncut;
	uint32_t outstanding; /* requests, up to NIC_OUTSTANDING_MAX */
	int32_t left;         /* bytes left of its quantum (share.c) */
	/* PUTs into staged memory of this NIC whose bytes are not in the device yet */
	uint32_t puts;
};

/* The user of a window: one queue pair of a function, or several in a row. Only it can name these
 * queue pairs, and its keys open only its own regions. */
struct nic_user {
	/* An idle poll reads these fields. */
	_Alignas(64) struct nic *nic;
	struct dxp_window *window; /* NULL: not open */
	struct nic_function *function;
	uint32_t index; /* see nic.h */
	uint8_t first_qp, qp_count;
	bool row_body;          /* the last descriptor of the last burst had more than its head */
	bool unordered;         /* completions in any order */
	bool stopped;           /* the user broke the window's rules */
	bool counted;           /* a counter changed, and the window does not show it yet */
	bool chain_full;        /* a descriptor waits until a chain completes */
	uint32_t consumer;      /* the engine's copy, because the user may overwrite the window's */
	uint32_t outstanding;   /* requests of its queue pairs */
	uint32_t row;           /* descriptors in the last burst */
	uint32_t full_pause_ns; /* interval of the last two checks for a completion's space */
	/* no space for a completion: time of the next check; 0: there is space */
	uint64_t full_ns;
	struct nic_registers *registers; /* NULL: no register mode */
	/* credit.c: streams that used all credit and found no free entries */
	struct rx_stream *waiting;

	/* Each message uses these. */
	uint32_t sent_index; /* events written */
	uint32_t received_index;
	uint32_t sent_consumed;     /* consumer index last read from the window */
	uint32_t received_consumed; /* consumer index last read from the window */
	uint32_t received_reserved; /* receive entries reserved for incomplete messages */
	uint32_t promised;          /* receive entries granted and not used, except first credits */
	uint32_t waiters;           /* queue pairs of this NIC that wait for a receive entry here */
	uint32_t waits_answered;    /* wake.c: the last `user_waits` that was answered */
	uint64_t total_bytes;       /* placed here by PUTs */
	uint32_t buffers_fetched;   /* entries read from the window's ring of buffers */
	uint32_t buffer_count;      /* in `buffer_ahead` */
	uint16_t buffer_ahead[NIC_BUFFERS_AHEAD];
	/* bit i: the user holds buffer i, or returned it and it was not fetched yet */
	uint64_t buffer_held[NIC_EVENTS / 64];
	struct guesses guesses; /* of its requests to users of this NIC */
	/* counters that are not per queue pair; the others are 0 */
	struct dxp_function_counters counts;

	uint16_t cfg_node;      /* node of its CFG accesses to this NIC; 0: this node */
	uint32_t chain_entries; /* entries of chains in progress: at most NIC_CHAIN_ENTRIES_MAX */
	uint32_t bounces;       /* requests with a bounce: at most NIC_BOUNCES_MAX */
	uint32_t runner;        /* queue pair that got the last entry while others waited */
	uint32_t run;           /* entries in a row of `runner` */
	uint32_t active_count;  /* credit.c: streams in the list below */
	struct rx_stream *active, *active_last; /* they sent lately, and get grants */
	struct rx_stream *waiting_last;         /* end of the list `waiting` */
	char label[FABRIC_NAME_BYTES];          /* "": none */
};

/* Shares the NIC as a unit: its users have one weight, priority and limit. */
struct nic_function {
	_Alignas(64) struct nic *nic;
	uint32_t index;
	uint32_t outstanding; /* requests of all queue pairs */
	uint8_t open;         /* bit q: the user whose first queue pair is q is open */

	/* share.c */
	uint8_t busy;     /* bit i: queue pair i has copies left and used up its share */
	uint8_t copy_qp;  /* queue pair whose copies are next */
	uint32_t weight;  /* 1 .. RLTP_WEIGHT_MAX */
	uint32_t poll_at; /* poll of the NIC that `share` belongs to */
	int64_t share;    /* bytes it may copy in this poll; negative: copied in advance */

	struct nic_user *user_of[NIC_QPS_PER_FUNCTION]; /* by queue pair; open or not */
	struct nic_order order; /* round robin over the function's queue pairs */
	uint32_t qp_magic[NIC_QPS_PER_FUNCTION];
	struct nic_queue queues[NIC_QPS_PER_FUNCTION];
	struct nic_qp_counters counters[NIC_QPS_PER_FUNCTION];
	struct bucket limit; /* limit.c; also read by RLTP */
	uint64_t unsent;     /* bytes of messages begun under the limit and not sent yet */
	/* the limit holds the function back; it continues half a batch later */
	bool gathers;
};

/* ---- per peer (stream.c, read.c) ---- */
enum record_state {
	RECORD_EMPTY,
	RECORD_PARTIAL,
	RECORD_HELD, /* all packets arrived, but the device does not have all */
	RECORD_WHOLE,
	/* the device failed; the state lasts until the sender gives the message up */
	RECORD_FAILED,
	RECORD_ABORTED
};

/* An incoming message. */
struct rx_record {
	uint8_t state; /* enum record_state */
	uint8_t type;  /* enum wire_type */
	bool reserved; /* holds a receive entry: NAP, and PUT with an event */
	uint8_t nack;  /* enum wire_nack of all packets, in RECORD_FAILED */
	uint32_t bytes;
	/* packets that arrived; packets of the message, 0 until the last one arrived */
	uint32_t packets, packet_count;
	uint64_t imm, trailer;
	uint32_t src_qp, key;
	uint64_t addr;
	uint8_t *held;             /* payload kept until execution in order; owned */
	struct nic_region *region; /* GET, ATOMIC: held by `uses` */
	/* GET, ATOMIC, CFG: reserved before the request is accepted */
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

/* Messages from one peer to one of our queue pairs, executed in the order of their ids. */
struct rx_stream {
	uint32_t next; /* lowest id not executed */
	uint32_t held; /* records that are not empty */

	/* Credits count messages that raise an event. limit - accepted messages may still come. */
	uint32_t accepted; /* arrived, or given up by their sender */
	uint32_t limit;    /* total that may be sent */
	/* Part of limit - accepted that is not in `promised` of the user. */
	uint32_t first_left;
	uint32_t low;       /* at this remainder more are granted */
	bool listed, waits; /* in the user's lists */
	uint8_t index;
	uint64_t used_ns; /* last listed, or last counted message */
	struct nic_peer *peer;
	struct rx_stream *previous_active, *next_active, *next_waiting;

	struct rx_record records[NIC_STREAM_WINDOW];
};

/* Ids of our messages to one queue pair of one peer. */
struct tx_stream {
	uint32_t next, una;
	uint32_t naps;  /* messages that raise an event, sent so far */
	uint32_t limit; /* total that may be sent; valid once `credited` */
	bool credited;  /* true: `limit` includes the first credit, which the handshake carries */
	uint64_t done[NIC_STREAM_WINDOW / 64];
	/* Requests whose NAP, or PUT with an event, has arrived. They are delivered, and complete,
	 * when all earlier ids have arrived too. */
	struct nic_request *arrived[NIC_STREAM_WINDOW];
};

/* Our GET, ATOMIC or CFG request that waits for its answer. */
struct nic_read {
	struct nic_request *request; /* NULL: free */
	uint32_t id;
	uint8_t type; /* enum wire_type of the answer */
	uint8_t *to;  /* NULL: the answer carries no data */
	uint64_t addr;
	uint32_t bytes, left;
	uint64_t seam; /* checksum of the parts that arrived: read.c */
};

#define NIC_STREAMS (NIC_FUNCTIONS * NIC_QPS_PER_FUNCTION)

/* The state of a stream while its session is idle: no message is outstanding, so the oldest id is
 * the next one. */
struct stream_mark {
	uint32_t next, counted; /* id; messages with an event, as `naps` or `accepted` */
	uint16_t unspent;       /* credit left */
	uint8_t index;
	bool receives : 1; /* part of a struct rx_stream, else of a struct tx_stream */
	bool credited : 1; /* only in a struct tx_stream */
};

/* State of a peer only while its session is active. */
struct nic_work {
	struct rx_stream *rx[NIC_STREAMS]; /* allocated at first use */
	struct tx_stream *tx[NIC_STREAMS];
	struct nic_read *reads; /* NIC_READS_MAX, allocated at first use */
	uint32_t read_count, read_id;
	uint32_t answers;             /* answers to its requests that RLTP holds */
	uint32_t due;                 /* bit i: the limit of rx[i] must be sent */
	uint32_t blocked;             /* bit i: requests wait for credit of tx[i] */
	uint8_t waiters[NIC_STREAMS]; /* how many requests */
};

struct nic_peer {
	struct nic *nic;
	struct rltp_session *session;
	struct nic_peer *next;
	struct nic_work *work;     /* NULL: idle */
	struct stream_mark *marks; /* one per stream ever used in this session */
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
	struct nic_region *regions; /* NIC_REGIONS_MAX */
	uint32_t region_hint;
	uint64_t key_seed[2];
	struct guess_allowance guesses; /* of all peers and users together */
	uint64_t mark_seed;             /* read.c */
	struct nic_peer *peers;
	struct nic_message *free_messages;
	struct nic_request *free_requests;
	struct nic_buffer *free_buffers;
	uint32_t free_buffer_count;
	struct staged_put *puts, *puts_last; /* into staged memory, oldest first */
	uint32_t put_count;
	/* GETs of staged memory, oldest first */
	struct nic_staged_read *staged_reads, *staged_reads_last;
	struct nic_peer *recent; /* peer found last, or NULL */
	uint64_t now_ns;         /* time of the current call, for callbacks */
	uint64_t retry_ns;       /* memory was short: time of the retry; UINT64_MAX: it was not */
	/* time of the next check of whatever waits without a signal: ring or receive entry without
	 * space, used-up limit, wrong keys, staged memory; UINT64_MAX: none */
	uint64_t look_ns;
	uint64_t registers_ns;  /* time of the next try in register mode; UINT64_MAX: none */
	uint32_t poll;          /* counts nic_doorbells; wraps */
	struct nic_order order; /* round robin over functions */
	uint8_t high;           /* bit i: function i has high priority */
	/* share.c, by priority: sums of weights */
	uint32_t weights[2], weights_last[2]; /* functions with copies in this poll, in the last */
	uint32_t weights_open[2];             /* all open functions */
	uint64_t high_bytes; /* bytes that functions of high priority copied in this poll */
	uint32_t stops; /* bit i: user i was stopped, and its operations were not dropped yet */
	/* an operation completed since the last poll, so waiting requests may advance */
	bool space;
	struct nic_counters counters;
	struct nic_outside outside; /* zeroed: admits none */
	uint32_t events_new;        /* bit i: user i got an event since nic_wakes */
	/* wake.c: bit i: user i got an event earlier, and was not checked after a fence yet */
	uint32_t events_earlier;
};

#endif
