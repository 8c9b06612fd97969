/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests invalid sources, binaries, options and arguments. */
#include "rig.h"

static const char fine[] = "kernel void k(global int *a) { a[get_global_id(0)] = 1; }\n";

static cl_program program(const char *text)
{
	cl_program p = clCreateProgramWithSource(rig.context, 1, &text, NULL, ERR);

	MADE(p);
	return p;
}

/* A text may build or fail; afterwards a valid text builds. */
static void survives(const char *text, const char *options)
{
	cl_program p = program(text);
	cl_int error = clBuildProgram(p, 0, NULL, options, NULL, NULL);
	size_t bytes = 0;
	char *log;

	CHECK(error == CL_SUCCESS || error == CL_BUILD_PROGRAM_FAILURE ||
	      error == CL_INVALID_BUILD_OPTIONS);
	OK(clGetProgramBuildInfo(p, rig.devices[0], CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes));
	log = rig_memory(bytes + 1);
	OK(clGetProgramBuildInfo(p, rig.devices[0], CL_PROGRAM_BUILD_LOG, bytes, log, NULL));
	OK(clReleaseProgram(p));
}

/* PoCL crashes on some of these options. */
static void compiles__options_that_are_none(void)
{
	static const char *const options[] = {
		"-",
		"--",
		"-D",
		"-DX=\"",
		"-I",
		"-cl-std=CL9.9",
		"-no-such-option",
		"'",
		"\\",
		"$(ls)",
		"; rm -f x",
		"-DX=`id`",
		"@file",
		"-o /nowhere/x",
		"-include /etc/passwd",
		"   ",
		"\t",
		"-Werror -w",
		"\x01\x02\xff",
		"-cl-kernel-arg-info -cl-kernel-arg-info",
		"x.cl",
		"-x c",
	};
	char *large = rig_memory(100001);

	if (rig.pocl)
		rig_skip("PoCL crashes");
	for (size_t i = 0; i < COUNT_OF(options); i++)
		survives(fine, options[i]);
	memset(large, ' ', 100000);
	survives(fine, large);
	for (size_t i = 0; i + 8 < 100000; i += 8)
		memcpy(large + i, "-DXY=12 ", 8);
	survives(fine, large);
	rig_program(fine, NULL);
}

static void compiles__sources_that_are_none(void)
{
	char *large = rig_memory((4 << 20) + 1);

	survives("", NULL);
	survives(" ", NULL);
	survives("\n\n", NULL);
	survives("kernel void k(", NULL);
	survives("#include \"/etc/shadow\"\n", NULL);
	survives("#include \"\n#include <\n#include", NULL);
	survives("#error \"%s%n%n%n\"\n", NULL);
	survives("#define A(x) A(x) A(x)\nkernel void k() { A(A(A(1))); }", NULL);
	survives("\xff\xfe\x01", NULL);
	/* mostly empty lines */
	memset(large, '\n', 4 << 20);
	memcpy(large, fine, sizeof(fine) - 1);
	cl_program p = program(large);
	OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
	OK(clReleaseProgram(p));
	/* deep nesting, which compilers limit */
	memset(large, '(', 100000);
	large[100000] = 0;
	survives(large, NULL);
	rig_program(fine, NULL);
}

static void binary_is_rejected(const void *data, size_t bytes, cl_int wanted)
{
	const unsigned char *binary = data;
	cl_int status = 1, error = 1;
	cl_program p = clCreateProgramWithBinary(rig.context, 1, rig.devices, &bytes, &binary,
						 &status, &error);

	CHECK(p == NULL);
	EQUAL(error, wanted);
	EQUAL(status, wanted);
}

/* A changed binary is rejected at its creation or its build, or it builds. */
static void binary_survives(const unsigned char *data, size_t bytes)
{
	cl_int status, error;
	cl_program p = clCreateProgramWithBinary(rig.context, 1, rig.devices, &bytes, &data,
						 &status, &error);

	if (!p) {
		CHECK(error == CL_INVALID_BINARY);
		return;
	}
	error = clBuildProgram(p, 0, NULL, NULL, NULL, NULL);
	if (error == CL_SUCCESS) {
		cl_uint count;
		clCreateKernelsInProgram(p, 0, NULL, &count);
	}
	OK(clReleaseProgram(p));
}

