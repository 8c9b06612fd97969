/* SPDX-License-Identifier: BSD-3-Clause */
/* The query of cl_dxp_cycles, on devices with a model of time and without one. test/net/rv32.sh
 * runs one case on each. */
#include "rig.h"

#define CL_PROFILING_CYCLES_DXP 0x44D9 /* see dxp/cl_ext.h */
#define ITEMS                   256

struct cycles {
	cl_ulong cycles, least, most, instructions, lines, lines_missed;
	cl_uint cores, clock_mhz;
};

static const char source[] = "kernel void fill(global uint *out, uint rounds) {\n"
			     "	uint v = get_global_id(0);\n"
			     "	for (uint i = 0; i < rounds; i++) v = v * 3 + out[v % 64];\n"
			     "	out[get_global_id(0)] = v; }\n";

static cl_int query(cl_event e, struct cycles *out)
{
	size_t bytes = 0;
	cl_int error =
		clGetEventProfilingInfo(e, CL_PROFILING_CYCLES_DXP, sizeof(*out), out, &bytes);

	if (error == CL_SUCCESS)
		EQUAL(bytes, sizeof(*out));
	return error;
}

static cl_event launch(cl_command_queue q, cl_kernel k, uint32_t rounds)
{
	const size_t items = ITEMS;
	cl_event e = NULL;

	SET(k, 1, rounds);
	OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &items, NULL, 0, NULL, &e));
	OK(clFinish(q));
	return e;
}

static void cycles__of_a_kernel(void)
{
	cl_mem m = rig_buffer(0, ITEMS * 4, NULL);
	cl_kernel k = rig_kernel(source, "fill");
	struct cycles few, many, again;
	char names[512];
	uint32_t zero = 0;
	cl_event e;

	OK(clGetPlatformInfo(rig.platform, CL_PLATFORM_EXTENSIONS, sizeof(names), names, NULL));
	CHECK(strstr(names, "cl_dxp_cycles"));
	SET(k, 0, m);
	OK(clEnqueueFillBuffer(rig.queues[0], m, &zero, 4, 0, ITEMS * 4, 0, NULL, &e));
	OK(clFinish(rig.queues[0]));
	FAILS(query(e, &few), CL_PROFILING_INFO_NOT_AVAILABLE); /* no kernel */
	OK(clReleaseEvent(e));
	e = launch(rig.queues[0], k, 10);
	OK(query(e, &few));
	FAILS(clGetEventProfilingInfo(e, CL_PROFILING_CYCLES_DXP, sizeof(few) - 1, &few, NULL),
	      CL_INVALID_VALUE);
	OK(clReleaseEvent(e));
	e = launch(rig.queues[0], k, 1000);
	OK(query(e, &many));
	OK(clReleaseEvent(e));
	CHECK(few.least > 0 && few.least <= few.cycles && few.cycles <= few.most);
	CHECK(few.instructions > 0 && few.lines > 0 && few.lines_missed <= few.lines);
	EQUAL(few.clock_mhz, 200);
	EQUAL(few.cores, 32);
	CHECK(many.cycles > 10 * few.cycles && many.instructions > 10 * few.instructions);
	OK(clEnqueueFillBuffer(rig.queues[0], m, &zero, 4, 0, ITEMS * 4, 0, NULL, NULL));
	e = launch(rig.queues[0], k, 10);
	OK(query(e, &again)); /* the same inputs take the same cycles */
	SAME_BYTES(&again, &few, sizeof(few));
	OK(clReleaseEvent(e));
	e = launch(rig_queue(0, 0), k, 10); /* a queue without profiling */
	FAILS(query(e, &few), CL_PROFILING_INFO_NOT_AVAILABLE);
	OK(clReleaseEvent(e));
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(m));
}

static void cycles__without_a_model(void)
{
	cl_mem m = rig_buffer(0, ITEMS * 4, NULL);
	cl_kernel k = rig_kernel(source, "fill");
	struct cycles c;

	SET(k, 0, m);
	cl_event e = launch(rig.queues[0], k, 10);
	FAILS(query(e, &c), CL_PROFILING_INFO_NOT_AVAILABLE);
	OK(clReleaseEvent(e));
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(m));
}

RIG_MAIN(CASE(cycles__of_a_kernel), CASE(cycles__without_a_model))
