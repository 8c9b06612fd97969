/* SPDX-License-Identifier: BSD-3-Clause */
/* Load for a simulated job, and checks of its results. All members execute the same operations,
 * drawn from the seed, each member at its own pace. After each poll of a host, this must hold for
 * its members:
 *
 * - Each result equals, in every bit, the fold in the order of docs/reference/inc.md, which is
 *   computed separately.
 * - Elements that are not done are unchanged. So are buffers of members that get no result.
 * - All members have the same status and number of done elements for an operation.
 * - After its job's last progress, an operation ends within the deadline plus the time to lose the
 *   group.
 * - After a member has lost an operation, it can start no other one. */
#ifndef SIM_INC_LOAD_H
#define SIM_INC_LOAD_H

#include "sim/inc_sim.h"

#define INC_LOAD_OUTSTANDING_MAX 8

struct inc_load_options {
	uint64_t seed;
	uint32_t calls;
	uint32_t elements_max; /* 1 .. elements_max elements */
	/* per member, 1 .. INC_LOAD_OUTSTANDING_MAX */
	uint32_t outstanding;
	/* ns: longest random pause of a member, uniform */
	uint64_t think_ns;
	/* All operations, with elements_max elements; 0: all kinds. */
	uint8_t collective;
	enum dxp_inc_op op;
	enum dxp_inc_type type;
	/* From operation `rogue_call` on, member `rogue_member` uses another number of elements
	 * than the others. A `rogue_call` of 0: never. */
	uint32_t rogue_member, rogue_call;
	uint64_t grace_ns; /* ns after the job's last progress; 0: 6 s */
};

struct inc_load;

/* Sets `polled` and `context` of the job. DXP_ENOMEM. */
int inc_load_create(struct inc_job *job, const struct inc_load_options *options,
		    struct inc_load **out);
void inc_load_destroy(struct inc_load *l);

/* Returns true if all living members have finished or lost their work, the job was rejected, or a
 * check failed. */
bool inc_load_ended(const struct inc_load *l);

/* Returns the first failed check as text; NULL: none. */
const char *inc_load_wrong(const struct inc_load *l);

struct inc_load_view {
	uint32_t calls_done; /* with DXP_OK at all members */
	bool lost;
	int lost_status;  /* of the operation that ended the work */
	uint32_t lost_at; /* its number */
	size_t lost_elements, lost_of;
	uint64_t first_ns, last_ns; /* start of the first operation; last completion */
	uint64_t longest_ns;        /* of completed operations */
};
void inc_load_view(const struct inc_load *l, struct inc_load_view *out);

#endif
