/* SPDX-License-Identifier: BSD-3-Clause */
/* Private structures of the core: the switch, its groups, their aggregators, and messages that wait
 * to be sent. The interface is switch.h.
 *
 * Invariants: a live group is in `groups` and in its hash bucket. A group with packets to send is
 * in the list that starts at output_first. An aggregator is in its group's queue at most once. The
 * slices that switch_send returns point into aggregators and messages. switch_receive may overwrite
 * these, so the caller sends the slices first. */
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
	AGGREGATOR_COLLECTING, /* some contributions are missing */
	AGGREGATOR_WAITING,    /* complete here; the parent's result is missing */
	AGGREGATOR_DONE        /* has the result of the whole group */
};

/* Combines the contributions to one segment. `data` has `child_count` positions of `stride` bytes.
 * Position 0 holds the fold of the first `folded` contributions, and later the result. Position i
 * holds the contribution of child i if it arrived before the contributions of all earlier children
 * did. */
struct aggregator {
	uint32_t seq;
	uint8_t state;  /* enum aggregator_state */
	uint8_t status; /* 0, or a negated enum dxp_status; then there is no data */
	uint8_t op, type, collective, flags;
	uint16_t root, elements;
	uint32_t call_elements;
	/* children whose contribution has arrived; children whose contribution is in the fold */
	uint16_t arrived, folded;
	/* bytes of the data; 0: no data yet. Bytes from one position to the next. */
	uint16_t bytes, stride;
	uint16_t due_count; /* number of children in `due` */
	bool queued;
	/* up_due: the partial result must be sent to the parent. up_again: it is a
	 * retransmission. */
	bool up_due, up_again;
	/* true: the result was sent before, so sending it again is a retransmission */
	bool sent_once;
	bool summed; /* true: `sum` is the CRC of the data at position 0 */
	uint32_t sum;
	uint64_t touched_ns; /* time in ns of the last accepted contribution */
	/* time in ns at which the partial result was last sent to the parent */
	uint64_t up_ns;
	struct child_set there, due;
	reduce_fn reduce;
	uint8_t *data;
};

struct sw_group {
	struct sw_group *bucket_next, *output_next;
	uint32_t index;     /* position in sw.groups */
	bool output_queued; /* true: in the list that starts at output_first */
	/* true: a child has an RC connection, so this switch also sends to the parent by RC */
	bool rc;
	bool in_kernel;
	/* true: packets of the group have the compatible format, like the NOTIFY that made it */
	bool compat;
	/* for `compat`: a recent req_id, because packets carry only its low 24 bits */
	uint32_t near_id;

	uint32_t id, qkey, members, parent_ip, first;
	uint16_t epoch, segment_bytes, window;
	uint8_t planes, mode;
	/* number of children; number of children whose address is known */
	uint16_t child_count, known;
	uint32_t first_ip;
	uint16_t first_port;
	uint64_t job_id;
	uint32_t world_rank;

	uint64_t created_ns, used_ns, lease_ns;
	uint64_t renewed_ns; /* time in ns at which a RENEW was last sent to the parent */
	uint64_t contributions, results, repeats, mismatches;

	struct sw_child *children;
	struct sw_connection **connections; /* one for each child; NULL: the child has none */
	struct sw_connection *parent_connection;
	/* hash table by a child's address and port: 1 + index of the child; 0: free */
	uint16_t *buckets;
	uint32_t bucket_mask;
	struct aggregator *aggregators;
	uint32_t aggregator_mask;
	uint8_t *data;
	uint64_t memory_bytes;

	uint16_t *queue; /* indices of aggregators with packets that are due, oldest first */
	uint32_t queue_count;
	uint32_t cursor; /* destination that is served next; 0: the parent; 1 + i: child i */
};

/* A packet that waits to be sent and belongs to no aggregator. */
struct message {
	struct inc_header header;
	struct roce_path path;
	uint32_t qkey;
	/* true: the payload is a MAD for queue pair 1, without `header` */
	bool mad;
	uint8_t answer; /* 0: the payload is below; else 1 + index of the payload in sw.answers */
	uint16_t bytes;
	uint8_t payload[INC_CONTROL_BYTES_MAX];
};

struct rejection {
	uint64_t count, last_ns;
	uint32_t last_ip, last_group;
};
#define DATA_REJECTIONS 32 /* number of reasons; the index is a negated enum dxp_status */

/* Rate limiter (GCRA, a form of the token bucket). next_ns: time at which the next event is
 * allowed. */
struct limiter {
	uint64_t next_ns;
};

struct sw {
	struct sw_options options; /* options, with defaults filled in */
	uint64_t started_ns;
	bool drained;
	struct sw_counters counters;
	uint64_t memory_bytes;
	uint32_t hash_seed;

	struct sw_group **groups, **buckets;
	uint32_t group_count, bucket_mask;
	uint32_t kernel_count;    /* groups that the XDP plane computes */
	struct crc32_shift shift; /* constants for the CRC of full segments of the default size */
	struct sw_group *output_first, *output_last;
	uint64_t expire_ns; /* ns; no lease expires before this time */

