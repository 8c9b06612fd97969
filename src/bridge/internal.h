/* SPDX-License-Identifier: BSD-3-Clause */
/* Private state of the bridge. A transfer is cut into pieces. A piece holds at most one buffer of
 * each ring. Its step is outstanding, or it is being fed, or it is queued for its next step.
 *
 * Invariant: pieces are cut in order. So a byte before `next_at` that no piece holds is in place,
 * or was dropped (`missing_at`). Therefore no state grows with the length of a transfer. */
#ifndef BRIDGE_INTERNAL_H
#define BRIDGE_INTERNAL_H

#include "bridge/bridge.h"
#include "bridge/choice.h"
#include "bridge/cut.h"
#include "bridge/limits.h"
#include "bridge/list.h"
#include "bridge/ring.h"

/* a piece may hold a buffer of only one ring, or none */
#define PIECES_MAX (2 * BRIDGE_BUFFERS_MAX + BRIDGE_DIRECT_PIECES)

struct piece {
	struct bridge_transfer *transfer; /* NULL: free */
	/* link of list `free` or ready[step]; in no list while outstanding or fed */
	struct list queue;
	struct list core_link; /* bridge.core, until the core starts it */
	struct list clock;     /* bridge.clock while it has a time limit */
	struct list sibling;   /* bridge_transfer.pieces */
	uint64_t at;
	uint32_t bytes;
	uint32_t filled;   /* fed: bytes arrived */
	uint32_t watched;  /* fed only: value of `filled` when its time limit last started */
	uint32_t stamp;    /* counts steps of this entry, so that ids differ */
	uint32_t epoch;    /* value of bridge.epoch when the piece was returned */
	uint64_t since_ns; /* when the step began or was last checked */
	uint8_t step;      /* outstanding or next: enum bridge_step */
	uint8_t in, out;   /* buffers, or RING_NONE */
	bool outstanding;
	bool given_back;
	bool stuck; /* bridge_stuck must return it */
	/* the time limit was restarted because the peer is silent and its session is kept */
	bool waited;
	uint8_t overdue; /* FILL, DRAIN: how often stall_ns has passed, at most 2 */
};

/* Queues of transfers whose next piece may be cut; served round-robin. */
enum line { LINE_IN, LINE_OUT, LINE_DIRECT, LINE_CORE, LINES };

struct bridge_transfer {
	struct bridge *bridge;
	struct bridge_order order;
	struct cut cut;
	struct list all;
	struct list line;   /* link of bridge.lines[], while the transfer's next piece may be cut */
	struct list stream; /* bridge.streams until all is cut */
	struct list ended;
	struct list pieces;
	uint32_t given_back;
	uint64_t begun_ns; /* choice.h: it is timed if no other began before it ends */
	uint32_t begun;    /* value of bridge.begun */
	bool timed;
	uint8_t way;         /* enum choice_way */
	uint64_t next_at;    /* cut up to here; unused if fed */
	uint64_t missing_at; /* lowest dropped byte; UINT64_MAX: none */
	int status;          /* DXP_OK until it fails */
	uint8_t step;        /* the failed one: bridge_end.step */
	uint64_t fail_at;
	bool over; /* no step is, or will be, outstanding */
	/* Of a transfer that is fed: all blocks before `settled` are in place. One of the next
	 * BRIDGE_FED_BLOCKS blocks is in place if its bit (block modulo BRIDGE_FED_BLOCKS) is
	 * set. */
	uint64_t settled;
	uint64_t settled_bits[BRIDGE_FED_BLOCKS / 64];
	uint32_t open; /* incomplete blocks */
	/* grant.c */
	/* link of bridge.waiting, while the transfer's next block has no buffer */
	struct list wait;
	/* link of bridge.expected, from the transfer's first rejection on */
	struct list expected;
	/* blocks before this number have begun or are granted; 0: the transfer never waited */
	uint64_t granted;
	/* virtual start time in the grant queue: bytes granted to the source */
	uint64_t virtual_start;
	uint64_t granted_ns; /* when it last got a grant or bytes */
	uint32_t promised;   /* blocks granted and not begun */
	bool granted_only;   /* its sender sends only granted bytes */
	bool notify;         /* the sender must be notified of `granted` */
	bool doubt;          /* a grant was not used */
	/* bridge_feed() was called with `first`: all earlier bytes of the stream have arrived */
	bool first;
	uint8_t patience; /* doublings of the time until grants are withdrawn */
};

