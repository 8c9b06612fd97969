/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests images and samplers: regions, images of buffers, rejected calls. */
#include "test/unit/opencl_memory_rig.h"

/* ---- images ---- */

static cl_mem image(cl_mem_object_type type, size_t width, size_t height, size_t third)
{
	const cl_image_format f = {CL_RGBA, CL_UNORM_INT8};
	const cl_image_desc d = {
		.image_type = type,
		.image_width = width,
		.image_height = height,
		.image_depth = third,
		.image_array_size = type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? height : third,
	};
	cl_int error = 1;
	cl_mem m = dxp_clCreateImage(context, 0, &f, &d, NULL, &error);

	assert_int_equal(error, CL_SUCCESS);
	return m;
}

/* Fill, write on one device, read on the other, copy, map. */
static void image__regions(void **state)
{
	static const cl_mem_object_type types[] = {
		CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D,
		CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D};

	for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
		size_t h = t ? 6 : 1, z = t > 2 ? 5 : 1;
		cl_mem m = image(types[t], 8, h, z), n = image(types[t], 8, h, z);
		const size_t zero[3] = {0}, whole[3] = {8, h, z};
		const size_t origin[3] = {2, h / 2, z / 2},
			     region[3] = {3, (h + 1) / 2, (z + 1) / 2};
		const float color[4] = {1, 0, 0, 1};
		uint32_t expected[240], got[240], part[240];

		for (size_t i = 0; i < 8 * h * z; i++)
			expected[i] = 0xff0000ff;
		for (size_t i = 0; i < 240; i++)
			part[i] = (uint32_t)(i * 0x01010101u);
		for (size_t i = 0; i < region[0] * region[1] * region[2]; i++) {
			size_t x = i % region[0], y = i / region[0] % region[1],
			       w = i / region[0] / region[1];
			expected[((w + origin[2]) * h + y + origin[1]) * 8 + x + origin[0]] =
				part[i];
		}
		assert_int_equal(
			dxp_clEnqueueFillImage(queues[0], m, color, zero, whole, 0, NULL, NULL), 0);
		assert_int_equal(dxp_clEnqueueWriteImage(queues[0], m, CL_TRUE, origin, region, 0,
							 0, part, 0, NULL, NULL),
				 0);
		dxp_clFinish(queues[0]);
		assert_int_equal(
			dxp_clEnqueueCopyImage(queues[1], m, n, zero, zero, whole, 0, NULL, NULL),
			0);
		assert_int_equal(dxp_clEnqueueReadImage(queues[1], n, CL_TRUE, zero, whole, 0, 0,
							got, 0, NULL, NULL),
				 0);
		assert_memory_equal(got, expected, 32 * h * z);
		size_t row, slice;
		cl_int error;
		uint8_t *map = dxp_clEnqueueMapImage(queues[0], m, CL_TRUE, CL_MAP_READ, origin,
						     region, &row, &slice, 0, NULL, NULL, &error);
		assert_int_equal(error, CL_SUCCESS);
		assert_memory_equal(map, part, 4 * region[0]);
		assert_int_equal(dxp_clEnqueueUnmapMemObject(queues[0], m, map, 0, NULL, NULL), 0);
		const size_t beyond[3] = {8, h, z + 1};
		assert_int_equal(dxp_clEnqueueReadImage(queues[1], n, CL_TRUE, zero, beyond, 0, 0,
							got, 0, NULL, NULL),
				 CL_INVALID_VALUE);
		release(m);
		release(n);
	}
}

static void image__of_a_buffer(void **state)
{
	const cl_image_format f = {CL_RGBA, CL_UNORM_INT8};
	cl_mem b = buffer(0, 64, NULL);
	const cl_image_desc d = {
		.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 16, .buffer = b};
	const size_t zero[3] = {0}, whole[3] = {16, 1, 1};
	uint8_t got[64];
	cl_int error = 1;
	cl_mem m = dxp_clCreateImage(context, 0, &f, &d, NULL, &error), of = NULL;

	assert_int_equal(error, CL_SUCCESS);
	dxp_clGetImageInfo(m, CL_IMAGE_BUFFER, sizeof of, &of, NULL);
	assert_ptr_equal(of, b);
	fill(0, b, 6, 0, 64);
	assert_int_equal(dxp_clEnqueueReadImage(queues[0], m, CL_TRUE, zero, whole, 0, 0, got, 0,
						NULL, NULL),
			 0);
	assert_int_equal(got[63], 6);
	release(b);
	release(m);
}

static void image__rejects(void **state)
{
	const cl_image_format good = {CL_RGBA, CL_UNORM_INT8}, none = {CL_RGB, CL_UNORM_INT8},
			      other = {CL_RGBA, CL_SIGNED_INT16};
	const struct {
		const cl_image_format *format;
		cl_image_desc desc;
		cl_int error;
	} rows[] = {
		{NULL, {.image_type = CL_MEM_OBJECT_IMAGE1D}, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
		{&none,
		 {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 1},
		 CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
		{&other,
		 {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 1},
		 CL_IMAGE_FORMAT_NOT_SUPPORTED},
		{&good, {.image_type = CL_MEM_OBJECT_IMAGE1D}, CL_INVALID_IMAGE_DESCRIPTOR},
		{&good,
		 {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 5000},
		 CL_INVALID_IMAGE_SIZE},
		{&good,
		 {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 5, .image_row_pitch = 20},
		 CL_INVALID_IMAGE_DESCRIPTOR},
		{&good,
		 {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 5, .num_samples = 1},
		 CL_INVALID_IMAGE_DESCRIPTOR},
		{&good, {.image_type = CL_MEM_OBJECT_BUFFER}, CL_INVALID_IMAGE_DESCRIPTOR},
		{&good,
		 {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 1},
		 CL_INVALID_IMAGE_DESCRIPTOR},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		cl_int error = 1;
		assert_null(
			dxp_clCreateImage(context, 0, rows[i].format, &rows[i].desc, NULL, &error));
		assert_int_equal(error, rows[i].error);
	}
}

static void sampler__properties(void **state)
{
	const cl_sampler_properties good[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0},
				    twice[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR,
					       CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0},
				    bad[] = {CL_SAMPLER_FILTER_MODE, 1, 0};
	cl_int error = 1;
	cl_uint filter = 0;
	size_t bytes = 0;
	cl_sampler s = dxp_clCreateSamplerWithProperties(context, good, &error);

	assert_int_equal(error, CL_SUCCESS);
	dxp_clGetSamplerInfo(s, CL_SAMPLER_FILTER_MODE, sizeof filter, &filter, NULL);
	assert_int_equal(filter, CL_FILTER_LINEAR);
	dxp_clGetSamplerInfo(s, CL_SAMPLER_PROPERTIES, 0, NULL, &bytes);
	assert_int_equal(bytes, sizeof good);
	assert_int_equal(dxp_clReleaseSampler(s), CL_SUCCESS);
	assert_int_equal(dxp_clReleaseSampler(s), CL_INVALID_SAMPLER);
	assert_null(dxp_clCreateSamplerWithProperties(context, twice, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_null(dxp_clCreateSamplerWithProperties(context, bad, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_null(dxp_clCreateSampler(context, CL_TRUE, 7, CL_FILTER_LINEAR, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(image__regions),
		TEST(image__of_a_buffer),
		TEST(image__rejects),
		TEST(sampler__properties),
	};

	for (int i = 0; i < 2; i++)
		fake_node(64 << 20, true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
