/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements markers and barriers. Without a wait list, they wait for all earlier commands of the
 * queue. In an in-order queue, the previous command is enough. In an out-of-order queue, commands
 * after a barrier wait for the barrier's event. */
#include "plugins/opencl/object/api.h"

#include "plugins/opencl/command/event.h"

/* Waits for the queue's last barrier and the commands after it. That barrier waits for all earlier
 * ones. */
static cl_int wait_for_earlier(struct enqueue *e)
{
	cl_command_queue q = e->queue;
	uint64_t after = q->barrier ? q->barrier->serial : 0;
	cl_int error = CL_SUCCESS;

	if (!(q->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
		return CL_SUCCESS;
	for (cl_event v = q->first; v && error == CL_SUCCESS; v = v->queue_next)
		if (v->serial > after)
			error = enqueue_wait_event(e, v);
	return error;
}

static void set_barrier(cl_command_queue q, cl_event event)
{
	if (!(q->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
		return;
	object_drop(q->barrier);
	q->barrier = event;
	object_hold(event);
}

static cl_int marker(cl_command_queue queue, cl_command_type type, cl_uint count,
		     const cl_event *list, cl_event *out)
{
	struct enqueue e;
	cl_int error = enqueue_begin(&e, queue, type, count, list);

	if (error != CL_SUCCESS)
		return error;
	if (!count)
		error = wait_for_earlier(&e);
	if (error == CL_SUCCESS && type == CL_COMMAND_BARRIER)
		set_barrier(queue, e.event);
	return enqueue_end(&e, error, 0, false, out);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueMarkerWithWaitList(cl_command_queue queue,
								cl_uint count, const cl_event *list,
								cl_event *event)
{
	return marker(queue, CL_COMMAND_MARKER, count, list, event);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueBarrierWithWaitList(cl_command_queue queue,
								 cl_uint count,
								 const cl_event *list,
								 cl_event *event)
{
	return marker(queue, CL_COMMAND_BARRIER, count, list, event);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueMarker(cl_command_queue queue, cl_event *event)
{
	if (!event)
		return CL_INVALID_VALUE;
	return marker(queue, CL_COMMAND_MARKER, 0, NULL, event);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueBarrier(cl_command_queue queue)
{
	return marker(queue, CL_COMMAND_BARRIER, 0, NULL, NULL);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count,
							   const cl_event *list)
{
	if (!count || !list)
		return CL_INVALID_VALUE;
	cl_int error = marker(queue, CL_COMMAND_BARRIER, count, list, NULL);
	return error == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : error;
}
