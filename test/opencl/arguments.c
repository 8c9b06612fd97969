/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kernel arguments: every kind and size, queries, and rejections. */
#include "rig.h"

static void once(cl_uint device, cl_kernel k, void *out, size_t bytes)
{
	cl_mem m = rig_buffer(0, bytes, NULL);

	rig_set(k, 0, sizeof(cl_mem), &m);
	rig_run(rig.queues[device], k, 1);
	rig_read(rig.queues[device], m, out, bytes);
	OK(clReleaseMemObject(m));
}

struct scalar {
	const char *type;
	size_t bytes;
};

static const struct scalar scalars[] = {
	{"char", 1},    {"uchar", 1},   {"short", 2},   {"ushort", 2},    {"int", 4},
	{"uint", 4},    {"long", 8},    {"ulong", 8},   {"float", 4},     {"char2", 2},
	{"uchar3", 4},  {"char4", 4},   {"uchar8", 8},  {"char16", 16},   {"short2", 4},
	{"short3", 8},  {"ushort4", 8}, {"short8", 16}, {"short16", 32},  {"int2", 8},
	{"uint3", 16},  {"int4", 16},   {"uint8", 32},  {"int16", 64},    {"long2", 16},
	{"long3", 32},  {"ulong4", 32}, {"long8", 64},  {"ulong16", 128}, {"float2", 8},
	{"float3", 16}, {"float4", 16}, {"float8", 32}, {"float16", 64}};

static void arguments__each_scalar_and_vector(void)
{
	char source[16384] = "";
	size_t at = 0;

	for (size_t i = 0; i < COUNT_OF(scalars); i++)
		at += (size_t)snprintf(source + at, sizeof(source) - at,
				       "kernel void k%zu(global %s *out, %s v) { *out = v; }\n", i,
				       scalars[i].type, scalars[i].type);
	cl_program p = rig_program(source, NULL);
	for (size_t i = 0; i < COUNT_OF(scalars); i++) {
		char name[16];
		uint8_t in[128], out[128];
		size_t count = scalars[i].bytes;
		snprintf(name, sizeof(name), "k%zu", i);
		cl_kernel k = clCreateKernel(p, name, ERR);
		MADE(k);
		rig_scramble(in, count);
		rig_set(k, 1, count, in);
		once((cl_uint)i % rig.device_count, k, out, count);
		/* The fourth element of a 3-vector is undefined, so it is not compared. */
		SAME_BYTES(out, in, strchr(scalars[i].type, '3') ? count / 4 * 3 : count);
		FAILS(clSetKernelArg(k, 1, count + 1, in), CL_INVALID_ARG_SIZE);
		FAILS(clSetKernelArg(k, 1, count * 2, in), CL_INVALID_ARG_SIZE);
		FAILS(clSetKernelArg(k, 1, 0, in), CL_INVALID_ARG_SIZE);
		OK(clReleaseKernel(k));
	}
	OK(clReleaseProgram(p));
}

/* It has the same layout in the device compiler and in C. */
struct mixed {
	cl_char a;
	cl_int b;
	cl_short c[3];
	cl_float4 d;
	cl_char e;
	cl_ulong f;
};

