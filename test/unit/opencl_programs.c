/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests programs of the plugin during builds by compilers that the test controls. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/about.h>

#include "base/util.h"
#include "plugins/opencl/object/api.h"
#include "plugins/opencl/node/device.h"
#include "plugins/opencl/program/program.h"
#include "test/support/opencl/fake_fabric.h"

const cl_icd_dispatch opencl_dispatch;

static cl_device_id devices[2];
static cl_context context;

/* ---- compilers ---- */

struct dxp_program {
	uint8_t about[128];
	size_t about_bytes;
};

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
/* builds that may complete, in the order of start */
static uint32_t open_to;
static uint32_t begun;

/* built and not released */
static _Atomic uint32_t programs;

static void gate_open(uint32_t builds)
{
	pthread_mutex_lock(&gate);
	open_to = builds;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&gate);
}

static void begun_wait(uint32_t builds)
{
	pthread_mutex_lock(&gate);
	while (begun < builds)
		pthread_cond_wait(&changed, &gate);
	pthread_mutex_unlock(&gate);
}

static void record_add(struct dxp_program *p, uint32_t tag, const void *data, uint32_t bytes)
{
	uint8_t *at = p->about + p->about_bytes;

	for (int i = 0; i < 4; i++) {
		at[i] = (uint8_t)(tag >> (8 * i));
		at[4 + i] = (uint8_t)(bytes >> (8 * i));
	}
	memcpy(at + 8, data, bytes);
	p->about_bytes += 8 + bytes;
}

/* One kernel "f" with argument "int n"; an object file has none. */
static void about_make(struct dxp_program *p, enum dxp_program_kind kind)
{
	static const uint8_t argument[28] = {0x9e, 0x11,     0,          0,   0xa3, 0x11, 0,
					     0,    [16] = 4, [20] = 'i', 'n', 't',  0,    'n'};
	const uint8_t object[4] = {CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT};
	const uint8_t executable[4] = {CL_PROGRAM_BINARY_TYPE_EXECUTABLE};

	if (kind == DXP_PROGRAM_COMPILE) {
		record_add(p, DXP_ABOUT_BINARY_TYPE, object, 4);
		return;
	}
	record_add(p, DXP_ABOUT_BINARY_TYPE, executable, 4);
	record_add(p, DXP_ABOUT_KERNEL, "f", 1);
	record_add(p, DXP_ABOUT_ARGUMENT, argument, 26);
}

int dxp_program_create(struct dxp_xpu *xpu, const struct dxp_program_source *source,
		       struct dxp_program **out)
{
	struct dxp_program *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	programs++;
	about_make(p, source->kind);
	pthread_mutex_lock(&gate);
	const uint32_t own = begun++;
	pthread_cond_broadcast(&changed);
	while (own >= open_to)
		pthread_cond_wait(&changed, &gate);
	pthread_mutex_unlock(&gate);
	*out = p;
	return DXP_OK;
}

const char *dxp_program_log(const struct dxp_program *program)
{
	return "";
}

const void *dxp_program_about(const struct dxp_program *program, size_t *bytes)
{
	*bytes = program->about_bytes;
	return program->about;
}

int dxp_program_binary(const struct dxp_program *program, void **out, size_t *bytes)
{
	*out = calloc(1, 4);
	*bytes = 4;
	return *out ? DXP_OK : DXP_ENOMEM;
}

int dxp_program_profile(const struct dxp_program *program, void **out, size_t *bytes)
{
	return DXP_EUNSUPPORTED;
}

void dxp_program_release(struct dxp_program *program)
{
	free(program);
	programs--;
}

/* ---- helpers of the cases ---- */

#define ALL UINT32_MAX

static int setup(void **state)
{
	cl_int error;
	cl_uint count = 0;

	begun = 0;
	gate_open(ALL);
	assert_int_equal(dxp_clGetDeviceIDs(NULL, CL_DEVICE_TYPE_ALL, 2, devices, &count), 0);
	assert_int_equal(count, 2);
	context = dxp_clCreateContext(NULL, 2, devices, NULL, NULL, &error);
	assert_non_null(context);
	return 0;
}

static int teardown(void **state)
{
	gate_open(ALL);
	/* a thread of the plugin releases them; a failed test may leave some */
	for (int i = 0; programs > 0 && i < 50000; i++)
		usleep(200);
	assert_int_equal(programs, 0);
	assert_int_equal(dxp_clReleaseContext(context), CL_SUCCESS);
	return 0;
}

static cl_program program(void)
{
	const char *text = "kernel void f(int n) {}";
	cl_program p = dxp_clCreateProgramWithSource(context, 1, &text, NULL, NULL);

	assert_non_null(p);
	return p;
}

