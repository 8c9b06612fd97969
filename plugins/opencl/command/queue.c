/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements command queues of the host. Commands are posted when they are enqueued, so a flush
 * does nothing. A released queue exists until its commands have completed. */
#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/command/event.h"
#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/api.h"

#define HOST_PROPERTIES (CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)
#define ALL_PROPERTIES  (HOST_PROPERTIES | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT)

static void end(void *handle)
{
	cl_command_queue q = handle;

	free(q->list);
	object_drop(q->barrier);
	object_drop(q->context);
}

/* A queue on the device must be out of order. Only such a queue can be the device's default
 * queue. */
static bool on_device_valid(cl_command_queue_properties p)
{
	if (p & CL_QUEUE_ON_DEVICE)
		return p & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	return !(p & CL_QUEUE_ON_DEVICE_DEFAULT);
}

static cl_int create(cl_context context, cl_device_id device,
		     cl_command_queue_properties properties, cl_command_queue *out)
{
	if (!object_is(context, OBJECT_CONTEXT))
		return CL_INVALID_CONTEXT;
	if (!object_is(device, OBJECT_DEVICE) || !context_has(context, device))
		return CL_INVALID_DEVICE;
	if (properties & ~(cl_command_queue_properties)ALL_PROPERTIES)
		return CL_INVALID_VALUE;
	if (!on_device_valid(properties))
		return CL_INVALID_VALUE;
	if (properties & ~(cl_command_queue_properties)HOST_PROPERTIES)
		return CL_INVALID_QUEUE_PROPERTIES;
	cl_command_queue q = object_new(OBJECT_QUEUE, sizeof(*q));
	if (!q)
		return CL_OUT_OF_HOST_MEMORY;
	object_end_with(OBJECT_QUEUE, end);
	q->context = context;
	object_hold(context);
	q->device = device;
	q->properties = properties;
	*out = q;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_command_queue CL_API_CALL
dxp_clCreateCommandQueue(cl_context context, cl_device_id device,
			 cl_command_queue_properties properties, cl_int *errcode)
{
	cl_command_queue q = NULL;

	/* clCreateCommandQueue creates only host queues, so an invalid value replaces other
	 * properties. */
	if (properties & ~(cl_command_queue_properties)HOST_PROPERTIES)
		properties = ~(cl_command_queue_properties)0;
	opencl_enter();
	cl_int error = create(context, device, properties, &q);
	opencl_leave();
	if (errcode)
		*errcode = error;
	return q;
}

/* A queue size is valid only for a queue on the device, and no device supports these. */
static cl_int list_read(const cl_queue_properties *list, cl_command_queue_properties *properties,
			size_t *bytes)
{
	bool sized = false;
	size_t count = 0;

	*properties = 0;
	for (; list && list[count]; count += 2) {
		if (list[count] == CL_QUEUE_PROPERTIES)
			*properties = list[count + 1];
		else if (list[count] == CL_QUEUE_SIZE)
			sized = true;
		else
			return CL_INVALID_VALUE;
	}
	*bytes = list ? (count + 1) * sizeof(*list) : 0;
	return sized && !(*properties & CL_QUEUE_ON_DEVICE) ? CL_INVALID_VALUE : CL_SUCCESS;
}

static cl_int create_with(cl_context context, cl_device_id device, const cl_queue_properties *list,
			  cl_command_queue *out)
{
	cl_command_queue_properties properties;
	cl_command_queue q = NULL;
	size_t bytes = 0;

	/* An invalid handle has priority over an error of the list, so that error is passed on as
	 * an invalid property. */
	cl_int error = list_read(list, &properties, &bytes);
	if (error != CL_SUCCESS)
		properties = ~(cl_command_queue_properties)0;
	error = create(context, device, properties, &q);
	if (error != CL_SUCCESS)
		return error;
	if (bytes) {
		q->list = malloc(bytes);
		if (!q->list) {
			object_release(q);
			return CL_OUT_OF_HOST_MEMORY;
		}
		memcpy(q->list, list, bytes);
	}
	q->list_bytes = bytes;
	*out = q;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_command_queue CL_API_CALL
dxp_clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
				       const cl_queue_properties *properties, cl_int *errcode)
{
	cl_command_queue q = NULL;

	opencl_enter();
	cl_int error = create_with(context, device, properties, &q);
	opencl_leave();
	if (errcode)
		*errcode = error;
	return q;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clRetainCommandQueue(cl_command_queue queue)
{
	opencl_enter();
	bool valid = object_is(queue, OBJECT_QUEUE);
	if (valid)
		object_retain(queue);
	opencl_leave();
	return valid ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clReleaseCommandQueue(cl_command_queue queue)
{
	opencl_enter();
	bool valid = object_is_owned(queue, OBJECT_QUEUE);
	if (valid)
		object_release(queue);
	opencl_leave();
	return valid ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

static cl_int get_info(cl_command_queue q, cl_command_queue_info name, const struct info *i)
{
	switch (name) {
	case CL_QUEUE_CONTEXT: return result_handle(i, q->context);
	case CL_QUEUE_DEVICE: return result_handle(i, q->device);
	case CL_QUEUE_REFERENCE_COUNT: return result_uint(i, q->object.references);
	case CL_QUEUE_PROPERTIES: return result_bytes(i, &q->properties, sizeof(q->properties));
	case CL_QUEUE_PROPERTIES_ARRAY: return result_bytes(i, q->list, q->list_bytes);
	case CL_QUEUE_DEVICE_DEFAULT: return result_handle(i, NULL);
	case CL_QUEUE_SIZE: return CL_INVALID_COMMAND_QUEUE;
	default: return CL_INVALID_VALUE;
	}
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetCommandQueueInfo(cl_command_queue queue,
							  cl_command_queue_info name, size_t size,
							  void *value, size_t *size_ret)
{
	const struct info i = {size, value, size_ret};
	cl_int error = CL_INVALID_COMMAND_QUEUE;

	opencl_enter();
	if (object_is(queue, OBJECT_QUEUE))
		error = get_info(queue, name, &i);
	opencl_leave();
	return error;
}

CL_API_ENTRY cl_int CL_API_CALL
dxp_clSetCommandQueueProperty(cl_command_queue queue, cl_command_queue_properties properties,
			      cl_bool enable, cl_command_queue_properties *old)
{
	opencl_enter();
	bool valid = object_is(queue, OBJECT_QUEUE);
	opencl_leave();
	if (!valid)
		return CL_INVALID_COMMAND_QUEUE;
	/* For valid properties, only OpenCL 1.0 supports this call. */
	return properties & ~(cl_command_queue_properties)ALL_PROPERTIES ? CL_INVALID_VALUE
									 : CL_INVALID_OPERATION;
}

/* No device has queues of its own. For such a device, OpenCL 3.0 lists CL_INVALID_OPERATION before
 * CL_INVALID_COMMAND_QUEUE, so `queue` is not checked. */
CL_API_ENTRY cl_int CL_API_CALL dxp_clSetDefaultDeviceCommandQueue(cl_context context,
								   cl_device_id device,
								   cl_command_queue queue)
{
	cl_int error = CL_INVALID_OPERATION;

	opencl_enter();
	if (!object_is(context, OBJECT_CONTEXT))
		error = CL_INVALID_CONTEXT;
	else if (!object_is(device, OBJECT_DEVICE) || !context_has(context, device))
		error = CL_INVALID_DEVICE;
	opencl_leave();
	return error;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clFlush(cl_command_queue queue)
{
	opencl_enter();
	bool valid = object_is(queue, OBJECT_QUEUE);
	opencl_leave();
	return valid ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

struct finish {
	cl_command_queue queue;
	uint64_t last; /* serial of the last command to wait for */
};

static bool finished(void *context)
{
	const struct finish *f = context;

	return !f->queue->first || f->queue->first->serial > f->last;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clFinish(cl_command_queue queue)
{
	struct finish f = {.queue = queue};

	opencl_enter();
	if (!object_is(queue, OBJECT_QUEUE)) {
		opencl_leave();
		return CL_INVALID_COMMAND_QUEUE;
	}
	if (queue->last) {
		f.last = queue->last->serial;
		object_hold(queue);
		opencl_wait(finished, &f, 0);
		object_drop(queue);
	}
	opencl_leave();
	return CL_SUCCESS;
}
