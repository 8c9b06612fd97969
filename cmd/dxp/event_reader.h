/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the event log of the fabric in order, also across restarts and takeovers of the manager.
 * After a manager that lost its last events, the next one gives their numbers again, so a reader
 * that goes on by number alone would miss its first events. */
#ifndef CMD_DXP_EVENT_READER_H
#define CMD_DXP_EVENT_READER_H

#include "cmd/dxp/inquiry.h"

struct event_reader {
	/* kind QUERY_EVENTS; events.from is the number of the next event. The caller sets it before
	 * the first call. */
	struct inquiry q;
	uint64_t epoch; /* run of the manager that gave the last events; 0: none were read yet */
	/* Set by event_reader_next: how many events were removed before they were read; and whether
	 * another run of the manager has reused numbers. */
	uint64_t missed;
	bool reused;
};

/* Reads the next events. On DXP_OK the caller destroys *out with query_destroy; query_events gives
 * its rows, and r->q.events.from is then behind them. Otherwise r->q.text has the reason. */
int event_reader_next(struct event_reader *r, struct query **out);

#endif
