/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests handles of objects, settings, and information about platform and devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/opencl/object/api.h"
#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/object.h"
#include "test/support/opencl/fake_fabric.h"

const cl_icd_dispatch opencl_dispatch;

static uint32_t ended;

static void end(void *handle)
{
	ended++;
}

struct thing {
	struct object object;
	int value;
};

static void object__ends_without_references_and_holds(void **state)
{
	object_end_with(OBJECT_SAMPLER, end);
	struct thing *t = object_new(OBJECT_SAMPLER, sizeof(*t));
	assert_true(object_is(t, OBJECT_SAMPLER));
	assert_false(object_is(t, OBJECT_KERNEL));
	assert_false(object_is(NULL, OBJECT_SAMPLER));
	assert_false(object_is((char *)t + 1, OBJECT_SAMPLER));
	object_hold(t);
	object_retain(t);
	object_release(t);
	assert_true(object_is(t, OBJECT_SAMPLER));
	object_release(t);
	assert_false(object_is(t, OBJECT_SAMPLER));
	assert_int_equal(ended, 0);
	object_drop(t);
	assert_int_equal(ended, 1);
	object_hold(NULL);
	object_drop(NULL);
}

/* A stale handle is rejected even after other objects of its kind were created. */
static void object__stale_handle_is_reported(void **state)
{
	struct thing *t = object_new(OBJECT_PROGRAM, sizeof(*t)), *others[32];

	t->value = 5;
	object_release(t);
	for (int i = 0; i < 32; i++)
		others[i] = object_new(OBJECT_PROGRAM, sizeof(*t));
	assert_false(object_is(t, OBJECT_PROGRAM));
	for (int i = 0; i < 200; i++) {
		struct thing *n = object_new(OBJECT_PROGRAM, sizeof(*t));
		assert_int_equal(n->value, 0);
		assert_int_equal(n->object.references, 1);
	}
	for (int i = 0; i < 32; i++)
		object_release(others[i]);
}

static void info__sizes(void **state)
{
	char text[4] = "xxx";
	size_t size = 0;
	struct info queries = {0, NULL, &size}, small = {2, text, &size}, fits = {3, text, NULL};

	assert_int_equal(result_text(&queries, "ab"), CL_SUCCESS);
	assert_int_equal(size, 3);
	size = 99;
	assert_int_equal(result_text(&small, "ab"), CL_INVALID_VALUE);
	assert_int_equal(size, 99);
	assert_string_equal(text, "xxx");
	assert_int_equal(result_text(&fits, "ab"), CL_SUCCESS);
	assert_string_equal(text, "ab");
}

static void settings__texts(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
		bool valid;
	} cases[] = {{"0", 0, true},
		     {"1048576", 1048576, true},
		     {"512M", 512ull << 20, true},
		     {"2GiB", 2ull << 30, true},
		     {"1k", 1024, true},
		     {"3TB", 3ull << 40, true},
		     {"", 0, false},
		     {"-1", 0, false},
		     {"M", 0, false},
		     {"12X", 0, false},
		     {"1 G", 0, false},
		     {"99999999999T", 0, false},
		     {"99999999999999999999", 0, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t bytes = 77;
		assert_int_equal(settings_bytes(cases[i].text, &bytes), cases[i].valid);
		assert_int_equal(bytes, cases[i].valid ? cases[i].bytes : 77);
	}
	assert_int_equal(settings_names("a,bc,d", "bc"), 2);
	assert_int_equal(settings_names("a,bc,d", "d"), 3);
	assert_int_equal(settings_names("a,bc,d", "b"), 0);
	assert_int_equal(settings_names("a,bc,d", "bcd"), 0);
	assert_int_equal(settings_names("", "a"), 0);
	cl_device_type type = 0;
	assert_true(settings_type("gpu", &type));
	assert_int_equal(type, CL_DEVICE_TYPE_GPU);
	assert_false(settings_type("gp", &type));
}

static void platform__speaks_to_loaders(void **state)
{
	char text[256];
	size_t size = 0;

	assert_int_equal(dxp_clGetPlatformInfo(platform_get(), CL_PLATFORM_ICD_SUFFIX_KHR,
					       sizeof(text), text, &size),
			 CL_SUCCESS);
	assert_string_equal(text, "DXP");
	assert_int_equal(size, 4);
	assert_int_equal(
		dxp_clGetPlatformInfo(NULL, CL_PLATFORM_EXTENSIONS, sizeof(text), text, NULL), 0);
	assert_non_null(strstr(text, "cl_khr_icd"));
	assert_int_equal(dxp_clGetPlatformInfo((cl_platform_id)text, CL_PLATFORM_NAME, sizeof(text),
					       text, NULL),
			 CL_INVALID_PLATFORM);
	assert_int_equal(dxp_clGetPlatformInfo(NULL, 1, sizeof(text), text, NULL),
			 CL_INVALID_VALUE);
}

