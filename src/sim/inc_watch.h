/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches the wire of a simulated in-network job, for what docs/inc.md "Segments and slots" allows:
 *
 * - a member contributes to a segment only when it was given all results up to a window before;
 *   to a short one only when it was given all before, and to none after it before its own result;
 * - a repeated contribution is the first one again;
 * - all members are given the same result for a segment;
 * - every packet that leaves has a right ICRC. */
#ifndef SIM_INC_WATCH_H
#define SIM_INC_WATCH_H

#include "sim/inc_sim.h"

struct inc_watch;

/* Watches the whole network, for this job; of more jobs each has its own. DXP_ENOMEM. */
int inc_watch_create(struct inc_job *job, struct inc_watch **out);
void inc_watch_destroy(struct inc_watch *w);

/* What was wrong first; NULL: nothing so far. */
const char *inc_watch_wrong(const struct inc_watch *w);

struct inc_watch_view {
	uint64_t contributions; /* packets of members */
	uint64_t results;       /* packets to members */
	uint64_t repeats;
};
void inc_watch_view(const struct inc_watch *w, struct inc_watch_view *out);

#endif
