/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the core know of each other: the switch, its groups, their slots and the
 * messages that wait to be sent. switch.h is what others see.
 *
 * Invariants: a group is in `groups` and in its bucket as long as it lives, and in the ring of
 * turns while it has something to send. A slot is in its group's queue once or not at all. Nothing
 * is taken from a slot or from `messages` by sw_receive that sw_send gave out before: the caller
 * has sent it by then. */
#ifndef SWITCH_CORE_H
#define SWITCH_CORE_H

#include "base/crc32.h"
#include "base/util.h"
#include "switch/reduce.h"
#include "switch/switch.h"

#define CHILD_WORDS (SWITCH_CHILDREN_MAX / 64)

/* One bit for each child. */
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

enum slot_state {
	SLOT_EMPTY,      /* never used */
	SLOT_COLLECTING, /* some children's contributions are missing */
	SLOT_WAITING,    /* the partial result went up */
	SLOT_DONE        /* the result is here */
};

/* One segment. Its data are `child_count` places of `stride` bytes: place 0 has the fold of the
 * first `folded` contributions (later the result), place i that of child i if it came early. */
struct slot {
	uint32_t seq;
	uint8_t state;  /* enum slot_state */
	uint8_t status; /* 0, or why there are no data: a dxp_status negated */
	uint8_t op, type, collective, flags;
	uint16_t root, elements;
	uint32_t call_elements;
	uint16_t arrived, folded; /* children */
	uint16_t bytes, stride;   /* of the data; 0: none yet */
	uint16_t due_count;       /* children in `due` */
	bool queued;
	bool up_due, up_again; /* the partial result is to be sent; it is a repeat */
	bool told;             /* the result went to all once: whatever goes now is a repeat */
	bool summed;           /* `sum` is that of the data in place 0 */
	uint32_t sum;
	uint64_t touched_ns; /* last contribution that counted */
	uint64_t up_ns;      /* when the partial result was sent up last */
	struct child_set there, due;
	reduce_fn reduce;
	uint8_t *data;
};

struct sw_group {
	struct sw_group *bucket_next, *turn_next;
	uint32_t place; /* in sw.groups */
	bool turning;   /* in the ring of turns */
	bool rc;        /* framing of its packets: what its NOTIFY came in */
	bool in_kernel;

	uint32_t id, qkey, members, parent_ip, first;
	uint16_t epoch, segment_bytes, window;
	uint8_t planes, mode;
	uint16_t child_count, known; /* children there are, and whose address is known */
	uint32_t first_ip;
	uint16_t first_port;
	uint64_t job_id;
	uint32_t world_rank;

	uint64_t created_ns, used_ns, lease_ns;
	uint64_t renewed_ns; /* when RENEW went to the parent last */
	uint64_t contributions, results, repeats, mismatches;

	struct sw_child *children;
	uint16_t *places; /* hash of address and port -> 1 + index; 0: none */
	uint32_t place_mask;
	struct slot *slots;
	uint32_t slot_mask;
	uint8_t *data;
	uint64_t memory_bytes;

	uint16_t *queue; /* slots with something due, oldest first */
	uint32_t queue_count;
	uint32_t cursor; /* whose turn it is: 0 the parent, 1 + i child i */
};

/* A packet that waits: everything that does not come from a slot. */
struct message {
	struct inc_header header;
	struct roce_path path;
	uint32_t qkey;
	uint8_t opcode; /* enum roce_opcode */
	uint8_t answer; /* 0, or 1 + index of the rows that are its payload */
	uint16_t bytes;
	uint8_t payload[INC_CONTROL_BYTES_MAX];
};

struct refusal {
	uint64_t count, last_ns;
	uint32_t last_ip, last_group;
};
#define DATA_REFUSALS 32 /* by dxp_status negated */

/* When the next is free, less what may be saved up (GCRA). */
struct limiter {
	uint64_t next_ns;
};

struct sw {
	struct sw_options options; /* defaults filled in */
	uint64_t started_ns;
	bool drained;
	struct sw_counters counters;
	uint64_t memory_bytes;
	uint32_t hash_seed;

