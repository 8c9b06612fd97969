/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates, posts and completes events. A queue holds an event until it completes. An event holds
 * its context, its queue, and the objects that its command uses. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/cl_ext.h>

#include "base/clock.h"
#include "base/util.h"
#include "plugins/opencl/command/complete.h"
#include "plugins/opencl/node/device.h"

/* Sentences printed on standard error, at most: a program may cause failures without end. */
#define PRINTED_MAX 20

/* Completion handler of a dxp event without OpenCL event. The completion's cookie is the address of
 * this struct with the lowest bit set. */
struct tracked {
	dxp_event event;
	void (*ended)(void *context, int status);
	void *context;
};

static uint64_t serial;
static uint32_t pending;
static dxp_event failed; /* a failed dxp event that replaces other failed events in wait lists */

/* list of events whose own completion arrived before that of a predecessor */
static cl_event early;

static void names_end(cl_event e);
static void completed(const struct dxp_completion *c);

static void predecessors_drop(cl_event e)
{
	uint32_t count = e->predecessor_count;
	cl_event *predecessors = e->predecessors;

	e->predecessor_count = 0;
	e->predecessors = NULL;
	for (uint32_t i = 0; i < count; i++)
		object_drop(predecessors[i]);
	free(predecessors);
}

static void end(void *handle)
{
	cl_event e = handle;

	/* The program released a user event without setting it. It fails, otherwise commands would
	 * wait for it forever. */
	if (!e->queue && e->status > CL_COMPLETE) {
		e->status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
		names_end(e);
	}
	event_callbacks_free(e);
	free(e->failure);
	free(e->cycles);
	predecessors_drop(e);
	if (e->held != e->held_inline)
		free(e->held);
	object_drop(e->queue);
	object_drop(e->context);
}

cl_event event_new(cl_context context, cl_command_queue queue, cl_command_type type)
{
	cl_event e = object_new(OBJECT_EVENT, sizeof(*e));

	if (!e)
		return NULL;
	object_end_with(OBJECT_EVENT, end);
	complete_handle_with(completed, event_callbacks_run);
	e->context = context;
	e->queue = queue;
	object_hold(context);
	object_hold(queue);
	e->device = queue ? queue->device : NULL;
	e->generation = queue ? queue->device->generation : 0;
	e->type = type;
	e->status = queue ? CL_QUEUED : CL_SUBMITTED;
	e->held = e->held_inline;
	e->held_space = EVENT_HOLDS_INLINE;
	e->serial = ++serial;
	e->queued_ns = clock_now_ns();
	return e;
}

uint32_t events_pending(void)
{
	return pending;
}

bool event_has_ended(void *event)
{
	return ((cl_event)event)->status <= CL_COMPLETE;
}

bool event_is_collective(const struct _cl_event *e)
{
	return e->type >= CL_COMMAND_ALLREDUCE_DXP && e->type <= CL_COMMAND_ALL_TO_ALL_DXP;
}

static dxp_event failed_name(void)
{
	if (!failed && opencl_fabric() && dxp_event_create(opencl_fabric(), &failed) == DXP_OK)
		dxp_event_set(opencl_fabric(), failed, DXP_ECANCELED);
	return failed;
}

dxp_event event_name(cl_event e)
{
	if (e->status == CL_COMPLETE)
		return 0;
	if (e->status < 0)
		return failed_name();
	/* This command has host work after its completion on the node. Other commands must wait for
	 * it too, so they wait for a host event. */
	if (!e->name && opencl_fabric() && dxp_event_create(opencl_fabric(), &e->name) == DXP_OK)
		names_add(e->name);
	return e->name;
}

bool event_open(dxp_event event)
{
	return names_has(event);
}

static void queue_append(cl_event e)
{
	cl_command_queue q = e->queue;

	e->queue_previous = q->last;
	if (q->last)
		q->last->queue_next = e;
	else
		q->first = e;
	q->last = e;
	object_hold(e);
	trace_queued(e);
}

static void queue_unlink(cl_event e)
{
	cl_command_queue q = e->queue;

	if (e->queue_previous)
		e->queue_previous->queue_next = e->queue_next;
	else
		q->first = e->queue_next;
	if (e->queue_next)
		e->queue_next->queue_previous = e->queue_previous;
	else
		q->last = e->queue_previous;
	if (q->barrier == e) {
		q->barrier = NULL;
		object_drop(e);
	}
	object_drop(e);
}

