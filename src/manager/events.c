/* SPDX-License-Identifier: BSD-3-Clause */
#include "manager/events.h"

#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/crc32c.h"
#include "manager/internal.h"

#define REQUESTS_NS    (S_NS / 1024) /* answers: 1 % of a core */
#define REQUESTS_BURST 256
#define REFUSALS_NS    S_NS /* so that a flood takes hours to replace all other events */
#define REFUSALS_BURST 64
#define REPORTS_NS     (S_NS / 4)
#define REPORTS_BURST  256
#define REFUSAL_NS     (60 * S_NS) /* a refusal is logged once in this time */
#define SUMMARY_NS     (60 * S_NS)
#define HOUR_NS        (3600 * S_NS)
/* Parts of the log that events of one class may replace in an hour: by one key or node, and by all
 * together. With 4 classes, a flood from one key takes 7 hours to replace all other events, and one
 * from many keys 1 hour. */
#define KEY_PART       32
#define ALL_PART       8
#define KEY_EVENTS_MIN 8
#define ALL_EVENTS_MIN 32

/* Returns whether one more event is within the limit: `burst` at once, then one in `one_ns`. */
static bool allowed(struct event_limit *l, uint64_t one_ns, unsigned burst, uint64_t now_ns)
{
	if (l->free_ns > now_ns + burst * one_ns)
		return false;
	l->free_ns = max_u64(l->free_ns, now_ns) + one_ns;
	return true;
}

static bool hourly(struct event_limit *l, uint32_t events, uint64_t now_ns)
{
	return allowed(l, HOUR_NS / events, events - 1, now_ns);
}

/* Returns whether an event of this class may be logged. Otherwise counts it. */
static bool class_allowed(struct registry *r, struct event_classes *own, enum event_class class,
			  const char *name)
{
	struct event_limits *l = &r->event_limits;
	const uint32_t space = r->events.space;
	const uint32_t few = space / KEY_PART, all = space / ALL_PART;

	if (hourly(&own->limits[class], few > KEY_EVENTS_MIN ? few : KEY_EVENTS_MIN, r->now_ns) &&
	    hourly(&l->nodes.limits[class], all > ALL_EVENTS_MIN ? all : ALL_EVENTS_MIN, r->now_ns))
		return true;
	r->counters.nodes_unlogged++;
	if (l->unlogged++ == 0)
		l->summary_ns = r->now_ns + SUMMARY_NS;
	snprintf(l->unlogged_name, sizeof(l->unlogged_name), "%s", name);
	return false;
}

static bool node_allowed(struct registry *r, struct roster_node *n, enum event_class class)
{
	return n->key ? class_allowed(r, &n->key->events, class, n->key->name)
		      : class_allowed(r, &n->events, class, n->entry.name);
}

static uint64_t unlogged_deadline(const struct event_limits *l)
{
	return l->unlogged ? l->summary_ns : UINT64_MAX;
}

static uint64_t lost_deadline(const struct registry *r)
{
	return r->events.lost > r->events.reported ? r->event_limits.lost_ns : UINT64_MAX;
}

uint64_t manager_events_deadline(const struct registry *r)
{
	return min_u64(unlogged_deadline(&r->event_limits), lost_deadline(r));
}

static void lost_summarize(struct registry *r, uint64_t now_ns)
{
	struct event_journal *l = &r->events;

	r->counters.events_lost = l->lost;
	if (now_ns < lost_deadline(r))
		return;
	REGISTRY_EVENT(r, EVENT_LOST, "manager",
		       "%llu events did not get into the store, which failed for too long; see the "
		       "manager's log",
		       (unsigned long long)(l->lost - l->reported));
	l->reported = l->lost;
	l->report = l->next - 1;
	r->event_limits.lost_ns = now_ns + SUMMARY_NS;
}

void manager_events_summarize(struct registry *r, uint64_t now_ns)
{
	struct event_limits *l = &r->event_limits;

	lost_summarize(r, now_ns);
	if (now_ns < unlogged_deadline(l))
		return;
	REGISTRY_EVENT(r, EVENT_UNLOGGED, l->unlogged_name,
		       "%llu joins, leaves, deaths and rotations were not logged: too many; the "
		       "last one was of this key or node",
		       (unsigned long long)l->unlogged);
	l->unlogged = 0;
}

void manager_event_left(struct registry *r, struct roster_node *n, const char *text)
{
	if (node_allowed(r, n, EVENT_CLASS_LEAVE))
		REGISTRY_EVENT(r, EVENT_LEFT, n->entry.name, "%s", text);
}

void manager_event_died(struct registry *r, struct roster_node *n)
{
	if (node_allowed(r, n, EVENT_CLASS_DEATH))
		REGISTRY_EVENT(r, EVENT_DIED, n->entry.name,
			       "its lease has expired; start its program again, or see its log");
}

void manager_event_rotated(struct registry *r, struct key_row *row)
{
	if (class_allowed(r, &row->events, EVENT_CLASS_ROTATION, row->name))
		REGISTRY_EVENT(r, EVENT_ROTATED, row->name,
			       "its owner replaced its key; the old one may no longer be used");
}

void manager_event_joined(struct registry *r, struct roster_node *n, bool again)
{
	const struct node_entry *e = &n->entry;
	char address[UDP_ADDRESS_TEXT_BYTES];

	if (!node_allowed(r, n, EVENT_CLASS_JOIN))
		return;
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
	if (!allowed(&l->refusals, REFUSALS_NS, REFUSALS_BURST, now_ns))
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
	if (allowed(&r->event_limits.requests, REQUESTS_NS, REQUESTS_BURST, now_ns))
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
	/* The sender repeats its request until these events are loaded. */
	if (r->events.older && request.from < r->events.first) {
		r->counters.events_limited++;
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
	if (!allowed(&r->event_limits.reports, REPORTS_NS, REPORTS_BURST, r->now_ns)) {
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
