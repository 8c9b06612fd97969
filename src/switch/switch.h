/* SPDX-License-Identifier: BSD-3-Clause */
/* The core of a switch, without I/O: packets and time in, packets and deadlines out. An installed
 * group's short segments are the XDP plane's (kernel.h). Rules: docs/reference/inc.md.
 *
 * A group has 1 .. SWITCH_CHILDREN_MAX children (members or switches), a parent unless at the root,
 * and a ring of 2 * window aggregators. Each folds (combines) a segment's contributions in the
 * order of the children, and keeps the result until the segment 2 * window later.
 *
 * Not thread-safe. */
#ifndef SWITCH_SWITCH_H
#define SWITCH_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/inc.h"

struct input_counters;
struct sw_group;

/* Each may be NULL. */
struct sw_kernel {
	/* All children are known. true: the plane computes short segments from now on; false: a
	 * neighbour is unknown, or no space. */
	bool (*install)(void *context, const struct sw_group *group);
	void (*remove)(void *context, uint32_t group_id);
	/* When the plane last handled the group's data, on the clock of `now_ns`, which renews the
	 * lease; 0: never. */
	uint64_t (*last_ns)(void *context, uint32_t group_id);
	/* Since it was loaded, by enum kernel_counter (kernel.h). */
	void (*counters)(void *context, uint64_t *counts);
	void *context;
};

struct sw_options {
	char name[INC_NAME_BYTES];
	uint32_t ip; /* in host byte order */
	/* one becomes a group's parent; none: this is the root */
	uint32_t parents[INC_PARENTS_MAX];
	uint8_t parent_count;
	uint32_t groups_max; /* 0: SWITCH_GROUPS_DEFAULT */
	uint64_t memory_max; /* of all aggregators; 0: SWITCH_MEMORY_DEFAULT */
	/* Time in ms after which a group without data and renewals is freed; 0: 30 s. */
	uint32_t lease_ms;
	/* largest accepted payload; 0: for MTU 1500 */
	uint16_t segment_bytes;
	uint16_t window;        /* segments of a group in flight; 0: SWITCH_WINDOW_DEFAULT */
	uint32_t refused_per_s; /* with other answers; 0: 1000 */
	bool no_icrc_check;
	bool list_any; /* INQUIREs of any machine get all rows whole */
	/* of compatible groups (sup_mpi_type): 1 << enum dxp_inc_mode; 0: all */
	uint16_t modes;
	struct sw_kernel kernel;
	/* Counters of the arbiter that passes packets to this core, for answers to `dxp inc`; NULL:
	 * none. */
	const struct input_counters *input;
};

struct sw;

/* DXP_ENOMEM, DXP_EINVAL. */
int switch_create(const struct sw_options *options, uint64_t now_ns, struct sw **out);
void switch_destroy(struct sw *s);

/* Checks each field before its use. */
void switch_receive(struct sw *s, const uint8_t *data, size_t bytes, const struct roce_path *path,
		    uint64_t now_ns);

/* Appends what is due; call until it returns 0. Slices point into the switch, so send them before
 * the next switch_receive. */
size_t switch_send(struct sw *s, struct inc_batch *out, uint64_t now_ns);

/* Returns when to call switch_send or switch_expire without arrivals; UINT64_MAX: never. */
uint64_t switch_deadline(const struct sw *s);

/* Frees groups with expired leases. Cheap enough for periodic calls. */
void switch_expire(struct sw *s, uint64_t now_ns);

/* While on, rejects new groups. */
void switch_emit(struct sw *s, bool on);

struct sw_counters {
	uint64_t received, sent;
	uint64_t contributions; /* accepted */
	uint64_t results;       /* completed here */
	uint64_t repeats;       /* results and partial results sent again */
	uint64_t duplicates;
	uint64_t stale;   /* of older segments than the aggregator's */
	uint64_t foreign; /* not of in-network computing */
	uint64_t malformed, icrc_wrong;
	/* data: unknown group or peer, or wrong key */
	uint64_t refused;
	/* answers, by a rate limit */
	uint64_t limited;
	uint64_t expired; /* groups */
	uint64_t queries, notifies, kills, renews;
	uint64_t mismatches; /* segments whose members disagreed */
};
void switch_counters(const struct sw *s, struct sw_counters *out);

/* Writes up to `space` addresses of switches below this one: first those in groups, then those that
 * have only forwarded a QUERY. Returns how many. */
unsigned switch_below(const struct sw *s, uint64_t now_ns, uint32_t *ips, unsigned space);

/* Rows for the inquiry `q` of `dxp inc` (docs/reference/wire.md). */
void switch_answer(const struct sw *s, const struct inc_inquiry *q, uint64_t now_ns,
		   struct inc_answer *out);
/* The same, without groups that do not concern the machine with the address `reader`, and without
 * the address and group of another machine's rejection, unless it is this one or list_any is set;
 * 0: all. */
void switch_answer_to(const struct sw *s, const struct inc_inquiry *q, uint32_t reader,
		      uint64_t now_ns, struct inc_answer *out);

/* ---- view of a group for the XDP plane ---- */

struct sw_child {
	uint32_t ip;
	/* port of a member; a switch uses ROCE_SOURCE_PORT */
	uint16_t port;
	bool is_switch;
	/* lowest member at or below; src_rank of its packets */
	uint32_t first;
};

struct sw_group_view {
	/* parent_ip 0: root; first: lowest member below. */
	uint32_t id, qkey, members, parent_ip, first;
	uint16_t epoch;
	uint8_t planes; /* of all switches of the tree */
	uint32_t child_count;
	const struct sw_child
		*children; /* the children in order of folding; the group owns the array */
};
void switch_group_view(const struct sw_group *g, struct sw_group_view *out);

#endif
