/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests images over device memory on PoCL: each kind, in place, with the host's pitches; samplers;
 * invalid images. */
#include "ocl_rig.h"

#include "engine/ocl_arguments.h"

#define AT 8192u

/* Most write each pixel of `a` plus 1 to `b`; `solid` writes to a buffer, because 3D images are
 * only read. */
static const char kernels[] =
	"#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n"
	"constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | "
	"CLK_FILTER_NEAREST;\n"
	"kernel void line(read_only image1d_t a, write_only image1d_t b)\n"
	"{ int c = get_global_id(0); write_imageui(b, c, read_imageui(a, s, c) + 1); }\n"
	"kernel void lines(read_only image1d_array_t a, write_only image1d_array_t b)\n"
	"{ int2 c = (int2)(get_global_id(0), get_global_id(1)); write_imageui(b, c, "
	"read_imageui(a, s, c) + 1); }\n"
	"kernel void buffer(read_only image1d_buffer_t a, write_only image1d_buffer_t b)\n"
	"{ int c = get_global_id(0); write_imageui(b, c, read_imageui(a, c) + 1); }\n"
	"kernel void plane(read_only image2d_t a, write_only image2d_t b)\n"
	"{ int2 c = (int2)(get_global_id(0), get_global_id(1)); write_imageui(b, c, "
	"read_imageui(a, s, c) + 1); }\n"
	"kernel void planes(read_only image2d_array_t a, write_only image2d_array_t b)\n"
	"{ int4 c = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0); "
	"write_imageui(b, c, read_imageui(a, s, c) + 1); }\n"
	"kernel void solid(read_only image3d_t a, global uchar4 *b)\n"
	"{ int4 c = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0); "
	"b[get_global_id(0) + 5 * (get_global_id(1) + 3 * get_global_id(2))] = "
	"convert_uchar4(read_imageui(a, s, c) + 1); }\n"
	"kernel void alone(write_only image1d_buffer_t b)\n"
	"{ int c = get_global_id(0); write_imageui(b, c, (uint4)(c & 255)); }\n"
	"kernel void sample(read_only image2d_t a, sampler_t by, global float *out)\n"
	"{ out[0] = read_imagef(a, by, (float2)(0.5f, 0.5f)).x; "
	"out[1] = read_imagef(a, by, (float2)(-3.0f, 0.5f)).x; }\n";

static struct engine_program *program;

static struct engine_argument image_at(uint64_t address, struct dxp_image image)
{
	return (struct engine_argument){.kind = COMMAND_ARG_IMAGE,
					.memory = rig_memory(address),
					.address = address,
					.memory_bytes = 65536,
					.image = image};
}

/* Runs a kernel on an image of at most 5 x 3 x 4 pixels. Checks the pixels, and that the gaps
 * between rows and slices are unchanged. */