cl_int event_posted(cl_event e, dxp_event source)
{
	e->source = source;
	e->status = CL_SUBMITTED;
	e->submitted_ns = clock_now_ns();
	queue_append(e);
	pending++;
	if (!source)
		return CL_SUCCESS;
	if (!e->finish)
		e->name = source;
	if (!names_add(source) || dxp_event_notify(opencl_fabric(), source, (uintptr_t)e) != DXP_OK)
		return CL_OUT_OF_HOST_MEMORY;
	return CL_SUCCESS;
}

static void give_up(dxp_event name)
{
	if (!name)
		return;
	names_remove(name);
	if (opencl_fabric())
		dxp_event_forget(opencl_fabric(), name);
}

/* Sets the host event that other commands wait for, if any, then releases both dxp events. */
static void names_end(cl_event e)
{
	dxp_event name = e->name, source = e->source;

	e->name = e->source = 0;
	if (name && name != source && opencl_fabric())
		dxp_event_set(opencl_fabric(), name, e->status < 0 ? DXP_ECANCELED : DXP_OK);
	give_up(source);
	if (name != source)
		give_up(name);
}

static void drop_held(cl_event e)
{
	uint32_t count = e->held_count;

	e->held_count = 0;
	for (uint32_t i = 0; i < count; i++)
		object_drop(e->held[i]);
}

