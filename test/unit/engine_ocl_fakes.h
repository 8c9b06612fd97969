/* SPDX-License-Identifier: BSD-3-Clause */
/* A fake OpenCL library between the engine and the real one. Its calls fail on demand. */
#ifndef TEST_UNIT_ENGINE_OCL_FAKES_H
#define TEST_UNIT_ENGINE_OCL_FAKES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "engine/limits.h"
#include "engine/ocl_library.h"

/* Number of the fake call that fails; 0: none. */
static atomic_uint fail_at, calls; /* a thread of the engine also calls */
static _Atomic(cl_int) ends_with;  /* status of all commands; CL_COMPLETE: their own */
static cl_ulong allocation_max;    /* bytes; 0: the real limit */
static atomic_bool callbacks_lost;
static atomic_bool hangs; /* commands never complete */
static struct ocl_library real;

static bool fails(void)
{
	return atomic_fetch_add(&calls, 1) + 1 == fail_at;
}

static cl_int fake_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
					size_t offset, size_t bytes, const void *from,
					cl_uint waits, const cl_event *wait, cl_event *event)
{
	return fails() ? CL_OUT_OF_RESOURCES
		       : real.clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes, from,
						   waits, wait, event);
}

static cl_int fake_clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				       size_t offset, size_t bytes, void *to, cl_uint waits,
				       const cl_event *wait, cl_event *event)
{
	return fails() ? CL_OUT_OF_RESOURCES
		       : real.clEnqueueReadBuffer(queue, buffer, blocking, offset, bytes, to, waits,
						  wait, event);
}

static cl_int fake_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
				       size_t from_offset, size_t to_offset, size_t bytes,
				       cl_uint waits, const cl_event *wait, cl_event *event)
{
	return fails() ? CL_OUT_OF_RESOURCES
		       : real.clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, bytes,
						  waits, wait, event);
}

static cl_mem fake_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *at,
				  cl_int *error)
{
	*error = fails() ? CL_MEM_OBJECT_ALLOCATION_FAILURE
		 : allocation_max && !at && bytes > allocation_max && bytes != FLIGHT_BOUNCE_BYTES
			 ? CL_INVALID_BUFFER_SIZE
			 : CL_SUCCESS;
	return *error == CL_SUCCESS ? real.clCreateBuffer(context, flags, bytes, at, error) : NULL;
}

static cl_mem fake_clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type,
				     const void *info, cl_int *error)
{
	*error = CL_OUT_OF_RESOURCES;
	return fails() ? NULL : real.clCreateSubBuffer(buffer, flags, type, info, error);
}

static cl_command_queue fake_clCreateCommandQueue(cl_context context, cl_device_id device,
						  cl_command_queue_properties properties,
						  cl_int *error)
{
	*error = CL_OUT_OF_RESOURCES;
	return fails() ? NULL : real.clCreateCommandQueue(context, device, properties, error);
}

static void *fake_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				     cl_map_flags flags, size_t offset, size_t bytes, cl_uint waits,
				     const cl_event *wait, cl_event *event, cl_int *error)
{
	*error = CL_MAP_FAILURE;
	return fails() ? NULL
		       : real.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes,
						 waits, wait, event, error);
}

/* A first query reports a command as running, so a callback or a second query is needed even if
 * commands run in the calling thread. */
static cl_int fake_clGetEventInfo(cl_event event, cl_event_info what, size_t bytes, void *value,
				  size_t *size)
{
	static _Atomic(cl_event) seen;
	cl_int error = fails() ? CL_OUT_OF_RESOURCES
			       : real.clGetEventInfo(event, what, bytes, value, size);

	if (error == CL_SUCCESS && (atomic_exchange(&seen, event) != event || hangs))
		*(cl_int *)value = CL_RUNNING;
	else if (error == CL_SUCCESS && ends_with != CL_COMPLETE)
		*(cl_int *)value = ends_with;
	return error;
}

static cl_int fake_clSetEventCallback(cl_event event, cl_int type,
				      void(CL_CALLBACK *call)(cl_event, cl_int, void *),
				      void *context)
{
	if (fails() || callbacks_lost)
		return CL_OUT_OF_RESOURCES;
	if (ends_with == CL_COMPLETE)
		return real.clSetEventCallback(event, type, call, context);
	call(event, ends_with, context);
	return CL_SUCCESS;
}

static cl_int fake_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes,
				   void *value, size_t *size)
{
	cl_int error = real.clGetDeviceInfo(device, what, bytes, value, size);

	if (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE && allocation_max)
		*(cl_ulong *)value = allocation_max;
	return error;
}

/* The whole process shares the library's table. */
static void fakes_set(struct ocl_library *cl)
{
	real = *cl;
	cl->clEnqueueWriteBuffer = fake_clEnqueueWriteBuffer;
	cl->clEnqueueReadBuffer = fake_clEnqueueReadBuffer;
	cl->clEnqueueCopyBuffer = fake_clEnqueueCopyBuffer;
	cl->clCreateBuffer = fake_clCreateBuffer;
	cl->clCreateSubBuffer = fake_clCreateSubBuffer;
	cl->clCreateCommandQueue = fake_clCreateCommandQueue;
	cl->clEnqueueMapBuffer = fake_clEnqueueMapBuffer;
	cl->clGetEventInfo = fake_clGetEventInfo;
	cl->clSetEventCallback = fake_clSetEventCallback;
	cl->clGetDeviceInfo = fake_clGetDeviceInfo;
}

static void fakes_clear(void)
{
	const struct ocl_library *cl;

	assert_int_equal(ocl_library_get(&cl), DXP_OK);
	*(struct ocl_library *)(uintptr_t)cl = real;
	fail_at = 0;
	allocation_max = 0;
	callbacks_lost = false;
}

static void fakes_begin(void)
{
	const struct ocl_library *cl;

	assert_int_equal(ocl_library_get(&cl), DXP_OK);
	fakes_set((struct ocl_library *)(uintptr_t)cl);
	calls = 0;
}

#endif
