/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests contexts and command queues. */
#include "rig.h"

static cl_uint context_references(cl_context c)
{
	cl_uint count = 0;
	OK(clGetContextInfo(c, CL_CONTEXT_REFERENCE_COUNT, sizeof(count), &count, NULL));
	return count;
}

static cl_uint queue_references(cl_command_queue q)
{
	cl_uint count = 0;
	OK(clGetCommandQueueInfo(q, CL_QUEUE_REFERENCE_COUNT, sizeof(count), &count, NULL));
	return count;
}

static void CL_CALLBACK reported(const char *why, const void *data, size_t bytes, void *user)
{
	++*(int *)user;
}

static void contexts__live_and_end(void)
{
	cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
					      (cl_context_properties)rig.platform, 0};
	int count = 0;
	cl_context c = clCreateContext(properties, 1, rig.devices, reported, &count, ERR);

	MADE(c);
	EQUAL(context_references(c), 1);
	OK(clRetainContext(c));
	EQUAL(context_references(c), 2);
	OK(clReleaseContext(c));
	EQUAL(context_references(c), 1);
	OK(clReleaseContext(c));
}

static void contexts__queries(void)
{
	cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
					      (cl_context_properties)rig.platform, 0},
			      back[8] = {0};
	cl_context c = clCreateContext(properties, rig.device_count, rig.devices, NULL, NULL, ERR);
	cl_device_id devices[RIG_DEVICES_MAX];
	cl_uint count = 0;
	size_t bytes = 0;

	MADE(c);
	OK(clGetContextInfo(c, CL_CONTEXT_NUM_DEVICES, sizeof(count), &count, NULL));
	EQUAL(count, rig.device_count);
	OK(clGetContextInfo(c, CL_CONTEXT_DEVICES, sizeof(devices), devices, &bytes));
	EQUAL(bytes, count * sizeof(devices[0]));
	CHECK(memcmp(devices, rig.devices, bytes) == 0);
	OK(clGetContextInfo(c, CL_CONTEXT_PROPERTIES, sizeof(back), back, &bytes));
	EQUAL(bytes, sizeof(properties));
	CHECK(memcmp(back, properties, sizeof(properties)) == 0);
	FAILS(clGetContextInfo(c, CL_CONTEXT_NUM_DEVICES, 1, &count, NULL), CL_INVALID_VALUE);
	FAILS(clGetContextInfo(c, 0x1, sizeof(count), &count, NULL), CL_INVALID_VALUE);
	OK(clReleaseContext(c));
	c = clCreateContext(NULL, 1, rig.devices, NULL, NULL, ERR);
	MADE(c);
	OK(clGetContextInfo(c, CL_CONTEXT_PROPERTIES, sizeof(back), back, &bytes));
	CHECK(bytes == 0 || back[0] == 0);
	OK(clReleaseContext(c));
}

static void contexts__of_a_type(void)
{
	cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
					      (cl_context_properties)rig.platform, 0};
	cl_uint count = 0;
	cl_context c = clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, NULL, NULL, ERR);

	MADE(c);
	OK(clGetContextInfo(c, CL_CONTEXT_NUM_DEVICES, sizeof(count), &count, NULL));
	EQUAL(count, rig.device_count);
	OK(clReleaseContext(c));
	c = clCreateContextFromType(properties, CL_DEVICE_TYPE_DEFAULT, NULL, NULL, ERR);
	MADE(c);
	OK(clReleaseContext(c));
	REJECTED_BUT_POCL(
		clCreateContextFromType(properties, CL_DEVICE_TYPE_CUSTOM, NULL, NULL, ERR),
		CL_DEVICE_NOT_FOUND);
	REJECTED_BUT_POCL(clCreateContextFromType(properties, 0, NULL, NULL, ERR),
			  CL_INVALID_DEVICE_TYPE);
}

