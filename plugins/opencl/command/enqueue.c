/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of all enqueue functions: checks, waits, event, completion. Besides the wait list, a
 * command waits for the previous command of an in-order queue, or for the last barrier of an
 * out-of-order queue. */
#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/command/complete.h"
#include "plugins/opencl/node/device.h"

/* Commands between two polls for completions, which are needed if no thread waits. */
#define POLL_EVERY 16
/* outstanding commands; if there are more, an enqueue waits for completions */
#define PENDING_MAX  32768
#define PENDING_WAIT 1000000000ull

static cl_int list_check(cl_context context, cl_uint count, const cl_event *list)
{
	if ((count == 0) != (list == NULL))
		return CL_INVALID_EVENT_WAIT_LIST;
	for (cl_uint i = 0; i < count; i++) {
		if (!object_is(list[i], OBJECT_EVENT))
			return CL_INVALID_EVENT_WAIT_LIST;
		if (list[i]->context != context)
			return CL_INVALID_CONTEXT;
	}
	return CL_SUCCESS;
}

static bool fewer_pending(void *before)
{
	return events_pending() < *(uint32_t *)before;
}

/* Slows a program that enqueues without waiting to the speed of the nodes. If all commands wait for
 * an event that the program sets later, enqueuing continues until the fabric rejects a command. */
static void slow_down(void)
{
	static uint32_t count, most = PENDING_MAX;

	if (++count % POLL_EVERY == 0)
		complete_poll();
	uint32_t before = events_pending();
	if (before < most)
		return;
	opencl_wait(fewer_pending, &before, PENDING_WAIT);
	/* No command has completed: does not wait again until twice as many are pending. */
	most = events_pending() < before ? PENDING_MAX : 2 * before;
}

static cl_int add(struct enqueue *e, dxp_event event)
{
	if (e->waits.count == e->space) {
		uint32_t space = e->space * 4;
		bool first = e->list == e->inline_list;
		dxp_event *list = realloc(first ? NULL : e->list, space * sizeof(*list));
		if (!list)
			return CL_OUT_OF_HOST_MEMORY;
		if (first)
			memcpy(list, e->inline_list, sizeof(e->inline_list));
		e->list = list;
		e->space = space;
	}
	e->list[e->waits.count++] = event;
	e->waits.events = e->list;
	e->settled = false;
	return CL_SUCCESS;
}

cl_int enqueue_wait(struct enqueue *e, dxp_event event)
{
	for (uint32_t i = 0; i < e->waits.count; i++) {
		if (e->list[i] == event)
			return CL_SUCCESS;
	}
	return event_open(event) ? add(e, event) : CL_SUCCESS;
}

cl_int enqueue_wait_event(struct enqueue *e, cl_event event)
{
	if (event->status == CL_COMPLETE)
		return CL_SUCCESS;
	dxp_event name = event_name(event);
	return name ? add(e, name) : CL_OUT_OF_HOST_MEMORY;
}

