/* SPDX-License-Identifier: BSD-3-Clause */
/* The core of a switch, without I/O: input are packets and time; output are packets and deadlines.
 * Sockets (serve.h) and the simulator run it. If the core installs a group in the XDP plane
 * (kernel.h), that plane handles the group's short segments. Rules: docs/reference/inc.md.
 *
 * A group has 1 .. SWITCH_CHILDREN_MAX children (members or switches), a parent (none at the root),
 * and a ring of 2 * window aggregators. An aggregator collects the contributions to a segment and
 * folds (combines) them in the order of the children. It keeps the result until the segment that
 * comes 2 * window later replaces it.
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

/* Callbacks of the XDP plane; each of them may be NULL. */
struct sw_kernel {
	/* Called when all children of a group are known. Returns true if the plane computes the
	 * group's short segments from now on. Returns false if this core must compute them, because
	 * a neighbour is unknown or the plane has no space. */
	bool (*install)(void *context, const struct sw_group *group);
	void (*remove)(void *context, uint32_t group_id);
	/* Returns the time in ns, on the clock of `now_ns`, at which the plane last handled data of
	 * the group; 0: never. The core renews the group's lease with it. */
	uint64_t (*last_ns)(void *context, uint32_t group_id);
	/* Writes the plane's counts since it was loaded. The index is enum kernel_counter
	 * (kernel.h). */
	void (*counters)(void *context, uint64_t *counts);
	void *context;
};

struct sw_options {
	char name[INC_NAME_BYTES];
	uint32_t ip; /* own address, in host byte order */
	/* switches, one of which becomes a group's parent; none: this switch is the root */
	uint32_t parents[INC_PARENTS_MAX];
	uint8_t parent_count;
	uint32_t groups_max; /* groups at most; 0: SWITCH_GROUPS_DEFAULT */
	uint64_t memory_max; /* bytes of all aggregators at most; 0: SWITCH_MEMORY_DEFAULT */
	/* Time in ms after which a group without data and renewals is freed; 0: 30 s. */
	uint32_t lease_ms;
	/* bytes of the largest payload that is accepted; 0: as fits an MTU of 1500 */
	uint16_t segment_bytes;
	uint16_t window;        /* segments of a group in flight; 0: SWITCH_WINDOW_DEFAULT */
	uint32_t refused_per_s; /* rejections and other answers per second, at most; 0: 1000 */
	bool no_icrc_check;
	/* accepted modes of compatible groups (sup_mpi_type): 1 << enum dxp_inc_mode; 0: all */
	uint16_t modes;
	struct sw_kernel kernel;
	/* Counters of the arbiter that passes packets to this core, for answers to `dxp inc`; NULL:
	 * none. */
	const struct input_counters *input;
};

struct sw;

/* Creates a switch. DXP_ENOMEM, DXP_EINVAL. */
int switch_create(const struct sw_options *options, uint64_t now_ns, struct sw **out);
void switch_destroy(struct sw *s);

/* Processes and counts one datagram from `path`. Checks each field before it uses the field. */
void switch_receive(struct sw *s, const uint8_t *data, size_t bytes, const struct roce_path *path,
		    uint64_t now_ns);

/* Appends packets that are due to `out`, and returns their number. Call it until it returns 0.
 * Slices point into the switch's memory, so send the packets before the next switch_receive. */
size_t switch_send(struct sw *s, struct inc_batch *out, uint64_t now_ns);

/* Returns the time in ns at which to call switch_send or switch_expire if no packet arrives;
 * UINT64_MAX: never. */
uint64_t switch_deadline(const struct sw *s);

/* Frees groups with expired leases. Cheap enough for periodic calls. */
void switch_expire(struct sw *s, uint64_t now_ns);

/* While `on` is true, the switch rejects new groups; existing groups stay. */
void switch_emit(struct sw *s, bool on);

struct sw_counters {
	uint64_t received, sent;
	uint64_t contributions; /* contributions that were accepted */
	uint64_t results;       /* segments whose result was completed here */
	uint64_t repeats;       /* results and partial results that were sent again */
	uint64_t duplicates;
	uint64_t stale;   /* packets of segments older than the aggregator's segment */
	uint64_t foreign; /* packets that do not belong to in-network computing */
	uint64_t malformed, icrc_wrong;
	/* data packets with an unknown group, an unknown peer or a wrong key */
	uint64_t refused;
	/* answers that were not sent because of a rate limit */
	uint64_t limited;
	uint64_t expired; /* groups whose lease expired */
	uint64_t queries, notifies, kills, renews;
	uint64_t mismatches; /* segments for which members disagreed on the operation */
};
void switch_counters(const struct sw *s, struct sw_counters *out);

/* Fills `out` with the rows that answer the inquiry `q` of `dxp inc` (docs/reference/wire.md). */
void switch_answer(const struct sw *s, const struct inc_inquiry *q, uint64_t now_ns,
		   struct inc_answer *out);

/* ---- view of a group for the XDP plane ---- */

struct sw_child {
	uint32_t ip;
	/* source port of a member; for a switch, ROCE_SOURCE_PORT */
	uint16_t port;
	bool is_switch;
	/* lowest member at or below this child; its packets have this number in src_rank */
	uint32_t first;
};

struct sw_group_view {
	/* parent_ip 0: this switch is the root. first: lowest member of the group below this
	 * switch. */
	uint32_t id, qkey, members, parent_ip, first;
	uint16_t epoch;
	uint8_t planes; /* planes that all switches of the tree have */
	uint32_t child_count;
	const struct sw_child *children; /* in the order of folding; the group owns this array */
};
void switch_group_view(const struct sw_group *g, struct sw_group_view *out);

#endif
