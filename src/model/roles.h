/* SPDX-License-Identifier: BSD-3-Clause */
/* Roles of the ranks (N-05) and packets of each step of the data phase (N-09), counted in the
 * schedules that allreduce.c simulates. */
#ifndef MODEL_ROLES_H
#define MODEL_ROLES_H

#include "model/allreduce.h"
#include "model/row.h"

/* Messages of one call, by their step in N-09. */
struct model_roles {
	uint64_t inside;      /* steps 0 and 5: ranks of a host to and from their leader */
	uint64_t up, down;    /* steps 1 and 5: leaders to and from their ToR */
	uint64_t to_spine;    /* step 3 */
	uint64_t from_spine;  /* step 4 */
	uint32_t tors;        /* ToRs of the case */
	uint32_t leaders;     /* ranks that send to a ToR: SRR */
	uint32_t other_ranks; /* ranks that send within their host only: SR */
};

/* Counts the messages of node or socket mode. DXP_EINVAL with error_text(): no such case. */
int model_roles_count(const struct model_allreduce *of, const struct model_parameters *p,
		      struct model_roles *out);

/* Emits roles and packets of 9 hosts with 32 ranks, in node and socket mode. */
int model_roles_rows(const struct model_parameters *p, const struct model_sink *sink);

#endif
