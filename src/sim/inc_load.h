/* SPDX-License-Identifier: BSD-3-Clause */
/* Load for a simulated job, and checks of its results. All members execute the same operations,
 * drawn from the seed, each at its own pace. After each poll of a host, its members must satisfy:
 *
 * - Each result equals, in every bit, the fold in the order of docs/reference/inc.md, computed
 *   separately.
 * - Elements that are not done are unchanged; so are buffers of members that get no result.
 * - All members have the same status and number of done elements for an operation.
 * - No operation takes longer, after its job's last progress, than the deadline plus the time
 *   to lose the group.
 * - After a lost operation none is accepted. */
#ifndef SIM_INC_LOAD_H
#define SIM_INC_LOAD_H

#include "sim/inc_sim.h"

#define INC_LOAD_OUTSTANDING_MAX 8

struct inc_load_options {
	uint64_t seed;
	uint32_t calls;
	uint32_t elements_max; /* elements per operation: 1 .. this */
	uint32_t outstanding;  /* 1 .. INC_LOAD_OUTSTANDING_MAX */
	uint64_t think_ns;     /* maximum of a uniform pause between a member's operations */
	/* Only this kind of operation, with elements_max elements; collective 0: all kinds. */
	uint8_t collective;
	enum dxp_inc_op op;
	enum dxp_inc_type type;
	/* The member uses another number of elements from operation rogue_call on; 0: never. */
	uint32_t rogue_member, rogue_call;
	uint64_t grace_ns; /* time limit from the last progress to the completion; 0: 6 s */
};

struct inc_load;

/* Creates the load and sets job->polled and job->context. DXP_ENOMEM. */
int inc_load_create(struct inc_job *job, const struct inc_load_options *options,
		    struct inc_load **out);
void inc_load_destroy(struct inc_load *l);

/* Returns whether all living members have finished or lost their work, the job was rejected, or a
 * check failed. */
bool inc_load_ended(const struct inc_load *l);

/* Returns the first failed check as text; NULL: none. */
const char *inc_load_wrong(const struct inc_load *l);

struct inc_load_view {
	uint32_t calls_done; /* operations with DXP_OK at all members */
	bool lost;
	int lost_status;  /* status of the operation that ended the work */
	uint32_t lost_at; /* number of that operation */
	size_t lost_elements, lost_of;
	uint64_t first_ns, last_ns; /* first start, last completion */
	uint64_t longest_ns;        /* longest completed operation of any member */
};
void inc_load_view(const struct inc_load *l, struct inc_load_view *out);

#endif
