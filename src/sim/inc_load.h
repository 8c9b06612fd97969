/* SPDX-License-Identifier: BSD-3-Clause */
/* Work for a simulated job, and its judge. All members make the same calls, drawn from the seed,
 * each in its own time; after every turn of a host the calls of its members are looked at:
 *
 * - every result is bitwise the fold in the order that docs/inc.md promises, computed apart;
 * - what is not done is untouched, and so are buffers of members that get no result;
 * - all members have the same status and the same count of finished elements for a call;
 * - no call outlives the last progress of its job by more than the deadline and the procedure of
 *   losing allow;
 * - after a lost call none is taken. */
#ifndef SIM_INC_LOAD_H
#define SIM_INC_LOAD_H

#include "sim/inc_sim.h"

#define INC_LOAD_OUTSTANDING_MAX 8

struct inc_load_options {
	uint64_t seed;
	uint32_t calls;
	uint32_t elements_max; /* of a call, 1 .. so many */
	uint32_t outstanding;  /* calls at a time: 1 .. INC_LOAD_OUTSTANDING_MAX */
	uint64_t think_ns;     /* between calls of a member, uniform up to so much */
	/* one kind of call only, of elements_max elements; collective 0: all kinds */
	uint8_t collective;
	enum dxp_inc_op op;
	enum dxp_inc_type type;
	/* members disagree: this one gives another count from this call on; rogue_call 0: none */
	uint32_t rogue_member, rogue_call;
	uint64_t grace_ns; /* a call may last so long after the last progress; 0: six seconds */
};

struct inc_load;

/* Takes over job->turned. DXP_ENOMEM. */
int inc_load_create(struct inc_job *job, const struct inc_load_options *options,
		    struct inc_load **out);
void inc_load_destroy(struct inc_load *l);

/* All living members have ended their work, by finishing it or by loss; or the job was refused. */
bool inc_load_ended(const struct inc_load *l);

/* The sentence of the judge; NULL: nothing was wrong so far. Ends what inc_load_ended tells too. */
const char *inc_load_wrong(const struct inc_load *l);

struct inc_load_view {
	uint32_t calls_done; /* at all members, DXP_OK */
	bool lost;
	int lost_status;  /* of the call that ended the work */
	uint32_t lost_at; /* its number */
	size_t lost_elements, lost_of;
	uint64_t first_ns, last_ns; /* first start, last end */
	uint64_t longest_ns;        /* of a call that was done, at one member */
};
void inc_load_view(const struct inc_load *l, struct inc_load_view *out);

#endif
