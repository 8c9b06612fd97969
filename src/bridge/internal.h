/* SPDX-License-Identifier: BSD-3-Clause */
/* Private state of the bridge. A transfer is cut into pieces, with at most one buffer of each ring.
 * A piece has an outstanding step, is being fed, or is queued for its next step.
 *
 * Invariant: pieces are cut in order, so a byte before `next_at` that no piece holds is complete,
 * or was dropped (`missing_at`). So no state grows with the length of a transfer. */
#ifndef BRIDGE_INTERNAL_H
#define BRIDGE_INTERNAL_H

#include "bridge/bridge.h"
#include "bridge/choice.h"
#include "bridge/cut.h"
#include "bridge/limits.h"
#include "bridge/list.h"
#include "bridge/ring.h"

/* One per buffer, because a piece may hold a buffer of only one ring; DIRECT pieces hold none. */
#define PIECES_MAX (2 * BRIDGE_BUFFERS_MAX + BRIDGE_DIRECT_PIECES)

struct piece {
	struct bridge_transfer *transfer; /* NULL: free */
	/* in bridge.free or bridge.ready[step]; in none while outstanding or fed */
	struct list queue;
	struct list core_link; /* in bridge.core, until the stream core starts the piece */
	struct list clock;     /* in bridge.clock, with a time limit */
	struct list sibling;   /* in bridge_transfer.pieces */
	uint64_t at;
	uint32_t bytes;
	uint32_t filled;   /* fed: arrived bytes */
	uint32_t watched;  /* fed: `filled` when the time limit last started */
	uint32_t stamp;    /* steps of this entry, so that ids differ */
	uint32_t epoch;    /* bridge.epoch when the owner last returned the step */
	uint64_t since_ns; /* when the step began or was last checked */
	uint8_t step;      /* outstanding or next */
	uint8_t in, out;   /* buffer of each ring, or RING_NONE */
	bool outstanding;
	bool given_back;
	bool stuck; /* bridge_stuck must return the piece */
	/* time limit was restarted for a silent peer with a kept session */
	bool waited;
	uint8_t overdue; /* FILL, DRAIN: times that stall_ns has passed, at most 2 */
};

/* Lists of transfers whose next piece may be cut, round-robin. */
enum line { LINE_IN, LINE_OUT, LINE_DIRECT, LINE_CORE, LINES };

struct bridge_transfer {
	struct bridge *bridge;
	struct bridge_order order;
	struct cut cut;
	struct list all;
	/* in bridge.lines[] */
	struct list line;
	struct list stream; /* in bridge.streams, until all pieces are cut */
	struct list ended;
	struct list pieces;
	uint32_t given_back;
	/* start; choice.h times the transfer if no other begins before its end */
	uint64_t begun_ns;
	uint32_t begun; /* bridge.begun at the start */
	bool timed;
	uint8_t way;         /* enum choice_way */
	uint64_t next_at;    /* cut into pieces; unused if fed */
	uint64_t missing_at; /* lowest dropped byte; UINT64_MAX: none */
	int status;          /* DXP_OK until it fails */
	uint8_t step;        /* see bridge_end */
	uint64_t fail_at;
	bool over; /* no step is outstanding, and none follows */
	/* Transfers that are fed: all blocks with a number below `settled` are complete. Of the
	 * next BRIDGE_FED_BLOCKS blocks, block n is complete if bit n % BRIDGE_FED_BLOCKS is set.
	 */
	uint64_t settled;
	uint64_t settled_bits[BRIDGE_FED_BLOCKS / 64];
	uint32_t open; /* begun, incomplete blocks */
	/* grant.c, from here on */
	/* in bridge.waiting, while the next block has no buffer */
	struct list wait;
	/* in bridge.expected, from the first rejection on */
	struct list expected;
	/* blocks before it have begun or are granted; 0: never waited */
	uint64_t granted;
	/* start in the queue, in bytes granted to the source */
	uint64_t virtual_start;
	uint64_t granted_ns; /* last grant, or last bytes */
	uint32_t promised;   /* granted blocks that have not begun */
	bool granted_only;   /* the sender sends only granted bytes */
	bool notify;         /* the sender must be notified of `granted` */
	bool doubt;          /* a grant was not used */
	/* bridge_feed() had `first` */
	bool first;
	/* doublings of the wait before a withdrawal */
	uint8_t patience;
};