static void compiles__binaries_that_are_none(void)
{
	uint8_t *noise = rig_noise(10000);
	size_t sizes[RIG_DEVICES_MAX] = {0};
	unsigned char *out[RIG_DEVICES_MAX] = {NULL};

	if (rig.pocl)
		rig_skip("PoCL believes its binaries");
	binary_is_rejected(noise, 10000, CL_INVALID_BINARY);
	binary_is_rejected(noise, 1, CL_INVALID_BINARY);
	binary_is_rejected(noise, 0, CL_INVALID_VALUE);
	binary_is_rejected(NULL, 10, CL_INVALID_VALUE);
	cl_program p = rig_program(fine, NULL);
	OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof(sizes), sizes, NULL));
	for (cl_uint i = 0; i < rig.device_count; i++)
		out[i] = rig_memory(sizes[i]);
	OK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof(out), out, NULL));
	for (int i = 0; i < 40; i++) {
		unsigned char *bad = rig_memory(sizes[0]);
		memcpy(bad, out[0], sizes[0]);
		for (int k = 0; k < 4; k++)
			bad[rig_below(sizes[0])] ^= (unsigned char)(1 + rig_below(255));
		binary_survives(bad, sizes[0]);
		binary_survives(out[0], 1 + rig_below(sizes[0] - 1));
	}
	OK(clReleaseProgram(p));
	rig_program(fine, NULL);
}

static void compiles__calls_in_the_wrong_order(void)
{
	cl_program p = program(fine);
	const char *names[1] = {"a.h"};
	cl_uint count = 0;
	size_t kernels;

	REJECTED(clCreateKernel(p, "k", ERR), CL_INVALID_PROGRAM_EXECUTABLE);
	FAILS(clCreateKernelsInProgram(p, 0, NULL, &count), CL_INVALID_PROGRAM_EXECUTABLE);
	FAILS(clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, NULL),
	      CL_INVALID_PROGRAM_EXECUTABLE);
	FAILS(clGetProgramInfo(p, CL_PROGRAM_KERNEL_NAMES, 0, NULL, NULL),
	      CL_INVALID_PROGRAM_EXECUTABLE);
	FAILS(clBuildProgram(p, 1, NULL, NULL, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clBuildProgram(p, 0, rig.devices, NULL, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clBuildProgram(p, 0, NULL, NULL, NULL, &count), CL_INVALID_VALUE);
	FAILS_BUT_POCL(clCompileProgram(p, 0, NULL, NULL, 1, NULL, NULL, NULL, NULL),
		       CL_INVALID_VALUE);
	FAILS_BUT_POCL(clCompileProgram(p, 0, NULL, NULL, 0, &p, names, NULL, NULL),
		       CL_INVALID_VALUE);
	REJECTED(clLinkProgram(rig.context, 0, NULL, NULL, 0, NULL, NULL, NULL, ERR),
		 CL_INVALID_VALUE);
	REJECTED_BUT_POCL(clLinkProgram(rig.context, 0, NULL, NULL, 1, &p, NULL, NULL, ERR),
			  CL_INVALID_OPERATION);
	OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
	REJECTED(clCreateKernel(p, NULL, ERR), CL_INVALID_VALUE);
	REJECTED(clCreateKernel(p, "", ERR), CL_INVALID_KERNEL_NAME);
	REJECTED(clCreateKernel(p, "kk", ERR), CL_INVALID_KERNEL_NAME);
	cl_kernel k = clCreateKernel(p, "k", ERR);
	MADE(k);
	FAILS(clBuildProgram(p, 0, NULL, NULL, NULL, NULL), CL_INVALID_OPERATION);
	FAILS_BUT_POCL(clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL),
		       CL_INVALID_OPERATION);
	OK(clReleaseKernel(k));
	OK(clBuildProgram(p, 0, NULL, "-DX", NULL, NULL));
	OK(clReleaseProgram(p));
}

static const char many[] =
	"kernel void k(global int *a, int n, local int *l, constant int *c, float4 f, float3 t)\n"
	"{ a[0] = n + l[0] + c[0] + (int)f.x + (int)t.x; }\n";