static void contexts__rejected(void)
{
	cl_context_properties twice[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)rig.platform,
					 CL_CONTEXT_PLATFORM, (cl_context_properties)rig.platform,
					 0};
	cl_context_properties unknown[] = {0x7777, 1, 0};
	cl_context_properties nowhere[] = {CL_CONTEXT_PLATFORM, 0, 0};
	cl_device_id none = NULL;
	int user = 0;

	REJECTED(clCreateContext(NULL, 0, rig.devices, NULL, NULL, ERR), CL_INVALID_VALUE);
	REJECTED(clCreateContext(NULL, 1, NULL, NULL, NULL, ERR), CL_INVALID_VALUE);
	REJECTED(clCreateContext(NULL, 1, rig.devices, NULL, &user, ERR), CL_INVALID_VALUE);
	REJECTED(clCreateContext(NULL, 1, &none, NULL, NULL, ERR), CL_INVALID_DEVICE);
	REJECTED(clCreateContext(unknown, 1, rig.devices, NULL, NULL, ERR), CL_INVALID_PROPERTY);
	REJECTED_BUT_POCL(clCreateContext(twice, 1, rig.devices, NULL, NULL, ERR),
			  CL_INVALID_PROPERTY);
	REJECTED(clCreateContext(nowhere, 1, rig.devices, NULL, NULL, ERR), CL_INVALID_PLATFORM);
	FAILS(clRetainContext(NULL), CL_INVALID_CONTEXT);
	FAILS(clReleaseContext(NULL), CL_INVALID_CONTEXT);
}

static void queues__live_and_queries(void)
{
	for (cl_uint i = 0; i < rig.device_count; i++) {
		cl_command_queue q = rig_queue(i, CL_QUEUE_PROFILING_ENABLE);
		cl_context c = NULL;
		cl_device_id d = NULL;
		cl_command_queue_properties properties = 0;
		EQUAL(queue_references(q), 1);
		OK(clRetainCommandQueue(q));
		EQUAL(queue_references(q), 2);
		OK(clReleaseCommandQueue(q));
		OK(clGetCommandQueueInfo(q, CL_QUEUE_CONTEXT, sizeof(c), &c, NULL));
		OK(clGetCommandQueueInfo(q, CL_QUEUE_DEVICE, sizeof(d), &d, NULL));
		OK(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof(properties), &properties,
					 NULL));
		CHECK(c == rig.context && d == rig.devices[i]);
		EQUAL(properties, CL_QUEUE_PROFILING_ENABLE);
		FAILS(clGetCommandQueueInfo(q, 0x1, sizeof(d), &d, NULL), CL_INVALID_VALUE);
		FAILS(clGetCommandQueueInfo(q, CL_QUEUE_DEVICE, 1, &d, NULL), CL_INVALID_VALUE);
		OK(clFlush(q));
		OK(clFinish(q));
		OK(clReleaseCommandQueue(q));
	}
}

static void queues__with_properties(void)
{
	cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
	cl_queue_properties unknown[] = {0x7777, 1, 0};
	cl_command_queue_properties back = 7;
	cl_command_queue q =
		clCreateCommandQueueWithProperties(rig.context, rig.devices[0], list, ERR);

	MADE(q);
	OK(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof(back), &back, NULL));
	EQUAL(back, CL_QUEUE_PROFILING_ENABLE);
	OK(clReleaseCommandQueue(q));
	q = clCreateCommandQueueWithProperties(rig.context, rig.devices[0], NULL, ERR);
	MADE(q);
	OK(clReleaseCommandQueue(q));
	cl_command_queue none =
		clCreateCommandQueueWithProperties(rig.context, rig.devices[0], unknown, ERR);
	CHECK(!none && (rig_error == CL_INVALID_VALUE || rig_error == CL_INVALID_PROPERTY));
}

