/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a group, shared by its files: call.c cuts calls into segments and ends them,
 * segment.c makes packets and takes results, repeat.c asks again, await.c asks the others whether
 * they are only late, lose.c is the agreement about a lost group.
 *
 * Segments are numbered through all calls and wrap. Invariant, in that arithmetic:
 * next <= to_send <= end, to_send <= next + window. Results next - window .. next - 1 have been
 * handed to the caller and are kept for members that fetch them; of next .. next + window - 1 those
 * that came early wait. Both live in a ring of 2 * window results. */
#ifndef INC_INTERNAL_H
#define INC_INTERNAL_H

#include "base/util.h"
#include "inc/group.h"

/* A result, or the place for one. */
struct result {
	uint32_t segment;
	bool here; /* the result of `segment` is */
	struct inc_header header;
};

/* A segment under way: at index segment % window. */
struct flight {
	uint64_t sent_ns; /* last */
	uint8_t tries;    /* repeats so far, at most 255 */
	bool late;        /* to be repeated now */
};

/* What is known of another member; used when results stay away. */
struct peer {
	uint32_t next;       /* FREEZE, FROZEN */
	uint32_t to_send;    /* AWAITED */
	bool known;          /* `next` is, by one who has given up the same members as we */
	bool gone;           /* given up: as if it were dead */
	bool awaited;        /* `to_send` is, in this round */
	bool owes_frozen;    /* we owe it the answer */
	bool owes_awaited;   /* the same */
	uint16_t fetched;    /* results that we owe it, ... */
	uint32_t fetch_from; /* ... from this one on */
};

enum group_state {
	GROUP_LIVE,
	GROUP_FREEZING, /* all are asked what they have */
	GROUP_FETCHING, /* what others have is fetched */
	GROUP_LOST,
};

/* What has a round trip of its own. */
enum pace {
	PACE_FAST,  /* the XDP plane computes it: microseconds */
	PACE_SHORT, /* user space, one packet */
	PACE_LONG,
	PACES
};

struct rtt {
	uint64_t smoothed_ns, deviation_ns; /* 0: no sample yet */
};

struct inc_group {
	struct inc_group_options o; /* o.members is ours */
	enum group_state state;
	uint8_t opcode;

	struct inc_call *calls, **calls_tail; /* oldest first */
	struct inc_call *sending;             /* the call of to_send; NULL: none */
	uint32_t next, to_send, end;
	uint32_t fence; /* nothing from here on is sent before all before it is here */
	struct result *results;
	uint8_t *bytes; /* of results, o.segment_bytes each */
	struct flight *flights;

	struct rtt rtts[PACES];
	uint64_t repeat_ns; /* when the oldest is asked for, if no result comes before */
	unsigned backoff;   /* times that this came, since a result did */
	unsigned burst;     /* how many it asks for */
	uint32_t highest;   /* behind the last segment of which a result came */
	uint32_t gap;       /* all before here were looked at for losses */
	bool late;          /* some flight is */

	uint64_t progress_ns; /* when a result came last, or a wait began */
	bool served;          /* a result came ever */
	uint64_t refused_ns;  /* first refusal without one; 0: none */
	uint64_t renew_ns;

	struct peer *peers;
	bool asking;       /* whether the others are only late */
	uint64_t asked_ns; /* when that began */
	uint64_t ask_ns;   /* of the next round of questions, of any kind; doubles: */
	uint64_t ask_gap_ns;
	uint32_t ask_member; /* where the present round is; count: it is over */
	bool answers_due;    /* some peer is owed something */
	uint32_t answer_member;
	uint64_t frozen_ns;
	uint64_t lost_ns; /* when the present round of questions, or fetch, began or went on */
	int lost_status;
	uint32_t common; /* P of docs/inc.md */
	uint32_t source; /* whom to fetch from; count: nobody */
	uint32_t gone_count;
	uint8_t *said; /* payload of FREEZE and FROZEN: a peer and who is gone */
	uint64_t calls_done, segments_sent, segments_repeated, results_taken, duplicates, refused;
};

/* ---- call.c ---- */

