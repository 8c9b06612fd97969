/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the packets of a simulated job against docs/reference/inc.md "Segments and aggregators":
 *
 * - A member contributes to segment s only after it has the results of all segments up to s minus
 *   the group's window size. A short segment (flag SHORT) is a whole operation. A member
 *   contributes to it only after it has all earlier results. Until it has the result of a short
 *   segment, it contributes to no later one.
 * - A retransmitted contribution equals the first one.
 * - All members get the same result for a segment.
 * - Each packet leaves with a correct ICRC. */
#ifndef SIM_INC_WATCH_H
#define SIM_INC_WATCH_H

#include "sim/inc_sim.h"

struct inc_watch;

/* Creates a watch of the network for one job. DXP_ENOMEM. */
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
