/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation of a group, without I/O (N-06). Each member sends a QUERY up through its switches to
 * member 0. Member 0 chooses the least loaded tree, and the abilities that all switches of the tree
 * share. For each member it sends a NOTIFY down the tree, which installs the group in the switches.
 * Members confirm to member 0. So member 0 knows when all members have the group, or which member
 * failed and why. */
#ifndef INC_CREATE_H
#define INC_CREATE_H

#include "inc/group.h"

struct inc_create_options {
	struct inc_control first; /* control data of the first QUERY */
	uint32_t member, count;
	const struct inc_member *members; /* `count` entries; copied */
	const uint32_t *switches;         /* switch of each member; copied */
	uint16_t epoch;
	uint64_t limit_ns; /* ns, time limit for creating the group */
	enum dxp_inc_framing framing;
};

struct inc_create;

/* Begins the creation of a group; release it with inc_create_end(). Returns DXP_ENOMEM if memory is
 * short. */
int inc_create_begin(const struct inc_create_options *options, uint64_t now_ns,
		     struct inc_create **out);
void inc_create_end(struct inc_create *c);

void inc_create_receive(struct inc_create *c, const struct inc_packet *p,
			const struct roce_path *path, uint64_t now_ns);
size_t inc_create_send(struct inc_create *c, struct inc_batch *out, uint64_t now_ns);
uint64_t inc_create_deadline(const struct inc_create *c);

/* Returns the outcome. DXP_EAGAIN: not finished. DXP_OK: this member has its NOTIFY; at member 0,
 * all members have their NOTIFYs. For other statuses, *notice has fail_cause and cause_ip, and
 * *silent is the member that did not answer, or the member count if all did. */
int inc_create_outcome(const struct inc_create *c, struct inc_control *notice, uint32_t *silent);

/* Member 0: returns the largest number of switches that a QUERY lists above the switch of member
 * 0. */
uint32_t inc_create_above(const struct inc_create *c);

/* Member 0: adds a KILL packet for each member, from *next on. Returns how many packets it added.
 * If *next is then below the member count, the batch was full: call it again with an empty
 * batch. */
size_t inc_create_kill(const struct inc_create *c, uint32_t *next, struct inc_batch *out);

#endif
