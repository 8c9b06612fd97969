/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/changes.h"

#include <stdio.h>

/* percent; a higher share of retransmissions is an alert, because RLTP's loss goals assume 1 % at
 * most */
#define REPEATS_HIGH 1.0
/* packets per second; at lower rates a few retransmissions are a high share */
#define PACKETS_FEW 1000

/* The list has space for WEB_ALERTS only. So critical alerts come first. */
void web_changes_alerts(const struct web_snapshot *s, struct web_alert_list *out)
{
	if (!s->manager_up)
		web_alerts_add(out, WEB_CRITICAL, "silent", "manager", "%.180s", s->manager_text);
	for (size_t i = 0; i < s->count; i++) {
		const struct web_node *n = &s->nodes[i];
		if (n->health == WEB_DEAD)
			web_alerts_add(out, WEB_CRITICAL, "dead", n->entry.name,
				       "its lease has expired; start its program again, or see its "
				       "log");
		else if (n->health == WEB_SILENT)
			web_alerts_add(out, WEB_CRITICAL, "silent", n->entry.name,
				       "no answer for a second: its port is blocked, or its "
				       "program is stopped or busy; see `dxp doctor --to %s`",
				       n->entry.name);
	}
	for (size_t i = 0; i < s->count; i++) {
		const struct web_node *n = &s->nodes[i];
		if (n->rates.drops > 0)
			web_alerts_add(out, WEB_WARNING, "drops", n->entry.name,
				       "its receive buffer was full: its processor is too busy, "
				       "or net.core.rmem_max is too small");
		if (n->rates.repeats_percent > REPEATS_HIGH && n->rates.first_packets > PACKETS_FEW)
			web_alerts_add(out, WEB_WARNING, "repeats", n->entry.name,
				       "retransmits more than %.0f %% of its packets; the node's "
				       "page has the causes",
				       REPEATS_HIGH);
	}
}

static void node_event(struct web_events *events, const struct web_snapshot *s,
		       const struct web_node *n, const char *kind, const char *text)
{
	struct web_event e = {.time_ms = s->time_ms, .severity = WEB_INFO, .kind = kind};

	snprintf(e.subject, sizeof(e.subject), "%s", n->entry.name);
	snprintf(e.text, sizeof(e.text), "%s", text);
	web_events_add(events, &e);
}

void web_changes_events(const struct web_snapshot *previous, const struct web_snapshot *s,
			struct web_events *events)
{
	if (!previous)
		return;
	for (size_t i = 0; i < previous->count; i++)
		if (!web_snapshot_id(s, previous->nodes[i].entry.id))
			node_event(events, s, &previous->nodes[i], "left",
				   "left the fabric, or the manager has forgotten it");
	for (size_t i = 0; i < s->count; i++) {
		const struct web_node *n = &s->nodes[i];
		const struct web_node *before = web_snapshot_id(previous, n->entry.id);
		if (!before)
			node_event(events, s, n, "joined", "joined the fabric");
		else if (before->entry.incarnation != n->entry.incarnation)
			node_event(events, s, n, "restarted", "joined again after a restart");
	}
}
