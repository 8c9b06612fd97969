/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests program binaries as applications keep them in files. */
#include "rig.h"

static const char text[] = "kernel void f(global int *out, int x) { *out = x + 1; }\n"
			   "kernel void g(global float4 *v) { v[0] *= 2; }\n";

struct binaries {
	size_t sizes[RIG_DEVICES_MAX];
	unsigned char *data[RIG_DEVICES_MAX];
};

static struct binaries binaries_of(cl_program p)
{
	struct binaries b = {0};
	size_t bytes = 0;

	OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof(b.sizes), b.sizes, &bytes));
	EQUAL(bytes, rig.device_count * sizeof(size_t));
	for (cl_uint i = 0; i < rig.device_count; i++) {
		CHECK(b.sizes[i] > 0);
		b.data[i] = rig_memory(b.sizes[i]);
	}
	OK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof(b.data), b.data, NULL));
	return b;
}

static cl_program load(const struct binaries *b)
{
	cl_int status[RIG_DEVICES_MAX];
	const unsigned char *data[RIG_DEVICES_MAX];

	for (cl_uint i = 0; i < rig.device_count; i++)
		data[i] = b->data[i];
	cl_program p = clCreateProgramWithBinary(rig.context, rig.device_count, rig.devices,
						 b->sizes, data, status, ERR);
	MADE(p);
	for (cl_uint i = 0; i < rig.device_count; i++)
		EQUAL(status[i], CL_SUCCESS);
	return p;
}

static int value(cl_program p, cl_uint device)
{
	cl_int got = 0, x = 41;
	cl_kernel k = clCreateKernel(p, "f", ERR);

	MADE(k);
	cl_mem m = rig_buffer(CL_MEM_READ_WRITE, sizeof(got), NULL);
	SET(k, 0, m);
	SET(k, 1, x);
	rig_run(rig.queues[device], k, 1);
	rig_read(rig.queues[device], m, &got, sizeof(got));
	OK(clReleaseMemObject(m));
	OK(clReleaseKernel(k));
	return got;
}

static void binaries__are_accepted_again(void)
{
	cl_program p = rig_program(text, "");
	struct binaries b = binaries_of(p);
	size_t kernels = 0;

	OK(clReleaseProgram(p));
	p = load(&b);
	OK(clBuildProgram(p, rig.device_count, rig.devices, "", NULL, NULL));
	for (cl_uint i = 0; i < rig.device_count; i++)
		EQUAL(value(p, i), 42);
	OK(clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, NULL));
	EQUAL(kernels, 2);
	/* with the binary of the loaded program */
	struct binaries again = binaries_of(p);
	OK(clReleaseProgram(p));
	p = load(&again);
	OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
	EQUAL(value(p, 0), 42);
	OK(clReleaseProgram(p));
}

static void binaries__after_kernels_ran(void)
{
	cl_program p = rig_program(text, "");

	EQUAL(value(p, 0), 42);
	struct binaries b = binaries_of(p);
	OK(clReleaseProgram(p));
	p = load(&b);
	OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
	EQUAL(value(p, 0), 42);
	OK(clReleaseProgram(p));
}

static void binaries__of_an_object(void)
{
	const char *sources[] = {"int h(int x);\nkernel void f(global int *out, int x) { *out = "
				 "h(x); }\n",
				 "int h(int x) { return x + 1; }\n"};
	cl_program parts[2];

	for (int i = 0; i < 2; i++) {
		cl_program p = clCreateProgramWithSource(rig.context, 1, &sources[i], NULL, ERR);
		MADE(p);
		OK(clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
		struct binaries b = binaries_of(p);
		OK(clReleaseProgram(p));
		parts[i] = load(&b);
	}
	cl_program whole = clLinkProgram(rig.context, 0, NULL, NULL, 2, parts, NULL, NULL, ERR);
	MADE(whole);
	EQUAL(value(whole, 0), 42);
	OK(clReleaseProgram(whole));
	OK(clReleaseProgram(parts[0]));
	OK(clReleaseProgram(parts[1]));
}

static void binaries__rejected(void)
{
	unsigned char junk[100];
	const unsigned char *data = junk;
	size_t bytes = sizeof(junk), none = 0;
	cl_int status = 77;

	memset(junk, 'x', sizeof(junk));
	REJECTED(
		clCreateProgramWithBinary(rig.context, 1, rig.devices, &bytes, &data, &status, ERR),
		CL_INVALID_BINARY);
	EQUAL(status, CL_INVALID_BINARY);
	REJECTED_BUT_POCL(
		clCreateProgramWithBinary(rig.context, 1, rig.devices, &none, &data, &status, ERR),
		CL_INVALID_VALUE);
	REJECTED_BUT_POCL(
		clCreateProgramWithBinary(rig.context, 0, rig.devices, &bytes, &data, NULL, ERR),
		CL_INVALID_VALUE);
	REJECTED_BUT_POCL(clCreateProgramWithBinary(rig.context, 1, NULL, &bytes, &data, NULL, ERR),
			  CL_INVALID_VALUE);
	REJECTED_BUT_POCL(
		clCreateProgramWithBinary(rig.context, 1, rig.devices, &bytes, NULL, NULL, ERR),
		CL_INVALID_VALUE);
	REJECTED_BUT_POCL(clCreateProgramWithBinary(NULL, 1, rig.devices, &bytes, &data, NULL, ERR),
			  CL_INVALID_CONTEXT);
}

/* A binary is rejected if one of its first 64 bytes differs, or its last byte is missing. */
static void binaries__damaged(void)
{
	cl_program p = rig_program(text, "");
	struct binaries b = binaries_of(p);

	OK(clReleaseProgram(p));
	if (rig.pocl)
		rig_skip("PoCL 3.1 looks at the first bytes alone");
	for (size_t i = 0; i < 64 && i < b.sizes[0]; i++) {
		const unsigned char *data = b.data[0];
		b.data[0][i] ^= 1;
		REJECTED(clCreateProgramWithBinary(rig.context, 1, rig.devices, &b.sizes[0], &data,
						   NULL, ERR),
			 CL_INVALID_BINARY);
		b.data[0][i] ^= 1;
	}
	const unsigned char *data = b.data[0];
	size_t shorter = b.sizes[0] - 1;
	REJECTED(clCreateProgramWithBinary(rig.context, 1, rig.devices, &shorter, &data, NULL, ERR),
		 CL_INVALID_BINARY);
}

RIG_MAIN(CASE(binaries__are_accepted_again), CASE(binaries__after_kernels_ran),
	 CASE(binaries__of_an_object), CASE(binaries__rejected), CASE(binaries__damaged))
