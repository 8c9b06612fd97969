/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/reports.h"

#include <string.h>

#include "base/util.h"

#define RETRY_NS (500 * MS_NS)

void reports_add(struct reports *r, const struct path_change *change)
{
	if (r->tail - r->head == REPORTS_MAX)
		return;
	struct event_report *row = &r->rows[r->tail++ % REPORTS_MAX];
	*row = (struct event_report){.number = ++r->number,
				     .kind = change->kind,
				     .rtt_ns = change->rtt_ns,
				     .typical_ns = change->typical_ns};
	memcpy(row->peer, change->peer, sizeof(row->peer));
}

static void next_begin(struct reports *r)
{
	r->head++;
	r->tries = 0;
	r->first = r->last = 0;
	r->due_ns = 0;
}

struct event_report *reports_next(struct reports *r, uint64_t request, uint64_t now_ns)
{
	if (now_ns < r->due_ns || r->head == r->tail)
		return NULL;
	if (r->tries == REPORT_TRIES)
		next_begin(r);
	if (r->head == r->tail)
		return NULL;
	r->first = r->first ? r->first : request;
	r->last = request;
	r->tries++;
	r->due_ns = now_ns + RETRY_NS;
	return &r->rows[r->head % REPORTS_MAX];
}

bool reports_answered(struct reports *r, uint64_t request, bool done)
{
	if (r->head == r->tail || r->first == 0 || request < r->first || request > r->last)
		return false;
	if (done)
		next_begin(r);
	return true;
}

uint64_t reports_deadline(const struct reports *r)
{
	return r->head == r->tail ? UINT64_MAX : r->due_ns;
}
