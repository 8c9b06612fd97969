/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes invalid handles, and handles of another kind or context, to every call that has a
 * handle. */
#include "rig.h"

static const char source[] = "kernel void k(global int *a) { a[get_global_id(0)] = 1; }\n";

struct objects {
	cl_mem buffer, image;
	cl_program program;
	cl_kernel kernel;
	cl_event user;
	cl_sampler sampler;
	cl_command_queue queue;
};

static struct objects objects_make(void)
{
	struct objects o = {0};

	o.buffer = rig_buffer(CL_MEM_READ_WRITE, 64, NULL);
	o.program = rig_program(source, NULL);
	o.kernel = clCreateKernel(o.program, "k", ERR);
	MADE(o.kernel);
	o.user = clCreateUserEvent(rig.context, ERR);
	MADE(o.user);
	o.queue = rig.queues[0];
	return o;
}

static void objects_end(struct objects *o)
{
	OK(clSetUserEventStatus(o->user, CL_COMPLETE));
	OK(clReleaseEvent(o->user));
	OK(clReleaseKernel(o->kernel));
	OK(clReleaseProgram(o->program));
	OK(clReleaseMemObject(o->buffer));
}

#define QUERY 0, NULL, NULL

static void info_rejected(void *bad)
{
	cl_device_id d = rig.devices[0];

	FAILS(clGetContextInfo(bad, CL_CONTEXT_NUM_DEVICES, QUERY), CL_INVALID_CONTEXT);
	FAILS(clGetCommandQueueInfo(bad, CL_QUEUE_CONTEXT, QUERY), CL_INVALID_COMMAND_QUEUE);
	FAILS(clGetMemObjectInfo(bad, CL_MEM_TYPE, QUERY), CL_INVALID_MEM_OBJECT);
	FAILS(clGetImageInfo(bad, CL_IMAGE_WIDTH, QUERY), CL_INVALID_MEM_OBJECT);
	FAILS(clGetSamplerInfo(bad, CL_SAMPLER_CONTEXT, QUERY), CL_INVALID_SAMPLER);
	FAILS(clGetProgramInfo(bad, CL_PROGRAM_CONTEXT, QUERY), CL_INVALID_PROGRAM);
	FAILS(clGetProgramBuildInfo(bad, d, CL_PROGRAM_BUILD_STATUS, QUERY), CL_INVALID_PROGRAM);
	FAILS(clGetKernelInfo(bad, CL_KERNEL_CONTEXT, QUERY), CL_INVALID_KERNEL);
	FAILS(clGetKernelArgInfo(bad, 0, CL_KERNEL_ARG_NAME, QUERY), CL_INVALID_KERNEL);
	FAILS(clGetKernelWorkGroupInfo(bad, d, CL_KERNEL_WORK_GROUP_SIZE, QUERY),
	      CL_INVALID_KERNEL);
	FAILS(clGetEventInfo(bad, CL_EVENT_CONTEXT, QUERY), CL_INVALID_EVENT);
	FAILS(clGetEventProfilingInfo(bad, CL_PROFILING_COMMAND_END, QUERY), CL_INVALID_EVENT);
	FAILS(clGetDeviceInfo(bad, CL_DEVICE_TYPE, QUERY), CL_INVALID_DEVICE);
}

static void references_rejected(void *bad)
{
	FAILS(clRetainContext(bad), CL_INVALID_CONTEXT);
	FAILS(clReleaseContext(bad), CL_INVALID_CONTEXT);
	FAILS(clRetainCommandQueue(bad), CL_INVALID_COMMAND_QUEUE);
	FAILS(clReleaseCommandQueue(bad), CL_INVALID_COMMAND_QUEUE);
	FAILS(clRetainMemObject(bad), CL_INVALID_MEM_OBJECT);
	FAILS(clReleaseMemObject(bad), CL_INVALID_MEM_OBJECT);
	FAILS(clRetainSampler(bad), CL_INVALID_SAMPLER);
	FAILS(clReleaseSampler(bad), CL_INVALID_SAMPLER);
	FAILS(clRetainProgram(bad), CL_INVALID_PROGRAM);
	FAILS(clReleaseProgram(bad), CL_INVALID_PROGRAM);
	FAILS(clRetainKernel(bad), CL_INVALID_KERNEL);
	FAILS(clReleaseKernel(bad), CL_INVALID_KERNEL);
	FAILS(clRetainEvent(bad), CL_INVALID_EVENT);
	FAILS(clReleaseEvent(bad), CL_INVALID_EVENT);
	FAILS(clRetainDevice(bad), CL_INVALID_DEVICE);
	FAILS(clReleaseDevice(bad), CL_INVALID_DEVICE);
}

