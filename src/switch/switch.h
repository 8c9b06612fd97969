/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch that computes, without I/O: packets and the time go in, packets and deadlines come out.
 * The same core runs behind sockets (serve.h), beside the XDP plane, which handles short segments
 * of groups that this core installs (kernel.h), and in the simulator. docs/inc.md has the rules.
 *
 * A group here has 1 .. SWITCH_CHILDREN_MAX children (members or switches), a parent or none (then
 * this is the tree's root), and a ring of 2 * window slots. A slot keeps each child's contribution
 * to one segment until all are there, folds them in the order of children, and keeps the result
 * until the slot is wanted for a segment 2 * window later.
 *
 * One thread at a time. */
#ifndef SWITCH_SWITCH_H
#define SWITCH_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/inc.h"

struct sw_group;

/* The XDP plane, if there is one. All may be NULL. */
struct sw_kernel {
	/* A group is complete here: its short segments may be computed there from now on. False: it
	 * cannot (a neighbour that was never seen, no room); this core then takes all. */
	bool (*install)(void *context, const struct sw_group *group);
	void (*remove)(void *context, uint32_t group_id);
	/* When its data last passed there, for the lease (the clock of `now_ns`); 0: never. */
	uint64_t (*last_ns)(void *context, uint32_t group_id);
	/* Its counts since it was loaded (enum kernel_counter of kernel.h). */
	void (*counters)(void *context, uint64_t *counts);
	void *context;
};

struct sw_options {
	char name[INC_NAME_BYTES];
	uint32_t ip;                       /* own, where hosts and switches reach it; host order */
	uint32_t parents[INC_PARENTS_MAX]; /* switches above, any of them; none: this is a root */
	uint8_t parent_count;
	uint32_t groups_max;    /* 0: SWITCH_GROUPS_DEFAULT */
	uint64_t memory_max;    /* bytes of all slots; 0: SWITCH_MEMORY_DEFAULT */
	uint32_t lease_ms;      /* a group nobody renews or uses for so long is freed; 0: 30 s */
	uint16_t segment_bytes; /* payload of a packet it takes; 0: what a 1500-byte MTU carries */
	uint16_t window;        /* 0: SWITCH_WINDOW_DEFAULT */
	uint32_t refused_per_s; /* answers to what is refused, and to inquiries; 0: 1000 */
	enum dxp_inc_framing framing;
	bool no_icrc_check;
	struct sw_kernel kernel;
};

struct sw;

/* DXP_ENOMEM; DXP_EINVAL. */
int sw_create(const struct sw_options *options, uint64_t now_ns, struct sw **out);
void sw_destroy(struct sw *s);

/* One datagram from the network, `from` as it came. Whatever it is, it is counted, and nothing it
 * holds is believed before it is checked. */
void sw_receive(struct sw *s, const uint8_t *data, size_t bytes, const struct roce_path *path,
		uint64_t now_ns);

/* Fills `out` with what is due. Slices point into slots: send before the next sw_receive. Returns
 * how many it added; call again until it adds none. */
size_t sw_send(struct sw *s, struct inc_batch *out, uint64_t now_ns);

/* When sw_send or sw_expire has something to do though nothing arrives; UINT64_MAX: never. */
uint64_t sw_deadline(const struct sw *s);

/* Frees groups whose lease has ended. Cheap; call it now and then. */
void sw_expire(struct sw *s, uint64_t now_ns);

/* No more groups; those that are there stay. */
void sw_drain(struct sw *s, bool on);

struct sw_counters {
	uint64_t received, sent;
	uint64_t contributions; /* that counted */
	uint64_t results;       /* segments finished here */
	uint64_t repeats;       /* results and partial results sent again */
	uint64_t duplicates;    /* contributions that were there already */
	uint64_t stale;         /* of a segment whose slot has moved on */
	uint64_t foreign;       /* on the port, not ours */
	uint64_t malformed, icrc_wrong;
	uint64_t refused; /* data of unknown groups, of strangers, with a wrong key */
	uint64_t limited; /* answers not given, to keep below refused_per_s */
	uint64_t expired; /* groups whose lease ended */
	uint64_t queries, notifies, kills, renews;
	uint64_t mismatches; /* segments on which members disagreed */
};
void sw_counters(const struct sw *s, struct sw_counters *out);

/* Rows for `dxp inc`; fills `out` as docs/wire.md has it. */
void sw_answer(const struct sw *s, const struct inc_inquiry *q, uint64_t now_ns,
	       struct inc_answer *out);

/* ---- what the XDP plane needs of a group ---- */

struct sw_child {
	uint32_t ip;
	uint16_t port; /* source port of a member's endpoint; ROCE_SOURCE_PORT of a switch */
	bool is_switch;
	uint32_t first; /* lowest member below it: src_rank of what comes from it */
};

struct sw_group_view {
	uint32_t id, qkey, members, parent_ip, first; /* parent_ip 0: root; first: lowest member */
	uint16_t epoch;
	uint8_t planes; /* of all switches of the tree */
	uint32_t child_count;
	const struct sw_child *children; /* in order; the group's */
};
void sw_group_view(const struct sw_group *g, struct sw_group_view *out);

#endif
