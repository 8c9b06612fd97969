/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the extension cl_dxp_collective, for test/net/opencl_collective.sh: results, order among
 * other commands, and each error. */
#include <dxp/cl_ext.h>

#include "rig.h"

#define COUNT 5003u

static const char source[] =
	"kernel void fill(global uint *v, uint n) { v[get_global_id(0)] = n + get_global_id(0); }\n"
	"kernel void twice(global uint *v) { v[get_global_id(0)] *= 2; }\n";

static clEnqueueAllreduceDXP_fn allreduce;
static cl_mem from[RIG_DEVICES_MAX], to[RIG_DEVICES_MAX];

static void begin(void)
{
	allreduce = (clEnqueueAllreduceDXP_fn)clGetExtensionFunctionAddressForPlatform(
		rig.platform, "clEnqueueAllreduceDXP");
	CHECK(allreduce);
	CHECK(rig.device_count >= 2);
	for (cl_uint d = 0; d < rig.device_count; d++) {
		from[d] = rig_buffer(CL_MEM_READ_WRITE, COUNT * 4, NULL);
		to[d] = rig_buffer(CL_MEM_READ_WRITE, COUNT * 4, NULL);
	}
}

static void end(void)
{
	for (cl_uint d = 0; d < rig.device_count; d++) {
		OK(clReleaseMemObject(from[d]));
		OK(clReleaseMemObject(to[d]));
	}
}

static void launch(cl_uint d, cl_program p, const char *name, cl_mem m, const cl_event *after,
		   cl_event *event)
{
	const size_t global = COUNT;
	const cl_uint number = 100 * d;
	cl_kernel k = clCreateKernel(p, name, ERR);

	MADE(k);
	SET(k, 0, m);
	if (name[0] == 'f')
		SET(k, 1, number);
	OK(clEnqueueNDRangeKernel(rig.queues[d], k, 1, NULL, &global, NULL, after ? 1 : 0, after,
				  event));
	OK(clReleaseKernel(k));
}

static void results_check(const cl_mem *buffers, cl_uint factor)
{
	static cl_uint got[COUNT];
	const cl_uint n = rig.device_count, base = 100 * n * (n - 1) / 2;

	for (cl_uint d = 0; d < n; d++) {
		rig_read(rig.queues[d], buffers[d], got, sizeof(got));
		for (cl_uint i = 0; i < COUNT; i++)
			EQUAL(got[i], (base + i * n) * factor);
	}
}

/* The host does not wait between kernels, allreduce and kernels. */
static void run_case(bool in_place)
{
	cl_event made[RIG_DEVICES_MAX], summed = NULL;
	cl_mem *out = in_place ? from : to;
	cl_program p = rig_program(source, NULL);
	cl_command_type type = 0;

	begin();
	for (int round = 0; round < 3; round++) {
		for (cl_uint d = 0; d < rig.device_count; d++)
			launch(d, p, "fill", from[d], summed ? &summed : NULL, &made[d]);
		if (summed)
			OK(clReleaseEvent(summed));
		OK(allreduce(rig.queues[round % 2], rig.device_count, rig.devices, from, out, 0, 0,
			     COUNT, CL_TYPE_UINT32_DXP, CL_REDUCTION_SUM_DXP, rig.device_count,
			     made, &summed));
		for (cl_uint d = 0; d < rig.device_count; d++)
			OK(clReleaseEvent(made[d]));
		for (cl_uint d = 0; d < rig.device_count; d++)
			launch(d, p, "twice", out[d], &summed, NULL);
	}
	OK(clWaitForEvents(1, &summed));
	OK(clGetEventInfo(summed, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL));
	EQUAL(type, CL_COMMAND_ALLREDUCE_DXP);
	results_check(out, 2);
	OK(clReleaseEvent(summed));
	OK(clReleaseProgram(p));
	end();
}

static void allreduce__in_place(void)
{
	run_case(true);
}

static void allreduce__out_of_place(void)
{
	run_case(false);
}

/* Bytes that the host wrote reach their devices before the allreduce starts. */
static void allreduce__bytes_of_the_host(void)
{
	static cl_uint numbers[COUNT], got[COUNT];

	begin();
	for (cl_uint d = 0; d < rig.device_count; d++) {
		for (cl_uint i = 0; i < COUNT; i++)
			numbers[i] = 100 * d + i;
		/* the queue of device 0 writes, although device d reads */
		rig_write(rig.queues[0], from[d], numbers, sizeof(numbers));
	}
	/* Reduces a part of the buffers to another offset of the output. */
	OK(allreduce(rig.queues[0], rig.device_count, rig.devices, from, to, 16, 32, 1000,
		     CL_TYPE_UINT32_DXP, CL_REDUCTION_MAX_DXP, 0, NULL, NULL));
	for (cl_uint d = 0; d < rig.device_count; d++) {
		OK(clFinish(rig.queues[0]));
		rig_read(rig.queues[d], to[d], got, sizeof(got));
		for (cl_uint i = 0; i < 1000; i++)
			EQUAL(got[8 + i], 100 * (rig.device_count - 1) + 4 + i);
	}
	end();
}

