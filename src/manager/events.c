/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/events.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/crc32c.h"
#include "manager/internal.h"

#define REQUESTS_PER_S 1024 /* answers: 1 % of a core */
#define REQUESTS_BURST 256
#define REFUSALS_PER_S 1 /* so that a flood takes hours to replace all other events */
#define REFUSALS_BURST 64
#define REPORTS_PER_S  4
#define REPORTS_BURST  256
#define REFUSAL_NS     (60 * S_NS) /* a refusal is logged once in this time */

static bool allowed(struct event_limit *l, unsigned per_s, unsigned burst, uint64_t now_ns)
{
	const uint64_t one_ns = S_NS / per_s;

	if (l->free_ns > now_ns + burst * one_ns)
		return false;
	l->free_ns = max_u64(l->free_ns, now_ns) + one_ns;
	return true;
}

void manager_event_joined(struct registry *r, const struct roster_node *n, bool again)
{
	const struct node_entry *e = &n->entry;
	char address[UDP_ADDRESS_TEXT_BYTES];

	address_format(&e->address, address);
	if (again)
		REGISTRY_EVENT(r, EVENT_JOINED, e->name,
			       "has a lease again as node %u at %s; the last one had expired",
			       e->id, address);
	else
		REGISTRY_EVENT(r, EVENT_JOINED, e->name, "joined as node %u, %s%s%s, at %s", e->id,
			       e->kind == MANAGE_XPU ? "an xPU" : "a host",
			       *e->engine ? " of engine " : "", e->engine, address);
}

/* Returns whether this refusal was not logged in the last minute, and remembers it. */
static bool refusal_new(struct event_limits *l, const char *subject, const char *reason,
			uint64_t now_ns)
{
	const uint32_t hash =
		crc32c(crc32c(0, subject, strlen(subject)), reason, strlen(reason)) | 1;
	unsigned oldest = 0;

	for (unsigned i = 0; i < REFUSALS_RECENT; i++) {
		if (l->recent[i].hash == hash && now_ns < l->recent[i].until_ns)
			return false;
		if (l->recent[i].until_ns < l->recent[oldest].until_ns)
			oldest = i;
	}
	if (!allowed(&l->refusals, REFUSALS_PER_S, REFUSALS_BURST, now_ns))
		return false;
	l->recent[oldest].hash = hash;
	l->recent[oldest].until_ns = now_ns + REFUSAL_NS;
	return true;
}

void manager_event_refused(struct registry *r, const struct udp_address *from, const char *reason,
			   const char *text)
{
	char address[UDP_ADDRESS_TEXT_BYTES];
	const struct udp_address ip = {0};
	const char *subject = r->claimed;

	if (!subject && r->sender)
		subject = r->sender->name;
	if (!subject)
		subject = address_format(from ? from : &ip, address);
	if (refusal_new(&r->event_limits, subject, reason, r->now_ns))
		REGISTRY_EVENT(r, EVENT_REFUSED, subject, "%s", text);
	else
		r->counters.refusals_unlogged++;
}

bool manager_events_allowed(struct registry *r, uint64_t now_ns)
{
	if (allowed(&r->event_limits.requests, REQUESTS_PER_S, REQUESTS_BURST, now_ns))
		return true;
	r->counters.events_limited++;
	return false;
}

void manager_requests_events(struct registry *r, const struct udp_address *from,
			     struct manage_body body)
{
	struct events_request request;

	if (events_request_decode(body, &request) != DXP_OK) {
		r->counters.malformed++;
		return;
	}
	struct outbox_entry *out = manager_read_begin(r, from, request.request, request.nonce);
	if (!out)
		return;
	struct events_page page = {
		.request = request.request, .nonce = request.nonce, .epoch = r->epoch};
	event_journal_page(&r->events, &request, &page);
	r->counters.events_answered++;
	registry_outbox_commit(r, out, from,
			       events_page_encode(&page, registry_sender_mac(r), out->data));
}

bool manager_event_report(struct registry *r, struct roster_node *n,
			  const struct event_report *report)
{
	const char *name = n->entry.name, *peer = report->peer;

	if (report->number <= n->reported)
		return true; /* a repetition */
	if (!allowed(&r->event_limits.reports, REPORTS_PER_S, REPORTS_BURST, r->now_ns)) {
		r->counters.reports_limited++;
		return false;
	}
	n->reported = report->number;
	if (report->kind == EVENT_PATH_BLOCKED)
		REGISTRY_EVENT(r, EVENT_PATH_BLOCKED, name,
			       "path to %s: no answer; check %s with `dxp doctor --to %s`", peer,
			       peer, peer);
	else if (report->kind == EVENT_PATH_SLOW)
		REGISTRY_EVENT(r, EVENT_PATH_SLOW, name,
			       "path to %s: at least %llu us; the median of its paths is %llu us",
			       peer, (unsigned long long)(report->rtt_ns / US_NS),
			       (unsigned long long)(report->typical_ns / US_NS));
	else
		REGISTRY_EVENT(r, EVENT_PATH_RESTORED, name, "path to %s: answers as usual again",
			       peer);
	return true;
}
