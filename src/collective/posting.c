/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/posting.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Returns the length of the longest wait list of any step. */
static uint32_t waits_most(const struct plan *plan)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < plan->step_count; i++)
		most = max_u32(most, plan->steps[i].wait_count);
	return most;
}

int posting_begin(struct posting *p, const struct plan *plan, uint32_t added, bool more)
{
	*p = (struct posting){.plan = plan, .more = more};
	p->names = calloc(plan->step_count, sizeof(*p->names));
	p->own = calloc(plan->step_count, sizeof(*p->own));
	p->waits = calloc((size_t)waits_most(plan) + added + 1, sizeof(*p->waits));
	return p->names && p->own && p->waits ? DXP_OK : DXP_ENOMEM;
}

void posting_end(struct posting *p)
{
	free(p->names);
	free(p->own);
	free(p->waits);
	*p = (struct posting){0};
}

void posting_wait(struct posting *p, uint64_t event)
{
	if (event)
		p->waits[p->wait_count++] = event;
}

void posting_fold(struct posting *p, uint32_t count, uint64_t event)
{
	p->wait_count -= count;
	memmove(p->waits, p->waits + count, p->wait_count * sizeof(*p->waits));
	posting_wait(p, event);
}

bool posting_collect(struct posting *p, uint32_t index)
{
	const struct plan_step *s = &p->plan->steps[index];

	p->wait_count = 0;
	for (uint32_t i = 0; i < s->wait_count; i++)
		posting_wait(p, p->names[p->plan->waits[s->first_wait + i]]);
	return index < p->plan->members && !p->more;
}

static bool is_end(const struct plan *plan, uint32_t index)
{
	for (uint32_t m = 0; m < plan->members; m++)
		if (plan->ends[m] == index)
			return true;
	return false;
}

/* Returns true if a mark needs no command, because it waits for at most one event, which can
 * replace it. The last event of a member must belong to this operation. */
static bool mark_is_redundant(const struct posting *p, uint32_t index)
{
	const struct plan_step *s = &p->plan->steps[index];

	if (p->wait_count > 1 || (p->wait_count == 0 && is_end(p->plan, index)))
		return false;
	return !is_end(p->plan, index) || (index >= p->plan->members && s->wait_count == 1 &&
					   p->own[p->plan->waits[s->first_wait]]);
}

bool posting_merge(struct posting *p, uint32_t index)
{
	if (p->plan->steps[index].kind != PLAN_MARK || !mark_is_redundant(p, index))
		return false;
	p->names[index] = p->wait_count ? p->waits[0] : 0;
	return true;
}

void posting_name(struct posting *p, uint32_t index, uint64_t event)
{
	p->names[index] = event;
	p->own[index] = true;
}

uint64_t posting_last(const struct posting *p, uint32_t member)
{
	return p->names[p->plan->ends[member]];
}
