/* SPDX-License-Identifier: BSD-3-Clause */
/* This host as an executor of events that the program sets and of transfers that this host
 * performs. A node that waits for such an event gets an EVENT message on the queue pair of the
 * data, which saves a round trip. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"
#include "host/internal.h"

dxp_event executor_event(const struct dxp_fabric *f, uint32_t count)
{
	uint16_t host = node_id(f->node);

	return EVENT_NAME(host, host, count);
}

static void notices_append(struct notice_queue *q, struct notice *t)
{
	t->next = NULL;
	*q->end = t;
	q->end = &t->next;
}

static void own_ended(void *context, uint32_t count, struct host_event *entry)
{
	struct dxp_fabric *f = context;
	struct notice *t;

	while ((t = entry->notices)) {
		entry->notices = t->next;
		t->status = entry->status;
		notices_append(&f->notices, t);
	}
	f->ended++;
	moves_ended(f, entry, entry->status);
	if (entry->notify)
		completion_put(f, executor_event(f, count), entry);
}

void executor_init(struct dxp_fabric *f)
{
	events_init(&f->own, 1);
	f->own.watch = (struct events_watch){own_ended, f, true};
	f->notices.end = &f->notices.first;
	f->later.end = &f->later.first;
	f->ready.end = &f->ready.first;
	f->running.end = &f->running.first;
	f->draining.end = &f->draining.first;
	f->pulled.end = &f->pulled.first;
}

static void notices_free(struct notice *t)
{
	for (struct notice *next; t; t = next) {
		next = t->next;
		free(t);
	}
}

void executor_destroy(struct dxp_fabric *f)
{
	uint32_t count = events_begin(&f->own);
	const struct host_event *entry;

	for (; (entry = events_next(&f->own, &count)); count++)
		notices_free(entry->notices);
	notices_free(f->notices.first);
	notices_free(f->spare_notices);
	events_destroy(&f->own);
}

int executor_add(struct dxp_fabric *f, uint32_t *count, struct host_event **out)
{
	int status = events_add(&f->own, count, out);

	if (status != DXP_OK)
		return error_set(status, "out of memory");
	(*out)->times.queued_ns = clock_now_ns();
	return DXP_OK;
}

int executor_notify(struct dxp_fabric *f, uint32_t count, struct host_event *entry,
		    struct dxp_xpu *x)
{
	for (const struct notice *t = entry->notices; t; t = t->next)
		if (t->node == x->node)
			return DXP_OK;
	struct notice *t = f->spare_notices;
	if (t)
		f->spare_notices = t->next;
	else if (!(t = malloc(sizeof(*t))))
		return error_set(DXP_ENOMEM, "out of memory");
	*t = (struct notice){
		.event = executor_event(f, count), .node = x->node, .qp = HOST_QP_COMMANDS};
	t->next = entry->notices;
	entry->notices = t;
	if (entry->move)
		move_wanted(entry->move);
	return DXP_OK;
}

bool executor_notify_early(struct dxp_fabric *f, struct host_event *entry, const struct dxp_xpu *x,
			   uint8_t qp)
{
	for (struct notice **at = &entry->notices; *at; at = &(*at)->next) {
		struct notice *t = *at;
		if (t->node != x->node)
			continue;
		*at = t->next;
		t->qp = qp;
		t->status = DXP_OK;
		notices_append(&f->notices, t);
		return true;
	}
	return false;
}

static int notice_post(struct dxp_fabric *f, struct dxp_xpu *x, const struct notice *t)
{
	uint64_t now = clock_now_ns();
	const struct command_event e = {.event = t->event,
					.status = t->status,
					.queued_ns = now,
					.started_ns = now,
					.ended_ns = now};
	uint8_t message[COMMAND_BYTES_MAX];
	int bytes = command_event_encode(&e, message);
	const struct dxp_target *to = t->qp == HOST_QP_COMMANDS ? &x->target : &x->data[t->qp];

	return dxp_post_nap(f->window, t->qp, to, message, (uint32_t)bytes, 0,
			    (uint64_t)x->node << 8 | HOST_CONTEXT_NOTIFY);
}

uint32_t executor_notices_post(struct dxp_fabric *f)
{
	uint32_t posted = 0;

	for (struct notice *t; (t = f->notices.first); posted++) {
		/* NULL: the xPU is closed or lost, so it waits for nothing. */
		struct dxp_xpu *x = xpu_find(f, t->node);
		int status = x ? notice_post(f, x, t) : DXP_OK;
		if (status == DXP_EAGAIN)
			break;
		if (status != DXP_OK)
			xpu_judge(x, status);
		f->notices.first = t->next;
		if (!t->next)
			f->notices.end = &f->notices.first;
		t->next = f->spare_notices;
		f->spare_notices = t;
	}
	return posted;
}

int dxp_event_create(struct dxp_fabric *fabric, dxp_event *out)
{
	struct host_event *entry;
	uint32_t count;

	host_fabric_enter(fabric);
	int status = executor_add(fabric, &count, &entry);
	if (status == DXP_OK)
		*out = executor_event(fabric, count);
	host_fabric_leave(fabric);
	return status;
}

static int set_locked(struct dxp_fabric *f, dxp_event event, int status)
{
	struct host_event *entry;
	struct dxp_xpu *x;
	struct events *events = events_of(f, event, &x, &entry);

	if (!events)
		return error_set(DXP_ENOENT, "event %#llx is unknown or released",
				 (unsigned long long)event);
	if (x || entry->move)
		return error_set(DXP_EINVAL,
				 "event %#llx belongs to a command; only events of "
				 "dxp_event_create() can be set",
				 (unsigned long long)event);
	if (entry->state == HOST_EVENT_DONE)
		return error_set(DXP_EINVAL, "event %#llx is already complete",
				 (unsigned long long)event);
	const struct dxp_event_times times = {entry->times.queued_ns, entry->times.queued_ns,
					      clock_now_ns()};
	events_finish(events, EVENT_COUNT(event), status, &times);
	host_fabric_poll(f);
	host_fabric_ended(f);
	progress_notify(f);
	return DXP_OK;
}

int dxp_event_set(struct dxp_fabric *fabric, dxp_event event, int status)
{
	if (status > 0 || status < INT8_MIN)
		return error_set(DXP_EINVAL, "an event completes with DXP_OK or a negative status");
	host_fabric_enter(fabric);
	status = set_locked(fabric, event, status);
	host_fabric_leave(fabric);
	return status;
}
