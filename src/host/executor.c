/* SPDX-License-Identifier: BSD-3-Clause */
/* This host as an executor beside the xPUs: events that the program sets, and those of transfers
 * by the host. Nodes wait for them as for each other's. Only waiting nodes are notified, by an
 * EVENT on the queue pair of the data: no round trip lies between the data and the command that
 * needs it. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"
#include "host/internal.h"

dxp_event own_event(const struct dxp_fabric *f, uint32_t count)
{
	uint16_t host = node_id(f->node);

	return EVENT_NAME(host, host, count);
}

static void tells_append(struct tell_queue *q, struct tell *t)
{
	t->next = NULL;
	*q->end = t;
	q->end = &t->next;
}

static void own_ended(void *context, uint32_t count, struct host_event *slot)
{
	struct dxp_fabric *f = context;
	struct tell *t;

	while ((t = slot->tells)) {
		slot->tells = t->next;
		t->status = slot->status;
		tells_append(&f->tells, t);
	}
	f->ended++;
	moves_ended(f, slot, slot->status);
	if (slot->notify)
		completion_put(f, own_event(f, count), slot);
}

void executor_init(struct dxp_fabric *f)
{
	events_init(&f->own, 1);
	f->own.watch = (struct events_watch){own_ended, f, true};
	f->tells.end = &f->tells.first;
	f->later.end = &f->later.first;
	f->ready.end = &f->ready.first;
	f->running.end = &f->running.first;
	f->draining.end = &f->draining.first;
	f->pulled.end = &f->pulled.first;
}

static void tells_free(struct tell *t)
{
	for (struct tell *next; t; t = next) {
		next = t->next;
		free(t);
	}
}

void executor_destroy(struct dxp_fabric *f)
{
	uint32_t count = events_begin(&f->own);
	const struct host_event *slot;

	for (; (slot = events_next(&f->own, &count)); count++)
		tells_free(slot->tells);
	tells_free(f->tells.first);
	tells_free(f->spare_tells);
	events_destroy(&f->own);
}

int own_add(struct dxp_fabric *f, uint32_t *count, struct host_event **out)
{
	int status = events_add(&f->own, count, out);

	if (status != DXP_OK)
		return error_set(status, "out of memory");
	(*out)->times.queued_ns = clock_now_ns();
	return DXP_OK;
}

int own_tell(struct dxp_fabric *f, uint32_t count, struct host_event *slot, struct dxp_xpu *x)
{
	for (const struct tell *t = slot->tells; t; t = t->next)
		if (t->node == x->node)
			return DXP_OK;
	struct tell *t = f->spare_tells;
	if (t)
		f->spare_tells = t->next;
	else if (!(t = malloc(sizeof(*t))))
		return error_set(DXP_ENOMEM, "out of memory");
	*t = (struct tell){.event = own_event(f, count), .node = x->node, .qp = HOST_QP_COMMANDS};
	t->next = slot->tells;
	slot->tells = t;
	if (slot->move)
		move_wanted(slot->move);
	return DXP_OK;
}

bool own_tell_early(struct dxp_fabric *f, struct host_event *slot, const struct dxp_xpu *x,
		    uint8_t qp)
{
	for (struct tell **at = &slot->tells; *at; at = &(*at)->next) {
		struct tell *t = *at;
		if (t->node != x->node)
			continue;
		*at = t->next;
		t->qp = qp;
		t->status = DXP_OK;
		tells_append(&f->tells, t);
		return true;
	}
	return false;
}

static int tell_post(struct dxp_fabric *f, struct dxp_xpu *x, const struct tell *t)
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
			    (uint64_t)x->node << 8 | HOST_CONTEXT_TELL);
}

uint32_t tells_post(struct dxp_fabric *f)
{
	uint32_t posted = 0;

	for (struct tell *t; (t = f->tells.first); posted++) {
		/* A closed or lost xPU waits for nothing. */
		struct dxp_xpu *x = xpu_find(f, t->node);
		int status = x ? tell_post(f, x, t) : DXP_OK;
		if (status == DXP_EAGAIN)
			break;
		if (status != DXP_OK)
			xpu_judge(x, status);
		f->tells.first = t->next;
		if (!t->next)
			f->tells.end = &f->tells.first;
		t->next = f->spare_tells;
		f->spare_tells = t;
	}
	return posted;
}

int dxp_event_create(struct dxp_fabric *fabric, dxp_event *out)
{
	struct host_event *slot;
	uint32_t count;

	fabric_enter(fabric);
	int status = own_add(fabric, &count, &slot);
	if (status == DXP_OK)
		*out = own_event(fabric, count);
	fabric_leave(fabric);
	return status;
}

static int set_locked(struct dxp_fabric *f, dxp_event event, int status)
{
	struct host_event *slot;
	struct dxp_xpu *x;
	struct events *events = events_of(f, event, &x, &slot);

	if (!events)
		return error_set(DXP_ENOENT, "event %#llx is unknown or released",
				 (unsigned long long)event);
	if (x || slot->move)
		return error_set(DXP_EINVAL,
				 "event %#llx belongs to a command; only events of "
				 "dxp_event_create() can be set",
				 (unsigned long long)event);
	if (slot->state == HOST_EVENT_DONE)
		return error_set(DXP_EINVAL, "event %#llx is already complete",
				 (unsigned long long)event);
	const struct dxp_event_times times = {slot->times.queued_ns, slot->times.queued_ns,
					      clock_now_ns()};
	events_finish(events, EVENT_COUNT(event), status, &times);
	fabric_turn(f);
	fabric_ended(f);
	keeper_call(f);
	return DXP_OK;
}

int dxp_event_set(struct dxp_fabric *fabric, dxp_event event, int status)
{
	if (status > 0 || status < INT8_MIN)
		return error_set(DXP_EINVAL, "an event completes with DXP_OK or a negative status");
	fabric_enter(fabric);
	status = set_locked(fabric, event, status);
	fabric_leave(fabric);
	return status;
}