/* An allreduce waits for a user event, and fails if that gets a negative status. */
static void allreduce__waits(void)
{
	cl_event gate = clCreateUserEvent(rig.context, ERR), done = NULL;

	MADE(gate);
	begin();
	OK(allreduce(rig.queues[0], 2, rig.devices, from, to, 0, 0, 10, CL_TYPE_FLOAT_DXP,
		     CL_REDUCTION_SUM_DXP, 1, &gate, &done));
	CHECK(rig_status(done) > CL_COMPLETE);
	OK(clSetUserEventStatus(gate, CL_COMPLETE));
	OK(clWaitForEvents(1, &done));
	OK(clReleaseEvent(done));
	OK(clReleaseEvent(gate));
	gate = clCreateUserEvent(rig.context, ERR);
	MADE(gate);
	OK(allreduce(rig.queues[0], 2, rig.devices, from, to, 0, 0, 10, CL_TYPE_FLOAT_DXP,
		     CL_REDUCTION_SUM_DXP, 1, &gate, &done));
	OK(clSetUserEventStatus(gate, -7));
	FAILS(clWaitForEvents(1, &done), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	OK(clReleaseEvent(done));
	OK(clReleaseEvent(gate));
	/* After a failure, the same devices can run an allreduce again. */
	cl_command_queue q = rig_queue(0, 0);
	OK(allreduce(q, 2, rig.devices, from, to, 0, 0, 10, CL_TYPE_FLOAT_DXP, CL_REDUCTION_SUM_DXP,
		     0, NULL, &done));
	OK(clWaitForEvents(1, &done));
	OK(clReleaseEvent(done));
	OK(clReleaseCommandQueue(q));
	end();
}

#define ALLREDUCE(n, devices, src, dst, src_at, dst_at, count, type, reduction)                   \
	allreduce(rig.queues[0], n, devices, src, dst, src_at, dst_at, count, type, reduction, 0, \
		  NULL, NULL)

static void allreduce__errors(void)
{
	const cl_uint f = CL_TYPE_FLOAT_DXP, sum = CL_REDUCTION_SUM_DXP;
	cl_device_id none[2] = {NULL, NULL};
	cl_event bad = NULL;

	begin();
	cl_mem same[2] = {to[0], to[0]}, missing[2] = {from[0], NULL};
	FAILS(allreduce(NULL, 2, rig.devices, from, to, 0, 0, 1, f, sum, 0, NULL, NULL),
	      CL_INVALID_COMMAND_QUEUE);
	FAILS(allreduce(rig.queues[0], 2, rig.devices, from, to, 0, 0, 1, f, sum, 1, &bad, NULL),
	      CL_INVALID_EVENT_WAIT_LIST);
	FAILS(ALLREDUCE(0, rig.devices, from, to, 0, 0, 1, f, sum), CL_INVALID_VALUE);
	FAILS(ALLREDUCE(65, rig.devices, from, to, 0, 0, 1, f, sum), CL_INVALID_VALUE);
	FAILS(ALLREDUCE(2, NULL, from, to, 0, 0, 1, f, sum), CL_INVALID_VALUE);
	FAILS(ALLREDUCE(2, none, from, to, 0, 0, 1, f, sum), CL_INVALID_DEVICE);
	FAILS(ALLREDUCE(2, rig.devices, NULL, to, 0, 0, 1, f, sum), CL_INVALID_VALUE);
	FAILS(ALLREDUCE(2, rig.devices, from, NULL, 0, 0, 1, f, sum), CL_INVALID_VALUE);
	FAILS(ALLREDUCE(2, rig.devices, missing, to, 0, 0, 1, f, sum), CL_INVALID_MEM_OBJECT);
	FAILS(ALLREDUCE(2, rig.devices, from, to, 0, 0, 0, f, sum), CL_INVALID_VALUE);
	FAILS(ALLREDUCE(2, rig.devices, from, to, 0, 0, COUNT + 1, f, sum), CL_INVALID_VALUE);
	FAILS(ALLREDUCE(2, rig.devices, from, to, 0, 0, SIZE_MAX / 2, f, sum), CL_INVALID_VALUE);
	FAILS(ALLREDUCE(2, rig.devices, from, to, 0, 4, COUNT, f, sum), CL_INVALID_VALUE);
	FAILS(ALLREDUCE(2, rig.devices, from, to, 2, 0, 1, f, sum), CL_INVALID_VALUE);
	FAILS(ALLREDUCE(2, rig.devices, from, to, 0, 0, 1, 12, sum), CL_INVALID_VALUE);
	FAILS(ALLREDUCE(2, rig.devices, from, to, 0, 0, 1, f, 5), CL_INVALID_VALUE);
	FAILS(ALLREDUCE(2, rig.devices, from, to, 0, 0, 1, f, sum | 0x400), CL_INVALID_VALUE);
	FAILS(ALLREDUCE(2, rig.devices, from, same, 0, 0, 1, f, sum), CL_MEM_COPY_OVERLAP);
	FAILS(ALLREDUCE(2, rig.devices, from, from, 0, 4, 2, f, sum), CL_MEM_COPY_OVERLAP);
	end();
}

/* Returns the way by which an allreduce started. */
static cl_uint way_of(cl_uint n, const cl_mem *src, const cl_mem *dst, cl_uint way)
{
	cl_event done = NULL;
	cl_uint found = 0;

	OK(allreduce(rig.queues[0], n, rig.devices, src, dst, 0, 0, COUNT, CL_TYPE_UINT32_DXP,
		     CL_REDUCTION_SUM_DXP | way, 0, NULL, &done));
	OK(clGetEventInfo(done, CL_EVENT_WAY_DXP, sizeof(found), &found, NULL));
	OK(clWaitForEvents(1, &done));
	OK(clReleaseEvent(done));
	return found;
}

/* A way belongs to one command. Without switches, that way leads to a tree or ring. */
static void allreduce__ways(void)
{
	const cl_uint n = rig.device_count;
	cl_program p = rig_program(source, NULL);
	cl_event made = NULL;
	cl_uint way = 0;

	begin();
	for (cl_uint d = 0; d < n; d++)
		launch(d, p, "fill", from[d], NULL, d == 0 ? &made : NULL);
	FAILS(clGetEventInfo(made, CL_EVENT_WAY_DXP, sizeof(way), &way, NULL), CL_INVALID_VALUE);
	OK(clReleaseEvent(made));
	for (cl_uint d = 0; d < n; d++)
		OK(clFinish(rig.queues[d]));
	EQUAL(way_of(n, from, to, CL_WAY_RING_DXP), CL_WAY_RING_DXP);
	results_check(to, 1);
	EQUAL(way_of(n, from, to, 0), CL_WAY_TREE_DXP);
	EQUAL(way_of(n, from, to, CL_WAY_SWITCH_DXP), CL_WAY_TREE_DXP);
	EQUAL(way_of(n, from, from, CL_WAY_RING_DXP), CL_WAY_RING_DXP);
	results_check(from, 1);
	OK(clReleaseProgram(p));
	end();
}

/* After a device is lost (the script kills its process), the remaining devices continue. Prints
 * "running" first. */
static void allreduce__device_lost(void)
{
	const cl_uint n = rig.device_count;
	cl_int status = CL_COMPLETE;
	cl_event done = NULL;

	if (!getenv("PROBE_LOST"))
		rig_skip("no device will be killed");
	begin();
	CHECK(n >= 3);
	for (uint32_t i = 0; status == CL_COMPLETE; i++) {
		cl_int error = allreduce(rig.queues[0], n, rig.devices, from, to, 0, 0, COUNT,
					 CL_TYPE_FLOAT_DXP, CL_REDUCTION_SUM_DXP, 0, NULL, &done);
		if (error != CL_SUCCESS) {
			EQUAL(error, CL_DEVICE_NOT_AVAILABLE);
			break;
		}
		if (i == 3) {
			printf("running\n");
			fflush(stdout);
		}
		clWaitForEvents(1, &done);
		status = rig_status(done);
		OK(clReleaseEvent(done));
	}
	CHECK(status == CL_COMPLETE || status == CL_DEVICE_NOT_AVAILABLE ||
	      status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	/* Until this host has found the loss too, calls succeed and their events fail. */
	cl_int error;
	const uint64_t end_ns = rig_now_ns() + 60000000000ull;
	while ((error = allreduce(rig.queues[0], n, rig.devices, from, to, 0, 0, COUNT,
				  CL_TYPE_FLOAT_DXP, CL_REDUCTION_SUM_DXP, 0, NULL, &done)) ==
		       CL_SUCCESS &&
	       rig_now_ns() < end_ns) {
		clWaitForEvents(1, &done);
		CHECK(rig_status(done) < 0);
		OK(clReleaseEvent(done));
	}
	EQUAL(error, CL_DEVICE_NOT_AVAILABLE);
	cl_command_queue q = rig_queue(0, 0);
	OK(allreduce(q, n - 1, rig.devices, from, to, 0, 0, COUNT, CL_TYPE_FLOAT_DXP,
		     CL_REDUCTION_SUM_DXP, 0, NULL, &done));
	OK(clWaitForEvents(1, &done));
	OK(clReleaseEvent(done));
	OK(clReleaseCommandQueue(q));
	end();
}

RIG_MAIN(CASE(allreduce__in_place), CASE(allreduce__out_of_place),
	 CASE(allreduce__bytes_of_the_host), CASE(allreduce__waits), CASE(allreduce__errors),
	 CASE(allreduce__ways), CASE(allreduce__device_lost))
