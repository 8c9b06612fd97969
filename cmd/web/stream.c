/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void web_stream_begin(struct web_stream *s, struct web_state *w, const char *after)
{
	json_t *none = web_state_events(w, UINT64_MAX, 0);
	const uint64_t last = (uint64_t)json_integer_value(json_object_get(none, "last"));
	char *end = NULL;
	const uint64_t given = after && *after ? strtoull(after, &end, 10) : last;

	json_decref(none);
	*s = (struct web_stream){.event = end && *end ? last : given};
	if (s->event > last)
		s->event = last; /* the id is from an earlier run of dxp-web */
}

/* Remembers the id of the last event of the list. */
static void event_pass(struct web_stream *s, const json_t *events)
{
	const size_t count = json_array_size(events);

	if (count)
		s->event = (uint64_t)json_integer_value(
			json_object_get(json_array_get(events, count - 1), "id"));
}

struct web_text *web_stream_next(struct web_stream *s, struct web_state *w)
{
	const uint64_t sequence = web_state_sequence(w);
	struct web_text *out = NULL;
	char *joined = NULL;

	if (sequence == s->sequence)
		return NULL;
	json_t *data = web_state_summary(w), *page = web_state_events(w, s->event, WEB_BATCH);
	json_t *events = json_object_get(page, "events");
	event_pass(s, events);
	json_object_set(data, "events", events);
	json_decref(page);
	s->sequence = sequence;
	struct web_text *text = web_text_json(data);
	if (text && asprintf(&joined, "id: %llu\nevent: update\ndata: %s\n\n",
			     (unsigned long long)s->event, text->data) >= 0) {
		out = web_text_create(joined, strlen(joined));
		free(joined);
	}
	web_text_release(text);
	return out;
}
