/* SPDX-License-Identifier: BSD-3-Clause */
/* State of a group. operation.c cuts operations into segments and completes them; segment.c sends
 * contributions and receives results; repeat.c retransmits; await.c queries whether members are
 * late; lose.c reaches agreement about a lost group.
 *
 * Segments are numbered across operations; numbers wrap. Invariant, in wrapping arithmetic: next <=
 * to_send <= end, to_send <= next + window. A ring holds 2 * window results. Results before `next`
 * are delivered, and kept for members that fetch them. Results from `next` on have arrived
 * early. */
#ifndef INC_INTERNAL_H
#define INC_INTERNAL_H

#include "base/util.h"
#include "inc/group.h"
#include "rc/connection.h"

/* Entry of the ring of results. */
struct result {
	uint32_t segment;
	bool here; /* true: the result of `segment` is stored */
	struct inc_header header;
};

/* A segment that was sent and has no result yet, at index segment % window. */
struct flight {
	uint64_t sent_ns;
	uint8_t tries; /* number of retransmissions; stops at 255 */
	bool late;     /* the segment must be retransmitted now */
};

/* State of another member, as known by this member. Used when results are missing. */
struct peer {
	uint32_t next;    /* `next` of that member, from its FREEZE or FROZEN */
	uint32_t to_send; /* `to_send` of that member, from its AWAITED */
	/* `next` is valid, and both members have given up the same members */
	bool known;
	bool gone;        /* this member has given up that member, which seems dead */
	bool awaited;     /* `to_send` arrived in this round of the query */
	bool owes_frozen; /* this member must send a FROZEN to that member */
	/* this member must send an AWAITED to that member, or a FREEZE if the group is lost */
	bool owes_awaited;
	uint16_t fetched; /* results that this member must still send to that member */
	uint32_t fetch_from;
};

enum group_state {
	GROUP_LIVE,
	GROUP_FREEZING, /* collects what each member has */
	GROUP_FETCHING, /* fetches results from other members */
	GROUP_LOST,
};

/* Classes of operations. Each class has a round trip time of its own. */
enum pace {
	PACE_FAST,  /* the XDP plane computes: microseconds */
	PACE_SHORT, /* user space computes one packet */
	PACE_LONG,
	PACES
};

struct rtt {
	uint64_t smoothed_ns, deviation_ns; /* 0: no round trip was measured yet */
};

struct inc_group {
	struct inc_group_options o; /* owns o.members */
	enum group_state state;
	struct rc_connection *rc; /* connection to the switch, for segments; NULL: no RC framing */

	struct inc_operation *operations, **operations_tail; /* oldest first */
	/* operation that has segment to_send, or NULL */
	struct inc_operation *sending;
	uint32_t next, to_send, end;
	uint32_t fence; /* segments from this one on wait for all earlier results */
	struct result *results;
	uint8_t *bytes; /* payloads of the ring's results, o.segment_bytes each */
	struct flight *flights;

	struct rtt rtts[PACES];
	uint64_t repeat_ns; /* time when the oldest segment is retransmitted */
	unsigned backoff;   /* number of timeouts after the last result */
	unsigned burst;     /* segments to retransmit at the next timeout */
	uint32_t highest;   /* number of the highest segment with a result, plus 1 */
	uint32_t gap;       /* segments before this one were checked for losses */
	bool late;

	uint64_t progress_ns; /* time of the last result, or when waiting began */
	bool served;          /* at least one result of the group has arrived */
	uint64_t rejected_ns; /* time of the first rejection since the last result; 0: none */
	uint64_t renew_ns;

	struct peer *peers;
	bool query_open; /* an AWAIT query is in progress */
	uint64_t query_begin_ns;
	/* time of the next round of requests, of any kind; query_gap_ns is the interval, which
	 * doubles */
	uint64_t query_ns;
	uint64_t query_gap_ns;
	uint32_t query_member; /* next member of the round; o.count: the round is complete */
	bool answers_due;      /* at least one peer must get an answer */
	uint32_t answer_member;
	uint64_t frozen_ns;
	uint64_t lost_ns; /* start of this round, or time of the last fetched result */
	int lost_status;
	uint32_t common; /* P in docs/reference/inc.md: results before it are delivered */
	uint32_t source; /* member from which results are fetched; o.count: none */
	uint32_t gone_count;
	/* payload of FREEZE and FROZEN: a struct inc_peer, then a bit for each given-up member */
	uint8_t *suspects;
	uint64_t operations_done, segments_sent, segments_repeated, results_dequeued, duplicates,
		refused;
};

