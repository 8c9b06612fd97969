/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/events.h"

void web_events_add(struct web_events *e, const struct web_event *event)
{
	struct web_event *slot = &e->ring[++e->last % WEB_EVENTS];

	*slot = *event;
	slot->id = e->last;
}

/* Returns the id of the oldest stored event, or last + 1 if there is none. */
static uint64_t oldest(const struct web_events *e)
{
	return e->last > WEB_EVENTS ? e->last - WEB_EVENTS + 1 : 1;
}

const struct web_event *web_events_next(const struct web_events *e, uint64_t after)
{
	if (after >= e->last)
		return NULL;
	const uint64_t id = after + 1 > oldest(e) ? after + 1 : oldest(e);
	return &e->ring[id % WEB_EVENTS];
}

const char *web_severity_name(enum web_severity severity)
{
	static const char *const names[] = {"info", "warning", "critical"};

	return names[severity];
}

static json_t *event_json(const struct web_event *v)
{
	return json_pack("{s:I, s:I, s:s, s:s, s:s, s:s}", "id", (json_int_t)v->id, "time_ms",
			 (json_int_t)v->time_ms, "severity", web_severity_name(v->severity), "kind",
			 v->kind, "subject", v->subject, "text", v->text);
}

json_t *web_events_json(const struct web_events *e, uint64_t after, unsigned limit)
{
	json_t *all = json_array();
	const uint64_t first = oldest(e);
	const uint64_t lost = after + 1 < first && after < e->last ? first - after - 1 : 0;

	for (unsigned i = 0; i < limit; i++) {
		const struct web_event *v = web_events_next(e, after);
		if (!v)
			break;
		json_array_append_new(all, event_json(v));
		after = v->id;
	}
	return json_pack("{s:o, s:I, s:I}", "events", all, "last", (json_int_t)e->last, "lost",
			 (json_int_t)lost);
}
