/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests out-of-order queues, and the profiling times of events. */
#include "rig.h"

#include <unistd.h>

static const char slow_source[] =
	"kernel void slow(global uint *a, uint rounds) {\n"
	" uint x = a[0]; for (uint i = 0; i < rounds; i++) x = x * 1664525 + 1013904223;\n"
	" a[0] = x; }\n";

/* Only events order the commands of this random graph; a model predicts the result. */
static void unordered__graph_by_chance(void)
{
	enum { BUFFERS = 8, COMMANDS = 150 };
	cl_command_queue q[RIG_DEVICES_MAX];
	cl_mem m[BUFFERS];
	cl_event last[BUFFERS] = {NULL}; /* last command on the buffer */
	uint32_t model[BUFFERS], out = 0;
	cl_kernel k = rig_kernel("kernel void f(global uint *a, global const uint *b, uint n)\n"
				 "{ a[0] = a[0] * 5 + b[0] + n; }\n",
				 "f");
	size_t one = 1;

	for (cl_uint d = 0; d < rig.device_count; d++)
		q[d] = rig_queue(d, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	for (uint32_t i = 0; i < BUFFERS; i++) {
		model[i] = i * 1000;
		m[i] = rig_buffer(CL_MEM_COPY_HOST_PTR, 4, &model[i]);
	}
	for (uint32_t n = 0; n < COMMANDS; n++) {
		size_t a = rig_below(BUFFERS), b = (a + 1 + rig_below(BUFFERS - 1)) % BUFFERS;
		cl_event list[2], e;
		cl_uint count = 0;
		if (last[a])
			list[count++] = last[a];
		if (last[b])
			list[count++] = last[b];
		SET(k, 0, m[a]);
		SET(k, 1, m[b]);
		SET(k, 2, n);
		OK(clEnqueueNDRangeKernel(q[rig_below(rig.device_count)], k, 1, NULL, &one, NULL,
					  count, count ? list : NULL, &e));
		for (cl_uint i = 0; i < count; i++)
			OK(clReleaseEvent(list[i]));
		last[a] = e;
		/* later commands that write buffer b wait for this one, which reads it */
		last[b] = e;
		OK(clRetainEvent(e));
		model[a] = model[a] * 5 + model[b] + n;
	}
	for (cl_uint d = 0; d < rig.device_count; d++)
		OK(clFinish(q[d]));
	for (uint32_t i = 0; i < BUFFERS; i++) {
		rig_read(rig.queues[i % rig.device_count], m[i], &out, 4);
		EQUAL(out, model[i]);
		if (last[i])
			OK(clReleaseEvent(last[i]));
		OK(clReleaseMemObject(m[i]));
	}
	for (cl_uint d = 0; d < rig.device_count; d++)
		OK(clReleaseCommandQueue(q[d]));
	OK(clReleaseKernel(k));
}

/* A blocked command does not delay other commands. */
static void unordered__others_pass(void)
{
	cl_command_queue q = rig_queue(0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_event u = clCreateUserEvent(rig.context, ERR), held = NULL, free_one = NULL;
	cl_mem a = rig_buffer(0, 4, NULL), b = rig_buffer(0, 4, NULL);
	uint32_t x = 1;

	MADE(u);
	OK(clEnqueueFillBuffer(q, a, &x, 4, 0, 4, 1, &u, &held));
	OK(clEnqueueFillBuffer(q, b, &x, 4, 0, 4, 0, NULL, &free_one));
	OK(clFlush(q));
	CHECK(rig_until(free_one, CL_COMPLETE, 10));
	CHECK(rig_status(held) > CL_COMPLETE);
	OK(clSetUserEventStatus(u, CL_COMPLETE));
	OK(clFinish(q));
	EQUAL(rig_status(held), CL_COMPLETE);
	OK(clReleaseEvent(u));
	OK(clReleaseEvent(held));
	OK(clReleaseEvent(free_one));
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
	OK(clReleaseCommandQueue(q));
}

/* A barrier blocks all later commands. A marker completes after all earlier commands. */
static void unordered__barriers(void)
{
	cl_command_queue q =
		rig_queue(rig.device_count - 1, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_event u = clCreateUserEvent(rig.context, ERR), behind = NULL, marker = NULL;
	cl_mem a = rig_buffer(0, 4, NULL);
	uint32_t x = 1, y = 2, out = 0;

	MADE(u);
	OK(clEnqueueFillBuffer(q, a, &x, 4, 0, 4, 1, &u, NULL));
	OK(clEnqueueMarkerWithWaitList(q, 0, NULL, &marker));
	OK(clEnqueueBarrierWithWaitList(q, 0, NULL, NULL));
	OK(clEnqueueFillBuffer(q, a, &y, 4, 0, 4, 0, NULL, &behind));
	OK(clFlush(q));
	usleep(20000);
	CHECK(rig_status(behind) > CL_COMPLETE && rig_status(marker) > CL_COMPLETE);
	OK(clSetUserEventStatus(u, CL_COMPLETE));
	OK(clFinish(q));
	EQUAL(rig_status(marker), CL_COMPLETE);
	rig_read(rig.queues[0], a, &out, 4);
	EQUAL(out, 2);
	OK(clReleaseEvent(u));
	OK(clReleaseEvent(behind));
	OK(clReleaseEvent(marker));
	OK(clReleaseMemObject(a));
	OK(clReleaseCommandQueue(q));
}

static cl_ulong time_of(cl_event e, cl_profiling_info which)
{
	cl_ulong ns = 0;
	size_t bytes = 0;

	OK(clGetEventProfilingInfo(e, which, sizeof(ns), &ns, &bytes));
	EQUAL(bytes, sizeof(ns));
	return ns;
}

static void check_times(cl_event e)
{
	cl_ulong queued = time_of(e, CL_PROFILING_COMMAND_QUEUED);
	cl_ulong submitted = time_of(e, CL_PROFILING_COMMAND_SUBMIT);
	cl_ulong started = time_of(e, CL_PROFILING_COMMAND_START);
	cl_ulong ended = time_of(e, CL_PROFILING_COMMAND_END);

	CHECK(queued > 0 && queued <= submitted);
	CHECK(submitted <= started);
	CHECK(started <= ended);
	CHECK(ended - queued < 60000000000u);
}

static void profiling__of_every_command(void)
{
	uint8_t data[4096] = {0};
	size_t one = 1;
	uint32_t rounds = 1000000;
	cl_kernel k = rig_kernel(slow_source, "slow");

	for (cl_uint d = 0; d < rig.device_count; d++) {
		cl_mem a = rig_buffer(0, 4096, NULL), b = rig_buffer(0, 4096, NULL);
		cl_command_queue q = rig.queues[d];
		cl_event e[7];
		SET(k, 0, a);
		SET(k, 1, rounds);
		OK(clEnqueueWriteBuffer(q, a, CL_FALSE, 0, 4096, data, 0, NULL, &e[0]));
		OK(clEnqueueCopyBuffer(q, a, b, 0, 0, 4096, 0, NULL, &e[1]));
		OK(clEnqueueFillBuffer(q, b, data, 4, 0, 64, 0, NULL, &e[2]));
		OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &one, NULL, 0, NULL, &e[3]));
		void *p =
			clEnqueueMapBuffer(q, a, CL_FALSE, CL_MAP_READ, 0, 64, 0, NULL, &e[4], ERR);
		MADE(p);
		OK(clEnqueueUnmapMemObject(q, a, p, 0, NULL, &e[5]));
		OK(clEnqueueReadBuffer(q, b, CL_FALSE, 0, 4096, data, 0, NULL, &e[6]));
		OK(clFinish(q));
		for (size_t i = 0; i < COUNT_OF(e); i++)
			check_times(e[i]);
		/* in an in-order queue each command starts after the previous one has completed */
		for (size_t i = 1; i < 4; i++)
			CHECK(time_of(e[i], CL_PROFILING_COMMAND_START) + 1000000 >=
			      time_of(e[i - 1], CL_PROFILING_COMMAND_END));
		CHECK(time_of(e[3], CL_PROFILING_COMMAND_END) -
			      time_of(e[3], CL_PROFILING_COMMAND_START) >
		      20000);
		for (size_t i = 0; i < COUNT_OF(e); i++)
			OK(clReleaseEvent(e[i]));
		OK(clReleaseMemObject(a));
		OK(clReleaseMemObject(b));
	}
	OK(clReleaseKernel(k));
}

static void profiling__rejected(void)
{
	cl_command_queue plain = rig_queue(0, 0);
	cl_mem m = rig_buffer(0, 64, NULL);
	uint32_t x = 0;
	cl_event e = NULL, u = clCreateUserEvent(rig.context, ERR), held = NULL;
	cl_ulong ns;

	MADE(u);
	OK(clEnqueueFillBuffer(plain, m, &x, 4, 0, 64, 0, NULL, &e));
	OK(clFinish(plain));
	FAILS(clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_START, sizeof(ns), &ns, NULL),
	      CL_PROFILING_INFO_NOT_AVAILABLE);
	FAILS(clGetEventProfilingInfo(u, CL_PROFILING_COMMAND_START, sizeof(ns), &ns, NULL),
	      CL_PROFILING_INFO_NOT_AVAILABLE);
	OK(clReleaseEvent(e));
	OK(clEnqueueFillBuffer(rig.queues[0], m, &x, 4, 0, 64, 1, &u, &held));
	FAILS(clGetEventProfilingInfo(held, CL_PROFILING_COMMAND_END, sizeof(ns), &ns, NULL),
	      CL_PROFILING_INFO_NOT_AVAILABLE);
	OK(clSetUserEventStatus(u, CL_COMPLETE));
	OK(clWaitForEvents(1, &held));
	FAILS(clGetEventProfilingInfo(held, CL_PROFILING_COMMAND_END, 1, &ns, NULL),
	      CL_INVALID_VALUE);
	FAILS(clGetEventProfilingInfo(held, 0x1, sizeof(ns), &ns, NULL), CL_INVALID_VALUE);
	FAILS(clGetEventProfilingInfo(NULL, CL_PROFILING_COMMAND_END, sizeof(ns), &ns, NULL),
	      CL_INVALID_EVENT);
	OK(clReleaseEvent(held));
	OK(clReleaseEvent(u));
	OK(clReleaseMemObject(m));
	OK(clReleaseCommandQueue(plain));
}

RIG_MAIN(CASE(unordered__graph_by_chance), CASE(unordered__others_pass), CASE(unordered__barriers),
	 CASE(profiling__of_every_command), CASE(profiling__rejected))
