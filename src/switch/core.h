/* SPDX-License-Identifier: BSD-3-Clause */
/* Private structures of the core.
 *
 * Invariants: a live group is in `groups` and its hash bucket; with packets to send, in the list
 * from output_first; an aggregator is in its queue at most once. Slices of switch_send point into
 * aggregators and messages, so the caller sends them before switch_receive. */
#ifndef SWITCH_CORE_H
#define SWITCH_CORE_H

#include "base/crc32.h"
#include "base/rng.h"
#include "base/util.h"
#include "rc/connection.h"
#include "rc/table.h"
#include "switch/limits.h"
#include "switch/reduce.h"
#include "switch/switch.h"

#define CHILD_WORDS (SWITCH_CHILDREN_MAX / 64)

struct child_set {
	uint64_t words[CHILD_WORDS];
};

static inline bool child_set_has(const struct child_set *set, unsigned child)
{
	return set->words[child / 64] >> child % 64 & 1;
}

static inline void child_set_add(struct child_set *set, unsigned child)
{
	set->words[child / 64] |= 1ull << child % 64;
}

static inline void child_set_drop(struct child_set *set, unsigned child)
{
	set->words[child / 64] &= ~(1ull << child % 64);
}

enum aggregator_state {
	AGGREGATOR_EMPTY,
	AGGREGATOR_COLLECTING, /* contributions are missing */
	AGGREGATOR_WAITING,    /* complete here, without the parent's result */
	AGGREGATOR_DONE        /* has the group's result */
};

/* Combines the contributions to one segment. `data` has `child_count` positions of `stride` bytes.
 * Position 0 has the fold of the first `folded` contributions, later the result; position i that of
 * child i if it arrived before those of all earlier children. */
struct aggregator {
	uint32_t seq;
	uint8_t state;  /* enum aggregator_state */
	uint8_t status; /* 0, or a negated enum dxp_status without data */
	uint8_t op, type, collective, flags;
	uint16_t root, elements;
	uint32_t call_elements;
	/* contributions that arrived; those in the fold */
	uint16_t arrived, folded;
	/* bytes of data, 0: none yet; bytes from one position to the next */
	uint16_t bytes, stride;
	uint16_t due_count; /* children in `due` */
	bool queued;
	/* partial result for the parent; a retransmission of it */
	bool up_due, up_again;
	/* sent before, so again is a retransmission */
	bool sent_once;
	bool summed; /* `sum` is the CRC at position 0 */
	uint32_t sum;
	uint64_t touched_ns; /* last accepted contribution */
	/* partial result last sent */
	uint64_t up_ns;
	struct child_set there, due;
	reduce_fn reduce;
	uint8_t *data;
};

struct sw_group {
	struct sw_group *bucket_next, *output_next;
	uint32_t index;     /* in sw.groups */
	bool output_queued; /* in the list from output_first */
	/* a child has RC, so the parent gets RC too */
	bool rc;
	bool in_kernel;
	/* compatible format, as its NOTIFY */
	bool compat;
	/* of `compat`: a recent req_id; packets have its low 24 bits */
	uint32_t near_id;

	uint32_t id, qkey, members, parent_ip, first;
	uint16_t epoch, segment_bytes, window;
	uint8_t planes, mode;
	/* children; those with a known address */
	uint16_t child_count, known;
	uint32_t first_ip;
	uint16_t first_port;
	uint64_t job_id;
	uint32_t world_rank;

	uint64_t created_ns, used_ns, lease_ns;
	uint64_t renewed_ns; /* last RENEW to the parent */
	uint64_t contributions, results, repeats, mismatches;

	struct sw_child *children;
	struct sw_connection **connections; /* by child; NULL: none */
	struct sw_connection *parent_connection;
	/* by child's address and port: 1 + index; 0: free */
	uint16_t *buckets;
	uint32_t bucket_mask;
	struct aggregator *aggregators;
	uint32_t aggregator_mask;
	uint8_t *data;
	uint64_t memory_bytes;

	uint16_t *queue; /* aggregators with due packets, oldest first */
	uint32_t queue_count;
	uint32_t cursor; /* destination served next; 0: parent; 1 + i: child i */
};

/* Waits to be sent, without an aggregator. */
struct message {
	struct inc_header header;
	struct roce_path path;
	uint32_t qkey;
	/* a MAD for queue pair 1, without `header` */
	bool mad;
	uint8_t answer; /* 0: payload below; else 1 + index in sw.answers */
	uint16_t bytes;
	uint8_t payload[INC_CONTROL_BYTES_MAX];
};

struct rejection {
	uint64_t count, last_ns;
	uint32_t last_ip, last_group;
};
#define DATA_REJECTIONS 32 /* reasons, by negated enum dxp_status */

/* Rate limiter (GCRA, a token bucket): next_ns is when the next event is allowed. */
struct limiter {
	uint64_t next_ns;
};

/* A switch below this one. */
struct below {
	uint32_t ip;      /* 0: none */
	bool grouped;     /* it is a child in a group */
	uint64_t seen_ns; /* last packet of a group; if not `grouped`, last QUERY */
};

struct sw {
	struct sw_options options; /* with defaults */
	uint64_t started_ns;
	bool drained;
	struct sw_counters counters;
	uint64_t memory_bytes;
	uint32_t hash_seed;

