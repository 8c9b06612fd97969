/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests programs: build, callbacks, queries, rejections. */
#include "program.h"

static void programs__options(void)
{
	cl_program p = from_text(simple);
	char options[256] = "";

	EQUAL(build_status(p, 0), CL_BUILD_NONE);
	OK(clBuildProgram(p, 0, NULL, "-DVALUE=41", NULL, NULL));
	has_text(p, 41);
	OK(clBuildProgram(p, 0, NULL, "-D VALUE=42 -cl-fast-relaxed-math -w", NULL, NULL));
	has_text(p, 42);
	OK(clGetProgramBuildInfo(p, rig.devices[0], CL_PROGRAM_BUILD_OPTIONS, sizeof(options),
				 options, NULL));
	CHECK(strcmp(options, "-D VALUE=42 -cl-fast-relaxed-math -w") == 0);
	EQUAL(build_status(p, 0), CL_BUILD_SUCCESS);
	if (!rig.pocl) { /* PoCL rejects the last of these options */
		static const char all[] = "-DVALUE=43 -cl-uniform-work-group-size "
					  "-cl-no-subgroup-ifp";
		OK(clBuildProgram(p, 0, NULL, all, NULL, NULL));
		has_text(p, 43);
		OK(clGetProgramBuildInfo(p, rig.devices[0], CL_PROGRAM_BUILD_OPTIONS,
					 sizeof(options), options, NULL));
		CHECK(strcmp(options, all) == 0);
	}
	FAILS(clBuildProgram(p, 0, NULL, "-no-such-option-at-all", NULL, NULL),
	      CL_INVALID_BUILD_OPTIONS);
	OK(clReleaseProgram(p));
}

static void programs__from_many_strings(void)
{
	const char *parts[] = {"kernel void f(global", " uint *a) { a[get_glo",
			       "bal_id(0)] = 17; }", "garbage that is not counted"};
	size_t lengths[] = {0, 21, strlen(parts[2]), 0};
	cl_program p = clCreateProgramWithSource(rig.context, 3, parts, lengths, ERR);
	size_t bytes = 0;

	MADE(p);
	OK(clGetProgramInfo(p, CL_PROGRAM_SOURCE, 0, NULL, &bytes));
	char *text = rig_memory(bytes);
	OK(clGetProgramInfo(p, CL_PROGRAM_SOURCE, bytes, text, NULL));
	CHECK(strcmp(text, "kernel void f(global uint *a) { a[get_global_id(0)] = 17; }") == 0);
	EQUAL(bytes, strlen(text) + 1);
	OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
	has_text(p, 17);
	OK(clReleaseProgram(p));
	const char *none[] = {NULL};
	REJECTED(clCreateProgramWithSource(rig.context, 1, none, NULL, ERR), CL_INVALID_VALUE);
	REJECTED(clCreateProgramWithSource(rig.context, 0, parts, NULL, ERR), CL_INVALID_VALUE);
	REJECTED(clCreateProgramWithSource(NULL, 1, parts, NULL, ERR), CL_INVALID_CONTEXT);
}

