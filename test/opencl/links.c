/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests programs compiled with headers, kept as libraries, and linked. */
#include <unistd.h>

#include "rig.h"

static cl_program source(const char *text)
{
	cl_program p = clCreateProgramWithSource(rig.context, 1, &text, NULL, ERR);

	MADE(p);
	return p;
}

static cl_program compiled(const char *text)
{
	cl_program p = source(text);

	OK(clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
	return p;
}

static cl_program linked(const char *options, cl_uint count, const cl_program *inputs)
{
	cl_program p = clLinkProgram(rig.context, 0, NULL, options, count, inputs, NULL, NULL, ERR);

	MADE(p);
	return p;
}

static cl_program_binary_type type_of(cl_program p)
{
	cl_program_binary_type type = 77;

	OK(clGetProgramBuildInfo(p, rig.devices[0], CL_PROGRAM_BINARY_TYPE, sizeof(type), &type,
				 NULL));
	return type;
}

static int value(cl_program p, cl_uint device)
{
	cl_int got = 0;
	cl_kernel k = clCreateKernel(p, "f", ERR);

	MADE(k);
	cl_mem m = rig_buffer(CL_MEM_READ_WRITE, sizeof(got), NULL);
	SET(k, 0, m);
	rig_run(rig.queues[device], k, 1);
	rig_read(rig.queues[device], m, &got, sizeof(got));
	OK(clReleaseMemObject(m));
	OK(clReleaseKernel(k));
	return got;
}

static void links__two_objects(void)
{
	cl_program parts[] = {compiled("int helper(int x);\nkernel void f(global int *out) { *out "
				       "= helper(4); }\n"),
			      compiled("int helper(int x) { return x * 3; }\n")};

	EQUAL(type_of(parts[0]), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
	cl_program p = linked("", 2, parts);
	EQUAL(type_of(p), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
	/* the linked programs may be released */
	OK(clReleaseProgram(parts[0]));
	OK(clReleaseProgram(parts[1]));
	for (cl_uint i = 0; i < rig.device_count; i++)
		EQUAL(value(p, i), 12);
	OK(clReleaseProgram(p));
}

static void links__a_library(void)
{
	cl_program helper = compiled("int helper(int x) { return x + 30; }\n");
	cl_program library = linked("-create-library", 1, &helper);

	EQUAL(type_of(library), CL_PROGRAM_BINARY_TYPE_LIBRARY);
	cl_program parts[] = {compiled("int helper(int x);\nkernel void f(global int *out) { *out "
				       "= helper(4); }\n"),
			      library};
	cl_program p = linked(NULL, 2, parts);
	EQUAL(value(p, 0), 34);
	OK(clReleaseProgram(p));
	OK(clReleaseProgram(parts[0]));
	OK(clReleaseProgram(library));
	OK(clReleaseProgram(helper));
}

static void links__with_headers(void)
{
	const char *names[] = {"one.h", "sub/two.h"};
	cl_program headers[] = {source("#include \"sub/two.h\"\n#define ONE (TWO - 1)\n"),
				source("#define TWO 2\n")};
	cl_program p = source("#include <one.h>\nkernel void f(global int *out) { *out = ONE + "
			      "TWO * 10; }\n");

	OK(clCompileProgram(p, 0, NULL, "-DX", 2, headers, names, NULL, NULL));
	cl_program whole = linked(NULL, 1, &p);
	EQUAL(value(whole, 0), 21);
	OK(clReleaseProgram(whole));
	OK(clReleaseProgram(p));
	OK(clReleaseProgram(headers[0]));
	OK(clReleaseProgram(headers[1]));
}

static void links__again(void)
{
	cl_program p = compiled("kernel void f(global int *out) { *out = 1; }\n");

	/* no kernel object exists, so the program may be compiled again */
	OK(clCompileProgram(p, 0, NULL, "-DX", 0, NULL, NULL, NULL, NULL));
	cl_program whole = linked(NULL, 1, &p);
	EQUAL(value(whole, 0), 1);
	OK(clReleaseProgram(whole));
	OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
	EQUAL(value(p, 0), 1);
	OK(clReleaseProgram(p));
}

static void links__that_fail(void)
{
	cl_program bad = source("kernel void f(global int *out) { *out = nothing; }\n");
	cl_build_status status = 77;

	FAILS(clCompileProgram(bad, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL),
	      CL_COMPILE_PROGRAM_FAILURE);
	OK(clGetProgramBuildInfo(bad, rig.devices[0], CL_PROGRAM_BUILD_STATUS, sizeof(status),
				 &status, NULL));
	EQUAL(status, CL_BUILD_ERROR);
	REJECTED(clCreateKernel(bad, "f", ERR), CL_INVALID_PROGRAM_EXECUTABLE);
	OK(clReleaseProgram(bad));
}

static void links__rejected(void)
{
	cl_program p = compiled("kernel void f(global int *out) { *out = 1; }\n");
	const char *name = "a.h";

	REJECTED(clLinkProgram(rig.context, 0, NULL, NULL, 0, NULL, NULL, NULL, ERR),
		 CL_INVALID_VALUE);
	REJECTED(clLinkProgram(rig.context, 0, rig.devices, NULL, 1, &p, NULL, NULL, ERR),
		 CL_INVALID_VALUE);
	REJECTED(clLinkProgram(NULL, 0, NULL, NULL, 1, &p, NULL, NULL, ERR), CL_INVALID_CONTEXT);
	REJECTED_BUT_POCL(clLinkProgram(rig.context, 0, NULL, "-nonsense", 1, &p, NULL, NULL, ERR),
			  CL_INVALID_LINKER_OPTIONS);
	FAILS_BUT_POCL(clCompileProgram(p, 0, NULL, NULL, 0, NULL, &name, NULL, NULL),
		       CL_INVALID_VALUE);
	FAILS_BUT_POCL(clCompileProgram(p, 0, NULL, NULL, 1, &p, NULL, NULL, NULL),
		       CL_INVALID_VALUE);
	FAILS(clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, &name), CL_INVALID_VALUE);
	FAILS(clCompileProgram(p, 1, NULL, NULL, 0, NULL, NULL, NULL, NULL), CL_INVALID_VALUE);
	FAILS_BUT_POCL(clCompileProgram(p, 0, NULL, "nonsense", 0, NULL, NULL, NULL, NULL),
		       CL_INVALID_COMPILER_OPTIONS);
	/* A compiled object has no kernels to run. */
	REJECTED_BUT_POCL(clCreateKernel(p, "f", ERR), CL_INVALID_PROGRAM_EXECUTABLE);
	cl_program whole = linked(NULL, 1, &p);
	/* A linked program can be neither compiled nor linked again. */
	FAILS_BUT_POCL(clBuildProgram(whole, 0, NULL, NULL, NULL, NULL), CL_INVALID_OPERATION);
	REJECTED_BUT_POCL(clLinkProgram(rig.context, 0, NULL, NULL, 1, &whole, NULL, NULL, ERR),
			  CL_INVALID_OPERATION);
	OK(clReleaseProgram(whole));
	OK(clReleaseProgram(p));
}

static void CL_CALLBACK reported(cl_program p, void *data)
{
	*(volatile cl_program *)data = p;
}

static void links__callbacks(void)
{
	cl_program p = source("kernel void f(global int *out) { *out = 6; }\n");
	volatile cl_program compile_reported = NULL, link_reported = NULL;

	OK(clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, reported, (void *)&compile_reported));
	for (int i = 0; i < 20000 && !compile_reported; i++)
		usleep(1000);
	CHECK(compile_reported == p);
	cl_program whole = clLinkProgram(rig.context, 0, NULL, NULL, 1, &p, reported,
					 (void *)&link_reported, ERR);
	MADE(whole);
	for (int i = 0; i < 20000 && !link_reported; i++)
		usleep(1000);
	CHECK(link_reported == whole);
	EQUAL(value(whole, 0), 6);
	OK(clReleaseProgram(whole));
	OK(clReleaseProgram(p));
}

/* A program may be used while it is linked in the background. */
static void links__used_while_linked(void)
{
	cl_program object = compiled("kernel void f(global int *out) { *out = 7; }\n");
	volatile cl_program link_reported = NULL;
	cl_program whole = clLinkProgram(rig.context, 0, NULL, NULL, 1, &object, reported,
					 (void *)&link_reported, ERR);

	MADE(whole);
	EQUAL(value(whole, rig.device_count - 1), 7);
	for (int i = 0; i < 20000 && !link_reported; i++)
		usleep(1000);
	CHECK(link_reported == whole);
	OK(clReleaseProgram(whole));
	OK(clReleaseProgram(object));
}

RIG_MAIN(CASE(links__two_objects), CASE(links__a_library), CASE(links__with_headers),
	 CASE(links__again), CASE(links__that_fail), CASE(links__rejected), CASE(links__callbacks),
	 CASE(links__used_while_linked))
