/* SPDX-License-Identifier: BSD-3-Clause */
/* One member's side of a group, without I/O. Cuts operations into segments; each segment is a
 * packet to the switch. Results arrive in any order and are delivered in order; segments without a
 * result are retransmitted. Also handles the loss of a group: freeze, gather, fetch. Sockets
 * (endpoint.h) and the simulator run the same code. Rules and proof: docs/reference/inc.md.
 *
 * The creation of a group is a separate state machine (create.h), which completes before this one
 * begins.
 *
 * The caller serializes all calls on a group. */
#ifndef INC_GROUP_H
#define INC_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/inc.h"

struct inc_member {
	uint32_t ip;   /* IPv4 address in host order */
	uint16_t port; /* source port of the member's endpoint */
};

struct inc_group_options {
	uint32_t id, qkey;
	uint16_t epoch;
	uint32_t member, count;
	const struct inc_member *members; /* `count` entries; copied */
	uint32_t switch_ip;
	uint16_t segment_bytes, window;
	uint32_t sup_op, sup_type;
	uint8_t planes; /* INC_PLANE_KERNEL: short results arrive by multicast */
	uint32_t lease_ms;
	uint64_t deadline_ns;
	uint64_t patience_ns; /* see struct dxp_inc_options */
	enum dxp_inc_framing framing;
	bool no_icrc_check;
	bool batches; /* the sockets accept GSO batches, so long operations may use them */
	/* RC: number of this member's queue pair, unique at this address; 24 bits, 2 or more */
	uint32_t qp_number;
};

struct inc_group;

/* Creates a group. Returns DXP_ENOMEM if memory is short. */
int inc_group_create(const struct inc_group_options *options, uint64_t now_ns,
		     struct inc_group **out);
void inc_group_destroy(struct inc_group *g);

/* Sets the number of the first segment, for tests and the simulator. Call it before any
 * operation. */
void inc_group_number(struct inc_group *g, uint32_t first);

/* An operation, in memory of the caller. The group owns it until `done` is true. Then status and
 * done_elements are valid. */
struct inc_operation {
	uint8_t collective;
	enum dxp_inc_op op;
	enum dxp_inc_type type;
	uint32_t root;
	const void *send; /* contribution of this member; may equal `receive` */
	void *receive;    /* buffer for the result; NULL: discards the result */
	size_t elements;

	bool done;
	int status;
	size_t done_elements;
	/* Private to the group. */
	struct inc_operation *next;
	uint32_t first_segment, segments, sent, received;
};

/* Queues an operation. DXP_EPEERLOST: the group is lost. DXP_EUNSUPPORTED: the group does not
 * support it. DXP_EINVAL: an argument is out of range. */
int inc_group_start(struct inc_group *g, struct inc_operation *operation, uint64_t now_ns);
/* Returns true if an XDP plane can compute the operation (docs/reference/inc.md "Two planes"). */
bool inc_operation_fast(const struct inc_operation *c);
bool inc_group_accepts(const struct inc_group *g, enum dxp_inc_op op, enum dxp_inc_type type,
		       size_t elements);

/* Handles a packet from the switch or a member. The caller has checked the packet's ICRC, and that
 * header.comm_id is this group's. */
void inc_group_receive(struct inc_group *g, const struct inc_packet *p,
		       const struct roce_path *path, uint64_t now_ns);

/* RC: inc_group_connection_owns() returns true if a packet belongs to this group's connection;
 * rc_packet() must be true for the packet. If so, inc_group_connection_receive() handles it. The
 * caller has checked the packet's ICRC. */
bool inc_group_connection_owns(const struct inc_group *g, const uint8_t *data, size_t bytes,
			       const struct roce_path *path);
void inc_group_connection_receive(struct inc_group *g, const uint8_t *data, size_t bytes,
				  const struct roce_path *path, uint64_t now_ns);

/* Appends due packets to the batch and returns how many. Slices point into buffers of the caller
 * and the group. */
size_t inc_group_send(struct inc_group *g, struct inc_batch *out, uint64_t now_ns);
uint64_t inc_group_deadline(const struct inc_group *g);
/* Returns true if inc_group_send() has segments to send now. inc_group_deadline() gives the time of
 * all other packets. */
bool inc_group_ready(const struct inc_group *g);

/* Makes this member give up the group. Other members get the request to do the same. Has no effect
 * on a lost group. */
void inc_group_give_up(struct inc_group *g, int status, uint64_t now_ns);

/* Returns true if the group is lost: the switch forgot it, a member froze it, or no result came
 * within the deadline. Operations wait until the members agree, then complete. */
bool inc_group_lost(const struct inc_group *g);

uint64_t inc_group_repeated(const struct inc_group *g); /* retransmitted segments */
void inc_group_view(const struct inc_group *g, struct dxp_inc_group_view *out);

#endif