static void arguments__structs(void)
{
	static const char source[] =
		"struct mixed { char a; int b; short c[3]; float4 d; char e; ulong f; };\n"
		"struct big { uint v[200]; };\n"
		"kernel void f(global ulong *out, struct mixed m) {\n"
		" out[0] = m.a; out[1] = m.b; out[2] = m.c[0] + m.c[1] * 10 + m.c[2] * 100;\n"
		" out[3] = m.d.x + m.d.y * 10 + m.d.z * 100 + m.d.w * 1000; out[4] = m.e;\n"
		" out[5] = m.f; out[6] = sizeof(struct mixed); }\n"
		"kernel void g(global uint *out, struct big b) {\n"
		" for (int i = 0; i < 200; i++) out[i] = b.v[i] + i; }\n";
	struct mixed m = {.a = 3, .b = 77777, .c = {1, 2, 3}, .d = {{4, 3, 2, 1}}, .e = 9};
	uint64_t out[7] = {0};
	uint32_t big[200], back[200];
	cl_program p = rig_program(source, NULL);
	cl_kernel f = clCreateKernel(p, "f", ERR), g = clCreateKernel(p, "g", ERR);

	MADE(f);
	MADE(g);
	m.f = 0x123456789abcdef0u;
	for (cl_uint d = 0; d < rig.device_count; d++) {
		SET(f, 1, m);
		once(d, f, out, sizeof(out));
		EQUAL(out[6], sizeof(struct mixed));
		EQUAL(out[0], 3);
		EQUAL(out[1], 77777);
		EQUAL(out[2], 321);
		EQUAL(out[3], 1234);
		EQUAL(out[4], 9);
		EQUAL(out[5], 0x123456789abcdef0);
		rig_scramble(big, sizeof(big));
		SET(g, 1, big);
		once(d, g, back, sizeof(back));
		for (uint32_t i = 0; i < 200; i++)
			EQUAL(back[i], big[i] + i);
	}
	OK(clReleaseKernel(f));
	OK(clReleaseKernel(g));
	OK(clReleaseProgram(p));
}

static void arguments__constant_and_local(void)
{
	static const char source[] =
		"kernel void f(global uint *out, constant uint *c, local uint *a, local uint *b,\n"
		"              uint n) {\n"
		" size_t i = get_local_id(0); a[i] = c[i]; b[i] = n; "
		"barrier(CLK_LOCAL_MEM_FENCE);\n"
		" size_t o = get_local_size(0) - 1 - i;\n"
		" out[get_global_id(0)] = a[o] * 2 + b[o] + get_group_id(0); }\n";
	cl_kernel k = rig_kernel(source, "f");
	enum { LOCAL = 32, GROUPS = 16 };
	uint32_t c[LOCAL], out[LOCAL * GROUPS], n = 5;
	size_t global = LOCAL * GROUPS, local = LOCAL;

	for (cl_uint d = 0; d < rig.device_count; d++) {
		rig_scramble(c, sizeof(c));
		cl_mem cm = rig_buffer(CL_MEM_COPY_HOST_PTR | CL_MEM_READ_ONLY, sizeof(c), c);
		cl_mem m = rig_buffer(0, sizeof(out), NULL);
		SET(k, 0, m);
		SET(k, 1, cm);
		rig_set(k, 2, sizeof(c), NULL);
		rig_set(k, 3, sizeof(c), NULL);
		SET(k, 4, n);
		OK(clEnqueueNDRangeKernel(rig.queues[d], k, 1, NULL, &global, &local, 0, NULL,
					  NULL));
		rig_read(rig.queues[d], m, out, sizeof(out));
		for (uint32_t i = 0; i < global; i++)
			EQUAL(out[i], (uint32_t)(c[LOCAL - 1 - i % LOCAL] * 2 + n + i / LOCAL));
		OK(clReleaseMemObject(m));
		OK(clReleaseMemObject(cm));
	}
	FAILS(clSetKernelArg(k, 2, 0, NULL), CL_INVALID_ARG_SIZE);
	FAILS(clSetKernelArg(k, 2, 64, c), CL_INVALID_ARG_VALUE);
	OK(clReleaseKernel(k));
}

static void arguments__null_buffers(void)
{
	static const char source[] = "kernel void f(global uint *out, global uint *a) {\n"
				     " out[0] = a ? a[0] : 12345; }\n";
	cl_kernel k = rig_kernel(source, "f");
	uint32_t out = 0, x = 7;
	cl_mem none = NULL, m = rig_buffer(CL_MEM_COPY_HOST_PTR, 4, &x);

	rig_set(k, 1, sizeof(cl_mem), NULL);
	once(0, k, &out, 4);
	EQUAL(out, 12345);
	rig_set(k, 1, sizeof(cl_mem), &m);
	once(0, k, &out, 4);
	EQUAL(out, 7);
	rig_set(k, 1, sizeof(cl_mem), &none);
	once(rig.device_count - 1, k, &out, 4);
	EQUAL(out, 12345);
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(m));
}

