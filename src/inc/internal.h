/* SPDX-License-Identifier: BSD-3-Clause */
/* State of a group, shared by its files: operation.c cuts operations into segments and completes
 * them; segment.c sends contributions and receives results; repeat.c retransmits; await.c queries
 * whether members are late; lose.c agrees about a lost group.
 *
 * Segments are numbered through all operations and wrap. Invariant, in that arithmetic: next <=
 * to_send <= end, to_send <= next + window. Results next - window .. next - 1 are delivered and
 * kept for members that fetch them. Results from next .. next + window - 1 that arrived early wait.
 * Both are in a ring of 2 * window results. */
#ifndef INC_INTERNAL_H
#define INC_INTERNAL_H

#include "base/util.h"
#include "inc/group.h"

/* A ring entry for a result. */
struct result {
	uint32_t segment;
	bool here; /* holds the result of `segment` */
	struct inc_header header;
};

/* A segment under way, at index segment % window. */
struct flight {
	uint64_t sent_ns; /* of the last transmission */
	uint8_t tries;    /* retransmissions, at most 255 */
	bool late;        /* retransmission is due */
};

/* State of another member; used when results do not arrive. */
struct peer {
	uint32_t next;       /* from FREEZE, FROZEN */
	uint32_t to_send;    /* from AWAITED */
	bool known;          /* `next` is valid: the peer has given up the same members */
	bool gone;           /* given up: treated as dead */
	bool awaited;        /* `to_send` is valid, in this round */
	bool owes_frozen;    /* FROZEN to it is due */
	bool owes_awaited;   /* AWAITED to it is due */
	uint16_t fetched;    /* results due to it, ... */
	uint32_t fetch_from; /* ... from this segment on */
};

enum group_state {
	GROUP_LIVE,
	GROUP_FREEZING, /* querying what all members have */
	GROUP_FETCHING, /* fetching results of others */
	GROUP_LOST,
};

/* Classes of operations with separate round trip times. */
enum pace {
	PACE_FAST,  /* computed by the XDP plane: microseconds */
	PACE_SHORT, /* user space, one packet */
	PACE_LONG,
	PACES
};

struct rtt {
	uint64_t smoothed_ns, deviation_ns; /* 0: no sample */
};

struct inc_group {
	struct inc_group_options o; /* o.members is an owned copy */
	enum group_state state;
	uint8_t opcode;

	struct inc_operation *operations, **operations_tail; /* oldest first */
	struct inc_operation *sending;                       /* operation of to_send; NULL: none */
	uint32_t next, to_send, end;
	uint32_t fence; /* segments from here on need all earlier results first */
	struct result *results;
	uint8_t *bytes; /* payloads of results, o.segment_bytes each */
	struct flight *flights;

	struct rtt rtts[PACES];
	uint64_t repeat_ns; /* retransmission timeout of the oldest segment */
	unsigned backoff;   /* timeouts since the last result */
	unsigned burst;     /* segments to retransmit at the next timeout */
	uint32_t highest;   /* one past the highest segment with a result */
	uint32_t gap;       /* segments before this one were checked for losses */
	bool late;          /* some flight is late */

	uint64_t progress_ns; /* time of the last result, or of the start of a wait */
	bool served;          /* at least one result arrived */
	uint64_t refused_ns;  /* first refusal since the last result; 0: none */
	uint64_t renew_ns;

	struct peer *peers;
	bool query_open;         /* an AWAIT query is under way */
	uint64_t query_begin_ns; /* start of that query */
	uint64_t query_ns;       /* next round of requests, of any kind; its gap doubles: */
	uint64_t query_gap_ns;
	uint32_t query_member; /* next member of the round; count: complete */
	bool answers_due;      /* some peer is owed an answer */
	uint32_t answer_member;
	uint64_t frozen_ns;
	uint64_t lost_ns; /* start of the present round, or time of the last fetched result */
	int lost_status;
	uint32_t common; /* P of docs/reference/inc.md */
	uint32_t source; /* member to fetch from; count: none */
	uint32_t gone_count;
	uint8_t *suspects; /* payload of FREEZE and FROZEN: a peer, then the bits of given-up
			      members */
	uint64_t operations_done, segments_sent, segments_repeated, results_dequeued, duplicates,
		refused;
};

/* ---- operation.c ---- */

/* Returns the operation of a segment; NULL if it is complete or not started. */
struct inc_operation *operation_of(const struct inc_group *g, uint32_t segment);
/* Returns the elements of an operation before its segment `index`, at most all. */
size_t operation_elements_before(const struct inc_group *g, const struct inc_operation *c,
				 uint32_t index);
bool operation_short(const struct inc_operation *c);
enum pace operation_pace(const struct inc_group *g, const struct inc_operation *c);
/* Delivers the results from `next` on to their operations, as far as they have arrived. */
void operations_deliver(struct inc_group *g, uint64_t now_ns);
/* Completes all operations of a lost group. */
void operations_end(struct inc_group *g);

/* ---- segment.c ---- */

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

/* Adds a packet to the batch, which must have space. The payload must stay until it is sent. */
void segment_packet_add(struct inc_group *g, struct inc_batch *out, const struct inc_header *h,
			uint32_t to_ip, uint16_t to_port, const void *payload,
			size_t payload_bytes);
/* As segment_packet_add(), but copies the payload into the datagram's header. */
void segment_packet_add_inline(struct inc_group *g, struct inc_batch *out,
			       const struct inc_header *h, uint32_t to_ip, uint16_t to_port,
			       const void *payload, size_t payload_bytes);
/* Copies the payload of the newest datagram, at most INC_CONTROL_BYTES_MAX bytes, into its
 * header. */
void segment_batch_inline(struct inc_batch *out);
/* Adds the contribution to a segment of an operation. */
void segment_add(struct inc_group *g, struct inc_batch *out, const struct inc_operation *c,
		 uint32_t segment, bool repeat, uint64_t now_ns);
void segments_send(struct inc_group *g, struct inc_batch *out, uint64_t now_ns);
/* Stores a result of next .. next + window - 1 that is not there yet. */
void segment_result_keep(struct inc_group *g, const struct inc_packet *p);
/* Returns true if the result matches the operation of its segment. */
bool segment_result_fits(const struct inc_group *g, const struct inc_header *h);
void segment_result_receive(struct inc_group *g, const struct inc_packet *p, uint64_t now_ns);

/* ---- repeat.c ---- */
void repeat_arm(struct inc_group *g, uint32_t segment, enum pace pace, uint64_t now_ns);
/* Handles the arrival of a result for a segment under way. */
void repeat_result(struct inc_group *g, uint32_t segment, enum pace pace, uint64_t now_ns);
void repeat_send(struct inc_group *g, struct inc_batch *out, uint64_t now_ns);

/* ---- await.c ---- */
/* Starts a query when a wait is long, and declares the group lost. */
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
/* Sends due answers (AWAITED, FROZEN, FETCHED), in any state. */
void lose_answers_send(struct inc_group *g, struct inc_batch *out);
/* Adds a packet between members: header and payload. */
void lose_peer_add(struct inc_group *g, struct inc_batch *out, enum inc_kind kind, uint32_t member,
		   uint32_t next);

#endif
