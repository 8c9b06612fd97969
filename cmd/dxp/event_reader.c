/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/event_reader.h"

#include <stdio.h>

#include <dxp/status.h>

#define TRIES 3 /* the manager may change again between two queries */

/* Finds the first event of the present run: the newest one of kind `started`, else the oldest one
 * that is kept. */
static int run_begin(struct event_reader *r, uint64_t *epoch, uint64_t *first)
{
	struct inquiry q = r->q;
	const struct events_page *last;
	const struct event_row *rows;
	bool end = false;

	q.events = (struct events_request){.kind = EVENT_STARTED};
	for (*first = 0; !end;) {
		struct query *a;
		int status = inquiry_run(&q, &a);
		if (status != DXP_OK) {
			snprintf(r->q.text, sizeof(r->q.text), "%s", q.text);
			return status;
		}
		const size_t count = query_events(a, &rows, &last);
		if (count)
			*first = rows[count - 1].sequence;
		else if (*first == 0)
			*first = last->oldest;
		*epoch = last->epoch;
		q.events.from = last->next;
		end = last->next > last->newest;
		query_destroy(a);
	}
	return DXP_OK;
}

/* Goes on in the log of another run. */
static int run_follow(struct event_reader *r)
{
	uint64_t first;
	int status = run_begin(r, &r->epoch, &first);

	if (status == DXP_OK && first < r->q.events.from) {
		r->q.events.from = first;
		r->reused = true;
	}
	return status;
}

int event_reader_next(struct event_reader *r, struct query **out)
{
	const struct events_page *last;
	const struct event_row *rows;

	r->missed = 0;
	r->reused = false;
	for (int i = 0; i < TRIES; i++) {
		int status = inquiry_run(&r->q, out);
		if (status != DXP_OK)
			return status;
		query_events(*out, &rows, &last);
		if (r->epoch == 0 || r->epoch == last->epoch) {
			const uint64_t from = r->q.events.from;
			if (r->epoch && from && last->oldest > from)
				r->missed = last->oldest - from;
			r->epoch = last->epoch;
			r->q.events.from = last->next;
			return DXP_OK;
		}
		query_destroy(*out);
		status = run_follow(r);
		if (status != DXP_OK)
			return status;
	}
	snprintf(r->q.text, sizeof(r->q.text), "the managers change all the time; see their logs");
	return DXP_EAGAIN;
}
