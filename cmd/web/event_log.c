/* SPDX-License-Identifier: BSD-3-Clause */
#include <dxp/status.h>

#include "base/util.h"
#include "cmd/dxp/inquiry.h"
#include "cmd/web/sources.h"

static struct query *read_from(const struct web_event_log *l, uint64_t from)
{
	struct inquiry q = {
		.fabric = l->fabric, .kind = QUERY_EVENTS, .events.from = from, .timeout_ns = S_NS};
	struct query *a;

	return inquiry_run(&q, &a) == DXP_OK ? a : NULL;
}

/* Finds where to begin: the newest events that the ring can hold. */
static bool begin(struct web_event_log *l)
{
	struct query *a = read_from(l, EVENT_SEQUENCE_MAX);
	const struct events_page *last;
	const struct event_row *rows;

	if (!a)
		return false;
	query_events(a, &rows, &last);
	l->from = last->next > WEB_EVENTS ? last->next - WEB_EVENTS : 1;
	query_destroy(a);
	return true;
}

static bool news_read(struct web_event_log *l)
{
	const struct events_page *last;
	const struct event_row *rows;

	if (l->from == 0 && !begin(l))
		return false;
	struct query *a = read_from(l, l->from);
	if (!a)
		return false;
	const size_t count = query_events(a, &rows, &last);
	web_state_log(l->state, rows, count);
	l->from = last->next;
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