static void each_pixel(const char *kernel, uint32_t object, uint32_t rows, uint32_t slices,
		       uint64_t row_pitch, uint64_t slice_pitch)
{
	const bool array =
		object == CL_MEM_OBJECT_IMAGE1D_ARRAY || object == CL_MEM_OBJECT_IMAGE2D_ARRAY;
	const struct dxp_image image = {.order = CL_RGBA,
					.type = CL_UNSIGNED_INT8,
					.object = object,
					.access = CL_MEM_READ_WRITE,
					.width = 5,
					.height = rows,
					.depth = array ? 0 : slices,
					.layers = array ? slices : 0,
					.row_pitch = row_pitch,
					.slice_pitch = slice_pitch};
	const bool flat = strcmp(kernel, "solid") == 0;
	struct engine_launch l = rig_launch(program, kernel);

	l.dimensions = 3;
	l.global[0] = 5;
	l.global[1] = object == CL_MEM_OBJECT_IMAGE1D_ARRAY ? slices : rows;
	l.global[2] = object == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 1 : slices;
	l.argument_count = 2;
	l.arguments[0] = image_at(AT, image);
	l.arguments[1] = flat ? rig_buffer(AT + 65536, 65536) : image_at(AT + 65536, image);
	/* again, because the input has changed */
	for (uint8_t round = 0; round < 2; round++) {
		memset(rig_memory(AT + 65536), 0xee, 65536);
		for (uint32_t i = 0; i < 65536; i++)
			rig_memory(AT)[i] =
				/* at most 0x7f, as the kernel adds 1 */
				(uint8_t)((i * 7 + round) & 0x7f);
		rig_run(&l);
		const uint64_t row = row_pitch ? row_pitch : 20;
		const uint64_t slice = slice_pitch ? slice_pitch : row * rows;
		for (uint32_t z = 0; z < slices; z++)
			for (uint32_t y = 0; y < rows; y++)
				for (uint32_t x = 0; x < 20; x++) {
					uint64_t at = z * slice + y * row + x;
					uint64_t to = flat ? (z * 3 + y) * 20 + x : at;
					uint8_t *out = rig_memory(AT + 65536);
					assert_int_equal(out[to],
							 (uint8_t)(((at * 7 + round) & 0x7f) + 1));
					out[to] = 0xee;
				}
		for (uint32_t i = 0; i < 65536; i++)
			assert_int_equal(rig_memory(AT + 65536)[i], 0xee);
	}
}

static void engine_run__image_kinds(void **state)
{
	each_pixel("line", CL_MEM_OBJECT_IMAGE1D, 1, 1, 0, 0);
	each_pixel("lines", CL_MEM_OBJECT_IMAGE1D_ARRAY, 1, 4, 0, 0);
	each_pixel("lines", CL_MEM_OBJECT_IMAGE1D_ARRAY, 1, 4, 64, 64);
	each_pixel("buffer", CL_MEM_OBJECT_IMAGE1D_BUFFER, 1, 1, 0, 0);
	each_pixel("plane", CL_MEM_OBJECT_IMAGE2D, 3, 1, 0, 0);
	each_pixel("plane", CL_MEM_OBJECT_IMAGE2D, 3, 1, 36, 0);
	each_pixel("planes", CL_MEM_OBJECT_IMAGE2D_ARRAY, 3, 4, 0, 0);
	each_pixel("planes", CL_MEM_OBJECT_IMAGE2D_ARRAY, 3, 4, 36, 180);
	each_pixel("solid", CL_MEM_OBJECT_IMAGE3D, 3, 4, 0, 0);
	each_pixel("solid", CL_MEM_OBJECT_IMAGE3D, 3, 4, 36, 144);
}

/* ---- images of buffers, and their largest width ---- */

static struct ocl_library real;
/* width that the device pretends, in pixels; 0: its real one */
static size_t reported_width;

static cl_int narrow_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes,
				     void *value, size_t *size)
{
	cl_int error = real.clGetDeviceInfo(device, what, bytes, value, size);

	if (what == CL_DEVICE_IMAGE2D_MAX_WIDTH && reported_width)
		*(size_t *)value = reported_width;
	return error;
}

/* The whole process uses this table. */
static struct ocl_library *calls(void)
{
	const struct ocl_library *cl;

	assert_int_equal(ocl_library_get(&cl), DXP_OK);
	return (struct ocl_library *)(uintptr_t)cl;
}

static size_t device_limit(cl_device_info what)
{
	const struct engine_ocl *o = CONTAINER_OF(engine, struct engine_ocl, engine);
	size_t value = 0;

	assert_int_equal(
		o->cl->clGetDeviceInfo(ocl_device_id(o->device), what, sizeof(value), &value, NULL),
		CL_SUCCESS);
	assert_true(value > 0);
	return value;
}

static struct dxp_image buffer_image(size_t width)
{
	return (struct dxp_image){.order = CL_RGBA,
				  .type = CL_UNSIGNED_INT8,
				  .object = CL_MEM_OBJECT_IMAGE1D_BUFFER,
				  .width = (uint32_t)width};
}

