/* SPDX-License-Identifier: BSD-3-Clause */
/* The core of a switch, without I/O: input are packets and time; output are packets and deadlines.
 * Sockets (serve.h) and the simulator run it. If the core installs a group in the XDP plane
 * (kernel.h), that plane handles the group's short segments. Rules: docs/reference/inc.md.
 *
 * A group has 1 .. SWITCH_CHILDREN_MAX children (members or switches), a parent (none at the root),
 * and a ring of 2 * window aggregators. An aggregator collects the contributions to a segment and
 * folds them in child order. It keeps the result until the segment that comes 2 * window later
 * replaces it.
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

/* Callbacks of the XDP plane; each may be NULL. */
struct sw_kernel {
	/* Called when all children are known. Returns true if the plane computes the group's short
	 * segments from now on; false if this core must compute them (a neighbour is unknown, or
	 * there is no space). */
	bool (*install)(void *context, const struct sw_group *group);
	void (*remove)(void *context, uint32_t group_id);
	/* Returns when data of the group last passed the plane (clock of `now_ns`), for its lease;
	 * 0: never. */
	uint64_t (*last_ns)(void *context, uint32_t group_id);
	/* Writes the plane's counts since it was loaded; index: enum kernel_counter (kernel.h). */
	void (*counters)(void *context, uint64_t *counts);
	void *context;
};

struct sw_options {
	char name[INC_NAME_BYTES];
	uint32_t ip;                       /* own address, host order */
	uint32_t parents[INC_PARENTS_MAX]; /* alternative parents; none: root */
	uint8_t parent_count;
	uint32_t groups_max; /* 0: SWITCH_GROUPS_DEFAULT */
	uint64_t memory_max; /* bytes of all aggregators; 0: SWITCH_MEMORY_DEFAULT */
	/* time after which a group without data and renewals is freed; 0: 30 s */
	uint32_t lease_ms;
	uint16_t segment_bytes; /* largest accepted payload; 0: for an MTU of 1500 */
	uint16_t window;        /* segments; 0: SWITCH_WINDOW_DEFAULT */
	uint32_t refused_per_s; /* limit of refusals and answers; 0: 1000 */
	bool no_icrc_check;
	uint16_t modes; /* sup_mpi_type: 1 << enum dxp_inc_mode; 0: all */
	struct sw_kernel kernel;
	/* Counters of the arbiter in front of this core, for its answers; NULL: none. */
	const struct input_counters *input;
};

struct sw;

/* Creates a switch. DXP_ENOMEM, DXP_EINVAL. */
int switch_create(const struct sw_options *options, uint64_t now_ns, struct sw **out);
void switch_destroy(struct sw *s);

/* Processes and counts one datagram from `path`. Checks each field before use. */
void switch_receive(struct sw *s, const uint8_t *data, size_t bytes, const struct roce_path *path,
		    uint64_t now_ns);

/* Appends due packets to `out` and returns how many. Call it until it returns 0. Slices point into
 * the switch's memory, so send the packets before the next switch_receive. */
size_t switch_send(struct sw *s, struct inc_batch *out, uint64_t now_ns);

/* Returns when to call switch_send or switch_expire if no packet arrives; UINT64_MAX: never. */
uint64_t switch_deadline(const struct sw *s);

/* Frees groups with expired leases. Cheap enough for periodic calls. */
void switch_expire(struct sw *s, uint64_t now_ns);

/* While `on`, rejects new groups; existing ones stay. */
void switch_emit(struct sw *s, bool on);

struct sw_counters {
	uint64_t received, sent;
	uint64_t contributions; /* accepted */
	uint64_t results;       /* segments completed here */
	uint64_t repeats;       /* retransmitted results and partial results */
	uint64_t duplicates;
	uint64_t stale;   /* segments older than the aggregator's */
	uint64_t foreign; /* packets that are not INC */
	uint64_t malformed, icrc_wrong;
	/* packets of data with an unknown group, an unknown peer or a wrong key */
	uint64_t refused;
	uint64_t limited; /* answers that refused_per_s suppressed */
	uint64_t expired; /* groups whose lease expired */
	uint64_t queries, notifies, kills, renews;
	uint64_t mismatches; /* segments on which members disagreed */
};
void switch_counters(const struct sw *s, struct sw_counters *out);

/* Fills `out` with the rows that answer `q` (docs/reference/wire.md); for `dxp inc`. */
void switch_answer(const struct sw *s, const struct inc_inquiry *q, uint64_t now_ns,
		   struct inc_answer *out);

/* ---- view of a group for the XDP plane ---- */

struct sw_child {
	uint32_t ip;
	uint16_t port; /* source port of a member; ROCE_SOURCE_PORT for a switch */
	bool is_switch;
	uint32_t first; /* lowest member below it; src_rank of its packets */
};

struct sw_group_view {
	uint32_t id, qkey, members, parent_ip, first; /* parent_ip 0: root; first: lowest member */
	uint16_t epoch;
	uint8_t planes; /* common to all switches of the tree */
	uint32_t child_count;
	const struct sw_child *children; /* ordered; owned by the group */
};
void switch_group_view(const struct sw_group *g, struct sw_group_view *out);

#endif