static cl_build_status status_of(cl_program p, int device)
{
	cl_build_status status = 77;

	assert_int_equal(dxp_clGetProgramBuildInfo(p, devices[device], CL_PROGRAM_BUILD_STATUS,
						   sizeof(status), &status, NULL),
			 CL_SUCCESS);
	return status;
}

/* Number of calls of a callback, and the program's state during the last call. */
struct delivered {
	_Atomic int count;
	cl_kernel kernel;
	cl_int error;
	cl_uint references;
	bool queries;
};

static void CL_CALLBACK deliver(cl_program p, void *data)
{
	struct delivered *t = data;

	dxp_clGetProgramInfo(p, CL_PROGRAM_REFERENCE_COUNT, sizeof(t->references), &t->references,
			     NULL);
	if (t->queries)
		t->kernel = dxp_clCreateKernel(p, "f", &t->error);
	t->count++;
}

static void delivered_wait(const struct delivered *t)
{
	while (t->count == 0)
		usleep(200);
	assert_int_equal(t->count, 1);
}

/* 20 ms later, so a call that does not wait fails earlier. */
struct later {
	uint32_t builds;
	pthread_t thread;
};

static void *later_main(void *context_)
{
	usleep(20000);
	gate_open(((const struct later *)context_)->builds);
	return NULL;
}

static void later_open(struct later *l, uint32_t builds)
{
	l->builds = builds;
	assert_int_equal(pthread_create(&l->thread, NULL, later_main, l), 0);
}

static void later_join(struct later *l)
{
	pthread_join(l->thread, NULL);
}

/* ---- outstanding builds ---- */

/* The status is available at once; calls that need kernels wait. */
static void building__kernels_wait(void **state)
{
	struct delivered t = {0};
	struct later later;
	cl_program p = program();
	cl_int error = 1;
	cl_uint count = 0;
	size_t number = 0, sizes[2] = {0};

	gate_open(0);
	assert_int_equal(dxp_clBuildProgram(p, 0, NULL, "", deliver, &t), CL_SUCCESS);
	begun_wait(2);
	assert_int_equal(status_of(p, 0), CL_BUILD_IN_PROGRESS);
	assert_int_equal(status_of(p, 1), CL_BUILD_IN_PROGRESS);
	assert_int_equal(dxp_clBuildProgram(p, 0, NULL, "", NULL, NULL), CL_INVALID_OPERATION);
	assert_int_equal(dxp_clCompileProgram(p, 0, NULL, "", 0, NULL, NULL, NULL, NULL),
			 CL_INVALID_OPERATION);
	assert_null(dxp_clLinkProgram(context, 0, NULL, "", 1, &p, NULL, NULL, &error));
	assert_int_equal(error, CL_INVALID_OPERATION);
	later_open(&later, ALL);
	cl_kernel k = dxp_clCreateKernel(p, "f", &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(status_of(p, 1), CL_BUILD_SUCCESS);
	delivered_wait(&t);
	later_join(&later);
	dxp_clReleaseKernel(k);

	gate_open(2);
	assert_int_equal(dxp_clBuildProgram(p, 0, NULL, "-DX", deliver, &t), CL_SUCCESS);
	begun_wait(4);
	later_open(&later, ALL);
	assert_int_equal(dxp_clCreateKernelsInProgram(p, 0, NULL, &count), CL_SUCCESS);
	assert_int_equal(count, 1);
	later_join(&later);

	gate_open(4);
	assert_int_equal(dxp_clBuildProgram(p, 0, NULL, "-DY", deliver, &t), CL_SUCCESS);
	begun_wait(6);
	later_open(&later, ALL);
	assert_int_equal(
		dxp_clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof(number), &number, NULL),
		CL_SUCCESS);
	assert_int_equal(number, 1);
	later_join(&later);

	gate_open(6);
	assert_int_equal(dxp_clBuildProgram(p, 0, NULL, "-DZ", deliver, &t), CL_SUCCESS);
	begun_wait(8);
	later_open(&later, ALL);
	assert_int_equal(
		dxp_clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof(sizes), sizes, NULL),
		CL_SUCCESS);
	assert_true(sizes[0] > 0 && sizes[1] > 0);
	later_join(&later);
	while (t.count < 4)
		usleep(200);
	dxp_clReleaseProgram(p);
}

