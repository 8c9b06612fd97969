/* SPDX-License-Identifier: BSD-3-Clause */
#include <dxp/status.h>

#include "base/util.h"
#include "cmd/web/sources.h"

/* Finds where to begin: the newest events that the ring can hold. */
static bool begin(struct web_event_log *l)
{
	struct inquiry q = {.fabric = l->fabric,
			    .kind = QUERY_EVENTS,
			    .events.from = EVENT_SEQUENCE_MAX,
			    .timeout_ns = S_NS};
	const struct events_page *last;
	const struct event_row *rows;
	struct query *a;

	if (inquiry_run(&q, &a) != DXP_OK)
		return false;
	query_events(a, &rows, &last);
	l->reader = (struct event_reader){.q = q, .epoch = last->epoch};
	l->reader.q.events.from = last->next > WEB_EVENTS ? last->next - WEB_EVENTS : 1;
	query_destroy(a);
	return true;
}

static bool news_read(struct web_event_log *l)
{
	const struct events_page *last;
	const struct event_row *rows;
	struct query *a;

	if (l->reader.q.events.from == 0 && !begin(l))
		return false;
	if (event_reader_next(&l->reader, &a) != DXP_OK)
		return false;
	const size_t count = query_events(a, &rows, &last);
	web_state_log(l->state, rows, count);
	query_destroy(a);
	return true;
}

/* A manager that does not answer, or of an earlier version, gives no events. */
void web_event_log_poll(void *context)
{
	struct web_event_log *l = context;

	if (news_read(l))
		l->misses = 0;
	else if (++l->misses >= WEB_LOG_MISSES)
		web_state_log_silent(l->state);
}