static void queues__rejected(void)
{
	cl_context one = clCreateContext(NULL, 1, rig.devices, NULL, NULL, ERR);

	MADE(one);
	REJECTED(clCreateCommandQueue(NULL, rig.devices[0], 0, ERR), CL_INVALID_CONTEXT);
	REJECTED(clCreateCommandQueue(rig.context, NULL, 0, ERR), CL_INVALID_DEVICE);
	REJECTED(clCreateCommandQueue(rig.context, rig.devices[0],
				      (cl_command_queue_properties)1 << 40, ERR),
		 CL_INVALID_VALUE);
	if (rig.device_count > 1)
		REJECTED(clCreateCommandQueue(one, rig.devices[1], 0, ERR), CL_INVALID_DEVICE);
	FAILS(clRetainCommandQueue(NULL), CL_INVALID_COMMAND_QUEUE);
	FAILS(clReleaseCommandQueue(NULL), CL_INVALID_COMMAND_QUEUE);
	FAILS(clFlush(NULL), CL_INVALID_COMMAND_QUEUE);
	FAILS(clFinish(NULL), CL_INVALID_COMMAND_QUEUE);
	/* Properties that only other versions or devices have are rejected. */
	FAILS_BUT_POCL(clSetCommandQueueProperty(rig.queues[0], ~(cl_command_queue_properties)0,
						 CL_TRUE, NULL),
		       CL_INVALID_VALUE);
	OK(clReleaseContext(one));
}

static void on_device_rejected(cl_queue_properties properties, cl_int wanted)
{
	const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
	const cl_queue_properties sized[] = {CL_QUEUE_PROPERTIES, properties, CL_QUEUE_SIZE, 16, 0};

	REJECTED(clCreateCommandQueueWithProperties(rig.context, rig.devices[0], list, ERR),
		 wanted);
	REJECTED(clCreateCommandQueueWithProperties(rig.context, rig.devices[0], sized, ERR),
		 wanted);
	REJECTED(clCreateCommandQueue(rig.context, rig.devices[0], properties, ERR),
		 CL_INVALID_VALUE);
}

/* No device of dxp or PoCL supports device-side queues. */
static void queues__on_the_device(void)
{
	const cl_queue_properties some = CL_QUEUE_ON_DEVICE,
				  both = some | CL_QUEUE_ON_DEVICE_DEFAULT;
	const cl_queue_properties ordered = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	cl_device_device_enqueue_capabilities able = 77;
	cl_uint bytes = 0;
	cl_command_queue q = rig.queues[0];

	OK(clGetDeviceInfo(rig.devices[0], CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, sizeof(able),
			   &able, NULL));
	if (able)
		rig_skip("the device has queues of its own");
	FAILS(clSetDefaultDeviceCommandQueue(rig.context, rig.devices[0], NULL),
	      CL_INVALID_OPERATION);
	FAILS(clSetDefaultDeviceCommandQueue(rig.context, rig.devices[0], q), CL_INVALID_OPERATION);
	FAILS(clSetDefaultDeviceCommandQueue(NULL, rig.devices[0], q), CL_INVALID_CONTEXT);
	FAILS(clGetCommandQueueInfo(q, CL_QUEUE_SIZE, sizeof(bytes), &bytes, NULL),
	      CL_INVALID_COMMAND_QUEUE);
	OK(clGetCommandQueueInfo(rig.queues[0], CL_QUEUE_DEVICE_DEFAULT, sizeof(q), &q, NULL));
	CHECK(q == NULL);
	if (rig.pocl) /* PoCL crashes on the following calls */
		return;
	FAILS(clSetDefaultDeviceCommandQueue(rig.context, rig.devices[0],
					     (cl_command_queue)rig.context),
	      CL_INVALID_OPERATION);
	FAILS(clSetDefaultDeviceCommandQueue(rig.context, NULL, rig.queues[0]), CL_INVALID_DEVICE);
	on_device_rejected(some | ordered, CL_INVALID_QUEUE_PROPERTIES);
	on_device_rejected(both | ordered, CL_INVALID_QUEUE_PROPERTIES);
	on_device_rejected(some, CL_INVALID_VALUE);
	on_device_rejected(both, CL_INVALID_VALUE);
	on_device_rejected(CL_QUEUE_ON_DEVICE_DEFAULT | ordered, CL_INVALID_VALUE);
}