/* A callback waits for builds of the other call, but not of its own. */
static void building__callbacks_wait_for_others(void **state)
{
	struct delivered first = {.queries = true}, second = {.queries = true};
	cl_ulong bytes;
	cl_program p = program();

	gate_open(0);
	assert_int_equal(dxp_clBuildProgram(p, 1, &devices[0], "", deliver, &first), CL_SUCCESS);
	begun_wait(1);
	assert_int_equal(dxp_clBuildProgram(p, 1, &devices[1], "", deliver, &second), CL_SUCCESS);
	begun_wait(2);
	gate_open(1);
	while (status_of(p, 0) != CL_BUILD_SUCCESS)
		usleep(200);
	assert_int_equal(status_of(p, 1), CL_BUILD_IN_PROGRESS);
	gate_open(ALL);
	delivered_wait(&first);
	delivered_wait(&second);
	assert_int_equal(first.error, CL_SUCCESS);
	assert_int_equal(second.error, CL_SUCCESS);
	/* both were complete, so its kernel is on both devices */
	for (int i = 0; i < 2; i++)
		assert_int_equal(dxp_clGetKernelWorkGroupInfo(first.kernel, devices[i],
							      CL_KERNEL_LOCAL_MEM_SIZE,
							      sizeof(bytes), &bytes, NULL),
				 CL_SUCCESS);
	dxp_clReleaseKernel(first.kernel);
	dxp_clReleaseKernel(second.kernel);
	dxp_clReleaseProgram(p);
}

static void building__released(void **state)
{
	struct delivered t = {.references = 77, .queries = true};
	cl_program p = program();

	gate_open(0);
	assert_int_equal(dxp_clBuildProgram(p, 0, NULL, "", deliver, &t), CL_SUCCESS);
	assert_int_equal(dxp_clReleaseProgram(p), CL_SUCCESS);
	assert_int_equal(dxp_clReleaseProgram(p), CL_INVALID_PROGRAM);
	gate_open(ALL);
	delivered_wait(&t);
	assert_int_equal(t.references, 0);
	assert_int_equal(t.error, CL_SUCCESS);
	dxp_clReleaseKernel(t.kernel);
}

/* ---- arguments ---- */

static cl_int argument_name(cl_program p)
{
	char name[8] = "";
	cl_int error;
	cl_kernel k = dxp_clCreateKernel(p, "f", &error);

	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(dxp_clGetKernelArgInfo(k, 1, CL_KERNEL_ARG_NAME, 8, name, NULL),
			 CL_INVALID_ARG_INDEX);
	error = dxp_clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_NAME, sizeof(name), name, NULL);
	assert_string_equal(name, error == CL_SUCCESS ? "n" : "");
	dxp_clReleaseKernel(k);
	return error;
}

static void arguments__of_builds_with_argument_info(void **state)
{
	static const char *const option = "-cl-kernel-arg-info";
	cl_program p = program(), inputs[2] = {program(), program()};

	assert_int_equal(dxp_clBuildProgram(p, 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
	assert_int_equal(argument_name(p), CL_KERNEL_ARG_INFO_NOT_AVAILABLE);
	assert_int_equal(dxp_clBuildProgram(p, 0, NULL, option, NULL, NULL), CL_SUCCESS);
	assert_int_equal(argument_name(p), CL_SUCCESS);
	dxp_clReleaseProgram(p);
	for (int with = 0; with < 2; with++) {
		assert_int_equal(dxp_clCompileProgram(inputs[0], 0, NULL, with ? option : "", 0,
						      NULL, NULL, NULL, NULL),
				 CL_SUCCESS);
		assert_int_equal(
			dxp_clCompileProgram(inputs[1], 0, NULL, "", 0, NULL, NULL, NULL, NULL),
			CL_SUCCESS);
		p = dxp_clLinkProgram(context, 0, NULL, option, 2, inputs, NULL, NULL, NULL);
		assert_non_null(p);
		assert_int_equal(argument_name(p),
				 with ? CL_SUCCESS : CL_KERNEL_ARG_INFO_NOT_AVAILABLE);
		dxp_clReleaseProgram(p);
	}
	dxp_clReleaseProgram(inputs[0]);
	dxp_clReleaseProgram(inputs[1]);
}

/* ---- fork ---- */

/* No build completes in a child, which has no thread of the parent, so it must not wait. Must be
 * last, as the parent's devices stay open. */
static void building__forked(void **state)
{
	struct delivered t = {0};
	cl_program p = program();
	int status = -1;

	gate_open(0);
	assert_int_equal(dxp_clBuildProgram(p, 0, NULL, "", deliver, &t), CL_SUCCESS);
	begun_wait(2);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		cl_int error = CL_SUCCESS;
		alarm(30);
		dxp_clCreateKernel(p, "f", &error);
		_exit(error == CL_INVALID_PROGRAM_EXECUTABLE ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	gate_open(ALL);
	delivered_wait(&t);
	assert_int_equal(status_of(p, 0), CL_BUILD_SUCCESS);
	dxp_clReleaseProgram(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(building__kernels_wait), TEST(building__callbacks_wait_for_others),
		TEST(building__released),     TEST(arguments__of_builds_with_argument_info),
		TEST(building__forked),
	};

	fake_node(64 << 20, true);
	fake_node(64 << 20, true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
