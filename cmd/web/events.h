/* SPDX-License-Identifier: BSD-3-Clause */
/* The event log: the last WEB_EVENTS events, with ids that grow by one. Not thread-safe. */
#ifndef CMD_WEB_EVENTS_H
#define CMD_WEB_EVENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmd/web/limits.h"
#include "wire/events.h"

#define WEB_EVENT_TEXT 192 /* bytes of a sentence, including the zero byte */

enum web_severity { WEB_INFO, WEB_WARNING, WEB_CRITICAL };

struct web_event {
	uint64_t id;      /* number of the event; the first is 1 */
	uint64_t time_ms; /* since 1970 */
	enum web_severity severity;
	const char *kind;                  /* a word such as "joined"; static */
	char subject[EVENT_SUBJECT_BYTES]; /* name of a node, or "manager", or an address */
	char text[WEB_EVENT_TEXT];
};

struct web_events {
	struct web_event ring[WEB_EVENTS];
	uint64_t last; /* id of the newest event; 0: none */
	bool log_read; /* the ring gets the events of the manager's log */
};

/* Appends an event; sets its id. */
void web_events_add(struct web_events *e, const struct web_event *event);

/* Returns the first event with an id above `after`, or NULL. */
const struct web_event *web_events_next(const struct web_events *e, uint64_t after);

const char *web_severity_name(enum web_severity severity);

/* Returns {"events": [...], "last": id of the newest event, "lost": number of events above `after`
 * that were overwritten}, with at most `limit` events. */
json_t *web_events_json(const struct web_events *e, uint64_t after, unsigned limit);

#endif