	struct sw_group **groups, **buckets;
	uint32_t group_count, bucket_mask;
	uint32_t kernel_count;    /* groups that the XDP plane took */
	struct crc32_shift shift; /* of full segments, as most groups have them */
	struct sw_group *turn_first, *turn_last;
	uint64_t expire_ns; /* no lease ends before */

	struct message *messages;
	uint32_t message_first, message_end, message_room;
	uint8_t (*answers)[INC_ANSWER_BYTES_MAX];
	uint32_t answer_count;

	struct refusal causes[INC_CAUSES], statuses[DATA_REFUSALS];
	struct limiter answered, answered_of[SWITCH_SOURCES], asked_of[SWITCH_SOURCES];
};

/* What came, with where from and when. */
struct arrival {
	const struct inc_packet *packet;
	const struct roce_path *path;
	uint64_t now_ns;
};

/* ---- group.c ---- */

struct sw_group *group_find(const struct sw *s, uint32_t id);

/* A group as a NOTIFY describes it, whose entry of its path is `hop`; no child yet. Returns a cause
 * (enum inc_cause) or INC_CAUSE_NONE and *out. */
unsigned group_install(struct sw *s, const struct inc_control *c, const struct inc_hop *hop,
		       uint32_t parent_ip, struct sw_group **out, uint64_t now_ns);
void group_free(struct sw *s, struct sw_group *g);

/* -1: no such child. */
int group_child(const struct sw_group *g, uint32_t ip, uint16_t port);

/* Child `index` is this one. A cause if it is another already. `changed`: the group knows more than
 * before. */
unsigned group_child_set(struct sw_group *g, unsigned index, const struct sw_child *child,
			 bool *changed);

static inline bool group_ready(const struct sw_group *g)
{
	return g->known == g->child_count;
}

/* From now on short segments may pass elsewhere, if they can. */
void group_offer(struct sw *s, struct sw_group *g);

/* It has something to send: give it a turn. */
void group_turn(struct sw *s, struct sw_group *g);

/* ---- slot.c ---- */

void data_receive(struct sw *s, const struct arrival *a);

/* ---- control.c ---- */

void query_receive(struct sw *s, const struct arrival *a);
void notify_receive(struct sw *s, const struct arrival *a); /* KILL too */
void renew_receive(struct sw *s, const struct arrival *a);
void refused_receive(struct sw *s, const struct arrival *a);

/* ---- message.c ---- */

/* Room for one more, or NULL: it is counted as limited. */
struct message *message_new(struct sw *s);

/* The same for rows; *rows is where they go. */
struct message *message_answer_new(struct sw *s, uint8_t **rows);

/* What came in RC is answered in RC. */
static inline uint8_t opcode_for(const struct inc_packet *p)
{
	return p->roce.opcode == ROCE_RC_SEND_ONLY ? ROCE_RC_SEND_ONLY : ROCE_UD_SEND_ONLY;
}

void acknowledge(struct sw *s, const struct arrival *a);

/* ---- refuse.c ---- */

/* Counts it; may the sender at `ip` be told? */
bool refusal_cause(struct sw *s, unsigned cause, uint32_t ip, uint32_t group, uint64_t now_ns);

/* May an answer go to this address? */
bool answer_allowed(struct sw *s, uint32_t ip, uint64_t now_ns);
bool query_allowed(struct sw *s, uint32_t ip, uint64_t now_ns);

/* What is not taken of a group, with its key for who is told. */
struct refusing {
	uint32_t group, qkey;
	int status; /* a dxp_status */
};

/* Counts it, and tells its sender if `tell`, within limits. */
void refuse(struct sw *s, const struct arrival *a, const struct refusing *what, bool tell);

/* The same of a packet that says itself which group it is for. */
void data_refuse(struct sw *s, const struct arrival *a, int status, bool tell);

/* A REFUSED for group `id` to an address, from the port that it sends to. */
void refused_send(struct sw *s, const struct inc_header *about, uint32_t qkey, uint8_t opcode,
		  uint32_t ip, uint16_t port, int status);

#endif
