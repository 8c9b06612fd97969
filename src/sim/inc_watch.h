/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the packets of a simulated in-network job against docs/reference/inc.md "Segments and
 * aggregators":
 *
 * - a member contributes to a segment only after it got all results up to a window before;
 *   to a short one only after all results before it, and to none after it before its own result;
 * - a retransmitted contribution equals the first one;
 * - all members get the same result for a segment;
 * - every packet that leaves has a right ICRC. */
#ifndef SIM_INC_WATCH_H
#define SIM_INC_WATCH_H

#include "sim/inc_sim.h"

struct inc_watch;

/* Creates a watch of the whole network for this job; each job needs its own. DXP_ENOMEM. */
int inc_watch_create(struct inc_job *job, struct inc_watch **out);
void inc_watch_destroy(struct inc_watch *w);

/* Returns the first violation as text; NULL: none. */
const char *inc_watch_wrong(const struct inc_watch *w);

struct inc_watch_view {
	uint64_t contributions; /* packets of members */
	uint64_t results;       /* packets to members */
	uint64_t repeats;
};
void inc_watch_view(const struct inc_watch *w, struct inc_watch_view *out);

#endif