static void arguments__hundred_and_twenty_eight(void)
{
	char source[16384] = "kernel void f(global uint *out";
	size_t at = strlen(source);
	cl_uint count = 0;

	for (int i = 1; i < 128; i++)
		at += (size_t)snprintf(source + at, sizeof(source) - at,
				       i % 4 ? ", uint a%d" : ", ulong a%d", i);
	at += (size_t)snprintf(source + at, sizeof(source) - at, ") {\n");
	for (int i = 1; i < 128; i++)
		at += (size_t)snprintf(source + at, sizeof(source) - at, "out[%d] = a%d;\n", i, i);
	snprintf(source + at, sizeof(source) - at, "}\n");
	cl_kernel k = rig_kernel(source, "f");
	OK(clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof(count), &count, NULL));
	EQUAL(count, 128);
	uint32_t out[128] = {0}, values[128];
	rig_scramble(values, sizeof(values));
	for (cl_uint i = 1; i < 128; i++) {
		uint64_t wide = values[i];
		if (i % 4)
			SET(k, i, values[i]);
		else
			SET(k, i, wide);
	}
	for (cl_uint d = 0; d < rig.device_count; d++) {
		memset(out, 0, sizeof(out));
		once(d, k, out, sizeof(out));
		SAME_BYTES(out + 1, values + 1, 127 * 4);
	}
	OK(clReleaseKernel(k));
}

/* A kernel gets its argument values at the enqueue, not at its start. They stay set for the next
 * enqueue. */
static void arguments__are_copied_at_the_enqueue(void)
{
	static const char source[] = "kernel void f(global uint *out, uint i, uint v)\n"
				     "{ out[i] = v; }\n";
	cl_kernel k = rig_kernel(source, "f");
	uint32_t out[1000], zero = 0;
	size_t one = 1;
	cl_mem m = rig_buffer(0, sizeof(out), NULL);

	OK(clEnqueueFillBuffer(rig.queues[0], m, &zero, 4, 0, sizeof(out), 0, NULL, NULL));
	SET(k, 0, m);
	for (uint32_t i = 0; i < COUNT_OF(out); i++) {
		uint32_t v = i * 3;
		SET(k, 1, i);
		if (i % 2 == 0)
			SET(k, 2, v);
		OK(clEnqueueNDRangeKernel(rig.queues[0], k, 1, NULL, &one, NULL, 0, NULL, NULL));
	}
	rig_read(rig.queues[0], m, out, sizeof(out));
	for (uint32_t i = 0; i < COUNT_OF(out); i++)
		EQUAL(out[i], i / 2 * 2 * 3);
	/* the kernel may be released before the command has completed */
	uint32_t last = 999, v = 4242;
	SET(k, 1, last);
	SET(k, 2, v);
	OK(clEnqueueNDRangeKernel(rig.queues[0], k, 1, NULL, &one, NULL, 0, NULL, NULL));
	OK(clReleaseKernel(k));
	rig_read(rig.queues[0], m, out, sizeof(out));
	EQUAL(out[999], 4242);
	OK(clReleaseMemObject(m));
}

static void arguments__rejected(void)
{
	static const char source[] = "kernel void f(global uint *a, sampler_t s, uint v) { }\n"
				     "kernel void g(global uint *a, uint v) { a[0] = v; }\n";
	cl_program p = rig_program(source, NULL);
	cl_kernel f = clCreateKernel(p, "f", ERR), g = clCreateKernel(p, "g", ERR);
	cl_mem m = rig_buffer(0, 64, NULL);
	cl_sampler none = NULL;
	uint32_t v = 1;
	size_t one = 1;

	MADE(f);
	MADE(g);
	FAILS(clSetKernelArg(NULL, 0, sizeof(m), &m), CL_INVALID_KERNEL);
	FAILS(clSetKernelArg(g, 2, sizeof(v), &v), CL_INVALID_ARG_INDEX);
	FAILS(clSetKernelArg(g, 0xffffffffu, sizeof(v), &v), CL_INVALID_ARG_INDEX);
	FAILS(clSetKernelArg(g, 1, sizeof(v), NULL), CL_INVALID_ARG_VALUE);
	FAILS(clSetKernelArg(g, 0, sizeof(m) - 1, &m), CL_INVALID_ARG_SIZE);
	FAILS_BUT_POCL(clSetKernelArg(f, 1, sizeof(none), &none), CL_INVALID_SAMPLER);
	FAILS_BUT_POCL(clSetKernelArg(f, 1, sizeof(none), NULL), CL_INVALID_SAMPLER);
	FAILS(clSetKernelArg(f, 1, 1, &none), CL_INVALID_ARG_SIZE);
	SET(g, 0, m);
	FAILS(clEnqueueNDRangeKernel(rig.queues[0], g, 1, NULL, &one, NULL, 0, NULL, NULL),
	      CL_INVALID_KERNEL_ARGS);
	SET(g, 1, v);
	rig_run(rig.queues[0], g, 1);
	OK(clReleaseKernel(f));
	OK(clReleaseKernel(g));
	OK(clReleaseProgram(p));
	OK(clReleaseMemObject(m));
}

