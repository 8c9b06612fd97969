/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the bridge share. A transfer is cut into pieces; a piece holds at most one
 * buffer of each ring and is either under way (its owner works on it), being fed, or waits for its
 * next step in one queue.
 *
 * Invariant: pieces are cut in order, so all before `next_at` that no piece has any more is in
 * place, or was dropped (`missing_at`). This is why nothing here grows with a transfer. */
#ifndef BRIDGE_INTERNAL_H
#define BRIDGE_INTERNAL_H

#include "bridge/bridge.h"
#include "bridge/cut.h"
#include "bridge/list.h"
#include "bridge/ring.h"

/* Each may hold a buffer of one ring only, and some none. */
#define PIECES_MAX (2 * BRIDGE_BUFFERS_MAX + BRIDGE_DIRECT_PIECES)

struct piece {
	struct bridge_transfer *transfer; /* NULL: free */
	struct list queue;   /* free or ready[step]; in none while under way or being fed */
	struct list turn;    /* bridge.core, from when it was cut until the core gets it */
	struct list clock;   /* bridge.clock while a stall is looked out for */
	struct list sibling; /* bridge_transfer.pieces */
	uint64_t at;
	uint32_t bytes;
	uint32_t filled;   /* fed: bytes that have come */
	uint32_t watched;  /* fed: of them when its clock began */
	uint32_t stamp;    /* counts what was begun here: no id comes twice */
	uint32_t epoch;    /* in which it was given back; bridge.epoch */
	uint64_t since_ns; /* begun, or last fed */
	uint8_t step;      /* enum bridge_step: under way, or next */
	uint8_t in, out;   /* buffers, or RING_NONE */
	bool under_way;
	bool given_back;
	bool stuck;      /* to be told by bridge_stuck */
	bool waited;     /* its time began again because its peer is silent and kept */
	uint8_t overdue; /* FILL, DRAIN: stall_ns have passed; 2: twice, or more often */
};

/* Those that wait to be cut take turns in one of these. */
enum line { LINE_IN, LINE_OUT, LINE_DIRECT, LINE_CORE, LINES };

struct bridge_transfer {
	struct bridge *bridge;
	struct bridge_order order;
	struct cut cut;
	struct list all;    /* bridge.all */
	struct list line;   /* bridge.lines[] while its next piece may be cut */
	struct list stream; /* bridge.streams, from the beginning until all is cut */
	struct list ended;  /* bridge.ended */
	struct list pieces;
	uint32_t given_back;
	uint64_t next_at;    /* cut up to here; not of fed ones */
	uint64_t missing_at; /* lowest byte that was dropped; UINT64_MAX: none */
	int status;          /* DXP_OK until it fails */
	uint8_t step;        /* bridge_end */
	uint64_t fail_at;
	bool over; /* nothing of it is under way, and nothing will be */
	/* Fed: blocks before `settled` are in place, and of the BRIDGE_FED_BLOCKS from there on
	 * those whose bit (block modulo that) is set. */
	uint64_t settled;
	uint64_t settled_bits[BRIDGE_FED_BLOCKS / 64];
	uint32_t open; /* blocks of which bytes are missing */
	/* call.c */
	struct list wait;     /* bridge.waiting while its next block has no buffer */
	struct list expected; /* bridge.expected from its first refusal on */
	uint64_t called;      /* blocks before it have begun or are promised; 0: it never waited */
	uint64_t turn;        /* bytes that its source has had */
	uint64_t called_ns;   /* when it was called or fed last */
	uint32_t promised;    /* blocks */
	bool told;            /* its sender sends what it was called for, and nothing else */
	bool tell;            /* and is to hear what that is */
	bool doubt;           /* nothing came when it was called */
	bool first;           /* it waits for nobody else's bytes, as its feeder said */
	uint8_t patience;     /* doublings of the time after which promises are taken back */
};

