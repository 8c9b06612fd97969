/* SPDX-License-Identifier: BSD-3-Clause */
/* Roles of ranks (N-05), and packets by step of the data phase (N-09), in allreduce.c's
 * schedules. */
#ifndef MODEL_ROLES_H
#define MODEL_ROLES_H

#include "model/allreduce.h"
#include "model/row.h"

/* Messages of one operation by N-09's steps, and roles. */
struct model_roles {
	/* steps 0 and 5: leader and other ranks of a host */
	uint64_t inside;
	uint64_t up, down;   /* leaders to ToR (step 1), and back (step 5) */
	uint64_t to_spine;   /* step 3 */
	uint64_t from_spine; /* step 4 */
	uint32_t tors;
	uint32_t leaders; /* send to a ToR (SRR) */
	/* send only within their host (SR) */
	uint32_t other_ranks;
};

/* Counts messages in node or socket mode. DXP_EINVAL: no such case; error_text() has the reason. */
int model_roles_count(const struct model_allreduce *of, const struct model_parameters *p,
		      struct model_roles *out);

/* Emits 9 hosts with 32 ranks, in node and socket mode. */
int model_roles_rows(const struct model_parameters *p, const struct model_sink *sink);

#endif