static void arguments__queries(void)
{
	static const char source[] =
		"kernel void f(global const float *in, constant int *c, local uint *l,\n"
		"              restrict global volatile uint4 *out, ulong n) { }\n";
	static const struct {
		cl_kernel_arg_address_qualifier address;
		cl_kernel_arg_type_qualifier qualifier;
		const char *type, *name;
	} wanted[] = {
		{CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_CONST, "float*", "in"},
		{CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_TYPE_CONST, "int*", "c"},
		{CL_KERNEL_ARG_ADDRESS_LOCAL, 0, "uint*", "l"},
		{CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_VOLATILE, "uint4*", "out"},
		{CL_KERNEL_ARG_ADDRESS_PRIVATE, 0, "ulong", "n"},
	};
	char text[1024];
	snprintf(text, sizeof(text), "%s", source);
	char *restricted = strstr(text, "restrict");
	memset(restricted, ' ', 8);
	cl_program p = rig_program(text, "-cl-kernel-arg-info");
	cl_kernel k = clCreateKernel(p, "f", ERR);

	MADE(k);
	for (cl_uint i = 0; i < COUNT_OF(wanted); i++) {
		cl_kernel_arg_address_qualifier address = 0;
		cl_kernel_arg_access_qualifier access = 0;
		cl_kernel_arg_type_qualifier qualifier = 77;
		OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(address),
				      &address, NULL));
		EQUAL(address, wanted[i].address);
		OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof(access), &access,
				      NULL));
		EQUAL(access, CL_KERNEL_ARG_ACCESS_NONE);
		OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof(qualifier),
				      &qualifier, NULL));
		EQUAL(qualifier, wanted[i].qualifier);
		OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_TYPE_NAME, sizeof(text), text, NULL));
		CHECK(strcmp(text, wanted[i].type) == 0);
		OK(clGetKernelArgInfo(k, i, CL_KERNEL_ARG_NAME, sizeof(text), text, NULL));
		CHECK(strcmp(text, wanted[i].name) == 0);
	}
	FAILS(clGetKernelArgInfo(k, 5, CL_KERNEL_ARG_NAME, sizeof(text), text, NULL),
	      CL_INVALID_ARG_INDEX);
	FAILS(clGetKernelArgInfo(k, 0, 0x1, sizeof(text), text, NULL), CL_INVALID_VALUE);
	FAILS(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_NAME, 1, text, NULL), CL_INVALID_VALUE);
	OK(clReleaseKernel(k));
	OK(clReleaseProgram(p));
}

static const char pair[] = "kernel void f(global int *out, int n) { *out = n; }\n";

static cl_program pair_source(void)
{
	const char *text = pair;
	cl_program p = clCreateProgramWithSource(rig.context, 1, &text, NULL, ERR);

	MADE(p);
	return p;
}

/* Kernel f and a clone of it return argument information exactly if `wanted` is set. (PoCL derives
 * some qualifiers without the option.) Releases the program. */
