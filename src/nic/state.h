/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's private state. Nothing here lies in a window. */
#ifndef NIC_STATE_H
#define NIC_STATE_H

#include "base/bucket.h"
#include "base/util.h"
#include "nic/limit.h"
#include "nic/nic.h"

/* ---- regions (region.c) ---- */
struct nic_region {
	uint8_t *base; /* NULL: staged */
	uint64_t bytes;
	const struct nic_staged_ops *staged; /* NULL: its memory is at `base` */
	void *staged_context;
	uint32_t key; /* 0: free */
	uint32_t function;
	uint32_t rights;
	uint32_t uses;       /* operations in progress that point into it */
	uint32_t generation; /* registrations at this index so far */
	bool revoked;        /* its key opens nothing; free when it has no uses */
	bool guarded;        /* else all of it may be reached, and the rest means nothing */
	struct nic_guard guard;
	struct nic_reach reach; /* the guard's last answer, */
	uint64_t reach_epoch;   /* which holds in this epoch */
};

/* ---- register mode (area.c, registers.c) ---- */

/* What a function needs for it, from the first entry in its lookup table on. */
struct nic_registers {
	struct nic_area areas[NIC_AREAS_MAX];
	uint32_t area_count;

	/* send: idle, on its way, or put off because something was full */
	bool sending;               /* its request is in a queue pair */
	uint64_t again_ns;          /* put off until then; 0: not */
	uint64_t give_up_ns;        /* from then on a receiver without room is an error */
	uint32_t pause_ns;          /* next one */
	uint32_t send_done;         /* own copy */
	uint16_t found_node;        /* whose address was found last */
	struct dxp_registers order; /* the registers as they were at GO, up to `send_go` */

	/* receive */
	uint64_t recv_offset; /* of the area in its region */
	uint32_t recv_key;
	uint32_t recv_bytes, recv_used; /* 0: nothing may come */
	uint32_t recv_go;               /* of the area in force */
	uint32_t arming;                /* counts areas; never 0 once there was one */
};

/* Where in which receive area a message goes. */
struct nic_place {
	uint32_t arming; /* 0: in none */
	uint32_t at;
};

/* ---- requests and their messages (request.c, send.c) ---- */
struct nic_message;

/* One descriptor being worked on. Pieces of memory are resolved to pointers once: local ones when
 * the doorbell is taken, remote ones of this NIC when their function is asked. */
struct nic_piece {
	uint8_t *base; /* NULL for entries of another NIC, and of a receive area */
	union {
		uint64_t offset;        /* remote: offset in the peer's region */
		struct nic_place place; /* remote, of this NIC, with WIRE_KEY_REGISTERS */
	};
	uint32_t bytes, key;
	struct nic_region *region; /* of `base`: held by `uses` */
};

struct nic_request {
	struct nic_request *next; /* in the queue pair, in order of posting */
	struct nic_function *function;
	struct dxp_descriptor head;
	uint32_t total;   /* bytes of either list */
	uint32_t cut;     /* bytes for which messages were made */
	uint32_t pending; /* messages and reads not finished */
	bool cut_done;
	bool registers; /* its end is told there, not in the event ring */
	int status;
	uint64_t old; /* atomics: the value before, once they ended well; else 0 */
	uint16_t local_count, remote_count;
	uint32_t local_index, local_used, remote_index, remote_used; /* where cutting stands */
	struct nic_peer *waits;           /* for credit of this peer, or NULL */
	struct nic_piece *local, *remote; /* both in `pieces` */
	/* inside this NIC (local.c) */
	bool admitted;                /* `remote` has pointers, too */
	struct nic_function *room_of; /* waits for a receive slot of this one, or NULL */
	struct staged_put *put;       /* into staged memory, not complete yet, or NULL */
	bool staged_waits;            /* for room in staged memory, or until that has taken all */
	uint64_t look_ns, pause_ns;   /* then it looks again; between the last two looks */
	/* From here on not cleared when a request is used again: the counts above say what is
	 * valid. */
	uint8_t immediate[NIC_NAP_BYTES_MAX]; /* what a NAP or CFG write carries */
	struct nic_piece pieces[NIC_LIST_ENTRIES_MAX];
};

