/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests bytes per pixel and packed colours of image formats. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "plugins/opencl/memory/memory.h"

const cl_icd_dispatch opencl_dispatch;

static void opencl_format__bytes(void **state)
{
	static const struct {
		cl_channel_order order;
		cl_channel_type type;
		size_t bytes;
	} rows[] = {
		{CL_RGBA, CL_UNORM_INT8, 4},
		{CL_RGBA, CL_FLOAT, 16},
		{CL_RGBA, CL_HALF_FLOAT, 8},
		{CL_R, CL_SIGNED_INT8, 1},
		{CL_RG, CL_UNSIGNED_INT16, 4},
		{CL_BGRA, CL_UNORM_INT8, 4},
		{CL_RGB, CL_UNORM_SHORT_565, 2},
		{CL_RGB, CL_UNORM_INT_101010, 4},
		{CL_DEPTH, CL_FLOAT, 4},
		{CL_DEPTH, CL_UNORM_INT16, 2},
		{CL_sRGBA, CL_UNORM_INT8, 4},
		{CL_INTENSITY, CL_FLOAT, 4},
		{CL_RGBA, CL_UNORM_INT_101010_2, 4},
		/* size 0: undefined in OpenCL */
		{CL_RGB, CL_UNORM_INT8, 0},
		{CL_BGRA, CL_FLOAT, 0},
		{CL_INTENSITY, CL_SIGNED_INT32, 0},
		{CL_RGBA, CL_UNORM_SHORT_565, 0},
		{CL_DEPTH, CL_UNORM_INT8, 0},
		{CL_sRGBA, CL_FLOAT, 0},
		{0, CL_FLOAT, 0},
		{CL_RGBA, 0, 0},
		{CL_RGBA, 0xffffffffu, 0},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const cl_image_format f = {rows[i].order, rows[i].type};
		assert_int_equal(format_bytes(&f), rows[i].bytes);
	}
}

static void check(cl_channel_order order, cl_channel_type type, const void *color, size_t bytes,
		  const char *expected)
{
	const cl_image_format f = {order, type};
	uint8_t pixel[16];

	assert_int_equal(format_bytes(&f), bytes);
	assert_int_equal(format_pack(&f, color, pixel), bytes);
	assert_memory_equal(pixel, expected, bytes);
}

static void opencl_format__pack_floats(void **state)
{
	const float c[4] = {0.0f, 0.5f, 1.0f, 0.25f}, far[4] = {-2.0f, 7.0f, NAN, -0.5f};

	check(CL_RGBA, CL_UNORM_INT8, c, 4, "\x00\x80\xff\x40");
	check(CL_BGRA, CL_UNORM_INT8, c, 4, "\xff\x80\x00\x40");
	check(CL_ARGB, CL_UNORM_INT8, c, 4, "\x40\x00\x80\xff");
	check(CL_A, CL_UNORM_INT8, c, 1, "\x40");
	check(CL_RA, CL_UNORM_INT16, c, 4, "\x00\x00\x00\x40");
	check(CL_RGBA, CL_SNORM_INT8, far, 4, "\x81\x7f\x00\xc0");
	check(CL_RGBA, CL_UNORM_INT8, far, 4, "\x00\xff\x00\x00");
	check(CL_RG, CL_HALF_FLOAT, c, 4, "\x00\x00\x00\x38");
	check(CL_R, CL_FLOAT, c + 1, 4, "\x00\x00\x00\x3f");
	check(CL_RGB, CL_UNORM_SHORT_565, c, 2, "\x1f\x04");
	check(CL_sRGBA, CL_UNORM_INT8, c, 4, "\x00\xbc\xff\x40");
}

static void opencl_format__pack_integers(void **state)
{
	const int32_t s[4] = {-1, 300, -300, 70000};
	const uint32_t u[4] = {1, 300, 70000, 0xffffffffu};

	check(CL_RGBA, CL_SIGNED_INT8, s, 4, "\xff\x7f\x80\x7f");
	check(CL_RGBA, CL_SIGNED_INT16, s, 8, "\xff\xff\x2c\x01\xd4\xfe\xff\x7f");
	check(CL_RGBA, CL_UNSIGNED_INT8, u, 4, "\x01\xff\xff\xff");
	check(CL_RGBA, CL_UNSIGNED_INT16, u, 8, "\x01\x00\x2c\x01\xff\xff\xff\xff");
	check(CL_RG, CL_UNSIGNED_INT32, u + 2, 8, "\x70\x11\x01\x00\xff\xff\xff\xff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opencl_format__bytes),
		cmocka_unit_test(opencl_format__pack_floats),
		cmocka_unit_test(opencl_format__pack_integers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
