/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that the registry writes to the event log, and its answers to EVENTS and REPORT. */
#ifndef MANAGER_EVENTS_H
#define MANAGER_EVENTS_H

#include "manager/event_journal.h"
#include "wire/manage.h"

struct registry;
struct roster_node;

/* Limits events and requests. Zeroed: the full burst is left. */
struct event_limit {
	uint64_t free_ns; /* time at which all events are paid for */
};

#define REFUSALS_RECENT 64 /* refusals that are remembered, so that they are not logged again */

struct event_limits {
	struct event_limit requests, refusals, reports;
	struct {
		uint32_t hash; /* of subject and reason */
		uint64_t until_ns;
	} recent[REFUSALS_RECENT];
};

#define REGISTRY_EVENT(r, kind, subject, ...) \
	event_journal_add(&(r)->events, registry_wall_ms(r), kind, subject, __VA_ARGS__)

/* Logs that a node got a lease. `again`: the lease of the same run had expired. */
void manager_event_joined(struct registry *r, const struct roster_node *n, bool again);

/* Logs a refusal of the present request. The subject is the name in the request, else that of the
 * key, else the address `from`. The same subject and `reason` are logged once a minute. */
void manager_event_refused(struct registry *r, const struct udp_address *from, const char *reason,
			   const char *text);

/* Answers EVENTS. Returns whether the rate permits one more EVENTS request: call it before the MAC
 * is checked. */
bool manager_events_allowed(struct registry *r, uint64_t now_ns);
void manager_requests_events(struct registry *r, const struct udp_address *from,
			     struct manage_body body);

/* Logs a REPORT of this node. Returns false if too many come; the node repeats it. */
bool manager_event_report(struct registry *r, struct roster_node *n,
			  const struct event_report *report);

#endif