/* The call that a segment is part of; NULL: none that is not ended. */
struct inc_call *call_of(const struct inc_group *g, uint32_t segment);
/* Elements of a call before its segment `index`, at most all. */
size_t call_elements_before(const struct inc_group *g, const struct inc_call *c, uint32_t index);
bool call_short(const struct inc_call *c);
enum pace call_pace(const struct inc_group *g, const struct inc_call *c);
/* Gives the results from `next` on that are here to their calls. */
void calls_deliver(struct inc_group *g, uint64_t now_ns);
/* Ends all calls: nothing more will come. */
void calls_end(struct inc_group *g);

/* ---- segment.c ---- */

static inline struct result *result_place(const struct inc_group *g, uint32_t segment)
{
	return &g->results[segment % (2u * g->o.window)];
}

static inline uint8_t *result_bytes(const struct inc_group *g, uint32_t segment)
{
	return g->bytes + (size_t)(segment % (2u * g->o.window)) * g->o.segment_bytes;
}

static inline struct flight *flight_of(const struct inc_group *g, uint32_t segment)
{
	return &g->flights[segment % g->o.window];
}

static inline bool result_here(const struct inc_group *g, uint32_t segment)
{
	const struct result *r = result_place(g, segment);

	return r->here && r->segment == segment;
}

static inline bool batch_full(const struct inc_batch *b)
{
	return b->count == b->room;
}

/* Adds the packet to the batch, which has room. */
void packet_add(struct inc_group *g, struct inc_batch *out, const struct inc_header *h,
		uint32_t to_ip, uint16_t to_port, const void *payload, size_t payload_bytes);
/* The same with a payload that need not stay: it travels in the header's room. */
void packet_add_inline(struct inc_group *g, struct inc_batch *out, const struct inc_header *h,
		       uint32_t to_ip, uint16_t to_port, const void *payload, size_t payload_bytes);
/* Takes the payload of the newest datagram, at most INC_CONTROL_BYTES_MAX, into its header's room.
 */
void batch_inline(struct inc_batch *out);
/* The contribution to a segment of a call. */
void segment_add(struct inc_group *g, struct inc_batch *out, const struct inc_call *c,
		 uint32_t segment, bool repeat, uint64_t now_ns);
void segments_send(struct inc_group *g, struct inc_batch *out, uint64_t now_ns);
/* Keeps a result for next .. next + window - 1 that is not here yet. */
void result_keep(struct inc_group *g, const struct inc_packet *p);
/* Is it what the call of its segment asked for? */
bool result_fits(const struct inc_group *g, const struct inc_header *h);
void result_receive(struct inc_group *g, const struct inc_packet *p, uint64_t now_ns);

/* ---- repeat.c ---- */
void repeat_arm(struct inc_group *g, uint32_t segment, enum pace pace, uint64_t now_ns);
/* A result of a segment under way came. */
void repeat_result(struct inc_group *g, uint32_t segment, enum pace pace, uint64_t now_ns);
void repeat_send(struct inc_group *g, struct inc_batch *out, uint64_t now_ns);

/* ---- await.c ---- */
/* Waiting too long? Asks, and declares the group lost. */
void await_check(struct inc_group *g, uint64_t now_ns);
uint64_t await_deadline(const struct inc_group *g);
void await_ask(struct inc_group *g, struct inc_batch *out, uint64_t now_ns);
void await_receive(struct inc_group *g, const struct inc_header *h, const struct inc_peer *from);

/* ---- lose.c ---- */
void lose(struct inc_group *g, int status, uint64_t now_ns);
void lose_receive(struct inc_group *g, const struct inc_packet *p, const struct inc_peer *from,
		  uint64_t now_ns);
void lose_fetched(struct inc_group *g, const struct inc_packet *p, uint64_t now_ns);
void lose_check(struct inc_group *g, uint64_t now_ns);
uint64_t lose_deadline(const struct inc_group *g);
void lose_ask(struct inc_group *g, struct inc_batch *out, uint64_t now_ns);
/* What is owed to others: AWAITED, FROZEN, FETCHED. In any state. */
void answers_send(struct inc_group *g, struct inc_batch *out);
/* A packet between members: header and payload. */
void peer_add(struct inc_group *g, struct inc_batch *out, enum inc_kind kind, uint32_t member,
	      uint32_t next);

#endif
