/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that a thousand rounds of all operations leak nothing: reference counts return to their
 * initial values, and the process does not grow. */
#include <unistd.h>

#include "rig.h"

#define ROUNDS 1000

static cl_uint references_of(cl_mem m)
{
	cl_uint count = 0;
	OK(clGetMemObjectInfo(m, CL_MEM_REFERENCE_COUNT, sizeof(count), &count, NULL));
	return count;
}

/* Runs `round` until memory use is stable, then many times more. Fails if the process grows by more
 * than `most_kib`. */
static void must_not_grow(void (*round)(uint32_t n), uint32_t rounds, size_t most_kib)
{
	for (uint32_t n = 0; n < rounds / 4; n++)
		round(n);
	for (cl_uint d = 0; d < rig.device_count; d++)
		OK(clFinish(rig.queues[d]));
	size_t before = rig_resident();
	for (uint32_t n = 0; n < rounds; n++)
		round(n);
	for (cl_uint d = 0; d < rig.device_count; d++)
		OK(clFinish(rig.queues[d]));
	size_t after = rig_resident();
	if (after > before + most_kib && !rig.pocl)
		rig_fail(__FILE__, __LINE__, "%u rounds: %zu KiB became %zu KiB", rounds, before,
			 after);
}

static cl_kernel kernel;
/* `own` has one buffer per device, so that no data moves */
static cl_mem kept, own[RIG_DEVICES_MAX];

static void buffer_round(uint32_t n)
{
	uint32_t data[1024] = {n}, back[1024];
	cl_command_queue q = rig.queues[n % rig.device_count];
	cl_mem m =
		rig_buffer(n % 2 ? CL_MEM_COPY_HOST_PTR : CL_MEM_USE_HOST_PTR, sizeof(data), data);
	cl_buffer_region region = {0, 1024};
	cl_mem part = clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, ERR);

	MADE(part);
	OK(clEnqueueCopyBuffer(q, m, kept, 0, 0, sizeof(data), 0, NULL, NULL));
	void *p = clEnqueueMapBuffer(q, part, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, NULL, ERR);
	MADE(p);
	OK(clEnqueueUnmapMemObject(q, part, p, 0, NULL, NULL));
	rig_read(q, m, back, sizeof(back));
	EQUAL(back[0], n);
	OK(clReleaseMemObject(part));
	OK(clFinish(q));
	/* PoCL's thread drops its reference shortly after the completion. */
	for (int i = 0; rig.pocl && references_of(m) > 1 && i < 5000; i++)
		usleep(1000);
	EQUAL(references_of(m), 1);
	OK(clReleaseMemObject(m));
}

static void leaks__buffers(void)
{
	kept = rig_buffer(0, 8192, NULL);
	must_not_grow(buffer_round, ROUNDS, 1024);
	OK(clReleaseMemObject(kept));
}

static void event_round(uint32_t n)
{
	cl_event u = clCreateUserEvent(rig.context, ERR), list[8], end;

	MADE(u);
	for (cl_uint i = 0; i < 8; i++)
		OK(clEnqueueFillBuffer(rig.queues[i % rig.device_count], kept, &n, 4, i * 4, 4, 1,
				       &u, &list[i]));
	OK(clEnqueueMarkerWithWaitList(rig.queues[0], 8, list, &end));
	OK(clSetUserEventStatus(u, CL_COMPLETE));
	OK(clWaitForEvents(1, &end));
	for (cl_uint i = 0; i < 8; i++)
		OK(clReleaseEvent(list[i]));
	OK(clReleaseEvent(end));
	OK(clReleaseEvent(u));
}

static void leaks__events(void)
{
	kept = rig_buffer(0, 8192, NULL);
	must_not_grow(event_round, ROUNDS, 1024);
	OK(clReleaseMemObject(kept));
}

static void launch_round(uint32_t n)
{
	size_t global = 16;

	SET(kernel, 1, n);
	for (cl_uint d = 0; d < rig.device_count; d++) {
		SET(kernel, 0, own[d]);
		OK(clEnqueueNDRangeKernel(rig.queues[d], kernel, 1, NULL, &global, NULL, 0, NULL,
					  NULL));
	}
	if (n % 50 == 0)
		for (cl_uint d = 0; d < rig.device_count; d++)
			OK(clFinish(rig.queues[d]));
}

static void leaks__launches(void)
{
	kernel = rig_kernel("kernel void f(global uint *a, uint n) { a[get_global_id(0)] = n; }\n",
			    "f");
	for (cl_uint d = 0; d < rig.device_count; d++)
		own[d] = rig_buffer(0, 8192, NULL);
	must_not_grow(launch_round, ROUNDS * 5, 2048);
	OK(clReleaseKernel(kernel));
	for (cl_uint d = 0; d < rig.device_count; d++)
		OK(clReleaseMemObject(own[d]));
}

static void context_round(uint32_t n)
{
	cl_context c = clCreateContext(NULL, rig.device_count, rig.devices, NULL, NULL, ERR);

	MADE(c);
	cl_command_queue q = clCreateCommandQueue(c, rig.devices[n % rig.device_count], 0, ERR);
	MADE(q);
	cl_mem m = clCreateBuffer(c, 0, 4096, NULL, ERR);
	MADE(m);
	OK(clEnqueueFillBuffer(q, m, &n, 4, 0, 4096, 0, NULL, NULL));
	cl_sampler s = clCreateSampler(c, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, ERR);
	if (s)
		OK(clReleaseSampler(s));
	OK(clFinish(q));
	OK(clReleaseMemObject(m));
	OK(clReleaseCommandQueue(q));
	OK(clReleaseContext(c));
}

static void leaks__contexts(void)
{
	must_not_grow(context_round, 300, 1024);
}

/* The node caches builds, so each round builds the same program. */
static void program_round(uint32_t n)
{
	cl_program p = rig_program("kernel void f(global uint *a) { a[0] = 1; }\n", NULL);
	cl_kernel k = clCreateKernel(p, "f", ERR);

	MADE(k);
	OK(clReleaseProgram(p));
	OK(clReleaseKernel(k));
}

static void leaks__programs(void)
{
	must_not_grow(program_round, 40, 2048);
}

/* Released device memory can be allocated again: the rounds allocate far more than a device has. */
static void leaks__device_memory(void)
{
	enum { BYTES = 64 << 20 };
	uint32_t x = 7;

	for (int round = 0; round < 60; round++) {
		cl_mem m = rig_buffer(0, BYTES, NULL);
		cl_command_queue q = rig.queues[round % (int)rig.device_count];
		uint32_t back = 0;
		OK(clEnqueueFillBuffer(q, m, &x, 4, BYTES - 4, 4, 0, NULL, NULL));
		OK(clEnqueueReadBuffer(q, m, CL_TRUE, BYTES - 4, 4, &back, 0, NULL, NULL));
		EQUAL(back, 7);
		OK(clReleaseMemObject(m));
	}
}

RIG_MAIN(CASE(leaks__buffers), CASE(leaks__events), CASE(leaks__launches), CASE(leaks__contexts),
	 CASE(leaks__programs), CASE(leaks__device_memory))