/* ---- operation.c ---- */

/* Returns the operation that contains a segment; NULL: it is complete or not started. */
struct inc_operation *operation_of(const struct inc_group *g, uint32_t segment);
/* Returns the number of elements that precede segment `index` of an operation. */
size_t operation_elements_before(const struct inc_group *g, const struct inc_operation *c,
				 uint32_t index);
bool operation_short(const struct inc_operation *c);
enum pace operation_pace(const struct inc_group *g, const struct inc_operation *c);
/* Delivers all consecutive results from `next` on. */
void operations_deliver(struct inc_group *g, uint64_t now_ns);
/* Completes all operations of a lost group. */
void operations_end(struct inc_group *g);

/* ---- segment.c ---- */

/* Returns true if the group's packets have the compatible format. */
static inline bool group_compat(const struct inc_group *g)
{
	return g->o.framing == DXP_INC_COMPAT;
}

static inline struct result *result_address(const struct inc_group *g, uint32_t segment)
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
	const struct result *r = result_address(g, segment);

	return r->here && r->segment == segment;
}

static inline bool batch_full(const struct inc_batch *b)
{
	return b->count == b->space;
}

/* Adds a packet to the batch, which must have space. The payload must stay valid until the packet
 * is sent. */
void segment_packet_add(struct inc_group *g, struct inc_batch *out, const struct inc_header *h,
			uint32_t to_ip, uint16_t to_port, const void *payload,
			size_t payload_bytes);
/* Adds a packet as segment_packet_add() does, but copies the payload. */
void segment_packet_add_inline(struct inc_group *g, struct inc_batch *out,
			       const struct inc_header *h, uint32_t to_ip, uint16_t to_port,
			       const void *payload, size_t payload_bytes);
/* Copies the payload of the last datagram of the batch (at most INC_CONTROL_BYTES_MAX bytes) behind
 * the datagram's header. */
void segment_batch_inline(struct inc_batch *out);
/* Adds this member's contribution to a segment. */
void segment_add(struct inc_group *g, struct inc_batch *out, const struct inc_operation *c,
		 uint32_t segment, bool repeat, uint64_t now_ns);
void segments_send(struct inc_group *g, struct inc_batch *out, uint64_t now_ns);
/* Stores a new result. Its segment must be one of next .. next + window - 1. */
void segment_result_keep(struct inc_group *g, const struct inc_packet *p);
/* Returns true if the result matches the operation of its segment. */
bool segment_result_fits(const struct inc_group *g, const struct inc_header *h);
void segment_result_receive(struct inc_group *g, const struct inc_packet *p, uint64_t now_ns);

/* ---- repeat.c ---- */
void repeat_arm(struct inc_group *g, uint32_t segment, enum pace pace, uint64_t now_ns);
/* Updates round trip time and timers after a result. */
void repeat_result(struct inc_group *g, uint32_t segment, enum pace pace, uint64_t now_ns);
void repeat_send(struct inc_group *g, struct inc_batch *out, uint64_t now_ns);

/* ---- await.c ---- */
/* Starts a query after a quarter of the deadline, and declares the group lost if the query shows no
 * late member. */
void await_check(struct inc_group *g, uint64_t now_ns);
uint64_t await_deadline(const struct inc_group *g);
void await_query(struct inc_group *g, struct inc_batch *out, uint64_t now_ns);
void await_receive(struct inc_group *g, const struct inc_header *h, const struct inc_peer *from);

/* ---- lose.c ---- */
void lose_begin(struct inc_group *g, int status, uint64_t now_ns);
void lose_receive(struct inc_group *g, const struct inc_packet *p, const struct inc_peer *from,
		  uint64_t now_ns);
void lose_fetched(struct inc_group *g, const struct inc_packet *p, uint64_t now_ns);
void lose_check(struct inc_group *g, uint64_t now_ns);
uint64_t lose_deadline(const struct inc_group *g);
void lose_query(struct inc_group *g, struct inc_batch *out, uint64_t now_ns);
/* Sends due AWAITED, FROZEN and FETCHED packets, in any state. */
void lose_answers_send(struct inc_group *g, struct inc_batch *out);
/* Adds a packet without data for another member. */
void lose_peer_add(struct inc_group *g, struct inc_batch *out, enum inc_kind kind, uint32_t member,
		   uint32_t next);

#endif