	struct message *messages;
	uint32_t message_first, message_end, message_space;

	struct rc_table numbers; /* connections by their number: struct sw_connection */
	struct sw_connection *due_first, *due_last;
	/* ns; no timer of a connection outside this list expires before this time */
	uint64_t timer_ns;
	struct rng rng; /* random source of first PSNs */

	uint8_t (*answers)[INC_ANSWER_BYTES_MAX];
	uint32_t answer_count;

	struct rejection causes[INC_CAUSES], statuses[DATA_REJECTIONS];
	struct limiter answered, answered_of[SWITCH_SOURCES], limited_of[SWITCH_SOURCES];
};

struct arrival {
	const struct inc_packet *packet;
	const struct roce_path *path;
	uint64_t now_ns;
};

/* ---- group.c ---- */

struct sw_group *group_find(const struct sw *s, uint32_t id);

/* Creates the group of a NOTIFY, without children. `hop` is this switch's entry in the path.
 * Returns INC_CAUSE_NONE and *out, or the cause of the failure. */
unsigned group_install(struct sw *s, const struct inc_control *c, const struct inc_hop *hop,
		       uint32_t parent_ip, struct sw_group **out, uint64_t now_ns);
void group_free(struct sw *s, struct sw_group *g);

/* Returns the index of the child with this address and port, or -1. */
int group_child(const struct sw_group *g, uint32_t ip, uint16_t port);

/* Records a child. Returns INC_CAUSE_ID if that contradicts a child which is known already.
 * *changed: the child is new, or its lowest member has decreased. */
unsigned group_child_set(struct sw_group *g, unsigned index, const struct sw_child *child,
			 bool *changed);

static inline bool group_ready(const struct sw_group *g)
{
	return g->known == g->child_count;
}

/* Offers a ready group, whose children are all known, to the XDP plane. The plane may install
 * it. */
void group_offer(struct sw *s, struct sw_group *g);

/* Appends the group to the list that starts at output_first, unless it is in this list already. */
void group_output_enqueue(struct sw *s, struct sw_group *g);

/* ---- aggregator.c ---- */

void aggregator_data_receive(struct sw *s, const struct arrival *a);

/* ---- control.c ---- */

void control_query_receive(struct sw *s, const struct arrival *a);
void control_notify_receive(struct sw *s, const struct arrival *a); /* handles KILL, too */
void control_renew_receive(struct sw *s, const struct arrival *a);
void control_rejected_receive(struct sw *s, const struct arrival *a);

/* ---- message.c ---- */

/* Returns a message to fill. NULL: no space; the message is counted as limited. */
struct message *message_new(struct sw *s);

/* Returns a message to fill, and in *rows its payload buffer of INC_ANSWER_BYTES_MAX bytes. NULL:
 * no space or no memory. */
struct message *message_answer_new(struct sw *s, uint8_t **rows);

/* ---- reject.c ---- */

/* Counts a rejected control message. Returns true if the rate limits allow an answer to `ip`. */
bool reject_cause(struct sw *s, unsigned cause, uint32_t ip, uint32_t group, uint64_t now_ns);

/* Return true if the rate limits allow one more answer to this address, or one more query from it;
 * then also count it. */
bool reject_answer_allowed(struct sw *s, uint32_t ip, uint64_t now_ns);
bool reject_query_allowed(struct sw *s, uint32_t ip, uint64_t now_ns);

/* A rejection, and the group and key for the REFUSED packet that reports it. */
struct rejecting {
	uint32_t group, qkey;
	int status; /* an enum dxp_status */
};

/* Counts a rejection. `send_rejected`: also sends a REFUSED packet to the sender, within the rate
 * limits. */
void reject_packet(struct sw *s, const struct arrival *a, const struct rejecting *what,
		   bool send_rejected);

/* Counts a rejection like reject_packet(). Takes the group and the key from the packet itself. */
void reject_data(struct sw *s, const struct arrival *a, int status, bool send_rejected);

/* Queues a REFUSED packet that answers the packet `about`. It goes to `ip`, from source port
 * `port`. */
void reject_send(struct sw *s, const struct inc_header *about, uint32_t qkey, uint32_t ip,
		 uint16_t port, int status);

/* ---- connection.c: RC framing ---- */

/* Processes an RC packet, or a packet to queue pair 1. */
void connection_receive(struct sw *s, const uint8_t *data, size_t bytes,
			const struct roce_path *path, uint64_t now_ns);

/* Post a segment on the connection of a child, or of the parent. Return false if there is no such
 * connection. */
bool connection_result_post(struct sw *s, struct sw_group *g, unsigned child,
			    const struct inc_header *h, const struct aggregator *aggregator);
bool connection_partial_post(struct sw *s, struct sw_group *g, const struct inc_header *h,
			     const struct aggregator *aggregator, uint64_t now_ns);

/* Ends all connections of a group. */
void connections_end(struct sw *s, struct sw_group *g);

void connections_give(struct sw *s, struct inc_batch *out, uint64_t now_ns);
uint64_t connections_deadline(const struct sw *s);

#endif
