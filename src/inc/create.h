/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation of a group, without I/O (N-06). Each member sends a QUERY through the switches above it
 * to member 0. Member 0 chooses the least loaded tree and the common abilities. It sends each
 * member a NOTIFY down through the tree, which installs the group in its switches. Members confirm
 * to member 0, which thus knows when all have the group, or which failed and why. */
#ifndef INC_CREATE_H
#define INC_CREATE_H

#include "inc/group.h"

struct inc_create_options {
	struct inc_control first; /* masks, sizes, ids, addresses: content of the first QUERY */
	uint32_t member, count;
	const struct inc_member *members; /* copied */
	const uint32_t *switches;         /* one per member; copied */
	uint16_t epoch;
	uint64_t limit_ns; /* time until the creation fails */
	enum dxp_inc_framing framing;
};

struct inc_create;

/* Begins a creation. *out must be ended with inc_create_end(). DXP_ENOMEM. */
int inc_create_begin(const struct inc_create_options *options, uint64_t now_ns,
		     struct inc_create **out);
void inc_create_end(struct inc_create *c);

void inc_create_receive(struct inc_create *c, const struct inc_packet *p,
			const struct roce_path *path, uint64_t now_ns);
size_t inc_create_send(struct inc_create *c, struct inc_batch *out, uint64_t now_ns);
uint64_t inc_create_deadline(const struct inc_create *c);

/* Returns the outcome. DXP_EAGAIN: not finished; DXP_OK: this member has its NOTIFY (member 0: all
 * have). Other statuses: *notice has fail_cause and cause_ip; *silent is the member without an
 * answer, or the member count. */
int inc_create_outcome(const struct inc_create *c, struct inc_control *notice, uint32_t *silent);

/* Member 0: returns the highest number of switches above its own in its queries. */
uint32_t inc_create_above(const struct inc_create *c);

/* Member 0: adds one KILL packet per member for the tree of a group. Returns the number added. Call
 * again while *next is below the member count: the batch was full. */
size_t inc_create_kill(const struct inc_create *c, uint32_t *next, struct inc_batch *out);

#endif