/* The extension fields of a message, the same in each packet but `addr`. */
struct nic_fields {
	uint64_t addr, imm, trailer;
	uint32_t qp_magic, msg_id, key;
	uint16_t dst_qp;
	uint8_t dst_function;
};

/* One message in RLTP's hands. */
struct nic_message {
	struct rltp_message rltp;
	struct nic_message *next_free;
	struct nic_request *request; /* NULL for answers, and when its function is gone */
	struct nic_peer *peer;
	struct nic_fields fields;
	const struct nic_piece *pieces; /* source pieces, or NULL when the payload is `data` */
	uint32_t piece_offset;          /* bytes of pieces[0] before this message */
	uint32_t read_id; /* the entry in the table of reads that waits for the answer; 0: none */
	uint32_t unsent;  /* of the function's */
	const uint8_t *data;          /* contiguous payload: of the request, a region or our own */
	struct nic_region *region;    /* of `data`, for answers to GET */
	uint8_t *body;                /* owned: NIC_CFG_WORDS_MAX registers, or NULL */
	struct tx_stream *stream;     /* whose msg_id it has; NULL for answers */
	struct nic_staged_read *read; /* it answers, or NULL; ... */
	void *piece;                  /* ... with this one of its owner's, */
	bool handed;                  /* which is to be given back */
	uint8_t small[WIRE_GET_BYTES];
};

/* Who is asked first for what several want: ids of a stream, entries of a table of reads. Whoever
 * got something goes behind all others: with turns by number, and what becomes free in step with
 * them, it would always be the same who finds something. */
struct nic_order {
	uint8_t at[NIC_FUNCTIONS];
	uint8_t served; /* bit i: number i got something */
};

/* ---- functions ---- */
struct nic_queue {
	struct nic_request *head, *tail;
	struct nic_request *uncut; /* the first that is not cut whole; those behind it neither */
	uint32_t outstanding;      /* requests, up to NIC_OUTSTANDING_MAX */
	int32_t left;              /* bytes of its turn among those of its function (turn.c) */
	uint32_t puts;             /* into staged memory of this NIC, not settled */
};

struct nic_function {
	/* All that is looked at when nothing is to be done. */
	struct nic *nic;
	struct dxp_window *window; /* NULL: not open */
	uint32_t index;
	uint32_t consumer;    /* own copy: the window's may be scribbled on */
	uint32_t outstanding; /* requests of all queue pairs */
	uint32_t row;         /* descriptors taken when there were some last */
	bool row_body;        /* and the last of them had more than its head */
	bool unordered;       /* completions come as they can */
	bool stopped;         /* its user broke the rules of the window */
	uint64_t
		full_ns; /* no slot for another completion: looked at again then; 0: there is one */
	uint32_t full_pause_ns; /* between the last two looks */
	bool counted;           /* a counter changed that the window does not show yet */

	/* turn.c */
	uint8_t busy;     /* bit i: queue pair i has copies to make and none of its share left */
	uint8_t turn_qp;  /* whose copies are next */
	uint32_t weight;  /* 1 .. RLTP_WEIGHT_MAX */
	uint32_t turn_at; /* the turn of the NIC that `share` is of */
	int64_t share;    /* bytes it may copy in this turn; negative: copied ahead of it */
	uint32_t waiters; /* local.c: queue pairs of this NIC that wait for a receive slot here */
	uint32_t runner;  /* the one that had the last slot while others waited, */
	uint32_t run;     /* and how many it has had in a row */