static void programs__that_do_not_compile(void)
{
	cl_program p = from_text(broken);

	FAILS(clBuildProgram(p, 0, NULL, NULL, NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
	EQUAL(build_status(p, 0), CL_BUILD_ERROR);
	CHECK(strstr(build_log(p, 0), "not_there_at_all"));
	REJECTED(clCreateKernel(p, "f", ERR), CL_INVALID_PROGRAM_EXECUTABLE);
	OK(clReleaseProgram(p));
	p = from_text("#error a long way to go\n");
	FAILS(clBuildProgram(p, 1, &rig.devices[rig.device_count - 1], NULL, NULL, NULL),
	      CL_BUILD_PROGRAM_FAILURE);
	CHECK(strstr(build_log(p, rig.device_count - 1), "a long way to go"));
	OK(clReleaseProgram(p));
}

/* A build log with 60 warnings and an error is complete. */
static void programs__with_long_logs(void)
{
	char *text = rig_memory(100000);
	size_t at = 0;

	for (int i = 0; i < 60; i++)
		at += (size_t)snprintf(text + at, 100000 - at, "#warning remark_%d_%0200d\n", i, i);
	snprintf(text + at, 100000 - at, "kernel void f(global uint *a) { a[0] = oops; }\n");
	cl_program p = from_text(text);
	FAILS(clBuildProgram(p, 0, NULL, NULL, NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
	const char *log = build_log(p, 0);
	CHECK(strstr(log, "remark_0_") && strstr(log, "remark_59_") && strstr(log, "oops"));
	OK(clReleaseProgram(p));
}

static void CL_CALLBACK built(cl_program p, void *user)
{
	++*(volatile int *)user;
}

static void programs__callbacks(void)
{
	cl_program good = from_text(simple), bad = from_text(broken);
	volatile int count = 0;

	OK(clBuildProgram(good, 0, NULL, "-DVALUE=5", built, (void *)&count));
	clBuildProgram(bad, 0, NULL, NULL, built, (void *)&count);
	for (uint64_t end = rig_now_ns() + 20000000000u; count < 2 && rig_now_ns() < end;)
		usleep(1000);
	EQUAL(count, 2);
	EQUAL(build_status(good, 0), CL_BUILD_SUCCESS);
	EQUAL(build_status(bad, 0), CL_BUILD_ERROR);
	FAILS(clBuildProgram(good, 0, NULL, NULL, NULL, (void *)&count), CL_INVALID_VALUE);
	OK(clReleaseProgram(good));
	OK(clReleaseProgram(bad));
}

static cl_program begun(const char *options, int *count)
{
	cl_program p = from_text(simple);

	OK(clBuildProgram(p, 0, NULL, options, built, count));
	return p;
}

static void until_built(volatile int *count)
{
	for (uint64_t end = rig_now_ns() + 20000000000u; !*count && rig_now_ns() < end;)
		usleep(1000);
	EQUAL(*count, 1);
}

/* Calls that need the result of a build wait for it; status and options can be queried at once. */
static void programs__queried_while_they_are_built(void)
{
	static int count[4];
	cl_uint kernels = 0;
	size_t number = 0, sizes[RIG_DEVICES_MAX] = {0};
	char text[64] = "";

	cl_program p = begun("-DVALUE=51", &count[0]);
	cl_build_status status = build_status(p, 0);
	CHECK(status == CL_BUILD_IN_PROGRESS || status == CL_BUILD_SUCCESS);
	OK(clGetProgramBuildInfo(p, rig.devices[0], CL_PROGRAM_BUILD_OPTIONS, sizeof(text), text,
				 NULL));
	CHECK(strcmp(text, "-DVALUE=51") == 0);
	has_text(p, 51);
	EQUAL(build_status(p, 0), CL_BUILD_SUCCESS);
	until_built(&count[0]);
	OK(clReleaseProgram(p));

	p = begun("-DVALUE=52", &count[1]);
	OK(clCreateKernelsInProgram(p, 0, NULL, &kernels));
	EQUAL(kernels, 1);
	until_built(&count[1]);
	OK(clReleaseProgram(p));

	p = begun("-DVALUE=53", &count[2]);
	OK(clGetProgramInfo(p, CL_PROGRAM_KERNEL_NAMES, sizeof(text), text, NULL));
	CHECK(strcmp(text, "f") == 0);
	OK(clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof(number), &number, NULL));
	EQUAL(number, 1);
	until_built(&count[2]);
	OK(clReleaseProgram(p));

	p = begun("-DVALUE=54", &count[3]);
	OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof(sizes), sizes, NULL));
	for (cl_uint i = 0; i < rig.device_count; i++)
		CHECK(sizes[i] > 0);
	until_built(&count[3]);
	OK(clReleaseProgram(p));
}

struct inside {
	volatile int count;
	cl_int error;
	cl_kernel kernel;
	bool release;
};

/* Makes two calls that wait for a build, from inside the callback of this build. */
static void CL_CALLBACK use_inside(cl_program p, void *user)
{
	struct inside *in = user;
	size_t number = 0;

	in->kernel = clCreateKernel(p, "f", &in->error);
	if (in->error == CL_SUCCESS)
		in->error =
			clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof(number), &number, NULL);
	if (in->release)
		clReleaseProgram(p);
	in->count++;
}

static void programs__used_in_their_callbacks(void)
{
	static struct inside good, bad, last = {.release = true};
	cl_program p = from_text(simple), q = from_text(broken), r = from_text(simple);

	OK(clBuildProgram(p, 0, NULL, "-DVALUE=55", use_inside, &good));
	clBuildProgram(q, 0, NULL, NULL, use_inside, &bad);
	OK(clBuildProgram(r, 0, NULL, "-DVALUE=56", use_inside, &last));
	until_built(&good.count);
	until_built(&bad.count);
	until_built(&last.count);
	OK(good.error);
	OK(last.error);
	FAILS(bad.error, CL_INVALID_PROGRAM_EXECUTABLE);
	OK(clReleaseKernel(good.kernel));
	OK(clReleaseKernel(last.kernel));
	OK(clReleaseProgram(p));
	OK(clReleaseProgram(q));
}

/* A program that is released during its build exists until its callback has run. */
static void programs__released_while_they_are_built(void)
{
	static int count;
	cl_program p = begun("-DVALUE=57", &count);

	OK(clReleaseProgram(p));
	until_built(&count);
}

