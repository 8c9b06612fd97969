/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs callbacks of events, one after another, in the progress thread, without the lock. A node
 * reports the start of a command only if it runs for some ms. For other commands, the callbacks for
 * CL_RUNNING run at the completion. */
#include <stdlib.h>

#include "plugins/opencl/command/complete.h"
#include "plugins/opencl/object/api.h"

struct ready {
	struct ready *next;
	cl_event event; /* held */
	struct event_callback *callback;
	cl_int status;
};

static struct ready *first, **last = &first;

static bool make_ready(cl_event e, struct event_callback *c)
{
	struct ready *r = malloc(sizeof(*r));

	if (!r)
		return false;
	*r = (struct ready){
		.event = e, .callback = c, .status = e->status < 0 ? e->status : c->when};
	object_hold(e);
	*last = r;
	last = &r->next;
	complete_callbacks();
	return true;
}

bool event_callbacks_run(void)
{
	struct ready *r = first;

	if (!r)
		return false;
	first = r->next;
	if (!first)
		last = &first;
	/* The callback needs a valid handle, even if the program has released its reference. */
	object_retain(r->event);
	opencl_leave();
	r->callback->call(r->event, r->status, r->callback->data);
	opencl_enter();
	object_release(r->event);
	object_drop(r->event);
	free(r->callback);
	free(r);
	return true;
}

void event_callbacks_end(cl_event e)
{
	while (e->callbacks) {
		struct event_callback *c = e->callbacks;
		e->callbacks = c->next;
		if (!make_ready(e, c))
			free(c);
	}
}

void event_callbacks_begin(cl_event e)
{
	for (struct event_callback **at = &e->callbacks; *at;) {
		struct event_callback *c = *at;
		if (c->when < CL_RUNNING) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		if (!make_ready(e, c))
			free(c);
	}
}

void event_callbacks_free(cl_event e)
{
	while (e->callbacks) {
		struct event_callback *c = e->callbacks;
		e->callbacks = c->next;
		free(c);
	}
}

/* Appends, so that callbacks run in the order of registration. */
static void append(cl_event e, struct event_callback *c)
{
	struct event_callback **at = &e->callbacks;

	while (*at)
		at = &(*at)->next;
	*at = c;
	if (!e->watched && e->queue) {
		e->watched = true;
		complete_watch(true);
	}
}

static cl_int add(cl_event e, const struct event_callback *given)
{
	struct event_callback *c = malloc(sizeof(*c));

	if (!c)
		return CL_OUT_OF_HOST_MEMORY;
	*c = *given;
	if (e->status > c->when) {
		append(e, c);
		return CL_SUCCESS;
	}
	if (make_ready(e, c))
		return CL_SUCCESS;
	free(c);
	return CL_OUT_OF_HOST_MEMORY;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clSetEventCallback(
	cl_event event, cl_int when, void(CL_CALLBACK *call)(cl_event, cl_int, void *), void *data)
{
	const struct event_callback c = {.when = when, .call = call, .data = data};
	cl_int error = CL_INVALID_EVENT;

	opencl_enter();
	if (object_is(event, OBJECT_EVENT)) {
		bool valid =
			call && (when == CL_COMPLETE || when == CL_RUNNING || when == CL_SUBMITTED);
		error = valid ? add(event, &c) : CL_INVALID_VALUE;
	}
	opencl_leave();
	return error;
}
