/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns the steps of a plan, in order, into commands and the events that each of them waits for. A
 * mark that waits for one event at most needs no command. Pure: the caller posts the commands and
 * names their events; 0 is the name of an event that is complete. */
#ifndef COLLECTIVE_POSTING_H
#define COLLECTIVE_POSTING_H

#include <stdbool.h>
#include <stdint.h>

#include "collective/plan.h"

struct posting {
	const struct plan *plan;
	bool more;       /* the plan continues an operation whose members have all begun */
	uint64_t *names; /* event of each step; 0: the step is complete */
	bool *own;       /* true: the step has an event of its own */
	uint64_t *waits; /* events that the current step waits for */
	uint32_t wait_count;
};

/* `added`: the most events that posting_wait() adds to one step. DXP_ENOMEM. End it with
 * posting_end(), also after a failure. */
int posting_begin(struct posting *p, const struct plan *plan, uint32_t added, bool more);
void posting_end(struct posting *p);

/* Sets `waits` for step `index`. Returns true if the step is the first one of its member; then the
 * caller adds the events that the member waits for. */
bool posting_collect(struct posting *p, uint32_t index);
void posting_wait(struct posting *p, uint64_t event);
/* Replaces the first `count` events by one, which completes after all of them. */
void posting_fold(struct posting *p, uint32_t count, uint64_t event);
/* Returns true if step `index` needs no command. Call it after posting_collect(). */
bool posting_merge(struct posting *p, uint32_t index);
/* Sets the event of the command of step `index`. */
void posting_name(struct posting *p, uint32_t index, uint64_t event);
/* Returns the last event of a member, when all steps are posted. */
uint64_t posting_last(const struct posting *p, uint32_t member);

#endif