static void programs__queries(void)
{
	cl_program p = rig_program(simple, "-DVALUE=1");
	cl_uint count = 0;
	cl_context c = NULL;
	cl_device_id devices[RIG_DEVICES_MAX];
	size_t sizes[RIG_DEVICES_MAX] = {0}, bytes = 0;
	cl_program_binary_type type = 0;

	OK(clGetProgramInfo(p, CL_PROGRAM_REFERENCE_COUNT, sizeof(count), &count, NULL));
	EQUAL(count, 1);
	OK(clRetainProgram(p));
	OK(clReleaseProgram(p));
	OK(clGetProgramInfo(p, CL_PROGRAM_CONTEXT, sizeof(c), &c, NULL));
	CHECK(c == rig.context);
	OK(clGetProgramInfo(p, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, NULL));
	EQUAL(count, rig.device_count);
	OK(clGetProgramInfo(p, CL_PROGRAM_DEVICES, sizeof(devices), devices, &bytes));
	EQUAL(bytes, count * sizeof(devices[0]));
	CHECK(memcmp(devices, rig.devices, bytes) == 0);
	OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof(sizes), sizes, &bytes));
	EQUAL(bytes, count * sizeof(sizes[0]));
	OK(clGetProgramBuildInfo(p, rig.devices[0], CL_PROGRAM_BINARY_TYPE, sizeof(type), &type,
				 NULL));
	EQUAL(type, CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
	FAILS(clGetProgramInfo(p, 0x1, sizeof(count), &count, NULL), CL_INVALID_VALUE);
	FAILS(clGetProgramInfo(p, CL_PROGRAM_NUM_DEVICES, 1, &count, NULL), CL_INVALID_VALUE);
	FAILS(clGetProgramInfo(NULL, CL_PROGRAM_NUM_DEVICES, 4, &count, NULL), CL_INVALID_PROGRAM);
	FAILS(clGetProgramBuildInfo(p, rig.devices[0], 0x1, sizeof(type), &type, NULL),
	      CL_INVALID_VALUE);
	FAILS(clGetProgramBuildInfo(p, NULL, CL_PROGRAM_BUILD_STATUS, sizeof(type), &type, NULL),
	      CL_INVALID_DEVICE);
	OK(clReleaseProgram(p));
	p = from_text(simple);
	FAILS(clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof(bytes), &bytes, NULL),
	      CL_INVALID_PROGRAM_EXECUTABLE);
	REJECTED(clCreateKernel(p, "f", ERR), CL_INVALID_PROGRAM_EXECUTABLE);
	OK(clReleaseProgram(p));
}

static void programs__rejected(void)
{
	cl_program p = from_text(simple);
	cl_device_id none = NULL;

	FAILS(clBuildProgram(NULL, 0, NULL, NULL, NULL, NULL), CL_INVALID_PROGRAM);
	FAILS(clBuildProgram(p, 1, NULL, NULL, NULL, NULL), CL_INVALID_VALUE);
	FAILS(clBuildProgram(p, 0, rig.devices, NULL, NULL, NULL), CL_INVALID_VALUE);
	FAILS_BUT_POCL(clBuildProgram(p, 1, &none, NULL, NULL, NULL), CL_INVALID_DEVICE);
	FAILS(clRetainProgram(NULL), CL_INVALID_PROGRAM);
	FAILS(clReleaseProgram(NULL), CL_INVALID_PROGRAM);
	OK(clBuildProgram(p, 0, NULL, "-DVALUE=1", NULL, NULL));
	cl_kernel k = clCreateKernel(p, "f", ERR);
	MADE(k);
	FAILS(clBuildProgram(p, 0, NULL, "-DVALUE=2", NULL, NULL), CL_INVALID_OPERATION);
	OK(clReleaseKernel(k));
	OK(clReleaseProgram(p));
}

/* Any number of programs may exist. On PoCL only two, because each takes 30 ms. */
static void programs__three_hundred_live(void)
{
	enum { COUNT = 300 };
	static cl_program programs[COUNT];
	const int count = rig.pocl ? 2 : COUNT;

	for (int i = 0; i < count; i++) {
		programs[i] = from_text(simple);
		OK(clBuildProgram(programs[i], 1, rig.devices, "-DVALUE=60", NULL, NULL));
	}
	for (int i = 0; i < count; i += count - 1) {
		cl_uint out = 0;
		cl_kernel k = clCreateKernel(programs[i], "f", ERR);
		MADE(k);
		cl_mem m = rig_buffer(0, sizeof(out), NULL);
		SET(k, 0, m);
		rig_run(rig.queues[0], k, 1);
		rig_read(rig.queues[0], m, &out, sizeof(out));
		EQUAL(out, 60);
		OK(clReleaseMemObject(m));
		OK(clReleaseKernel(k));
	}
	for (int i = 0; i < count; i++)
		OK(clReleaseProgram(programs[i]));
}

RIG_MAIN(CASE(programs__options), CASE(programs__from_many_strings),
	 CASE(programs__that_do_not_compile), CASE(programs__with_long_logs),
	 CASE(programs__callbacks), CASE(programs__queried_while_they_are_built),
	 CASE(programs__used_in_their_callbacks), CASE(programs__released_while_they_are_built),
	 CASE(programs__queries), CASE(programs__rejected), CASE(programs__three_hundred_live))