struct bridge {
	struct bridge_options o;
	struct ring rings[RING_WAYS];
	struct piece pieces[PIECES_MAX];
	struct list free; /* unused */
	/* for FILL, DMA_OUT and DMA_DIRECT, only returned steps */
	struct list ready[BRIDGE_STEPS];
	/* in the order of their start */
	struct list core;
	struct list clock; /* earliest limit first */
	struct list all, streams, ended;
	struct list lines[LINES];
	uint32_t transfers;
	uint32_t begun; /* transfers, modulo 2^32 */
	struct choice choice;
	/* bytes of running transfers, modulo 2^64 */
	uint64_t whole[BRIDGE_PATHS];
	uint32_t outstanding, fills, dmas[RING_WAYS], direct; /* steps */
	/* last change of dmas[] */
	uint64_t busy_since_ns[RING_WAYS];
	/* pieces of DIRECT transfers, including returned ones */
	uint32_t direct_pieces;
	/* DMAs begun while the core's next piece waited */
	uint32_t passed[RING_WAYS];
	/* a step returned in it is offered again in the next one */
	uint32_t epoch;
	uint64_t now_ns; /* of the last call */
	/* end of the epoch at the latest; UINT64_MAX: no step waits for it */
	uint64_t again_ns;
	uint32_t offered; /* last action of bridge_next, for bridge_later */
	/* feed.c, up to `open` */
	/* transfer that may use the reserve, for bytes before which none is missing; NULL: any
	 * transfer may become it */
	struct bridge_transfer *token;
	/* the last buffer towards the device was not for a fed transfer */
	bool pulled_last;
	uint32_t hunger; /* buffers that fed bytes did not find */
	uint64_t hunger_until_ns;
	uint32_t open; /* incomplete blocks of all transfers */
	/* grant.c, up to `virtual_start` */
	struct list waiting, expected;
	/* free buffers towards the device reserved for grants */
	uint32_t promised;
	/* of the last granted transfer */
	uint64_t virtual_start;
	struct bridge_counters counters;
};

/* The piece is in no queue. With a buffer, there is always a piece. */
struct piece *piece_allocate(struct bridge_transfer *t, uint64_t at, uint32_t bytes);
/* `in_place`: all steps succeeded. */
void piece_put(struct bridge *b, struct piece *p, bool in_place);
void piece_begin(struct bridge *b, struct piece *p, struct bridge_action *out);
/* Not for pieces of the stream core, which are in bridge.core. */
void piece_wait(struct bridge *b, struct piece *p, enum bridge_step step);
/* The piece with the outstanding step `id`, or NULL. */
struct piece *piece_of(struct bridge *b, uint32_t id);
void piece_watch(struct bridge *b, struct piece *p);
void piece_end(struct bridge *b, struct piece *p);
/* No effect if *buffer is RING_NONE. */
void piece_buffer_put(struct ring *r, uint8_t *buffer);

/* After each change of a transfer: updates its lists. */
void transfer_settle(struct bridge_transfer *t);
void transfer_fail(struct bridge_transfer *t, int status, uint8_t step, uint64_t at);
struct piece *transfer_cut(struct bridge_transfer *t);

/* Buffers towards the device now kept for fed bytes. */
uint32_t feed_kept(const struct bridge *b);

uint64_t feed_block_bytes(const struct bridge_transfer *t, uint64_t block);
/* All bytes of the block are in the device. */
bool feed_is_settled(struct bridge_transfer *t, uint64_t block);
/* NULL: none of the bytes have arrived, or all have. */
struct piece *feed_piece(struct bridge_transfer *t, uint64_t block);
/* Smallest block, before rounding down to whole packets (bridge_order.unit); the last may be
 * shorter. */
uint32_t feed_block_min(const struct bridge *b);
/* Buffers that fed bytes need if none earlier are missing: a partly filled one, and those that the
 * longest payload begins. */
uint32_t feed_reserve(const struct bridge *b);
void feed_placed(struct bridge_transfer *t, const struct piece *p);
bool feed_complete(const struct bridge_transfer *t);
uint64_t feed_prefix(const struct bridge_transfer *t);
bool feed_token_free(const struct bridge *b);
uint64_t feed_blocks(const struct bridge_transfer *t);
/* First block, from `block` on, of which no byte has arrived. */
uint64_t feed_unbegun(struct bridge_transfer *t, uint64_t block);

/* Grants need packets that do not cross borders of blocks. */
bool grant_may(const struct bridge_transfer *t);
/* No effect if it is queued already. */
void grant_wait(struct bridge_transfer *t);
void grant_begun(struct bridge_transfer *t, uint64_t block);
void grant_fed(struct bridge_transfer *t);
/* Withdraws the transfer's grants and its token. */
void grant_forget(struct bridge_transfer *t);
/* When bridge_granted has a grant. */
uint64_t grant_deadline(const struct bridge *b);

static inline bool uses_core(const struct bridge_transfer *t)
{
	return t->order.path == BRIDGE_THROUGH || t->order.core;
}

#endif