struct bridge {
	struct bridge_options o;
	struct ring rings[RING_WAYS];
	struct piece pieces[PIECES_MAX];
	struct list free;                /* pieces */
	struct list ready[BRIDGE_STEPS]; /* FILL, DMA_OUT, DMA_DIRECT: only such as were given back
					  */
	struct list core;  /* pieces for the stream core, in the order in which it gets them */
	struct list clock; /* pieces, those that stall first in front */
	struct list all, streams, ended;
	struct list lines[LINES];
	uint32_t transfers;
	uint64_t whole[BRIDGE_PATHS]; /* bytes of those that are not over, modulo 2^64 */
	uint32_t under_way, fills, dmas[RING_WAYS], direct; /* steps under way */
	uint64_t busy_since_ns[RING_WAYS];                  /* when dmas[] changed */
	uint32_t direct_pieces;                             /* also those that were given back */
	uint32_t passed[RING_WAYS]; /* DMAs begun while the core's next piece waited */
	uint32_t epoch;             /* what was given back in this one waits for the next */
	uint64_t now_ns;            /* of the last call with a time */
	uint64_t again_ns;          /* when it ends by itself; UINT64_MAX: nothing waits for that */
	uint32_t offered;           /* id of the last action, for bridge_later */
	/* feed.c */
	struct bridge_transfer *token; /* whose `first` may use the reserve; NULL: anybody's */
	bool pulled_last; /* the last buffer towards the device went to one that is not fed */
	uint32_t hunger;  /* buffers that fed bytes lacked */
	uint64_t hunger_until_ns;
	uint32_t open; /* blocks of which bytes are missing, of all transfers */
	/* call.c */
	struct list waiting, expected;
	uint32_t promised; /* free buffers towards the device that are somebody's */
	uint64_t turn;     /* of whom was called last */
	struct bridge_counters counters;
};

/* ---- piece.c ---- */

/* Of a transfer; waits in no queue. There is always a free one for who has a buffer. */
struct piece *piece_take(struct bridge_transfer *t, uint64_t at, uint32_t bytes);
/* Gives it and its buffers back. `in_place`: all steps have ended well. */
void piece_put(struct bridge *b, struct piece *p, bool in_place);
/* Its step begins; fills in the action. */
void piece_begin(struct bridge *b, struct piece *p, struct bridge_action *out);
/* Waits for `step` at the end of its queue; not for those of the core. */
void piece_wait(struct bridge *b, struct piece *p, enum bridge_step step);
/* The piece with this step under way; NULL: there is none. */
struct piece *piece_of(struct bridge *b, uint32_t id);
void piece_watch(struct bridge *b, struct piece *p);

/* ---- transfer.c ---- */

/* Puts it where it belongs, after anything of it has changed: in its line, among the streams, among
 * those that have ended. */
void transfer_settle(struct bridge_transfer *t);
void transfer_fail(struct bridge_transfer *t, int status, uint8_t step, uint64_t at);
/* The next piece is cut off. */
struct piece *transfer_cut(struct bridge_transfer *t);

/* ---- feed.c ---- */

/* Buffers towards the device that are kept for fed bytes now. */
uint32_t feed_kept(const struct bridge *b);
/* Shortest block of fed transfers. */
uint32_t feed_block_min(const struct bridge *b);
/* Buffers that fed bytes before which nothing is missing need at most: one that is filled up to
 * its middle, and those that the longest payload begins. */
uint32_t feed_reserve(const struct bridge *b);
void feed_placed(struct bridge_transfer *t, const struct piece *p);
bool feed_complete(const struct bridge_transfer *t);
uint64_t feed_prefix(const struct bridge_transfer *t);
void feed_forget(struct bridge *b, struct bridge_transfer *t);
bool feed_token_free(const struct bridge *b);
uint64_t feed_blocks(const struct bridge_transfer *t);
/* The first block from this one on of which no byte has come. */
uint64_t feed_unbegun(struct bridge_transfer *t, uint64_t block);

/* ---- call.c ---- */

/* Can a sender be told of a block of this one? Packets must not lie across the border of two. */
bool call_may(const struct bridge_transfer *t);
void call_wait(struct bridge_transfer *t); /* to the end of the line, if it is not in it */
void call_begun(struct bridge_transfer *t, uint64_t block);
void call_fed(struct bridge_transfer *t);
void call_forget(struct bridge_transfer *t);
uint64_t call_deadline(const struct bridge *b); /* when bridge_called has something to do */

static inline bool uses_core(const struct bridge_transfer *t)
{
	return t->order.path == BRIDGE_THROUGH || t->order.core;
}

#endif
