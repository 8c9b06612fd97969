/* SPDX-License-Identifier: BSD-3-Clause */
/* A member's side of a group, without I/O. Operations become segments, segments become packets to
 * the switch. Results arrive in any order and are delivered in order; late segments are
 * retransmitted. Also the member's part in losing a group: freeze, gather, fetch. The same code
 * runs behind sockets (endpoint.h) and in the simulator. docs/reference/inc.md has the rules and
 * their proof.
 *
 * Creation is a separate state machine (create.h), since it ends before the group begins.
 *
 * Caller serializes all calls on a group. */
#ifndef INC_GROUP_H
#define INC_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/inc.h"

struct inc_member {
	uint32_t ip;   /* host order */
	uint16_t port; /* source port of its endpoint */
};

struct inc_group_options {
	uint32_t id, qkey;
	uint16_t epoch;
	uint32_t member, count;
	const struct inc_member *members; /* `count` of them; copied */
	uint32_t switch_ip;               /* switch of this member */
	uint16_t segment_bytes, window;
	uint32_t sup_op, sup_type;
	uint8_t planes; /* INC_PLANE_KERNEL: short results arrive by multicast */
	uint32_t lease_ms;
	uint64_t deadline_ns;
	uint64_t patience_ns; /* as in struct dxp_inc_options */
	enum dxp_inc_framing framing;
	bool no_icrc_check;
	bool batches; /* long operations may leave in GSO batches */
};

struct inc_group;

/* Creates a group. *out must be destroyed. DXP_ENOMEM. */
int inc_group_create(const struct inc_group_options *options, uint64_t now_ns,
		     struct inc_group **out);
void inc_group_destroy(struct inc_group *g);

/* Sets the number of the first segment, before any operation. For tests and the simulator. */
void inc_group_number(struct inc_group *g, uint32_t first);

/* An operation, in memory of the caller. It belongs to the group until `done` is true; then status
 * and done_elements are valid. */
struct inc_operation {
	uint8_t collective;
	enum dxp_inc_op op;
	enum dxp_inc_type type;
	uint32_t root;
	const void *send; /* equal to receive: in place */
	void *receive;    /* NULL: the result is discarded */
	size_t elements;

	bool done;
	int status;
	size_t done_elements;
	/* private to the group */
	struct inc_operation *next;
	uint32_t first_segment, segments, sent, received;
};

/* Queues an operation after the present ones. DXP_EPEERLOST: the group is lost; DXP_EUNSUPPORTED;
 * DXP_EINVAL. */
int inc_group_start(struct inc_group *g, struct inc_operation *operation, uint64_t now_ns);
/* Returns true if an XDP plane computes the operation (docs/reference/inc.md "Two planes"). */
bool inc_operation_fast(const struct inc_operation *c);
bool inc_group_accepts(const struct inc_group *g, enum dxp_inc_op op, enum dxp_inc_type type,
		       size_t elements);

/* Handles a packet for this group (header.comm_id is its id), from the switch or a member. The
 * caller has checked the ICRC. */
void inc_group_receive(struct inc_group *g, const struct inc_packet *p,
		       const struct roce_path *path, uint64_t now_ns);

/* Appends due packets, as switch_send(). Returns how many. Slices point into the caller's buffers
 * and the group's. */
size_t inc_group_send(struct inc_group *g, struct inc_batch *out, uint64_t now_ns);
uint64_t inc_group_deadline(const struct inc_group *g);
/* Returns true if inc_group_send() has segments to send now. (inc_group_deadline() covers all
 * else.) */
bool inc_group_ready(const struct inc_group *g);

/* Returns true once the group is lost: the switch forgot it, a member froze it, or no result came
 * within the deadline. Operations wait while the members agree, then complete. */
bool inc_group_lost(const struct inc_group *g);

uint64_t inc_group_repeated(const struct inc_group *g); /* segments retransmitted */
void inc_group_view(const struct inc_group *g, struct dxp_inc_group_view *out);

#endif
