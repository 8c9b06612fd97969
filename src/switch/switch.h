/* SPDX-License-Identifier: BSD-3-Clause */
/* The core of a switch, without I/O: packets and time in, packets and deadlines out. It runs behind
 * sockets (serve.h) and in the simulator. The XDP plane beside it handles short segments of groups
 * that this core installs there (kernel.h). Rules: docs/reference/inc.md.
 *
 * A group has 1 .. SWITCH_CHILDREN_MAX children (members or switches), a parent (none at the root),
 * and a ring of 2 * window aggregators. An aggregator keeps the contributions to one segment until
 * all have arrived, and folds them in child order. It keeps the result until a segment 2 * window
 * later needs it.
 *
 * Not thread-safe. */
#ifndef SWITCH_SWITCH_H
#define SWITCH_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/inc.h"

struct sw_group;

/* Callbacks of the XDP plane. Each may be NULL. */
struct sw_kernel {
	/* Called when all children of the group are known. Returns true if the plane may compute
	 * its short segments from now on; false if this core must (a neighbour not yet seen, no
	 * space). */
	bool (*install)(void *context, const struct sw_group *group);
	void (*remove)(void *context, uint32_t group_id);
	/* Returns when the group's data last passed the plane, for its lease (clock of `now_ns`);
	 * 0: never. */
	uint64_t (*last_ns)(void *context, uint32_t group_id);
	/* Writes the plane's counts since its load, indexed by enum kernel_counter (kernel.h). */
	void (*counters)(void *context, uint64_t *counts);
	void *context;
};

struct sw_options {
	char name[INC_NAME_BYTES];
	uint32_t ip;                       /* own address towards hosts and switches; host order */
	uint32_t parents[INC_PARENTS_MAX]; /* alternative switches above; none: a root */
	uint8_t parent_count;
	uint32_t groups_max;    /* 0: SWITCH_GROUPS_DEFAULT */
	uint64_t memory_max;    /* bytes of all aggregators; 0: SWITCH_MEMORY_DEFAULT */
	uint32_t lease_ms;      /* an unused, unrenewed group is freed after this; 0: 30 s */
	uint16_t segment_bytes; /* payload of an accepted packet; 0: as fits a 1500-byte MTU */
	uint16_t window;        /* segments; 0: SWITCH_WINDOW_DEFAULT */
	uint32_t refused_per_s; /* limit of refusals and answers to inquiries; 0: 1000 */
	enum dxp_inc_framing framing;
	bool no_icrc_check;
	struct sw_kernel kernel;
};

struct sw;

/* Creates a switch; the caller frees it with switch_destroy. Errors: DXP_ENOMEM, DXP_EINVAL. */
int switch_create(const struct sw_options *options, uint64_t now_ns, struct sw **out);
void switch_destroy(struct sw *s);

/* Processes one datagram that arrived on `path`. Counts each datagram; checks each field before its
 * use. */
void switch_receive(struct sw *s, const uint8_t *data, size_t bytes, const struct roce_path *path,
		    uint64_t now_ns);

/* Appends due packets to `out` and returns how many; call again until 0. Slices point into the
 * switch's memory: send them before the next switch_receive. */
size_t switch_send(struct sw *s, struct inc_batch *out, uint64_t now_ns);

/* Returns when to call switch_send or switch_expire even if no packet arrives; UINT64_MAX: never.
 */
uint64_t switch_deadline(const struct sw *s);

/* Frees groups whose lease has expired. Cheap enough for periodic calls. */
void switch_expire(struct sw *s, uint64_t now_ns);

/* Rejects new groups while `on`; existing groups stay. */
void switch_emit(struct sw *s, bool on);

struct sw_counters {
	uint64_t received, sent;
	uint64_t contributions; /* accepted */
	uint64_t results;       /* segments completed here */
	uint64_t repeats;       /* results and partial results retransmitted */
	uint64_t duplicates;    /* contributions already present */
	uint64_t stale;         /* segments older than their aggregator's */
	uint64_t foreign;       /* not INC packets */
	uint64_t malformed, icrc_wrong;
	uint64_t refused; /* data of unknown groups, of unknown peers, with a wrong key */
	uint64_t limited; /* answers suppressed by refused_per_s */
	uint64_t expired; /* groups whose lease expired */
	uint64_t queries, notifies, kills, renews;
	uint64_t mismatches; /* segments on which members disagreed */
};
void switch_counters(const struct sw *s, struct sw_counters *out);

/* Fills `out` with the rows that answer `q` (docs/reference/wire.md), for `dxp inc`. */
void switch_answer(const struct sw *s, const struct inc_inquiry *q, uint64_t now_ns,
		   struct inc_answer *out);

/* ---- view of a group for the XDP plane ---- */

struct sw_child {
	uint32_t ip;
	uint16_t port; /* a member's source port; ROCE_SOURCE_PORT for a switch */
	bool is_switch;
	uint32_t first; /* lowest member below it, src_rank of its packets */
};

struct sw_group_view {
	uint32_t id, qkey, members, parent_ip, first; /* parent_ip 0: root; first: lowest member */
	uint16_t epoch;
	uint8_t planes; /* planes that all switches of the tree have */
	uint32_t child_count;
	const struct sw_child *children; /* in order; owned by the group */
};
void switch_group_view(const struct sw_group *g, struct sw_group_view *out);

#endif
