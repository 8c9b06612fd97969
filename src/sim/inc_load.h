/* SPDX-License-Identifier: BSD-3-Clause */
/* Work for a simulated job, and the checks of its results. All members make the same operations,
 * drawn from the seed, each in its own time. After every poll of a host these checks run on its
 * members:
 *
 * - every result equals, bit for bit, the fold in the order of docs/reference/inc.md, computed
 * separately;
 * - elements that are not done are unchanged, and so are buffers of members that get no result;
 * - all members have the same status and count of done elements for an operation;
 * - no operation outlasts its job's last progress by more than the deadline and the time that
 *   losing takes;
 * - after a lost operation none is accepted. */
#ifndef SIM_INC_LOAD_H
#define SIM_INC_LOAD_H

#include "sim/inc_sim.h"

#define INC_LOAD_OUTSTANDING_MAX 8

struct inc_load_options {
	uint64_t seed;
	uint32_t calls;
	uint32_t elements_max; /* elements of an operation: 1 .. this */
	uint32_t outstanding;  /* operations in flight: 1 .. INC_LOAD_OUTSTANDING_MAX */
	uint64_t think_ns;     /* maximum of a uniform pause between a member's operations */
	/* one kind of operation only, of elements_max elements; collective 0: all kinds */
	uint8_t collective;
	enum dxp_inc_op op;
	enum dxp_inc_type type;
	/* this member uses another count from this operation on; rogue_call 0: none */
	uint32_t rogue_member, rogue_call;
	uint64_t grace_ns; /* maximum from last progress to completion; 0: 6 s */
};

struct inc_load;

/* Creates the load and sets job->turned and job->context. inc_load_destroy frees it. DXP_ENOMEM. */
int inc_load_create(struct inc_job *job, const struct inc_load_options *options,
		    struct inc_load **out);
void inc_load_destroy(struct inc_load *l);

/* Returns true if all living members have finished or lost their work, the job was refused, or a
 * check failed. */
bool inc_load_ended(const struct inc_load *l);

/* Returns the first failed check as text; NULL: none. */
const char *inc_load_wrong(const struct inc_load *l);

struct inc_load_view {
	uint32_t calls_done; /* at all members, DXP_OK */
	bool lost;
	int lost_status;  /* of the operation that ended the work */
	uint32_t lost_at; /* its number */
	size_t lost_elements, lost_of;
	uint64_t first_ns, last_ns; /* first start, last completion */
	uint64_t longest_ns;        /* of a completed operation, at one member */
};
void inc_load_view(const struct inc_load *l, struct inc_load_view *out);

#endif
