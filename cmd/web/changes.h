/* SPDX-License-Identifier: BSD-3-Clause */
/* Derives alerts from one reading of the fabric, and events from the differences to the reading
 * before. */
#ifndef CMD_WEB_CHANGES_H
#define CMD_WEB_CHANGES_H

#include "cmd/web/alerts.h"
#include "cmd/web/snapshot.h"

/* Adds the alerts of a reading to an empty list, the worst first. */
void web_changes_alerts(const struct web_snapshot *s, struct web_alert_list *out);

/* Adds events for nodes that joined, left or restarted. If `previous` is NULL, `s` is the first
 * reading, and there are no events. */
void web_changes_events(const struct web_snapshot *previous, const struct web_snapshot *s,
			struct web_events *events);

#endif
