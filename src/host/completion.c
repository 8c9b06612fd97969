/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue of completions, so that one call can wait for many events. A request for a completion
 * reserves its entry, so adding the completion later takes only a few stores. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"
#include "host/internal.h"

#define COMPLETIONS_FIRST_SPACE 256

void completions_destroy(struct dxp_fabric *f)
{
	free(f->completions.ring);
}

static int reserve(struct completions *q)
{
	uint32_t used = q->tail - q->head;

	if (used + q->outstanding < q->space)
		return DXP_OK;
	uint32_t space = q->space ? q->space * 2 : COMPLETIONS_FIRST_SPACE;
	struct dxp_completion *ring = space ? malloc(space * sizeof(*ring)) : NULL;
	if (!ring)
		return error_set(DXP_ENOMEM, "out of memory");
	for (uint32_t i = 0; i < used; i++)
		ring[i] = q->ring[(q->head + i) & (q->space - 1)];
	free(q->ring);
	q->ring = ring;
	q->space = space;
	q->head = 0;
	q->tail = used;
	return DXP_OK;
}

static void append(struct completions *q, dxp_event event, const struct host_event *entry)
{
	q->ring[q->tail++ & (q->space - 1)] = (struct dxp_completion){.cookie = entry->cookie,
								      .event = event,
								      .status = entry->status,
								      .native = entry->native,
								      .times = entry->times};
}

void completion_put(struct dxp_fabric *f, dxp_event event, const struct host_event *entry)
{
	f->completions.outstanding--;
	append(&f->completions, event, entry);
}

void completion_begun(struct dxp_fabric *f, dxp_event event, const struct host_event *entry)
{
	struct completions *q = &f->completions;

	if (!q->begun || !entry->begun || !entry->notify || entry->state != HOST_EVENT_PENDING ||
	    reserve(q) != DXP_OK)
		return;
	q->ring[q->tail++ & (q->space - 1)] =
		(struct dxp_completion){.cookie = entry->cookie, .event = event, .begun = true};
	f->ended++;
	host_fabric_ended(f); /* wakes another thread that waits in dxp_completions() */
}

void dxp_completions_begun(struct dxp_fabric *fabric, bool notify)
{
	host_fabric_enter(fabric);
	fabric->completions.begun = notify;
	host_fabric_leave(fabric);
}

static int notify_locked(struct dxp_fabric *f, dxp_event event, uint64_t cookie)
{
	struct host_event *entry;
	struct dxp_xpu *x;

	if (!events_of(f, event, &x, &entry))
		return error_set(DXP_ENOENT, "event %#llx is unknown or released",
				 (unsigned long long)event);
	if (entry->notify)
		return error_set(DXP_EINVAL, "the completion of event %#llx is already requested",
				 (unsigned long long)event);
	int status = reserve(&f->completions);
	if (status != DXP_OK)
		return status;
	entry->notify = true;
	entry->cookie = cookie;
	if (entry->state == HOST_EVENT_PENDING) {
		f->completions.outstanding++;
		/* the start may have been reported before this request */
		completion_begun(f, event, entry);
		return DXP_OK;
	}
	append(&f->completions, event, entry);
	f->ended++;
	host_fabric_ended(f);
	return DXP_OK;
}

int dxp_event_notify(struct dxp_fabric *fabric, dxp_event event, uint64_t cookie)
{
	host_fabric_enter(fabric);
	int status = notify_locked(fabric, event, cookie);
	host_fabric_leave(fabric);
	return status;
}

void event_hurry(struct dxp_xpu *x, uint32_t count)
{
	struct command c;
	uint8_t message[COMMAND_BYTES_MAX];

	if (x->status != DXP_OK || seq_before(count, x->hurried))
		return;
	command_begin(&c, COMMAND_HURRY);
	c.upto = count;
	int bytes = command_encode(&c, message);
	if (dxp_post_nap(x->fabric->window, HOST_QP_COMMANDS, &x->target, message, (uint32_t)bytes,
			 0, (uint64_t)x->node << 8 | HOST_CONTEXT_NOTIFY) == DXP_OK)
		x->hurried = count + 1;
}

static void hurry_all(struct dxp_fabric *f)
{
	for (struct dxp_xpu *x = f->xpus; x; x = x->next)
		if (x->events.pending)
			event_hurry(x, x->events.next - 1);
}

static bool some(void *context)
{
	struct dxp_fabric *f = context;

	return f->completions.head != f->completions.tail || f->completions.woken;
}

static void wait_for_some(struct dxp_fabric *f, uint64_t timeout_ns)
{
	uint64_t now = clock_now_ns();
	uint64_t deadline = timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;

	/* Polls at least once, so that a call with timeout 0 also makes progress. */
	if (host_fabric_wait(f, some, f, min_u64(deadline, now + HOST_HURRY_NS)) == DXP_OK ||
	    deadline <= now + HOST_HURRY_NS)
		return;
	f->long_waiters++;
	hurry_all(f);
	host_fabric_wait(f, some, f, deadline);
	f->long_waiters--;
}

int dxp_completions(struct dxp_fabric *fabric, struct dxp_completion *out, uint32_t count,
		    uint64_t timeout_ns)
{
	struct completions *q = &fabric->completions;
	uint32_t dequeued = 0;

	host_fabric_enter(fabric);
	wait_for_some(fabric, timeout_ns);
	q->woken = false;
	for (; dequeued < count && q->head != q->tail; dequeued++)
		out[dequeued] = q->ring[q->head++ & (q->space - 1)];
	host_fabric_leave(fabric);
	return (int)dequeued;
}

void dxp_completions_wake(struct dxp_fabric *fabric)
{
	host_fabric_enter(fabric);
	fabric->completions.woken = true;
	fabric->ended++;
	host_fabric_ended(fabric);
	host_fabric_leave(fabric);
}

void dxp_event_forget(struct dxp_fabric *fabric, dxp_event event)
{
	struct host_event *entry;
	struct dxp_xpu *x;

	host_fabric_enter(fabric);
	struct events *events = events_of(fabric, event, &x, &entry);
	if (events)
		events_forget(events, EVENT_COUNT(event));
	host_fabric_leave(fabric);
}
