/* SPDX-License-Identifier: BSD-3-Clause */
/* Private state of the bridge. A transfer is cut into pieces. A piece holds at most one buffer of
 * each ring. Either a step of the piece is outstanding, or the piece is being fed, or it is queued
 * for its next step.
 *
 * Invariant: pieces are cut in order. So a byte before `next_at` that no piece holds is complete,
 * or was dropped (`missing_at`). Therefore no state grows with the length of a transfer. */
#ifndef BRIDGE_INTERNAL_H
#define BRIDGE_INTERNAL_H

#include "bridge/bridge.h"
#include "bridge/choice.h"
#include "bridge/cut.h"
#include "bridge/limits.h"
#include "bridge/list.h"
#include "bridge/ring.h"

/* One piece for each buffer of both rings, because a piece may hold a buffer of only one ring.
 * Pieces of DIRECT transfers hold no buffer. */
#define PIECES_MAX (2 * BRIDGE_BUFFERS_MAX + BRIDGE_DIRECT_PIECES)

struct piece {
	struct bridge_transfer *transfer; /* NULL: the entry is free */
	/* link of bridge.free or bridge.ready[step]; in no list while its step is outstanding, or
	 * while fed */
	struct list queue;
	struct list core_link; /* link of bridge.core, until the stream core starts the piece */
	struct list clock;     /* link of bridge.clock while the piece has a time limit */
	struct list sibling;   /* link of bridge_transfer.pieces */
	uint64_t at;
	uint32_t bytes;
	uint32_t filled;   /* fed transfers: bytes that arrived */
	uint32_t watched;  /* fed transfers: value of `filled` when the time limit last started */
	uint32_t stamp;    /* number of steps that this entry had, so that their ids differ */
	uint32_t epoch;    /* value of bridge.epoch when the owner last returned the piece's step */
	uint64_t since_ns; /* time in ns at which the step began or was last checked */
	uint8_t step;      /* enum bridge_step of the outstanding step, or of the next one */
	uint8_t in, out;   /* index of the buffer in each ring, or RING_NONE */
	bool outstanding;
	bool given_back;
	bool stuck; /* true: bridge_stuck must return the piece */
	/* true: the time limit was restarted because the peer is silent and its session is kept */
	bool waited;
	uint8_t overdue; /* for FILL and DRAIN: how often stall_ns has passed, at most 2 */
};

/* Queues of transfers whose next piece may be cut. Each queue is served round-robin. */
enum line { LINE_IN, LINE_OUT, LINE_DIRECT, LINE_CORE, LINES };

struct bridge_transfer {
	struct bridge *bridge;
	struct bridge_order order;
	struct cut cut;
	struct list all;
	/* link of bridge.lines[] while the next piece may be cut */
	struct list line;
	struct list stream; /* link of bridge.streams until all pieces are cut */
	struct list ended;
	struct list pieces;
	uint32_t given_back;
	/* time in ns of its start; it is timed (choice.h) if no other transfer begins before it
	 * ends */
	uint64_t begun_ns;
	uint32_t begun; /* value of bridge.begun at the start */
	bool timed;
	uint8_t way;         /* enum choice_way */
	uint64_t next_at;    /* bytes that are cut into pieces; unused for fed transfers */
	uint64_t missing_at; /* offset of the lowest byte that was dropped; UINT64_MAX: none */
	int status;          /* DXP_OK until the transfer fails */
	uint8_t step;        /* the step that failed, as in bridge_end.step */
	uint64_t fail_at;
	bool over; /* true: no step is outstanding, and none will be */
	/* For fed transfers: all blocks before number `settled` are complete. Each of the next
	 * BRIDGE_FED_BLOCKS blocks is complete if its bit is set. The bit of a block is the block's
	 * number modulo BRIDGE_FED_BLOCKS. */
	uint64_t settled;
	uint64_t settled_bits[BRIDGE_FED_BLOCKS / 64];
	uint32_t open; /* number of incomplete blocks that have begun */
	/* The fields from here on belong to grant.c. */
	/* link of bridge.waiting while the next block has no buffer */
	struct list wait;
	/* link of bridge.expected, from the transfer's first rejection on */
	struct list expected;
	/* blocks before this number have begun or are granted; 0: the transfer never waited */
	uint64_t granted;
	/* start time in the queue for grants, in bytes granted to the source */
	uint64_t virtual_start;
	uint64_t granted_ns; /* time in ns at which it last got a grant or bytes */
	uint32_t promised;   /* blocks that are granted and have not begun */
	bool granted_only;   /* true: the sender sends only granted bytes */
	bool notify;         /* true: the sender must be notified of `granted` */
	bool doubt;          /* true: a grant was not used */
	/* true: bridge_feed() was called with `first`, so all earlier bytes of the stream have
	 * arrived */
	bool first;
	/* number of times that the wait before grants are withdrawn was doubled */
	uint8_t patience;
};