/* Commands of a released queue still complete. */
static void queues__released_with_work_in_them(void)
{
	uint32_t *out = rig_memory(4096 * 4), *in = rig_noise(4096 * 4);
	cl_mem m = rig_buffer(0, 4096 * 4, NULL);
	cl_event event = NULL;
	cl_command_queue q = rig_queue(0, 0);

	for (int i = 0; i < 50; i++)
		OK(clEnqueueWriteBuffer(q, m, CL_FALSE, 0, 4096 * 4, in, 0, NULL, NULL));
	OK(clEnqueueReadBuffer(q, m, CL_FALSE, 0, 4096 * 4, out, 0, NULL, &event));
	OK(clReleaseCommandQueue(q));
	OK(clReleaseMemObject(m));
	OK(clWaitForEvents(1, &event));
	SAME_BYTES(out, in, 4096 * 4);
	OK(clReleaseEvent(event));
}

static void contexts__hundred_at_once(void)
{
	cl_context contexts[100];
	cl_command_queue queues[100];
	cl_mem buffers[100];

	for (size_t i = 0; i < COUNT_OF(contexts); i++) {
		cl_device_id d = rig.devices[i % rig.device_count];
		uint32_t number = (uint32_t)i;
		contexts[i] = clCreateContext(NULL, 1, &d, NULL, NULL, ERR);
		MADE(contexts[i]);
		queues[i] = clCreateCommandQueue(contexts[i], d, 0, ERR);
		MADE(queues[i]);
		buffers[i] = clCreateBuffer(contexts[i], CL_MEM_COPY_HOST_PTR, 4, &number, ERR);
		MADE(buffers[i]);
		/* the queue and the buffer still hold the context */
		OK(clReleaseContext(contexts[i]));
	}
	for (size_t i = 0; i < COUNT_OF(contexts); i++) {
		uint32_t number = 0;
		rig_read(queues[i], buffers[i], &number, 4);
		EQUAL(number, i);
		OK(clReleaseMemObject(buffers[i]));
		OK(clReleaseCommandQueue(queues[i]));
	}
}

static void contexts__objects_do_not_mix(void)
{
	cl_context other = clCreateContext(NULL, 1, rig.devices, NULL, NULL, ERR);
	uint32_t x = 0;

	MADE(other);
	cl_mem m = clCreateBuffer(other, 0, 64, NULL, ERR), own = rig_buffer(0, 64, NULL);
	MADE(m);
	cl_event user = clCreateUserEvent(other, ERR);
	MADE(user);
	cl_command_queue q = rig.queues[0];
	FAILS(clEnqueueReadBuffer(q, m, CL_TRUE, 0, 4, &x, 0, NULL, NULL), CL_INVALID_CONTEXT);
	FAILS(clEnqueueWriteBuffer(q, m, CL_TRUE, 0, 4, &x, 0, NULL, NULL), CL_INVALID_CONTEXT);
	FAILS(clEnqueueCopyBuffer(q, m, own, 0, 0, 4, 0, NULL, NULL), CL_INVALID_CONTEXT);
	FAILS(clEnqueueCopyBuffer(q, own, m, 0, 0, 4, 0, NULL, NULL), CL_INVALID_CONTEXT);
	FAILS(clEnqueueFillBuffer(q, m, &x, 4, 0, 4, 0, NULL, NULL), CL_INVALID_CONTEXT);
	FAILS(clEnqueueReadBuffer(q, own, CL_TRUE, 0, 4, &x, 1, &user, NULL), CL_INVALID_CONTEXT);
	FAILS(clEnqueueMigrateMemObjects(q, 1, &m, 0, 0, NULL, NULL), CL_INVALID_CONTEXT);
	clEnqueueMapBuffer(q, m, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, ERR);
	EQUAL(rig_error, CL_INVALID_CONTEXT);
	OK(clSetUserEventStatus(user, CL_COMPLETE));
	OK(clReleaseEvent(user));
	OK(clReleaseMemObject(m));
	OK(clReleaseMemObject(own));
	OK(clReleaseContext(other));
}

RIG_MAIN(CASE(contexts__live_and_end), CASE(contexts__queries), CASE(contexts__of_a_type),
	 CASE(contexts__rejected), CASE(contexts__hundred_at_once),
	 CASE(contexts__objects_do_not_mix), CASE(queues__live_and_queries),
	 CASE(queues__with_properties), CASE(queues__rejected), CASE(queues__on_the_device),
	 CASE(queues__released_with_work_in_them))