struct bridge {
	struct bridge_options o;
	struct ring rings[RING_WAYS];
	struct piece pieces[PIECES_MAX];
	struct list free;                /* free pieces */
	struct list ready[BRIDGE_STEPS]; /* FILL, DMA_OUT, DMA_DIRECT: only returned pieces */
	struct list core;                /* pieces for the stream core, in its order */
	struct list clock;               /* pieces with a time limit, earliest first */
	struct list all, streams, ended;
	struct list lines[LINES];
	uint32_t transfers;
	uint32_t begun; /* transfers so far, modulo 2^32 */
	struct choice choice;
	uint64_t whole[BRIDGE_PATHS]; /* bytes of transfers that have not ended, modulo 2^64 */
	uint32_t outstanding, fills, dmas[RING_WAYS], direct; /* outstanding steps */
	uint64_t busy_since_ns[RING_WAYS];                    /* when dmas[] changed */
	/* number of direct pieces, including returned ones */
	uint32_t direct_pieces;
	uint32_t passed[RING_WAYS]; /* DMAs begun while the core's next piece waited */
	uint32_t epoch;             /* a step returned in this epoch waits for the next one */
	uint64_t now_ns;            /* time of the last call */
	/* time at which this epoch ends at the latest; UINT64_MAX: no step waits for its end */
	uint64_t again_ns;
	uint32_t offered; /* id of the last action, for bridge_later */
	/* feed.c */
	/* The only transfer whose `first` bytes may use the reserve; NULL: any transfer may use
	 * it. */
	struct bridge_transfer *token;
	/* The last buffer towards the device went to a transfer that is not fed. */
	bool pulled_last;
	uint32_t hunger; /* buffers that fed bytes needed and did not find */
	uint64_t hunger_until_ns;
	uint32_t open; /* incomplete blocks of all transfers */
	/* grant.c */
	struct list waiting, expected;
	uint32_t promised;      /* free buffers towards the device that are reserved for grants */
	uint64_t virtual_start; /* virtual time: start time of the last granted transfer */
	struct bridge_counters counters;
};

/* ---- piece.c ---- */

/* Returns a free piece for [at, at + bytes) of the transfer, in no queue. A caller that has a
 * buffer always gets one. */
struct piece *piece_allocate(struct bridge_transfer *t, uint64_t at, uint32_t bytes);
/* Frees a piece and its buffers. `in_place`: all steps succeeded. */
void piece_put(struct bridge *b, struct piece *p, bool in_place);
/* Begins the piece's step and fills in the action. */
void piece_begin(struct bridge *b, struct piece *p, struct bridge_action *out);
/* Queues the piece for `step`; not for pieces of the core. */
void piece_wait(struct bridge *b, struct piece *p, enum bridge_step step);
/* Returns the piece with outstanding step `id`, or NULL. */
struct piece *piece_of(struct bridge *b, uint32_t id);
void piece_watch(struct bridge *b, struct piece *p);
/* Ends the outstanding step. */
void piece_end(struct bridge *b, struct piece *p);
/* Frees the buffer, if any. */
void piece_buffer_put(struct ring *r, uint8_t *buffer);

/* ---- transfer.c ---- */

/* Updates the lists that contain a transfer; call after each change to it. */
void transfer_settle(struct bridge_transfer *t);
void transfer_fail(struct bridge_transfer *t, int status, uint8_t step, uint64_t at);
struct piece *transfer_cut(struct bridge_transfer *t);

/* ---- feed.c ---- */

/* Returns how many buffers towards the device are reserved for fed bytes now. */
uint32_t feed_kept(const struct bridge *b);

/* ---- feed_blocks.c ---- */

uint64_t feed_block_bytes(const struct bridge_transfer *t, uint64_t block);
/* Returns whether all bytes of the block are in place. */
bool feed_is_settled(struct bridge_transfer *t, uint64_t block);
/* Returns the block's piece; NULL: none or all of its bytes have arrived. */
struct piece *feed_piece(struct bridge_transfer *t, uint64_t block);
/* Returns the length of the shortest block of fed transfers. */
uint32_t feed_block_min(const struct bridge *b);
/* Returns how many buffers fed bytes need at most if no earlier bytes are missing: a partly filled
 * buffer, and the buffers that the longest payload begins. */
uint32_t feed_reserve(const struct bridge *b);
void feed_placed(struct bridge_transfer *t, const struct piece *p);
bool feed_complete(const struct bridge_transfer *t);
uint64_t feed_prefix(const struct bridge_transfer *t);
bool feed_token_free(const struct bridge *b);
uint64_t feed_blocks(const struct bridge_transfer *t);
/* Returns the first block from `block` on without any byte. */
uint64_t feed_unbegun(struct bridge_transfer *t, uint64_t block);

/* ---- grant.c ---- */

/* Returns whether the transfer can get grants: its packets do not cross borders of blocks. */
bool grant_may(const struct bridge_transfer *t);
/* Appends the transfer to the queue for grants, unless it is queued already. */
void grant_wait(struct bridge_transfer *t);
void grant_begun(struct bridge_transfer *t, uint64_t block);
void grant_fed(struct bridge_transfer *t);
/* Withdraws its grants and the token. */
void grant_forget(struct bridge_transfer *t);
uint64_t grant_deadline(const struct bridge *b); /* when bridge_granted has a grant */

static inline bool uses_core(const struct bridge_transfer *t)
{
	return t->order.path == BRIDGE_THROUGH || t->order.core;
}

#endif