struct bridge {
	struct bridge_options o;
	struct ring rings[RING_WAYS];
	struct piece pieces[PIECES_MAX];
	struct list free; /* pieces that no transfer uses */
	/* pieces that wait for a step; in FILL, DMA_OUT and DMA_DIRECT only pieces that the owner
	 * returned */
	struct list ready[BRIDGE_STEPS];
	/* pieces for the stream core, in the order in which it must start them */
	struct list core;
	struct list clock; /* pieces with a time limit, the earliest limit first */
	struct list all, streams, ended;
	struct list lines[LINES];
	uint32_t transfers;
	uint32_t begun; /* number of transfers that have begun, modulo 2^32 */
	struct choice choice;
	/* bytes of all transfers that have not ended, modulo 2^64 */
	uint64_t whole[BRIDGE_PATHS];
	uint32_t outstanding, fills, dmas[RING_WAYS], direct; /* numbers of outstanding steps */
	/* time in ns at which dmas[] last changed */
	uint64_t busy_since_ns[RING_WAYS];
	/* number of pieces of DIRECT transfers, including returned ones */
	uint32_t direct_pieces;
	/* DMAs that began while the next piece of the core waited */
	uint32_t passed[RING_WAYS];
	/* a step that is returned in this epoch is offered again in the next one */
	uint32_t epoch;
	uint64_t now_ns; /* time in ns of the last call */
	/* time in ns at which this epoch ends at the latest; UINT64_MAX: no step waits for that */
	uint64_t again_ns;
	uint32_t offered; /* id of the last action that bridge_next returned, for bridge_later */
	/* The fields up to `open` belong to feed.c. */
	/* Holder of the token: the only transfer whose `first` bytes may use the reserve. NULL: any
	 * transfer may use it. */
	struct bridge_transfer *token;
	/* true: the last buffer towards the device went to a transfer that is not fed */
	bool pulled_last;
	uint32_t hunger; /* number of buffers that fed bytes needed and did not find */
	uint64_t hunger_until_ns;
	uint32_t open; /* number of incomplete blocks of all transfers */
	/* The fields up to `virtual_start` belong to grant.c. */
	struct list waiting, expected;
	/* number of free buffers towards the device that are reserved for grants */
	uint32_t promised;
	/* virtual time of the queue: start time of the last granted transfer */
	uint64_t virtual_start;
	struct bridge_counters counters;
};

/* ---- piece.c ---- */

/* Returns a free piece for bytes [at, at + bytes) of the transfer. The piece is in no queue. A
 * caller that has a buffer always gets a piece. */
struct piece *piece_allocate(struct bridge_transfer *t, uint64_t at, uint32_t bytes);
/* Frees a piece and its buffers. `in_place`: all steps of the piece succeeded. */
void piece_put(struct bridge *b, struct piece *p, bool in_place);
/* Begins the piece's step and fills in the action. */
void piece_begin(struct bridge *b, struct piece *p, struct bridge_action *out);
/* Queues the piece for `step`. Not for pieces of the stream core, which are in bridge.core. */
void piece_wait(struct bridge *b, struct piece *p, enum bridge_step step);
/* Returns the piece whose outstanding step has this id; NULL: there is none. */
struct piece *piece_of(struct bridge *b, uint32_t id);
void piece_watch(struct bridge *b, struct piece *p);
/* Removes the piece's step from the outstanding ones. */
void piece_end(struct bridge *b, struct piece *p);
/* Frees the buffer; does nothing if *buffer is RING_NONE. */
void piece_buffer_put(struct ring *r, uint8_t *buffer);

/* ---- transfer.c ---- */

/* Updates the lists that contain a transfer. Call it after each change of the transfer. */
void transfer_settle(struct bridge_transfer *t);
void transfer_fail(struct bridge_transfer *t, int status, uint8_t step, uint64_t at);
struct piece *transfer_cut(struct bridge_transfer *t);

/* ---- feed.c ---- */

/* Returns the number of buffers towards the device that are now kept for fed bytes. */
uint32_t feed_kept(const struct bridge *b);

/* ---- feed_blocks.c ---- */

uint64_t feed_block_bytes(const struct bridge_transfer *t, uint64_t block);
/* Returns true if all bytes of the block are in the device's memory. */
bool feed_is_settled(struct bridge_transfer *t, uint64_t block);
/* Returns the piece of the block; NULL: none of its bytes have arrived, or all have. */
struct piece *feed_piece(struct bridge_transfer *t, uint64_t block);
/* Returns the smallest block size in bytes that a fed transfer may have, before it is rounded down
 * to whole packets (bridge_order.unit). The last block may be shorter. */
uint32_t feed_block_min(const struct bridge *b);
/* Returns the number of buffers that fed bytes need at most if no earlier bytes are missing: one
 * partly filled buffer, and the buffers that the longest payload begins. */
uint32_t feed_reserve(const struct bridge *b);
void feed_placed(struct bridge_transfer *t, const struct piece *p);
bool feed_complete(const struct bridge_transfer *t);
uint64_t feed_prefix(const struct bridge_transfer *t);
bool feed_token_free(const struct bridge *b);
uint64_t feed_blocks(const struct bridge_transfer *t);
/* Returns the number of the first block, from `block` on, of which no byte has arrived. */
uint64_t feed_unbegun(struct bridge_transfer *t, uint64_t block);

/* ---- grant.c ---- */

/* Returns true if the transfer can get grants, because its packets do not cross borders of
 * blocks. */
bool grant_may(const struct bridge_transfer *t);
/* Appends the transfer to the queue for grants, unless it is queued already. */
void grant_wait(struct bridge_transfer *t);
void grant_begun(struct bridge_transfer *t, uint64_t block);
void grant_fed(struct bridge_transfer *t);
/* Withdraws the transfer's grants and its token. */
void grant_forget(struct bridge_transfer *t);
/* Returns the time in ns at which bridge_granted has a grant. */
uint64_t grant_deadline(const struct bridge *b);

static inline bool uses_core(const struct bridge_transfer *t)
{
	return t->order.path == BRIDGE_THROUGH || t->order.core;
}

#endif