	uint32_t sent_index; /* events written */
	uint32_t received_index;
	uint64_t total_bytes;          /* placed here by PUTs of others */
	uint32_t sent_consumed;        /* what the user was last seen to have taken */
	uint32_t received_consumed;    /* likewise */
	uint32_t received_reserved;    /* receive slots kept for messages that are not complete */
	struct nic_order order;        /* of its queue pairs */
	char label[FABRIC_NAME_BYTES]; /* "": none */
	uint32_t waits_told;           /* wake.c: the `user_waits` that was told last */
	uint32_t buffers_fetched;      /* entries of the window's ring of buffers taken */
	uint32_t buffer_count;         /* in `buffer_ahead` */
	uint16_t buffer_ahead[NIC_BUFFERS_AHEAD];
	uint64_t buffer_held[NIC_EVENTS / 64]; /* bit i: buffer i is with the user, or was given
						  back and not fetched yet */
	uint32_t qp_magic[NIC_QPS_PER_FUNCTION];
	struct nic_queue queues[NIC_QPS_PER_FUNCTION];
	struct nic_qp_counters counters[NIC_QPS_PER_FUNCTION];
	struct dxp_function_counters counts; /* what the queue pairs' do not say; the rest is 0 */
	struct nic_registers *registers;     /* NULL: no lookup table, no register mode */
	struct bucket limit;                 /* limit.c; RLTP asks it too */
	uint64_t unsent; /* bytes of messages begun under the limit that have not left yet */
	bool gathers;    /* the limit held it back, and lets it go on half a train later */

	/* credits (credit.c) */
	uint32_t promised;     /* receive slots granted and not used yet, first credits left out */
	uint32_t active_count; /* streams in the list below */
	struct rx_stream *active, *active_last;   /* to these is granted, and lately they sent */
	struct rx_stream *waiting, *waiting_last; /* used all their credit, found no slots free */
};

/* ---- per peer (stream.c, read.c) ---- */
enum record_state {
	RECORD_EMPTY,
	RECORD_PARTIAL,
	RECORD_HELD, /* all is here, and not all in the device's memory yet */
	RECORD_WHOLE,
	RECORD_FAILED, /* the device has failed: until its sender gives it up */
	RECORD_ABORTED
};

/* A message on its way in. */
struct rx_record {
	uint8_t state; /* enum record_state */
	uint8_t type;  /* enum wire_type */
	bool reserved; /* a receive slot is promised: NAP, and PUT with an event */
	uint32_t bytes;
	uint32_t packets, packet_count; /* arrived; in total, 0 until the last one has been seen */
	uint64_t imm, trailer;
	uint32_t src_qp, key;
	uint64_t addr;
	uint8_t *held;             /* payload of what is executed in order, until then; owned */
	struct nic_region *region; /* GET, ATOMIC: held by `uses` */
	struct nic_message
		*answer; /* GET, ATOMIC, CFG: room for it is taken before the request is accepted */
	union {
		struct staged_put *put;       /* PUT into staged memory, else NULL */
		struct nic_staged_read *read; /* GET of staged memory, else NULL */
	};
	union {
		struct wire_get get;
		struct wire_atomic atomic;
		struct nic_place place; /* PUT with key 0 */
	};
};

/* Messages from one peer to one of our queue pairs, executed in the order of their ids. */
struct rx_stream {
	uint32_t next; /* lowest id not executed */
	uint32_t held; /* records that are not empty */

	/* Credits: messages that raise an event are counted. limit - taken may still come. */
	uint32_t taken;      /* came, or were given up by their sender */
	uint32_t limit;      /* this many may be sent in all */
	uint32_t first_left; /* of limit - taken: not in `promised` of the function */
	uint32_t low;        /* with so few left more are granted */
	bool listed, waits;  /* in the function's lists */
	uint8_t index;
	uint64_t used_ns; /* when it was last listed or sent something counted */
	struct nic_peer *peer;
	struct rx_stream *previous_active, *next_active, *next_waiting;

	struct rx_record records[NIC_STREAM_WINDOW];
};