static bool in_order(const struct _cl_command_queue *q)
{
	return q && !(q->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

/* `later` can only complete after `event`. (If `later` fails, this may not hold.) */
static bool after(const struct _cl_event *later, const struct _cl_event *event)
{
	if (later == event || later->status < 0 || event->status < 0 || !in_order(event->queue))
		return false;
	if (later->queue == event->queue)
		return event->serial < later->serial;
	for (uint32_t i = 0; i < EVENT_PAST; i++) {
		if (later->past[i].queue == event->queue)
			return event->serial <= later->past[i].serial;
	}
	return false;
}

/* If the array is full, replaces the position with the oldest command. */
static void past_add(struct past past[EVENT_PAST], const struct past *p)
{
	struct past *kept = past;

	if (!p->serial)
		return;
	for (uint32_t i = 0; i < EVENT_PAST; i++) {
		if (past[i].queue == p->queue) {
			kept = &past[i];
			break;
		}
		if (past[i].serial < kept->serial)
			kept = &past[i];
	}
	if (kept->serial < p->serial)
		*kept = *p;
}

static void past_join(cl_event e, const struct _cl_event *waited)
{
	if (in_order(waited->queue))
		past_add(e->past, &(struct past){waited->queue, waited->serial});
	for (uint32_t i = 0; i < EVENT_PAST; i++)
		past_add(e->past, &waited->past[i]);
}

/* Returns true if the program must see `waited` complete before `e`: it has not completed, and runs
 * on another device. Commands of the same device are included for a collective, which starts when
 * the last one has completed. */
static bool precedes(const struct _cl_event *waited, const struct _cl_event *e)
{
	return waited->queue && !event_has_ended((void *)waited) &&
	       (waited->device != e->device || event_is_collective(e));
}

static cl_int predecessors_set(cl_event e, cl_uint count, const cl_event *list)
{
	cl_uint predecessors = 0;

	for (cl_uint i = 0; i < count; i++)
		predecessors += precedes(list[i], e);
	if (predecessors == 0)
		return CL_SUCCESS;
	e->predecessors = calloc(predecessors, sizeof(*e->predecessors));
	if (!e->predecessors)
		return CL_OUT_OF_HOST_MEMORY;
	for (cl_uint i = 0; i < count; i++) {
		if (!precedes(list[i], e))
			continue;
		object_hold(list[i]);
		e->predecessors[e->predecessor_count++] = list[i];
	}
	return CL_SUCCESS;
}

/* wait list entries that each event is compared with, to find events that need no wait */
#define LOOK_MAX 8

/* Omits an event if another listed event can only complete after it. Example: in a chain of
 * commands over several devices, each command waits only for the previous one. */
static cl_int gather(struct enqueue *e, cl_uint count, const cl_event *list)
{
	cl_command_queue q = e->queue;
	cl_event before = in_order(q) ? q->last : q->barrier;
	cl_uint look = count < LOOK_MAX ? count : LOOK_MAX;
	cl_int error = predecessors_set(e->event, count, list);

	/* Index 0 stands for `before`, which the queue's order requires. */
	for (cl_uint i = before ? 0 : 1; i <= count && error == CL_SUCCESS; i++) {
		cl_event v = i ? list[i - 1] : before;
		bool needless = i && before && after(before, v);
		for (cl_uint j = 0; j < look && !needless; j++)
			needless = after(list[j], v);
		if (!needless)
			error = enqueue_wait_event(e, v);
		past_join(e->event, v);
	}
	return error;
}

static void discard(struct enqueue *e)
{
	cl_event event = e->event;

	if (e->list != e->inline_list)
		free(e->list);
	if (!event)
		return;
	while (event->held_count)
		object_drop(event->held[--event->held_count]);
	if (e->queue->barrier == event) {
		e->queue->barrier = NULL;
		object_drop(event);
	}
	/* Otherwise its end function would treat it as a user event that was never set. */
	event->status = CL_COMPLETE;
	object_release(event);
}

static cl_int begin(struct enqueue *e, cl_command_type type, cl_uint count, const cl_event *list)
{
	cl_command_queue q = e->queue;

	if (!object_is(q, OBJECT_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	cl_int error = list_check(q->context, count, list);
	if (error != CL_SUCCESS)
		return error;
	slow_down();
	error = device_connect(q->device);
	if (error != CL_SUCCESS)
		return error;
	e->device = q->device;
	e->event = event_new(q->context, q, type);
	if (!e->event)
		return CL_OUT_OF_HOST_MEMORY;
	return gather(e, count, list);
}

cl_int enqueue_begin(struct enqueue *e, cl_command_queue queue, cl_command_type type, cl_uint count,
		     const cl_event *list)
{
	e->queue = queue;
	e->event = NULL;
	e->list = e->inline_list;
	e->space = sizeof(e->inline_list) / sizeof(e->inline_list[0]);
	e->waits = (struct dxp_waits){.events = e->list, .lazy = true};
	e->settled = true;
	e->carried = false;
	opencl_enter();
	cl_int error = begin(e, type, count, list);
	e->given = e->waits.count;
	if (error != CL_SUCCESS) {
		discard(e);
		opencl_leave();
	}
	return error;
}

cl_int enqueue_hold(struct enqueue *e, void *object)
{
	cl_event v = e->event;

	if (v->held_count == v->held_space) {
		bool first = v->held == v->held_inline;
		struct object **held = realloc(first ? NULL : v->held,
					       v->held_space * 4 * sizeof(struct object *));
		if (!held)
			return CL_OUT_OF_HOST_MEMORY;
		if (first)
			memcpy(held, v->held_inline, sizeof(v->held_inline));
		v->held = held;
		v->held_space *= 4;
	}
	object_hold(object);
	v->held[v->held_count++] = object;
	return CL_SUCCESS;
}

void enqueue_finish_with(struct enqueue *e, cl_int (*finish)(cl_event, cl_int, void *),
			 void *context)
{
	e->event->finish = finish;
	e->event->finish_context = context;
}

/* Handles a command that has posted nothing to a device. If it has no open waits, it completes at
 * once. Otherwise posts a mark that waits for them. */
static cl_int post_mark(struct enqueue *e, dxp_event *source)
{
	if (e->settled)
		return CL_SUCCESS;
	int status = dxp_mark(e->device->xpu, &e->waits, source);
	return status == DXP_OK ? CL_SUCCESS : device_judge(e->device, status);
}

static cl_int wait_blocking(cl_event event)
{
	object_hold(event);
	opencl_wait(event_has_ended, event, 0);
	cl_int status = event->status;
	object_drop(event);
	return status < 0 ? status : CL_SUCCESS;
}

static void ended_at_once(cl_event v)
{
	v->started_ns = v->ended_ns = v->submitted_ns;
	event_ended(v, CL_COMPLETE);
}

cl_int enqueue_end(struct enqueue *e, cl_int error, dxp_event source, bool blocking, cl_event *out)
{
	cl_event v = e->event;

	if (error == CL_SUCCESS && !source)
		error = post_mark(e, &source);
	if (error != CL_SUCCESS) {
		discard(e);
		opencl_leave();
		return error;
	}
	if (e->list != e->inline_list)
		free(e->list);
	if (v->finish && source && !blocking) {
		v->watched = true;
		complete_watch(true);
	}
	/* The program has a reference to the event at least until this call returns. */
	error = event_posted(v, source);
	if (error != CL_SUCCESS)
		event_ended(v, error);
	else if (!source)
		ended_at_once(v);
	if (error == CL_SUCCESS && blocking)
		error = wait_blocking(v);
	if (error == CL_SUCCESS && out)
		*out = v;
	else
		object_release(v);
	opencl_leave();
	return error;
}
