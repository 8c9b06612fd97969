/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/alerts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void web_alerts_add(struct web_alert_list *l, enum web_severity severity, const char *kind,
		    const char *subject, const char *format, ...)
{
	va_list arguments;

	if (l->count == WEB_ALERTS) {
		l->left_out++;
		return;
	}
	struct web_alert *a = &l->rows[l->count++];
	a->severity = severity;
	a->kind = kind;
	snprintf(a->subject, sizeof(a->subject), "%s", subject);
	va_start(arguments, format);
	vsnprintf(a->text, sizeof(a->text), format, arguments);
	va_end(arguments);
}

static bool includes(const struct web_alert_list *l, const struct web_alert *a)
{
	for (unsigned i = 0; i < l->count; i++)
		if (strcmp(l->rows[i].kind, a->kind) == 0 &&
		    strcmp(l->rows[i].subject, a->subject) == 0)
			return true;
	return false;
}

/* Returns whether the manager's log has an event for this alert. */
static bool in_log(const struct web_events *events, const struct web_alert *a)
{
	return events->log_read && event_kind_find(a->kind) != 0;
}

static struct web_event event_of(const struct web_alert *a, uint64_t time_ms)
{
	struct web_event e = {.time_ms = time_ms, .severity = a->severity, .kind = a->kind};

	memcpy(e.subject, a->subject, sizeof(a->subject));
	memcpy(e.text, a->text, sizeof(e.text));
	return e;
}

void web_alerts_replace(struct web_alert_list *list, const struct web_alert_list *now,
			struct web_events *events, uint64_t time_ms)
{
	struct web_event e;

	for (unsigned i = 0; i < list->count; i++) {
		const struct web_alert *a = &list->rows[i];
		if (includes(now, a) || in_log(events, a))
			continue;
		e = event_of(a, time_ms);
		e.severity = WEB_INFO;
		e.kind = "cleared";
		snprintf(e.text, sizeof(e.text), "the alert \"%s\" is over", a->kind);
		web_events_add(events, &e);
	}
	for (unsigned i = 0; i < now->count; i++) {
		if (includes(list, &now->rows[i]) || in_log(events, &now->rows[i]))
			continue;
		e = event_of(&now->rows[i], time_ms);
		web_events_add(events, &e);
	}
	*list = *now;
}

void web_alerts_json(const struct web_alert_list *l, json_t *array)
{
	for (unsigned i = 0; i < l->count; i++) {
		const struct web_alert *a = &l->rows[i];
		json_array_append_new(array,
				      json_pack("{s:s, s:s, s:s, s:s}", "severity",
						web_severity_name(a->severity), "kind", a->kind,
						"subject", a->subject, "text", a->text));
	}
}
