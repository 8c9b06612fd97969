/* SPDX-License-Identifier: BSD-3-Clause */
/* Alerts: conditions that are wrong now. Each source replaces its whole list after each reading. An
 * alert that appears or disappears causes an event. Not thread-safe. */
#ifndef CMD_WEB_ALERTS_H
#define CMD_WEB_ALERTS_H

#include "base/util.h"
#include "cmd/web/events.h"

struct web_alert {
	enum web_severity severity;
	const char *kind; /* a word such as "silent"; static. Kind and subject identify an alert */
	char subject[FABRIC_NAME_BYTES];
	char text[WEB_EVENT_TEXT]; /* a sentence with the next step */
};

/* Alerts of one source. */
struct web_alert_list {
	struct web_alert rows[WEB_ALERTS];
	unsigned count;
	unsigned left_out; /* alerts that were not stored, because the list holds WEB_ALERTS */
};

void web_alerts_add(struct web_alert_list *l, enum web_severity severity, const char *kind,
		    const char *subject, const char *format, ...) PRINTF_LIKE(5, 6);

/* Replaces *list by *now, and adds events for the differences. */
void web_alerts_replace(struct web_alert_list *list, const struct web_alert_list *now,
			struct web_events *events, uint64_t time_ms);

/* Appends the alerts of a list to a JSON array. */
void web_alerts_json(const struct web_alert_list *l, json_t *array);

#endif
