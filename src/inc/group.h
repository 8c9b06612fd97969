/* SPDX-License-Identifier: BSD-3-Clause */
/* A member's side of a group, without I/O: calls become segments, segments become packets to the
 * switch; results come back, in any order, and are handed to the caller in order; what is late is
 * asked for again. Also the member's part in losing a group: freeze, gather, fetch. The same code
 * runs behind sockets (endpoint.h) and in the simulator. docs/inc.md has the rules and why they
 * suffice.
 *
 * Creation is a machine of its own (create.h), as it ends before the group begins.
 *
 * One thread at a time. */
#ifndef INC_GROUP_H
#define INC_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/inc.h"

struct inc_member {
	uint32_t ip;   /* host order */
	uint16_t port; /* its endpoint's source port */
};

struct inc_group_options {
	uint32_t id, qkey;
	uint16_t epoch;
	uint32_t member, count;
	const struct inc_member *members; /* `count` of them; copied */
	uint32_t switch_ip;               /* the next one */
	uint16_t segment_bytes, window;
	uint32_t sup_op, sup_type;
	uint8_t planes; /* INC_PLANE_KERNEL: short results come by multicast */
	uint32_t lease_ms;
	uint64_t deadline_ns;
	uint64_t patience_ns; /* of losing: as in struct dxp_inc_options */
	enum dxp_inc_framing framing;
	bool no_icrc_check;
	bool trains; /* long calls may leave in GSO trains */
};

struct inc_group;

/* DXP_ENOMEM. */
int inc_group_create(const struct inc_group_options *options, uint64_t now_ns,
		     struct inc_group **out);
void inc_group_destroy(struct inc_group *g);

/* For tests and the simulator: the number of the first segment, before any call. */
void inc_group_number(struct inc_group *g, uint32_t first);

/* One of the caller's. `done` is true when status and done_elements count; until then it is the
 * group's. */
struct inc_call {
	uint8_t collective;
	enum dxp_inc_op op;
	enum dxp_inc_type type;
	uint32_t root;
	const void *send; /* equal to receive: in place */
	void *receive;    /* NULL: the result is not wanted */
	size_t elements;

	bool done;
	int status;
	size_t done_elements;
	/* the group's own */
	struct inc_call *next;
	uint32_t first_segment, segments, sent, received;
};

/* Queues a call behind those that are there. DXP_EPEERLOST: the group is lost; DXP_EUNSUPPORTED;
 * DXP_EINVAL. */
int inc_group_start(struct inc_group *g, struct inc_call *call, uint64_t now_ns);
/* Does the XDP plane compute it, if there is one (docs/inc.md "Two planes")? */
bool inc_call_fast(const struct inc_call *c);
bool inc_group_takes(const struct inc_group *g, enum dxp_inc_op op, enum dxp_inc_type type,
		     size_t elements);

/* A packet for this group (header.comm_id is its id), from the switch or from a member. ICRC is
 * checked by the caller. */
void inc_group_receive(struct inc_group *g, const struct inc_packet *p,
		       const struct roce_path *path, uint64_t now_ns);

/* As sw_send. Slices point into the caller's buffers and the group's. */
size_t inc_group_send(struct inc_group *g, struct inc_batch *out, uint64_t now_ns);
uint64_t inc_group_deadline(const struct inc_group *g);
/* Does inc_group_send have segments that may leave? (Deadlines tell of all else.) */
bool inc_group_ready(const struct inc_group *g);

/* The switch forgot it, a member froze it, or nothing came for the deadline: the member asks the
 * others. While that goes on calls wait; then they end. */
bool inc_group_lost(const struct inc_group *g);

uint64_t inc_group_repeated(const struct inc_group *g); /* segments */
void inc_group_view(const struct inc_group *g, struct dxp_inc_group_view *out);

#endif
