/* SPDX-License-Identifier: BSD-3-Clause */
/* Roles of the ranks (N-05), and packets in each step of the data phase (N-09). They are counted in
 * the schedules that allreduce.c simulates. */
#ifndef MODEL_ROLES_H
#define MODEL_ROLES_H

#include "model/allreduce.h"
#include "model/row.h"

/* Messages of one operation, by their step in N-09, and roles. */
struct model_roles {
	/* steps 0 and 5: between the leader and the other ranks of a host */
	uint64_t inside;
	uint64_t up, down;   /* from leaders to their ToR (step 1), and back (step 5) */
	uint64_t to_spine;   /* step 3 */
	uint64_t from_spine; /* step 4 */
	uint32_t tors;       /* ToRs of the case */
	uint32_t leaders;    /* ranks that send to a ToR, called SRR */
	/* ranks that send only within their host, called SR */
	uint32_t other_ranks;
};

/* Counts the messages of an operation in node or socket mode. DXP_EINVAL: there is no such case;
 * error_text() has the reason. */
int model_roles_count(const struct model_allreduce *of, const struct model_parameters *p,
		      struct model_roles *out);

/* Emits roles and packets for 9 hosts with 32 ranks, in node mode and in socket mode. */
int model_roles_rows(const struct model_parameters *p, const struct model_sink *sink);

#endif