static void CL_CALLBACK never(void *object, void *data)
{
	abort();
}

static void CL_CALLBACK never_event(cl_event event, cl_int status, void *data)
{
	abort();
}

static void creations_rejected(void *bad)
{
	const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
	const cl_image_desc desc = {
		.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
	const cl_buffer_region region = {0, 16};
	const char *text = source;
	const size_t length = 4;
	const unsigned char *binary = (const unsigned char *)source;
	cl_device_id bad_device = bad;
	cl_uint count;

	REJECTED(clCreateContext(NULL, 1, &bad_device, NULL, NULL, ERR), CL_INVALID_DEVICE);
	REJECTED(clCreateCommandQueueWithProperties(bad, rig.devices[0], NULL, ERR),
		 CL_INVALID_CONTEXT);
	REJECTED(clCreateCommandQueueWithProperties(rig.context, bad, NULL, ERR),
		 CL_INVALID_DEVICE);
	REJECTED(clCreateBuffer(bad, 0, 64, NULL, ERR), CL_INVALID_CONTEXT);
	REJECTED(clCreateSubBuffer(bad, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, ERR),
		 CL_INVALID_MEM_OBJECT);
	REJECTED(clCreateImage(bad, 0, &format, &desc, NULL, ERR), CL_INVALID_CONTEXT);
	REJECTED(clCreateSampler(bad, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, ERR),
		 CL_INVALID_CONTEXT);
	REJECTED(clCreateProgramWithSource(bad, 1, &text, NULL, ERR), CL_INVALID_CONTEXT);
	REJECTED(clCreateProgramWithBinary(bad, 1, rig.devices, &length, &binary, NULL, ERR),
		 CL_INVALID_CONTEXT);
	REJECTED(
		clCreateProgramWithBinary(rig.context, 1, &bad_device, &length, &binary, NULL, ERR),
		CL_INVALID_DEVICE);
	REJECTED(clCreateProgramWithBuiltInKernels(bad, 1, rig.devices, "k", ERR),
		 CL_INVALID_CONTEXT);
	REJECTED(clCreateKernel(bad, "k", ERR), CL_INVALID_PROGRAM);
	FAILS(clCreateKernelsInProgram(bad, 0, NULL, &count), CL_INVALID_PROGRAM);
	REJECTED(clCreateUserEvent(bad, ERR), CL_INVALID_CONTEXT);
	FAILS(clGetSupportedImageFormats(bad, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 0, NULL,
					 &count),
	      CL_INVALID_CONTEXT);
	FAILS(clBuildProgram(bad, 0, NULL, NULL, NULL, NULL), CL_INVALID_PROGRAM);
	FAILS(clCompileProgram(bad, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL), CL_INVALID_PROGRAM);
	FAILS(clSetUserEventStatus(bad, CL_COMPLETE), CL_INVALID_EVENT);
	FAILS(clSetEventCallback(bad, CL_COMPLETE, never_event, NULL), CL_INVALID_EVENT);
	FAILS(clSetMemObjectDestructorCallback(bad, (void(CL_CALLBACK *)(cl_mem, void *))never,
					       NULL),
	      CL_INVALID_MEM_OBJECT);
	FAILS(clSetKernelArg(bad, 0, sizeof(bad), &bad), CL_INVALID_KERNEL);
}

static void commands_rejected(void *bad, struct objects *o)
{
	cl_event bad_event = bad;
	cl_mem bad_memory = bad;
	const size_t one = 1, zero[3] = {0}, ones[3] = {1, 1, 1};
	uint8_t bytes[64];

	FAILS(clFlush(bad), CL_INVALID_COMMAND_QUEUE);
	FAILS(clFinish(bad), CL_INVALID_COMMAND_QUEUE);
	FAILS(clEnqueueReadBuffer(bad, o->buffer, CL_TRUE, 0, 1, bytes, 0, NULL, NULL),
	      CL_INVALID_COMMAND_QUEUE);
	FAILS(clEnqueueReadBuffer(o->queue, bad, CL_TRUE, 0, 1, bytes, 0, NULL, NULL),
	      CL_INVALID_MEM_OBJECT);
	FAILS(clEnqueueWriteBuffer(o->queue, bad, CL_TRUE, 0, 1, bytes, 0, NULL, NULL),
	      CL_INVALID_MEM_OBJECT);
	FAILS(clEnqueueCopyBuffer(o->queue, bad, o->buffer, 0, 0, 1, 0, NULL, NULL),
	      CL_INVALID_MEM_OBJECT);
	FAILS(clEnqueueCopyBuffer(o->queue, o->buffer, bad, 0, 0, 1, 0, NULL, NULL),
	      CL_INVALID_MEM_OBJECT);
	FAILS(clEnqueueFillBuffer(o->queue, bad, bytes, 1, 0, 1, 0, NULL, NULL),
	      CL_INVALID_MEM_OBJECT);
	FAILS(clEnqueueReadBufferRect(o->queue, bad, CL_TRUE, zero, zero, ones, 0, 0, 0, 0, bytes,
				      0, NULL, NULL),
	      CL_INVALID_MEM_OBJECT);
	FAILS(clEnqueueReadImage(o->queue, bad, CL_TRUE, zero, ones, 0, 0, bytes, 0, NULL, NULL),
	      CL_INVALID_MEM_OBJECT);
	REJECTED(clEnqueueMapBuffer(o->queue, bad, CL_TRUE, CL_MAP_READ, 0, 1, 0, NULL, NULL, ERR),
		 CL_INVALID_MEM_OBJECT);
	FAILS(clEnqueueUnmapMemObject(o->queue, bad, bytes, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
	FAILS(clEnqueueMigrateMemObjects(o->queue, 1, &bad_memory, 0, 0, NULL, NULL),
	      CL_INVALID_MEM_OBJECT);
	FAILS(clEnqueueNDRangeKernel(bad, o->kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
	      CL_INVALID_COMMAND_QUEUE);
	FAILS_BUT_POCL(clEnqueueNDRangeKernel(o->queue, bad, 1, NULL, &one, NULL, 0, NULL, NULL),
		       CL_INVALID_KERNEL);
	FAILS(clEnqueueMarkerWithWaitList(bad, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
	FAILS(clEnqueueBarrierWithWaitList(bad, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
	FAILS(clEnqueueMarkerWithWaitList(o->queue, 1, &bad_event, NULL),
	      CL_INVALID_EVENT_WAIT_LIST);
	FAILS(clEnqueueBarrierWithWaitList(o->queue, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
	FAILS(clWaitForEvents(1, &bad_event), CL_INVALID_EVENT);
	FAILS(clWaitForEvents(0, NULL), CL_INVALID_VALUE);
	FAILS(clWaitForEvents(1, NULL), CL_INVALID_VALUE);
}

static void refused(void *bad, struct objects *o)
{
	info_rejected(bad);
	references_rejected(bad);
	creations_rejected(bad);
	commands_rejected(bad, o);
}

static void handles__that_are_null(void)
{
	struct objects o = objects_make();

	refused(NULL, &o);
	objects_end(&o);
}

/* PoCL checks only the first bytes of its objects, so only some wrong kinds are passed. */
static void handles__of_another_kind(void)
{
	struct objects o = objects_make();

	if (rig.pocl)
		rig_skip("PoCL takes a handle of another kind");
	refused(rig.platform, &o);
	FAILS(clGetContextInfo((cl_context)(void *)o.buffer, CL_CONTEXT_DEVICES, QUERY),
	      CL_INVALID_CONTEXT);
	FAILS(clReleaseEvent((cl_event)(void *)o.kernel), CL_INVALID_EVENT);
	FAILS(clReleaseKernel((cl_kernel)(void *)o.program), CL_INVALID_KERNEL);
	FAILS(clReleaseMemObject((cl_mem)(void *)o.queue), CL_INVALID_MEM_OBJECT);
	objects_end(&o);
}

/* Only an implementation that tracks its handles detects released ones. */
static void handles__that_were_released(void)
{
	struct objects o = objects_make(), gone = objects_make();

	if (rig.pocl)
		rig_skip("PoCL gives the memory of what was released back");
	objects_end(&gone);
	refused(gone.buffer, &o);
	refused(gone.kernel, &o);
	refused(gone.program, &o);
	refused(gone.user, &o);
	objects_end(&o);
}

static void contexts__apart(void)
{
	cl_context other = clCreateContext(NULL, 1, rig.devices, NULL, NULL, ERR);
	struct objects o = objects_make();
	const size_t one = 1;
	uint8_t bytes[64];
	cl_event list[2];

	MADE(other);
	cl_mem m = clCreateBuffer(other, 0, 64, NULL, ERR);
	MADE(m);
	list[0] = o.user;
	list[1] = clCreateUserEvent(other, ERR);
	MADE(list[1]);
	cl_command_queue q = clCreateCommandQueueWithProperties(other, rig.devices[0], NULL, ERR);
	MADE(q);
	FAILS(clEnqueueReadBuffer(o.queue, m, CL_TRUE, 0, 1, bytes, 0, NULL, NULL),
	      CL_INVALID_CONTEXT);
	FAILS(clEnqueueWriteBuffer(o.queue, m, CL_TRUE, 0, 1, bytes, 0, NULL, NULL),
	      CL_INVALID_CONTEXT);
	FAILS(clEnqueueCopyBuffer(o.queue, o.buffer, m, 0, 0, 1, 0, NULL, NULL),
	      CL_INVALID_CONTEXT);
	FAILS(clEnqueueMigrateMemObjects(o.queue, 1, &m, 0, 0, NULL, NULL), CL_INVALID_CONTEXT);
	REJECTED(clEnqueueMapBuffer(o.queue, m, CL_TRUE, CL_MAP_READ, 0, 1, 0, NULL, NULL, ERR),
		 CL_INVALID_CONTEXT);
	FAILS(clEnqueueMarkerWithWaitList(o.queue, 1, &list[1], NULL), CL_INVALID_CONTEXT);
	FAILS(clWaitForEvents(2, list), CL_INVALID_CONTEXT);
	FAILS_BUT_POCL(clSetKernelArg(o.kernel, 0, sizeof(m), &m), CL_INVALID_MEM_OBJECT);
	SET(o.kernel, 0, o.buffer);
	FAILS(clEnqueueNDRangeKernel(q, o.kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
	      CL_INVALID_CONTEXT);
	OK(clReleaseCommandQueue(q));
	OK(clSetUserEventStatus(list[1], CL_COMPLETE));
	OK(clReleaseEvent(list[1]));
	OK(clReleaseMemObject(m));
	OK(clReleaseContext(other));
	objects_end(&o);
}

/* ---- a rejected call leaves no state ---- */

static cl_uint references(cl_mem m)
{
	cl_uint count = 0;

	OK(clGetMemObjectInfo(m, CL_MEM_REFERENCE_COUNT, sizeof(count), &count, NULL));
	return count;
}

static void rejections__leave_nothing(void)
{
	struct objects o = objects_make();
	uint8_t bytes[64] = {0};
	cl_event event = NULL;
	const size_t one = 1, huge = SIZE_MAX, none = 0;

	for (int i = 0; i < 100; i++) {
		FAILS(clEnqueueReadBuffer(o.queue, o.buffer, CL_FALSE, 60, 5, bytes, 0, NULL,
					  &event),
		      CL_INVALID_VALUE);
		FAILS(clEnqueueReadBuffer(o.queue, o.buffer, CL_FALSE, SIZE_MAX, 2, bytes, 0, NULL,
					  &event),
		      CL_INVALID_VALUE);
		FAILS(clEnqueueWriteBuffer(o.queue, o.buffer, CL_FALSE, 1, SIZE_MAX, bytes, 0, NULL,
					   &event),
		      CL_INVALID_VALUE);
		FAILS(clEnqueueCopyBuffer(o.queue, o.buffer, o.buffer, 0, 2, 4, 0, NULL, &event),
		      CL_MEM_COPY_OVERLAP);
		FAILS(clEnqueueFillBuffer(o.queue, o.buffer, bytes, 3, 0, 63, 0, NULL, &event),
		      CL_INVALID_VALUE);
		FAILS(clEnqueueFillBuffer(o.queue, o.buffer, bytes, 256, 0, 64, 0, NULL, &event),
		      CL_INVALID_VALUE);
		FAILS(clEnqueueNDRangeKernel(o.queue, o.kernel, 1, NULL, &one, NULL, 0, NULL,
					     &event),
		      CL_INVALID_KERNEL_ARGS);
		FAILS(clEnqueueNDRangeKernel(o.queue, o.kernel, 0, NULL, &one, NULL, 0, NULL,
					     &event),
		      CL_INVALID_WORK_DIMENSION);
		FAILS(clEnqueueNDRangeKernel(o.queue, o.kernel, 4, NULL, &one, NULL, 0, NULL,
					     &event),
		      CL_INVALID_WORK_DIMENSION);
		CHECK(event == NULL);
	}
	SET(o.kernel, 0, o.buffer);
	FAILS_BUT_POCL(
		clEnqueueNDRangeKernel(o.queue, o.kernel, 1, NULL, &one, &none, 0, NULL, &event),
		CL_INVALID_WORK_GROUP_SIZE);
	FAILS_BUT_POCL(
		clEnqueueNDRangeKernel(o.queue, o.kernel, 1, &huge, &one, NULL, 0, NULL, &event),
		CL_INVALID_GLOBAL_OFFSET);
	EQUAL(references(o.buffer), 1);
	OK(clFinish(o.queue));
	objects_end(&o);
}

RIG_MAIN(CASE(handles__that_are_null), CASE(handles__of_another_kind),
	 CASE(handles__that_were_released), CASE(contexts__apart), CASE(rejections__leave_nothing))