	struct sw_group **groups, **buckets;
	uint32_t group_count, bucket_mask;
	uint32_t kernel_count;    /* groups in the XDP plane */
	struct crc32_shift shift; /* for CRCs of full segments of the default size */
	struct sw_group *output_first, *output_last;
	uint64_t expire_ns; /* no lease expires before */

	struct message *messages;
	uint32_t message_first, message_end, message_space;

	struct rc_table numbers; /* by number: struct sw_connection */
	struct sw_connection *due_first, *due_last;
	/* no timer outside this list expires before */
	uint64_t timer_ns;
	struct rng rng; /* of first PSNs */

	uint8_t (*answers)[INC_ANSWER_BYTES_MAX];
	uint32_t answer_count;

	struct rejection causes[INC_CAUSES], statuses[DATA_REJECTIONS];
	struct limiter answered, answered_of[SWITCH_SOURCES], limited_of[SWITCH_SOURCES];
	struct limiter kills_of[SWITCH_SOURCES];

	struct below below[SWITCH_BELOW_MAX];
};

struct arrival {
	const struct inc_packet *packet;
	const struct roce_path *path;
	uint64_t now_ns;
};

/* ---- group.c ---- */

struct sw_group *group_find(const struct sw *s, uint32_t id);

/* Creates the group without children; `hop`: this switch in the path. Returns INC_CAUSE_NONE and
 * *out, or a cause. */
unsigned group_install(struct sw *s, const struct inc_control *c, const struct inc_hop *hop,
		       uint32_t parent_ip, struct sw_group **out, uint64_t now_ns);
void group_free(struct sw *s, struct sw_group *g);

/* -1: no such child. */
int group_child(const struct sw_group *g, uint32_t ip, uint16_t port);

/* INC_CAUSE_ID: contradicts a known child. *changed: new, or its lowest member fell. */
unsigned group_child_set(struct sw_group *g, unsigned index, const struct sw_child *child,
			 bool *changed);

static inline bool group_ready(const struct sw_group *g)
{
	return g->known == g->child_count;
}

/* Offers a ready group, whose children are all known, to the XDP plane. */
void group_offer(struct sw *s, struct sw_group *g);

/* Unless it is in the list from output_first. */
void group_output_enqueue(struct sw *s, struct sw_group *g);

/* ---- aggregator.c ---- */

void aggregator_data_receive(struct sw *s, const struct arrival *a);

/* ---- below.c ---- */

/* A switch is below this one. `grouped`: as a child in a group; else it has forwarded a QUERY. */
void below_note(struct sw *s, uint32_t ip, bool grouped, uint64_t now_ns);

/* ---- control.c ---- */

void control_query_receive(struct sw *s, const struct arrival *a);
void control_notify_receive(struct sw *s, const struct arrival *a); /* also KILL */
void control_renew_receive(struct sw *s, const struct arrival *a);
void control_rejected_receive(struct sw *s, const struct arrival *a);

/* ---- message.c ---- */

/* Returns a message to fill. NULL: no space; counted as limited. */
struct message *message_new(struct sw *s);

/* Returns a message with a payload of INC_ANSWER_BYTES_MAX in *rows. NULL: no space or memory. */
struct message *message_answer_new(struct sw *s, uint8_t **rows);

/* ---- reject.c ---- */

/* True: the limits allow an answer to `ip`. */
bool reject_cause(struct sw *s, unsigned cause, uint32_t ip, uint32_t group, uint64_t now_ns);

/* True: one more answer to this address, or query from it, is allowed; counts it. */
bool reject_answer_allowed(struct sw *s, uint32_t ip, uint64_t now_ns);
bool reject_query_allowed(struct sw *s, uint32_t ip, uint64_t now_ns);
/* The same for a KILL of an unknown group. */
bool reject_kill_allowed(struct sw *s, uint32_t ip, uint64_t now_ns);

/* A rejection, and the group and key for the REFUSED packet that reports it. */
struct rejecting {
	uint32_t group, qkey;
	int status; /* an enum dxp_status */
};

/* Counts the rejection. `send_rejected`: also answers by REFUSED, within the limits. */
void reject_packet(struct sw *s, const struct arrival *a, const struct rejecting *what,
		   bool send_rejected);

/* The same with the packet's own group and key. */
void reject_data(struct sw *s, const struct arrival *a, int status, bool send_rejected);

/* Queues a REFUSED about packet `about`, to `ip`, from `port`. */
void reject_send(struct sw *s, const struct inc_header *about, uint32_t qkey, uint32_t ip,
		 uint16_t port, int status);

/* ---- connection.c: RC framing ---- */

/* Receives an RC packet, or one to queue pair 1. */
void connection_receive(struct sw *s, const uint8_t *data, size_t bytes,
			const struct roce_path *path, uint64_t now_ns);

/* Post to a child, or to the parent. Return false without such a connection. */
bool connection_result_post(struct sw *s, struct sw_group *g, unsigned child,
			    const struct inc_header *h, const struct aggregator *aggregator);
bool connection_partial_post(struct sw *s, struct sw_group *g, const struct inc_header *h,
			     const struct aggregator *aggregator, uint64_t now_ns);

void connections_end(struct sw *s, struct sw_group *g);

void connections_give(struct sw *s, struct inc_batch *out, uint64_t now_ns);
uint64_t connections_deadline(const struct sw *s);

#endif