static void compiles__arguments_rejected(void)
{
	cl_kernel k = rig_kernel(many, "k");
	cl_mem m = rig_buffer(CL_MEM_READ_WRITE, 64, NULL), none = NULL;
	uint8_t bytes[64] = {0};
	size_t one = 1;

	FAILS(clSetKernelArg(k, 6, sizeof(m), &m), CL_INVALID_ARG_INDEX);
	FAILS(clSetKernelArg(k, UINT32_MAX, sizeof(m), &m), CL_INVALID_ARG_INDEX);
	FAILS(clSetKernelArg(k, 0, sizeof(m) - 1, &m), CL_INVALID_ARG_SIZE);
	FAILS(clSetKernelArg(k, 0, 0, NULL), CL_INVALID_ARG_SIZE);
	OK(clSetKernelArg(k, 0, sizeof(m), &none));
	OK(clSetKernelArg(k, 0, sizeof(m), NULL));
	FAILS_BUT_POCL(clSetKernelArg(k, 1, 3, bytes), CL_INVALID_ARG_SIZE);
	FAILS(clSetKernelArg(k, 1, 8, bytes), CL_INVALID_ARG_SIZE);
	FAILS(clSetKernelArg(k, 1, 4, NULL), CL_INVALID_ARG_VALUE);
	FAILS(clSetKernelArg(k, 2, 4, bytes), CL_INVALID_ARG_VALUE);
	FAILS(clSetKernelArg(k, 2, 0, NULL), CL_INVALID_ARG_SIZE);
	FAILS(clSetKernelArg(k, 4, 4, bytes), CL_INVALID_ARG_SIZE);
	OK(clSetKernelArg(k, 4, 16, bytes));
	OK(clSetKernelArg(k, 5, 16, bytes));
	OK(clSetKernelArg(k, 0, sizeof(m), &m));
	OK(clSetKernelArg(k, 1, 4, bytes));
	OK(clSetKernelArg(k, 3, sizeof(m), &m));
	FAILS(clEnqueueNDRangeKernel(rig.queues[0], k, 1, NULL, &one, NULL, 0, NULL, NULL),
	      CL_INVALID_KERNEL_ARGS);
	OK(clSetKernelArg(k, 2, (size_t)1 << 30, NULL));
	FAILS_BUT_POCL(clEnqueueNDRangeKernel(rig.queues[0], k, 1, NULL, &one, NULL, 0, NULL, NULL),
		       CL_OUT_OF_RESOURCES);
	OK(clSetKernelArg(k, 2, 4, NULL));
	rig_run(rig.queues[0], k, 1);
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(m));
}

static void compiles__argument_queries(void)
{
	cl_program p = rig_program(many, "-cl-kernel-arg-info");
	cl_kernel k = clCreateKernel(p, "k", ERR);
	static const char *const types[] = {"int*", "int", "int*", "int*", "float4", "float3"};
	static const cl_kernel_arg_address_qualifier spaces[] = {
		CL_KERNEL_ARG_ADDRESS_GLOBAL,  CL_KERNEL_ARG_ADDRESS_PRIVATE,
		CL_KERNEL_ARG_ADDRESS_LOCAL,   CL_KERNEL_ARG_ADDRESS_CONSTANT,
		CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_ADDRESS_PRIVATE};
	char text[64];
	cl_uint space;
	size_t bytes;

	MADE(k);
	for (cl_uint i = 0; i < COUNT_OF(types); i++) {
		OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_TYPE_NAME, sizeof(text), text, &bytes));
		CHECK(strcmp(text, types[i]) == 0);
		EQUAL(bytes, strlen(text) + 1);
		FAILS(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_TYPE_NAME, bytes - 1, text, NULL),
		      CL_INVALID_VALUE);
		OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(space), &space,
				      NULL));
		EQUAL(space, spaces[i]);
	}
	FAILS(clGetKernelArgInfo(k, 6, CL_KERNEL_ARG_NAME, 0, NULL, NULL), CL_INVALID_ARG_INDEX);
	FAILS(clGetKernelArgInfo(k, 0, 0x1, 0, NULL, NULL), CL_INVALID_VALUE);
	OK(clReleaseKernel(k));
	OK(clReleaseProgram(p));
}

RIG_MAIN(CASE(compiles__options_that_are_none), CASE(compiles__sources_that_are_none),
	 CASE(compiles__binaries_that_are_none), CASE(compiles__calls_in_the_wrong_order),
	 CASE(compiles__arguments_rejected), CASE(compiles__argument_queries))