static cl_device_id first(void)
{
	cl_device_id d = NULL;

	assert_int_equal(dxp_clGetDeviceIDs(platform_get(), CL_DEVICE_TYPE_ALL, 1, &d, NULL), 0);
	return d;
}

static void device__ids(void **state)
{
	cl_device_id list[4];
	cl_uint count = 9;

	/* the third node is not an OpenCL device */
	assert_int_equal(dxp_clGetDeviceIDs(NULL, CL_DEVICE_TYPE_CPU, 4, list, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(dxp_clGetDeviceIDs(NULL, CL_DEVICE_TYPE_DEFAULT, 4, list, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(dxp_clGetDeviceIDs(NULL, CL_DEVICE_TYPE_GPU, 4, list, &count),
			 CL_DEVICE_NOT_FOUND);
	assert_int_equal(dxp_clGetDeviceIDs(NULL, CL_DEVICE_TYPE_CUSTOM, 4, list, &count),
			 CL_DEVICE_NOT_FOUND);
	assert_int_equal(dxp_clGetDeviceIDs(NULL, 0, 4, list, &count), CL_INVALID_DEVICE_TYPE);
	assert_int_equal(dxp_clGetDeviceIDs(NULL, CL_DEVICE_TYPE_ALL, 0, list, &count),
			 CL_INVALID_VALUE);
	assert_int_equal(dxp_clGetDeviceIDs(NULL, CL_DEVICE_TYPE_ALL, 0, NULL, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(
		dxp_clGetDeviceIDs((cl_platform_id)list, CL_DEVICE_TYPE_ALL, 1, list, &count),
		CL_INVALID_PLATFORM);
}

static void device__own_extensions(void **state)
{
	cl_device_id d = first();
	cl_ulong bytes = 0;
	char text[200];
	size_t size = 0;
	cl_bool flag = 9;

	dxp_clGetDeviceInfo(d, CL_DEVICE_NAME, sizeof(text), text, NULL);
	assert_string_equal(text, "Fake 1 on n1");
	dxp_clGetDeviceInfo(d, CL_DEVICE_EXTENSIONS, sizeof(text), text, &size);
	assert_string_equal(text,
			    "cl_khr_fp64 cl_khr_int64_base_atomics cl_khr_image2d_from_buffer");
	assert_int_equal(size, strlen(text) + 1);
	dxp_clGetDeviceInfo(d, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(bytes), &bytes, NULL);
	assert_int_equal(bytes, 256u << 20);
	dxp_clGetDeviceInfo(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(bytes), &bytes, NULL);
	assert_int_equal(bytes, 128u << 20);
	dxp_clGetDeviceInfo(d, CL_DEVICE_AVAILABLE, sizeof(flag), &flag, NULL);
	assert_int_equal(flag, CL_TRUE);
	dxp_clGetDeviceInfo(d, CL_DEVICE_SVM_CAPABILITIES, sizeof(bytes), &bytes, NULL);
	assert_int_equal(bytes, 0);
	assert_int_equal(dxp_clGetDeviceInfo(d, CL_DEVICE_NAME, 3, text, NULL), CL_INVALID_VALUE);
	assert_int_equal(dxp_clGetDeviceInfo(d, 0x7777, sizeof(text), text, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(dxp_clGetDeviceInfo(NULL, CL_DEVICE_NAME, sizeof(text), text, NULL),
			 CL_INVALID_DEVICE);
}

/* Values that a node does not report are not invented. */
static void device__values_of_the_node(void **state)
{
	cl_device_id d = first();
	cl_device_type type = 0;
	cl_uint width;

	assert_int_equal(dxp_clGetDeviceInfo(d, CL_DEVICE_TYPE, sizeof(type), &type, NULL), 0);
	assert_int_equal(type, CL_DEVICE_TYPE_CPU);
	assert_int_equal(device_uint(d, CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, 3), 3);
	assert_int_equal(dxp_clGetDeviceInfo(d, CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, sizeof(width),
					     &width, NULL),
			 CL_INVALID_VALUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(object__ends_without_references_and_holds),
		cmocka_unit_test(object__stale_handle_is_reported),
		cmocka_unit_test(info__sizes),
		cmocka_unit_test(settings__texts),
		cmocka_unit_test(platform__speaks_to_loaders),
		cmocka_unit_test(device__ids),
		cmocka_unit_test(device__own_extensions),
		cmocka_unit_test(device__values_of_the_node),
	};

	fake_node(256u << 20, true);
	fake_node(256u << 20, true);
	fake_node(256u << 20, false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