static void buffer_copied(size_t width)
{
	struct engine_launch l = rig_launch(program, "buffer");

	assert_true(4 * width <= RIG_BYTES / 2);
	l.global[0] = width;
	l.argument_count = 2;
	l.arguments[0] = image_at(0, buffer_image(width));
	l.arguments[1] = image_at(RIG_BYTES / 2, buffer_image(width));
	l.arguments[0].memory_bytes = l.arguments[1].memory_bytes = 4 * width;
	memset(rig_memory(0), 5, RIG_BYTES);
	rig_run(&l);
	for (size_t i = 0; i < RIG_BYTES / 2; i++)
		assert_int_equal(rig_memory(RIG_BYTES / 2)[i], i < 4 * width ? 6 : 5);
}

/* Images of buffers may be wider than other images. */
static void engine_run__image_buffers(void **state)
{
	const size_t line = device_limit(CL_DEVICE_IMAGE2D_MAX_WIDTH);
	const size_t longest =
		min_u64(device_limit(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE), RIG_BYTES / 8);

	buffer_copied(1);
	buffer_copied(min_u64(line, longest));
	buffer_copied(longest);
	if (longest <= line) {
		print_message("skipped: this device's longest image of a buffer is no longer than "
			      "a line, or than the test's memory\n");
		skip();
	}
	buffer_copied(line + 1);
}

/* The largest reported width; on PoCL, one more must be rejected. */
static void alone_at_the_limit(void)
{
	const size_t line = device_limit(CL_DEVICE_IMAGE2D_MAX_WIDTH);
	const struct engine_ocl *o = CONTAINER_OF(engine, struct engine_ocl, engine);
	struct engine_launch l = rig_launch(program, "alone");

	assert_true(4 * (line + 1) <= RIG_BYTES);
	memset(rig_memory(0), 0xee, RIG_BYTES);
	l.global[0] = line;
	l.argument_count = 1;
	l.arguments[0] = image_at(0, buffer_image(line));
	l.arguments[0].memory_bytes = 4 * line;
	rig_run(&l);
	for (size_t i = 0; i < line; i++)
		assert_int_equal(rig_memory(0)[4 * i], (uint8_t)i);
	assert_int_equal(rig_memory(0)[4 * line], 0xee);
	if (!ocl_device_is_pocl(o->device))
		return;
	l.arguments[0].image.width = (uint32_t)line + 1; /* would crash PoCL */
	l.arguments[0].memory_bytes = 4 * (line + 1);
	assert_int_equal(engine_run(engine, &l, text), DXP_EUNSUPPORTED);
	assert_non_null(strstr(text, "is the only argument"));
}

/* PoCL's largest width depends on the machine's memory: 8192, 16384, ... */
static void engine_run__image_buffers_alone(void **state)
{
	struct ocl_library *cl = calls();

	alone_at_the_limit();
	real = *cl;
	cl->clGetDeviceInfo = narrow_clGetDeviceInfo;
	for (reported_width = 1; reported_width <= 4096; reported_width *= 64)
		alone_at_the_limit();
	reported_width = 0;
	*cl = real;
}

