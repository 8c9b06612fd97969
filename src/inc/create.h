/* SPDX-License-Identifier: BSD-3-Clause */
/* How a group comes to be, without I/O (N-06): every member sends a QUERY towards member 0 through
 * the switches above it; member 0 chooses the tree with the least load and the common abilities,
 * and sends each member a NOTIFY through the switches of that tree, from the root down, which
 * thereby install the group; members say so to member 0. Whoever has a NOTIFY has a group; member 0
 * knows when all have, or who has not and why. */
#ifndef INC_CREATE_H
#define INC_CREATE_H

#include "inc/group.h"

struct inc_create_options {
	struct inc_control first; /* masks, sizes, ids, addresses: what a QUERY starts as */
	uint32_t member, count;
	const struct inc_member *members; /* copied */
	const uint32_t *switches;         /* of each member; copied */
	uint16_t epoch;
	uint64_t limit_ns; /* gives up then */
	enum dxp_inc_framing framing;
};

struct inc_create;

/* DXP_ENOMEM. */
int inc_create_begin(const struct inc_create_options *options, uint64_t now_ns,
		     struct inc_create **out);
void inc_create_end(struct inc_create *c);

void inc_create_receive(struct inc_create *c, const struct inc_packet *p,
			const struct roce_path *path, uint64_t now_ns);
size_t inc_create_send(struct inc_create *c, struct inc_batch *out, uint64_t now_ns);
uint64_t inc_create_deadline(const struct inc_create *c);

/* DXP_EAGAIN: not yet. DXP_OK: this member has its NOTIFY; member 0: all have. Else why not:
 * *notice has fail_cause and cause_ip; *silent is the member that was not heard, or count. */
int inc_create_outcome(const struct inc_create *c, struct inc_control *notice, uint32_t *silent);

/* Member 0: switches above its own that the queries passed, at most. */
uint32_t inc_create_above(const struct inc_create *c);

/* KILL packets for the tree of a group, once (member 0). Returns how many were added; asks for more
 * room by leaving *next below the member count. */
size_t inc_create_kill(const struct inc_create *c, uint32_t *next, struct inc_batch *out);

#endif