/* Ids of messages from us to one queue pair of one peer. */
struct tx_stream {
	uint32_t next, una;
	uint32_t naps;  /* messages that raise an event, sent so far */
	uint32_t limit; /* so many may be sent in all; valid once `credited` */
	bool credited;  /* the greeting's first credit is in `limit` */
	uint64_t done[NIC_STREAM_WINDOW / 64];
	/* Whose NAP, or PUT with an event, has arrived; it is delivered, and ends, when all before
	 * it have arrived too. */
	struct nic_request *arrived[NIC_STREAM_WINDOW];
};

/* A GET, ATOMIC or CFG request of ours that waits for its answer. */
struct nic_read {
	struct nic_request *request; /* NULL: free */
	uint32_t id;
	uint8_t type; /* enum wire_type of the answer */
	uint8_t *to;  /* NULL: the answer carries no data */
	uint64_t addr;
	uint32_t bytes, left;
	uint64_t seam; /* over the parts that have come: see read.c */
};

#define NIC_STREAMS (NIC_FUNCTIONS * NIC_QPS_PER_FUNCTION)

/* What stays of a stream while its session rests: then nothing is under way, so the oldest id is
 * the next one. */
struct stream_mark {
	uint32_t next, counted; /* id; NAPs, as `naps` or `taken` */
	uint16_t unspent;       /* credit left */
	uint8_t index;
	bool receives : 1; /* a struct rx_stream's, else a struct tx_stream's */
	bool credited : 1; /* of the latter */
};

/* What a peer needs besides while its session is awake. */
struct nic_work {
	struct rx_stream *rx[NIC_STREAMS]; /* allocated at first use */
	struct tx_stream *tx[NIC_STREAMS];
	struct nic_read *reads; /* NIC_READS_MAX, allocated at first use */
	uint32_t read_count, read_id;
	uint32_t answers;             /* answers to its requests in RLTP's hands */
	uint32_t due;                 /* bit i: the limit of rx[i] is to be told */
	uint32_t blocked;             /* bit i: requests wait for credit of tx[i] */
	uint8_t waiters[NIC_STREAMS]; /* how many */
};

struct nic_peer {
	struct rltp_session *session;
	struct nic_peer *next;
	struct nic_work *work;     /* NULL: rests */
	struct stream_mark *marks; /* one for each stream ever used in this session */
	uint32_t mark_count;
};

static inline struct nic *peer_nic(const struct nic_peer *p)
{
	return p->session->shared->user;
}

struct nic {
	struct nic_options options;
	struct rltp_endpoint *endpoint;
	struct nic_function functions[NIC_FUNCTIONS];
	struct nic_region *regions; /* NIC_REGIONS_MAX */
	uint32_t region_hint;
	uint64_t key_seed[2];
	uint64_t mark_seed; /* read.c */
	struct nic_peer *peers;
	struct nic_message *free_messages;
	struct nic_request *free_requests;
	struct nic_buffer *free_buffers;
	uint32_t free_buffer_count;
	struct staged_put *puts, *puts_last; /* into staged memory, oldest first */
	uint32_t put_count;
	struct nic_staged_read *staged_reads, *staged_reads_last; /* likewise GETs of it */
	struct nic_peer *recent;                                  /* found last, or NULL */
	uint64_t now_ns;        /* of the call in progress, for what callbacks post */
	uint64_t retry_ns;      /* memory was short: look again then; UINT64_MAX: it was not */
	uint64_t look_ns;       /* an event ring of this NIC had no room: look again then; likewise
				 */
	uint64_t registers_ns;  /* a send of register mode is to be tried again then; likewise */
	uint32_t turn;          /* of nic_doorbells; wraps */
	struct nic_order order; /* of functions */
	uint32_t weights, weights_last; /* of functions with copies in this turn, in the last */
	uint32_t weights_open;          /* of all */
	uint8_t stops; /* bit i: function i was stopped, and what it has under way is not ended yet
			*/
	bool room;     /* something ended since doorbells were looked at: what waits may go on */
	struct nic_counters counters;
	uint32_t events_new;  /* bit i: an event of function i was written since nic_wakes */
	uint32_t events_told; /* wake.c: ... before that, and its user was not looked at behind a
				 fence yet */
};

#endif
