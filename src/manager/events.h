/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that the registry writes to the event log, and its answers to EVENTS and REPORT. */
#ifndef MANAGER_EVENTS_H
#define MANAGER_EVENTS_H

#include "manager/event_journal.h"
#include "manager/event_limit.h"
#include "wire/manage.h"

struct registry;
struct roster_node;
struct key_row;

#define REFUSALS_RECENT 64 /* refusals that are remembered, so that they are not logged again */

struct event_limits {
	struct event_limit requests, refusals, reports;
	struct event_classes nodes; /* of all nodes and keys together */
	/* events of nodes without a row since the last EVENT_UNLOGGED, and the key or node of the
	 * last one */
	uint64_t unlogged;
	char unlogged_name[FABRIC_NAME_BYTES];
	uint64_t summary_ns; /* when EVENT_UNLOGGED is due, if `unlogged` is not 0 */
	uint64_t lost_ns;    /* no EVENT_LOST before */
	struct {
		uint32_t hash; /* of subject and reason */
		uint64_t until_ns;
	} recent[REFUSALS_RECENT];
};

#define REGISTRY_EVENT(r, kind, subject, ...) \
	event_journal_add(&(r)->events, registry_wall_ms(r), kind, subject, __VA_ARGS__)

/* Log an event of a node, unless its key or all nodes together have too many in this hour. A node
 * without a key counts alone. */

/* The node got a lease. `again`: the lease of the same run had expired. */
void manager_event_joined(struct registry *r, struct roster_node *n, bool again);
void manager_event_left(struct registry *r, struct roster_node *n, const char *text);
void manager_event_died(struct registry *r, struct roster_node *n);
/* The owner of the key `row` has replaced it by this one. */
void manager_event_rotated(struct registry *r, struct key_row *row);

/* Logs how many events of nodes had no row, and how many the store did not get, at most once a
 * minute each. */
void manager_events_summarize(struct registry *r, uint64_t now_ns);
/* Returns the time in ns at which to call it; UINT64_MAX: there were none. */
uint64_t manager_events_deadline(const struct registry *r);

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
