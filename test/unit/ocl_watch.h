/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts compiler calls, to detect cache hits without times. Include after cmocka.h; each including
 * file has its own counters. */
#ifndef TEST_OCL_WATCH_H
#define TEST_OCL_WATCH_H

#include <dxp/status.h>

#include "engine/ocl_library.h"

static struct {
	struct ocl_library real;
	/* programs from source; from a binary */
	unsigned sources, binaries;
	unsigned builds; /* compiled or linked, also from a binary */
} watched;

static cl_program watched_source(cl_context context, cl_uint count, const char **texts,
				 const size_t *lengths, cl_int *error)
{
	watched.sources++;
	return watched.real.clCreateProgramWithSource(context, count, texts, lengths, error);
}

static cl_program watched_binary(cl_context context, cl_uint count, const cl_device_id *devices,
				 const size_t *lengths, const unsigned char **binaries,
				 cl_int *status, cl_int *error)
{
	watched.binaries++;
	return watched.real.clCreateProgramWithBinary(context, count, devices, lengths, binaries,
						      status, error);
}

static cl_int watched_build(cl_program program, cl_uint count, const cl_device_id *devices,
			    const char *options, void(CL_CALLBACK *done)(cl_program, void *),
			    void *context)
{
	watched.builds++;
	return watched.real.clBuildProgram(program, count, devices, options, done, context);
}

/* Returns the process' table; the caller restores `watched.real` at the end. */
static inline struct ocl_library *compiler_watch(void)
{
	const struct ocl_library *cl;

	assert_int_equal(ocl_library_get(&cl), DXP_OK);
	watched.real = *cl;
	watched.sources = watched.binaries = watched.builds = 0;
	struct ocl_library *table = (struct ocl_library *)(uintptr_t)cl;
	table->clCreateProgramWithSource = watched_source;
	table->clCreateProgramWithBinary = watched_binary;
	table->clBuildProgram = watched_build;
	return table;
}

#endif
