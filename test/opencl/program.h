/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers for tests of programs: make one from a text, read its build log, run its kernel. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "rig.h"

#include <sys/stat.h>
#include <unistd.h>

static const char simple[] = "kernel void f(global uint *a) { a[get_global_id(0)] = VALUE; }\n";
static const char broken[] = "kernel void f(global uint *a) {\n a[0] = not_there_at_all;\n}\n";

static inline cl_program from_text(const char *text)
{
	cl_program p = clCreateProgramWithSource(rig.context, 1, &text, NULL, ERR);

	MADE(p);
	return p;
}

static inline cl_build_status build_status(cl_program p, cl_uint device)
{
	cl_build_status status = 1000;

	OK(clGetProgramBuildInfo(p, rig.devices[device], CL_PROGRAM_BUILD_STATUS, sizeof(status),
				 &status, NULL));
	return status;
}

static const char *build_log(cl_program p, cl_uint device)
{
	size_t bytes = 0;

	OK(clGetProgramBuildInfo(p, rig.devices[device], CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes));
	char *log = rig_memory(bytes + 1);
	OK(clGetProgramBuildInfo(p, rig.devices[device], CL_PROGRAM_BUILD_LOG, bytes, log, NULL));
	return log;
}

/* Kernel f writes this number on each device. */
static inline void has_text(cl_program p, uint32_t wanted)
{
	cl_kernel k = clCreateKernel(p, "f", ERR);

	MADE(k);
	for (cl_uint d = 0; d < rig.device_count; d++) {
		uint32_t out[4] = {0};
		cl_mem m = rig_buffer(0, sizeof(out), NULL);
		SET(k, 0, m);
		rig_run(rig.queues[d], k, 4);
		rig_read(rig.queues[d], m, out, sizeof(out));
		EQUAL(out[0], wanted);
		EQUAL(out[3], wanted);
		OK(clReleaseMemObject(m));
	}
	OK(clReleaseKernel(k));
}

#endif
