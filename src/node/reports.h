/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports path changes to the manager, one after another. Each report is sent until the manager
 * answers, at most REPORT_TRIES times, because managers of earlier versions do not answer. Pure. */
#ifndef NODE_REPORTS_H
#define NODE_REPORTS_H

#include "node/path_changes.h"

#define REPORTS_MAX  16 /* a power of two; further changes are dropped */
#define REPORT_TRIES 8

/* A queue of reports, which is empty if all bytes are zero. Invariant: tail - head reports are
 * queued. */
struct reports {
	struct event_report rows[REPORTS_MAX];
	uint32_t head, tail, number; /* number: number of the newest report */
	unsigned tries;
	/* numbers of the first and the last request that had the report at `head` */
	uint64_t first, last;
	uint64_t due_ns;
};

void reports_add(struct reports *r, const struct path_change *change);

/* Returns the report to send now, or NULL. The caller sets its `base`. */
struct event_report *reports_next(struct reports *r, uint64_t request, uint64_t now_ns);

/* Returns true if this request was the report that is outstanding. If `done`, the report is not
 * sent again. */
bool reports_answered(struct reports *r, uint64_t request, bool done);

/* Returns the time in ns at which to call reports_next again; UINT64_MAX: there is none. */
uint64_t reports_deadline(const struct reports *r);

#endif