static void reported(cl_program p, bool wanted)
{
	static const cl_kernel_arg_info qualifiers[] = {CL_KERNEL_ARG_ADDRESS_QUALIFIER,
							CL_KERNEL_ARG_ACCESS_QUALIFIER,
							CL_KERNEL_ARG_TYPE_QUALIFIER};
	cl_kernel kernels[2] = {clCreateKernel(p, "f", ERR)};
	const cl_int answer = wanted ? CL_SUCCESS : CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
	char text[64] = "";
	cl_ulong number;

	MADE(kernels[0]);
	kernels[1] = rig.pocl ? kernels[0] : clCloneKernel(kernels[0], ERR);
	for (int i = 0; i < 2; i++) {
		cl_kernel k = kernels[i];
		for (size_t q = 0; q < COUNT_OF(qualifiers) && !rig.pocl; q++)
			FAILS(clGetKernelArgInfo(k, 0, qualifiers[q], 8, &number, NULL), answer);
		FAILS(clGetKernelArgInfo(k, 1, CL_KERNEL_ARG_TYPE_NAME, 0, NULL, NULL), answer);
		FAILS(clGetKernelArgInfo(k, 1, CL_KERNEL_ARG_NAME, 64, text, NULL), answer);
		CHECK(strcmp(text, wanted ? "n" : "") == 0);
		FAILS(clGetKernelArgInfo(k, 2, CL_KERNEL_ARG_NAME, 64, text, NULL),
		      CL_INVALID_ARG_INDEX);
	}
	OK(clReleaseKernel(kernels[0]));
	if (!rig.pocl)
		OK(clReleaseKernel(kernels[1]));
	OK(clReleaseProgram(p));
}

/* The queries succeed only if the program is built with -cl-kernel-arg-info. PoCL acts as if it
 * were given without any options, or if its text is part of another option. */
static void arguments__queries_when_built_for_it(void)
{
	reported(rig_program(pair, ""), false);
	if (!rig.pocl) {
		reported(rig_program(pair, NULL), false);
		reported(rig_program(pair, "-DX=-cl-kernel-arg-info"), false);
	}
	reported(rig_program(pair, "-w -cl-kernel-arg-info"), true);
}

static void arguments__of_binaries(void)
{
	cl_program p = rig_program(pair, "-cl-kernel-arg-info");
	size_t sizes[RIG_DEVICES_MAX] = {0};
	unsigned char *binaries[RIG_DEVICES_MAX];

	OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof(sizes), sizes, NULL));
	for (cl_uint i = 0; i < rig.device_count; i++)
		binaries[i] = rig_memory(sizes[i]);
	OK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof(binaries), binaries, NULL));
	OK(clReleaseProgram(p));
	p = clCreateProgramWithBinary(rig.context, rig.device_count, rig.devices, sizes,
				      (const unsigned char **)binaries, NULL, ERR);
	MADE(p);
	OK(clBuildProgram(p, 0, NULL, rig.pocl ? "" : "-cl-kernel-arg-info", NULL, NULL));
	reported(p, false);
}

/* For a linked program, -cl-kernel-arg-info has an effect if it was given to clCompileProgram; in
 * PoCL, if it was given to clLinkProgram. */
static void arguments__of_linked_programs(void)
{
	static const char *const options[] = {"", "-cl-kernel-arg-info"};

	for (int with = 0; with < 2; with++) {
		cl_program object = pair_source();
		OK(clCompileProgram(object, 0, NULL, options[with], 0, NULL, NULL, NULL, NULL));
		for (int link = 0; link < 2; link++) {
			cl_program p = clLinkProgram(rig.context, 0, NULL, options[link], 1,
						     &object, NULL, NULL, ERR);
			MADE(p);
			reported(p, rig.pocl ? link : with);
		}
		OK(clReleaseProgram(object));
	}
}

RIG_MAIN(CASE(arguments__each_scalar_and_vector), CASE(arguments__structs),
	 CASE(arguments__constant_and_local), CASE(arguments__null_buffers),
	 CASE(arguments__hundred_and_twenty_eight), CASE(arguments__are_copied_at_the_enqueue),
	 CASE(arguments__rejected), CASE(arguments__queries),
	 CASE(arguments__queries_when_built_for_it), CASE(arguments__of_binaries),
	 CASE(arguments__of_linked_programs))