static bool in_order(const struct _cl_event *e)
{
	return e->queue && !(e->queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

/* Makes the times of an in-order queue's commands not overlap. The END of the previous command may
 * be its arrival at this host, later than the START of `e` on the node. */
static void times_order(cl_event e)
{
	if (!in_order(e))
		return;
	if (e->started_ns < e->queue->ended_ns)
		e->started_ns = e->queue->ended_ns;
	if (e->ended_ns < e->started_ns)
		e->ended_ns = e->started_ns;
	e->queue->ended_ns = e->ended_ns;
}

/* Sets START of a collective: the end of the last command that it waited for. The node reports only
 * the times of a mark at its end. */
static void collective_start(cl_event e)
{
	uint64_t start = e->submitted_ns;

	if (!event_is_collective(e))
		return;
	for (uint32_t i = 0; i < e->predecessor_count; i++)
		start = max_u64(start, e->predecessors[i]->ended_ns);
	e->started_ns = min_u64(start, e->started_ns);
}

static void end_now(cl_event e, cl_int status)
{
	assert(e->status > CL_COMPLETE);
	object_hold(e);
	if (e->finish)
		status = e->finish(e, status, e->finish_context);
	e->finish = NULL;
	e->status = status < 0 ? status : CL_COMPLETE;
	collective_start(e);
	times_order(e);
	names_end(e);
	if (e->watched)
		complete_watch(false);
	e->watched = false;
	event_callbacks_end(e);
	trace_event(e);
	drop_held(e);
	predecessors_drop(e);
	if (e->queue) {
		pending--;
		queue_unlink(e);
	}
	complete_changed();
	object_drop(e);
}

static bool due(const struct _cl_event *e)
{
	for (uint32_t i = 0; i < e->predecessor_count; i++)
		if (!event_has_ended(e->predecessors[i]))
			return false;
	return !in_order(e) || e->queue_previous == NULL;
}

static cl_event early_apply(void)
{
	for (cl_event *at = &early; *at; at = &(*at)->early_next) {
		cl_event e = *at;
		if (!due(e))
			continue;
		*at = e->early_next;
		e->early_next = NULL;
		return e;
	}
	return NULL;
}

void event_ended(cl_event e, cl_int status)
{
	if (status >= CL_COMPLETE && !due(e)) {
		e->early = true;
		e->early_status = status;
		e->early_next = early;
		early = e; /* the queue still holds this event */
		return;
	}
	end_now(e, status);
	while ((e = early_apply()))
		end_now(e, e->early_status);
}

/* Converts a time of the device's node to the host's clock. Times of commands that the host
 * executed need no conversion. */
static uint64_t on_host(cl_event e, uint64_t ns)
{
	return dxp_event_of_host(e->source) ? ns : ns + (uint64_t)e->device->clock_ns;
}

static uint64_t clamp(uint64_t v, uint64_t low, uint64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* Limits START and END, so that the times are in order despite conversion errors. */
static void times_set(cl_event e, const struct dxp_event_times *t)
{
	uint64_t now = clock_now_ns();

	e->started_ns = t->ended_ns ? clamp(on_host(e, t->started_ns), e->submitted_ns, now) : now;
	e->ended_ns = t->ended_ns ? clamp(on_host(e, t->ended_ns), e->started_ns, now) : now;
}

static void judge(cl_event e, int status)
{
	cl_device_id d = e->device;
	char text[256];

	if (!d || e->generation != d->generation || !d->xpu)
		return;
	device_judge(d, status);
	if (d->xpu)
		return;
	snprintf(text, sizeof(text), "device '%s' is lost: %s", d->name, dxp_status_text(status));
	context_notify(e->context, text);
}

/* Passes the node's sentence about a failed command to the context's notification function and to
 * CL_EVENT_FAILURE_DXP. With DXP_CL_VERBOSE, also prints it on standard error. */
static void explain(cl_event e)
{
	static uint32_t printed;
	char text[DXP_FAILURE_BYTES], sentence[DXP_FAILURE_BYTES + sizeof(e->device->name) + 16];

	if (!e->device || !opencl_fabric() || e->failure ||
	    dxp_event_failure(opencl_fabric(), e->source, text) <= 0)
		return;
	e->failure = strdup(text);
	snprintf(sentence, sizeof(sentence), "device '%s': %s", e->device->name, text);
	context_notify(e->context, sentence);
	if (settings_get()->verbose && printed++ < PRINTED_MAX)
		fprintf(stderr, "dxp: %s\n", sentence);
}

/* Keeps the cycles of a kernel for CL_PROFILING_CYCLES_DXP. */
static void cycles_keep(cl_event e)
{
	struct dxp_event_cycles c;

	if ((e->type != CL_COMMAND_NDRANGE_KERNEL && e->type != CL_COMMAND_TASK) || !e->queue ||
	    !(e->queue->properties & CL_QUEUE_PROFILING_ENABLE) || e->cycles || !opencl_fabric() ||
	    dxp_event_cycles(opencl_fabric(), e->source, &c) != DXP_OK)
		return;
	e->cycles = malloc(sizeof(c));
	if (e->cycles)
		*e->cycles = c;
}

static void tracked_ended(struct tracked *t, int status)
{
	if (t->ended)
		t->ended(t->context, status);
	give_up(t->event);
	free(t);
	complete_changed();
}

/* Sets CL_RUNNING only if all predecessors have completed: another node's report may still be on
 * its way. */
static void begun(cl_event e)
{
	if (e->status <= CL_RUNNING || !due(e))
		return;
	e->status = CL_RUNNING;
	event_callbacks_begin(e);
}

static void completed(const struct dxp_completion *c)
{
	if (c->begun && c->cookie & 1)
		return;
	if (c->cookie & 1) {
		tracked_ended((struct tracked *)(uintptr_t)(c->cookie - 1), c->status);
		return;
	}
	cl_event e = (cl_event)(uintptr_t)c->cookie;
	/* Ignores the completion if the event has completed on this host, because memory for the
	 * request was short, or if it is already in the list `early`. */
	if (e->object.kind != OBJECT_EVENT || e->source != c->event || e->early)
		return;
	if (c->begun) {
		begun(e);
		return;
	}
	times_set(e, &c->times);
	if (c->status != DXP_OK) {
		judge(e, c->status);
		explain(e);
	} else {
		cycles_keep(e);
	}
	event_ended(e, result_of_command(c->status, c->native));
}

cl_int event_track(dxp_event event, void (*ended)(void *context, int status), void *context)
{
	struct tracked *t = malloc(sizeof(*t));

	if (!t)
		return CL_OUT_OF_HOST_MEMORY;
	*t = (struct tracked){.event = event, .ended = ended, .context = context};
	complete_handle_with(completed, event_callbacks_run);
	if (!names_add(event) ||
	    dxp_event_notify(opencl_fabric(), event, (uintptr_t)t | 1) != DXP_OK) {
		names_remove(event);
		free(t);
		return CL_OUT_OF_HOST_MEMORY;
	}
	return CL_SUCCESS;
}

void events_close(void)
{
	failed = 0;
}