static void engine_run__samplers(void **state)
{
	const struct dxp_image image = {.order = CL_R,
					.type = CL_FLOAT,
					.object = CL_MEM_OBJECT_IMAGE2D,
					.width = 2,
					.height = 2};
	const float pixels[] = {1, 2, 3, 4};
	struct engine_launch l = rig_launch(program, "sample");
	const float *out = (const float *)rig_memory(AT + 65536);

	memcpy(rig_memory(AT), pixels, sizeof(pixels));
	l.argument_count = 3;
	l.arguments[0] = image_at(AT, image);
	l.arguments[1].kind = COMMAND_ARG_SAMPLER;
	l.arguments[2] = rig_buffer(AT + 65536, 64);
	for (int i = 0; i < 100; i++) {
		l.arguments[1].sampler =
			(struct dxp_sampler){i % 2, CL_ADDRESS_CLAMP_TO_EDGE,
					     i % 4 < 2 ? CL_FILTER_NEAREST : CL_FILTER_LINEAR};
		rig_run(&l);
		/* 0.5: the middle if normalised, else the first pixel */
		float want = i % 2 == 0 ? 1.0f : i % 4 < 2 ? 4.0f : 2.5f;
		assert_true(out[0] > want - 0.01f && out[0] < want + 0.01f);
	}
	l.arguments[1].sampler = (struct dxp_sampler){7, 7, 7};
	assert_int_equal(engine_run(engine, &l, text), DXP_EINVAL);
	assert_non_null(strstr(text, "argument 1: the device cannot create this sampler"));
	l.arguments[1] = l.arguments[0];
	assert_int_equal(engine_run(engine, &l, text), DXP_EINVAL);
	assert_non_null(strstr(text, "its type is a sampler (sampler_t), an image was given"));
}

static void engine_run__images_that_are_none(void **state)
{
	const struct dxp_image good = {.order = CL_RGBA,
				       .type = CL_UNSIGNED_INT8,
				       .object = CL_MEM_OBJECT_IMAGE2D,
				       .width = 5,
				       .height = 3};
	struct engine_launch l = rig_launch(program, "plane");

	l.argument_count = 2;
#define WRONG(words, ...)                                                   \
	do {                                                                \
		struct dxp_image m = good;                                  \
		l.arguments[0] = image_at(AT, good);                        \
		l.arguments[1] = image_at(AT + 65536, good);                \
		__VA_ARGS__;                                                \
		l.arguments[1].image = m;                                   \
		assert_int_not_equal(engine_run(engine, &l, text), DXP_OK); \
		if (!strstr(text, words))                                   \
			fail_msg("'%s', not '%s'", text, words);            \
	} while (0)
	WRONG("does not fit", m.width = 0);
	WRONG("does not fit", m.height = 0);
	WRONG("does not fit", m.order = 1);
	WRONG("does not fit", m.type = 1);
	WRONG("does not fit", m.object = CL_MEM_OBJECT_BUFFER);
	WRONG("does not fit", m.row_pitch = 19);
	WRONG("does not fit", m.row_pitch = UINT64_MAX);
	WRONG("does not fit", m.row_pitch = 65536);
	WRONG("does not fit", m.width = UINT32_MAX; m.height = UINT32_MAX);
	WRONG("does not fit", l.arguments[1].memory_bytes = 59);
	WRONG("does not fit", l.arguments[1].memory = NULL);
	WRONG("its type is image2d_t, image3d_t was given", m.object = CL_MEM_OBJECT_IMAGE3D;
	      m.depth = 2);
	WRONG("its type is image2d_t, image2d_array_t was given",
	      m.object = CL_MEM_OBJECT_IMAGE2D_ARRAY;
	      m.layers = 2);
	WRONG("cannot create this image", m.order = CL_RGB);
	WRONG("its type is an image", l.arguments[1] = rig_buffer(0, 4096));
#undef WRONG
}

static int setup(void **state)
{
	program = rig_build(DXP_PROGRAM_SOURCE, "", kernels);
	return 0;
}

static int teardown(void **state)
{
	engine_release(engine, program);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_run__image_kinds),
		cmocka_unit_test(engine_run__image_buffers),
		cmocka_unit_test(engine_run__image_buffers_alone),
		cmocka_unit_test(engine_run__samplers),
		cmocka_unit_test(engine_run__images_that_are_none),
	};
	int failed = rig_open();

	if (failed)
		return failed;
	failed = cmocka_run_group_tests(tests, setup, teardown);
	rig_close();
	return failed;
}
