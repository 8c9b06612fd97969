/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements event queries, user events and clWaitForEvents. */
#include <stdlib.h>

#include "plugins/opencl/command/complete.h"
#include "plugins/opencl/object/api.h"

#include <dxp/cl_ext.h>

CL_API_ENTRY cl_int CL_API_CALL dxp_clRetainEvent(cl_event event)
{
	opencl_enter();
	bool valid = object_is(event, OBJECT_EVENT);
	if (valid)
		object_retain(event);
	opencl_leave();
	return valid ? CL_SUCCESS : CL_INVALID_EVENT;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clReleaseEvent(cl_event event)
{
	opencl_enter();
	bool valid = object_is(event, OBJECT_EVENT);
	if (valid)
		object_release(event);
	opencl_leave();
	return valid ? CL_SUCCESS : CL_INVALID_EVENT;
}

static const cl_uint ways[DXP_WAYS] = {
	[DXP_WAY_RING] = CL_WAY_RING_DXP,
	[DXP_WAY_TREE] = CL_WAY_TREE_DXP,
	[DXP_WAY_SWITCH] = CL_WAY_SWITCH_DXP,
};

static cl_int get_info(cl_event e, cl_event_info name, const struct info *i)
{
	switch (name) {
	case CL_EVENT_COMMAND_QUEUE: return result_handle(i, e->queue);
	case CL_EVENT_CONTEXT: return result_handle(i, e->context);
	case CL_EVENT_COMMAND_TYPE: return result_uint(i, e->type);
	case CL_EVENT_REFERENCE_COUNT: return result_uint(i, e->object.references);
	case CL_EVENT_COMMAND_EXECUTION_STATUS:
		if (e->status > CL_COMPLETE)
			complete_poll();
		return result_bytes(i, &e->status, sizeof(e->status));
	case CL_EVENT_FAILURE_DXP:
		if (e->status > CL_COMPLETE)
			complete_poll();
		return result_text(i, e->failure ? e->failure : "");
	case CL_EVENT_WAY_DXP: return e->way ? result_uint(i, ways[e->way]) : CL_INVALID_VALUE;
	default: return CL_INVALID_VALUE;
	}
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetEventInfo(cl_event event, cl_event_info name, size_t size,
						   void *value, size_t *size_ret)
{
	const struct info i = {size, value, size_ret};
	cl_int error = CL_INVALID_EVENT;

	opencl_enter();
	if (object_is(event, OBJECT_EVENT)) {
		object_hold(event);
		error = get_info(event, name, &i);
		object_drop(event);
	}
	opencl_leave();
	return error;
}

static cl_int get_profile(cl_event e, cl_profiling_info name, const struct info *i)
{
	bool known;

	if (!e->queue || !(e->queue->properties & CL_QUEUE_PROFILING_ENABLE))
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	if (e->status > CL_COMPLETE)
		complete_poll();
	known = e->status == CL_COMPLETE;
	switch (name) {
	case CL_PROFILING_COMMAND_QUEUED:
		return known ? result_ulong(i, e->queued_ns) : CL_PROFILING_INFO_NOT_AVAILABLE;
	case CL_PROFILING_COMMAND_SUBMIT:
		return known ? result_ulong(i, e->submitted_ns) : CL_PROFILING_INFO_NOT_AVAILABLE;
	case CL_PROFILING_COMMAND_START:
		return known ? result_ulong(i, e->started_ns) : CL_PROFILING_INFO_NOT_AVAILABLE;
	case CL_PROFILING_COMMAND_END:
	case CL_PROFILING_COMMAND_COMPLETE:
		return known ? result_ulong(i, e->ended_ns) : CL_PROFILING_INFO_NOT_AVAILABLE;
	default: return CL_INVALID_VALUE;
	}
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetEventProfilingInfo(cl_event event, cl_profiling_info name,
							    size_t size, void *value,
							    size_t *size_ret)
{
	const struct info i = {size, value, size_ret};
	cl_int error = CL_INVALID_EVENT;

	opencl_enter();
	if (object_is(event, OBJECT_EVENT)) {
		object_hold(event);
		error = get_profile(event, name, &i);
		object_drop(event);
	}
	opencl_leave();
	return error;
}

static cl_int create_user(cl_context context, cl_event *out)
{
	if (!object_is(context, OBJECT_CONTEXT))
		return CL_INVALID_CONTEXT;
	cl_event e = event_new(context, NULL, CL_COMMAND_USER);
	if (!e)
		return CL_OUT_OF_HOST_MEMORY;
	/* Creates the dxp event now: later, when a command waits for it, its creation must not
	 * fail. */
	if (!event_name(e)) {
		object_release(e);
		return CL_OUT_OF_RESOURCES;
	}
	*out = e;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_event CL_API_CALL dxp_clCreateUserEvent(cl_context context, cl_int *errcode)
{
	cl_event e = NULL;

	opencl_enter();
	cl_int error = create_user(context, &e);
	opencl_leave();
	if (errcode)
		*errcode = error;
	return e;
}

static cl_int set_user(cl_event event, cl_int status)
{
	if (!object_is(event, OBJECT_EVENT) || event->queue)
		return CL_INVALID_EVENT;
	if (status > CL_COMPLETE)
		return CL_INVALID_VALUE;
	if (event->status <= CL_COMPLETE)
		return CL_INVALID_OPERATION;
	event_ended(event, status);
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clSetUserEventStatus(cl_event event, cl_int status)
{
	opencl_enter();
	cl_int error = set_user(event, status);
	opencl_leave();
	return error;
}

struct waited {
	const cl_event *list;
	cl_uint count;
	cl_uint ended; /* events at the start of the list that have completed */
};

static bool all_ended(void *context)
{
	struct waited *w = context;

	while (w->ended < w->count && w->list[w->ended]->status <= CL_COMPLETE)
		w->ended++;
	return w->ended == w->count;
}

static cl_int wait_check(cl_uint count, const cl_event *list)
{
	if (!count || !list)
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; i < count; i++) {
		if (!object_is(list[i], OBJECT_EVENT))
			return CL_INVALID_EVENT;
		if (list[i]->context != list[0]->context)
			return CL_INVALID_CONTEXT;
	}
	return CL_SUCCESS;
}

/* Uses a copy of the list: another thread of the program may change it during the wait. */
static cl_int wait_all(cl_uint count, const cl_event *given)
{
	cl_event *list = malloc(count * sizeof(*list));
	struct waited w = {.list = list, .count = count};
	cl_int error = CL_SUCCESS;

	if (!list)
		return CL_OUT_OF_HOST_MEMORY;
	for (cl_uint i = 0; i < count; i++) {
		list[i] = given[i];
		object_hold(list[i]);
	}
	opencl_wait(all_ended, &w, 0);
	for (cl_uint i = 0; i < count; i++) {
		if (list[i]->status < 0)
			error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
		object_drop(list[i]);
	}
	free(list);
	return error;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clWaitForEvents(cl_uint count, const cl_event *list)
{
	opencl_enter();
	cl_int error = wait_check(count, list);
	if (error == CL_SUCCESS)
		error = wait_all(count, list);
	opencl_leave();
	return error;
}
