/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kernels that read and write images through samplers of each kind, images over host memory
 * or a buffer, and rejections. */
#include "picture.h"

static const cl_image_format bytes_rgba = {CL_RGBA, CL_UNSIGNED_INT8};
static const cl_image_format floats_rgba = {CL_RGBA, CL_FLOAT};

static cl_mem image_2d(cl_mem_flags flags, const cl_image_format *format, size_t width,
		       size_t height, void *host)
{
	const size_t size[3] = {width, height, 1};
	cl_image_desc d = picture_desc(CL_MEM_OBJECT_IMAGE2D, size);
	cl_mem m = clCreateImage(rig.context, flags, format, &d, host, ERR);

	MADE(m);
	return m;
}

static cl_sampler sampler(cl_bool normal, cl_addressing_mode mode, cl_filter_mode filter)
{
	cl_sampler s = clCreateSampler(rig.context, normal, mode, filter, ERR);

	MADE(s);
	return s;
}

static void need_images(void)
{
	if (!rig.images)
		rig_skip("no images");
}

static const char swap_source[] =
	"kernel void swap(read_only image2d_t in, write_only image2d_t out, sampler_t s) {\n"
	" int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
	" uint4 p = read_imageui(in, s, at);\n"
	" write_imageui(out, (int2)(get_image_width(in) - 1 - at.x, at.y), p.wzyx + 1); }\n";

static void samplers__kernels_read_and_write(void)
{
	enum { W = 33, H = 17 };
	need_images();
	cl_kernel k = rig_kernel(swap_source, "swap");
	cl_sampler s = sampler(CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST);
	const size_t origin[3] = {0, 0, 0}, region[3] = {W, H, 1};
	uint8_t *in = rig_noise(W * H * 4), *back = rig_memory(W * H * 4), wanted[W * H * 4];

	for (size_t i = 0; i < W * H * 4; i++)
		in[i] &= 0x7f; /* so that adding one does not overflow */
	cl_mem a = image_2d(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &bytes_rgba, W, H, in);
	cl_mem b = image_2d(CL_MEM_WRITE_ONLY, &bytes_rgba, W, H, NULL);
	for (size_t y = 0; y < H; y++)
		for (size_t x = 0; x < W; x++)
			for (size_t c = 0; c < 4; c++)
				wanted[(y * W + W - 1 - x) * 4 + c] =
					(uint8_t)(in[(y * W + x) * 4 + 3 - c] + 1);
	for (cl_uint d = 0; d < rig.device_count; d++) {
		SET(k, 0, a);
		SET(k, 1, b);
		SET(k, 2, s);
		OK(clEnqueueNDRangeKernel(rig.queues[d], k, 2, NULL, region, NULL, 0, NULL, NULL));
		OK(clEnqueueReadImage(rig.queues[rig.device_count - 1 - d], b, CL_FALSE, origin,
				      region, 0, 0, back, 0, NULL, NULL));
		OK(clFinish(rig.queues[d]));
		OK(clFinish(rig.queues[rig.device_count - 1 - d]));
		OK(clEnqueueReadImage(rig.queues[d], b, CL_TRUE, origin, region, 0, 0, back, 0,
				      NULL, NULL));
		SAME_BYTES(back, wanted, sizeof(wanted));
	}
	OK(clReleaseSampler(s));
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
	OK(clReleaseKernel(k));
}

/* Reads along a line that crosses the borders. The values must be the same as on PoCL (rig_same).
 * Each mode runs on one device, and devices alternate. */
static void samplers__each_mode(void)
{
	static const char source[] =
		"kernel void line(read_only image2d_t in, sampler_t s, global float4 *out,\n"
		"                 float from, float step) {\n"
		" int i = get_global_id(0); float t = from + step * i;\n"
		" out[i] = read_imagef(in, s, (float2)(t, t * 0.5f)); }\n";
	static const cl_addressing_mode modes[] = {CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE,
						   CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT};
	enum { SIDE = 8, COUNT = 40 };
	float pixels[SIDE * SIDE * 4], out[COUNT * 4];
	need_images();
	cl_kernel k = rig_kernel(source, "line");

	for (size_t i = 0; i < COUNT_OF(pixels); i++)
		pixels[i] = (float)rig_below(1000) / 8;
	cl_mem a =
		image_2d(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &floats_rgba, SIDE, SIDE, pixels);
	cl_mem m = rig_buffer(0, sizeof(out), NULL);
	for (size_t i = 0; i < COUNT_OF(modes); i++)
		for (cl_bool normal = 0; normal < 2; normal++) {
			if (!normal && i > 1)
				continue; /* these sampler modes require coordinates from 0 to 1 */
			cl_sampler s = sampler(normal, modes[i], CL_FILTER_NEAREST);
			float scale = normal ? 1.0f : SIDE, from = -0.71f * scale,
			      step = 0.0601f * scale;
			SET(k, 0, a);
			SET(k, 1, s);
			SET(k, 2, m);
			SET(k, 3, from);
			SET(k, 4, step);
			rig_run(rig.queues[i % rig.device_count], k, COUNT);
			rig_read(rig.queues[i % rig.device_count], m, out, sizeof(out));
			rig_same(out, sizeof(out));
			OK(clReleaseSampler(s));
		}
	OK(clReleaseMemObject(m));
	OK(clReleaseMemObject(a));
	OK(clReleaseKernel(k));
}

static const char convert_source[] =
	"kernel void floats(read_only image2d_t in, global float4 *out) {\n"
	" const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE |\n"
	"                     CLK_FILTER_NEAREST;\n"
	" int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
	" out[at.y * get_image_width(in) + at.x] = read_imagef(in, s, at); }\n"
	"kernel void back(write_only image2d_t to, global float4 *in) {\n"
	" int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
	" write_imagef(to, at, in[at.y * get_image_width(to) + at.x]); }\n";

/* Normalized and float formats of each channel order, read as floats and written to a second image,
 * must give the same floats and pixels as on PoCL (rig_same). */
static void samplers__formats_that_are_floats(void)
{
	cl_image_format formats[128];
	enum { W = 7, H = 5 };
	const size_t origin[3] = {0, 0, 0}, region[3] = {W, H, 1};
	need_images();
	size_t count = picture_formats(CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE, formats,
				       COUNT_OF(formats)),
	       tried = 0;
	cl_program p = rig_program(convert_source, NULL);
	cl_kernel to = clCreateKernel(p, "floats", ERR), back = clCreateKernel(p, "back", ERR);
	cl_mem floats = rig_buffer(0, W * H * 16, NULL);

	MADE(to);
	MADE(back);
	for (size_t f = 0; f < count; f++) {
		cl_channel_type type = formats[f].image_channel_data_type;
		if (type != CL_UNORM_INT8 && type != CL_UNORM_INT16 && type != CL_FLOAT)
			continue;
		size_t bytes = W * H * picture_pixel_bytes(&formats[f]);
		uint8_t *in = rig_noise(bytes), *out = rig_memory(bytes);
		float *values = rig_memory(W * H * 16);
		for (size_t i = 0; type == CL_FLOAT && i < bytes / 4; i++)
			((float *)(void *)in)[i] = (float)rig_below(100000) / 16;
		cl_mem a = image_2d(CL_MEM_COPY_HOST_PTR, &formats[f], W, H, in);
		cl_mem b = image_2d(0, &formats[f], W, H, NULL);
		cl_command_queue q = rig.queues[f % rig.device_count];
		SET(to, 0, a);
		SET(to, 1, floats);
		OK(clEnqueueNDRangeKernel(q, to, 2, NULL, region, NULL, 0, NULL, NULL));
		SET(back, 0, b);
		SET(back, 1, floats);
		OK(clEnqueueNDRangeKernel(q, back, 2, NULL, region, NULL, 0, NULL, NULL));
		OK(clEnqueueReadImage(q, b, CL_TRUE, origin, region, 0, 0, out, 0, NULL, NULL));
		rig_same(out, bytes);
		rig_read(q, floats, values, W * H * 16);
		rig_same(values, W * H * 16);
		OK(clReleaseMemObject(a));
		OK(clReleaseMemObject(b));
		tried++;
	}
	CHECK(tried >= 2);
	OK(clReleaseMemObject(floats));
	OK(clReleaseKernel(to));
	OK(clReleaseKernel(back));
	OK(clReleaseProgram(p));
}

static void samplers__volumes_and_layers(void)
{
	static const char source[] =
		"kernel void volume(read_only image3d_t in, sampler_t s, global uint *out) {\n"
		" int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);\n"
		" int w = get_image_width(in), h = get_image_height(in);\n"
		" out[(at.z * h + at.y) * w + at.x] = read_imageui(in, s, at).x; }\n"
		"kernel void layers(read_only image2d_array_t in, sampler_t s, global uint *out) "
		"{\n"
		" int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);\n"
		" int w = get_image_width(in), h = get_image_height(in);\n"
		" out[(at.z * h + at.y) * w + at.x] = read_imageui(in, s, at).x +\n"
		"  get_image_array_size(in) * 1000; }\n";
	static const char *const names[2] = {"volume", "layers"};
	static const cl_mem_object_type types[2] = {CL_MEM_OBJECT_IMAGE3D,
						    CL_MEM_OBJECT_IMAGE2D_ARRAY};
	static const cl_image_format format = {CL_R, CL_UNSIGNED_INT8};
	need_images();
	cl_program program = rig_program(source, NULL);
	cl_sampler s = sampler(CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST);

	for (size_t i = 0; i < 2; i++) {
		struct picture p = picture_make(types[i], &format, CL_MEM_READ_ONLY);
		cl_kernel k = clCreateKernel(program, names[i], ERR);
		MADE(k);
		uint32_t *out = rig_memory(p.bytes * 4);
		cl_mem m = rig_buffer(0, p.bytes * 4, NULL);
		cl_command_queue q = rig.queues[i % rig.device_count];
		SET(k, 0, p.m);
		SET(k, 1, s);
		SET(k, 2, m);
		OK(clEnqueueNDRangeKernel(q, k, 3, NULL, p.size, NULL, 0, NULL, NULL));
		rig_read(q, m, out, p.bytes * 4);
		for (size_t n = 0; n < p.bytes; n++)
			EQUAL(out[n], p.model[n] + (i == 1 ? p.size[2] * 1000 : 0));
		OK(clReleaseMemObject(m));
		OK(clReleaseKernel(k));
		picture_release(&p);
	}
	OK(clReleaseSampler(s));
	OK(clReleaseProgram(program));
}

static void samplers__images_of_the_programs_memory(void)
{
	enum { W = 20, H = 10, ROW = 128 };
	need_images();
	const size_t size[3] = {W, H, 1}, origin[3] = {3, 2, 0}, region[3] = {5, 4, 1};
	uint8_t *host = rig_noise(ROW * H), *copy = rig_memory(ROW * H);
	cl_image_desc d = picture_desc(CL_MEM_OBJECT_IMAGE2D, size);
	size_t row = 0;
	uint32_t colour[4] = {9, 8, 7, 6};

	memcpy(copy, host, ROW * H);
	d.image_row_pitch = ROW;
	cl_mem m = clCreateImage(rig.context, CL_MEM_USE_HOST_PTR, &bytes_rgba, &d, host, ERR);
	MADE(m);
	OK(clEnqueueFillImage(rig.queues[0], m, colour, origin, region, 0, NULL, NULL));
	for (size_t y = 2; y < 6; y++)
		for (size_t x = 3; x < 8; x++)
			for (size_t c = 0; c < 4; c++)
				copy[y * ROW + x * 4 + c] = (uint8_t)colour[c];
	uint8_t *map = clEnqueueMapImage(rig.queues[rig.device_count - 1], m, CL_FALSE, CL_MAP_READ,
					 origin, region, &row, NULL, 0, NULL, NULL, ERR);
	MADE(map);
	OK(clFinish(rig.queues[0]));
	OK(clFinish(rig.queues[rig.device_count - 1]));
	OK(clEnqueueUnmapMemObject(rig.queues[rig.device_count - 1], m, map, 0, NULL, NULL));
	OK(clFinish(rig.queues[rig.device_count - 1]));
	map = clEnqueueMapImage(rig.queues[0], m, CL_TRUE, CL_MAP_READ, origin, region, &row, NULL,
				0, NULL, NULL, ERR);
	MADE(map);
	CHECK(map == host + 2 * ROW + 3 * 4);
	EQUAL(row, ROW);
	for (size_t y = 0; y < 4; y++)
		SAME_BYTES(map + y * row, copy + (2 + y) * ROW + 12, 20);
	OK(clEnqueueUnmapMemObject(rig.queues[0], m, map, 0, NULL, NULL));
	OK(clFinish(rig.queues[0]));
	OK(clReleaseMemObject(m));
}

static void samplers__queries(void)
{
	need_images();
	cl_sampler s = sampler(CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR);
	cl_uint value = 0;
	cl_context c = NULL;

	OK(clGetSamplerInfo(s, CL_SAMPLER_REFERENCE_COUNT, sizeof(value), &value, NULL));
	EQUAL(value, 1);
	OK(clRetainSampler(s));
	OK(clReleaseSampler(s));
	OK(clGetSamplerInfo(s, CL_SAMPLER_CONTEXT, sizeof(c), &c, NULL));
	CHECK(c == rig.context);
	OK(clGetSamplerInfo(s, CL_SAMPLER_ADDRESSING_MODE, sizeof(value), &value, NULL));
	EQUAL(value, CL_ADDRESS_REPEAT);
	OK(clGetSamplerInfo(s, CL_SAMPLER_FILTER_MODE, sizeof(value), &value, NULL));
	EQUAL(value, CL_FILTER_LINEAR);
	OK(clGetSamplerInfo(s, CL_SAMPLER_NORMALIZED_COORDS, sizeof(value), &value, NULL));
	EQUAL(value, CL_TRUE);
	FAILS(clGetSamplerInfo(s, 0x1, sizeof(value), &value, NULL), CL_INVALID_VALUE);
	FAILS(clGetSamplerInfo(s, CL_SAMPLER_FILTER_MODE, 1, &value, NULL), CL_INVALID_VALUE);
	FAILS(clRetainSampler(NULL), CL_INVALID_SAMPLER);
	FAILS(clReleaseSampler(NULL), CL_INVALID_SAMPLER);
	REJECTED(clCreateSampler(NULL, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, ERR),
		 CL_INVALID_CONTEXT);
	REJECTED_BUT_POCL(clCreateSampler(rig.context, CL_TRUE, 0x1, CL_FILTER_LINEAR, ERR),
			  CL_INVALID_VALUE);
	REJECTED_BUT_POCL(clCreateSampler(rig.context, CL_TRUE, CL_ADDRESS_REPEAT, 0x1, ERR),
			  CL_INVALID_VALUE);
	OK(clReleaseSampler(s));
}

static void samplers__images_rejected(void)
{
	need_images();
	const size_t size[3] = {8, 8, 1}, zero[3] = {0, 8, 1};
	cl_image_desc good = picture_desc(CL_MEM_OBJECT_IMAGE2D, size),
		      none = picture_desc(CL_MEM_OBJECT_IMAGE2D, zero), odd = good, wide = good;
	cl_image_format wrong = {CL_RGBA, 0x1}, strange = {CL_RGB, CL_FLOAT};
	uint8_t data[8 * 8 * 4];

	odd.image_type = CL_MEM_OBJECT_BUFFER;
	wide.image_width = (size_t)1 << 40;
	REJECTED(clCreateImage(NULL, 0, &bytes_rgba, &good, NULL, ERR), CL_INVALID_CONTEXT);
	REJECTED(clCreateImage(rig.context, 0, NULL, &good, NULL, ERR),
		 CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
	REJECTED_BUT_POCL(clCreateImage(rig.context, 0, &wrong, &good, NULL, ERR),
			  CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
	cl_mem m = clCreateImage(rig.context, 0, &strange, &good, NULL, ERR);
	CHECK(!m && (rig_error == CL_IMAGE_FORMAT_NOT_SUPPORTED || rig.pocl ||
		     rig_error == CL_INVALID_IMAGE_FORMAT_DESCRIPTOR));
	REJECTED(clCreateImage(rig.context, 0, &bytes_rgba, NULL, NULL, ERR),
		 CL_INVALID_IMAGE_DESCRIPTOR);
	REJECTED_BUT_POCL(clCreateImage(rig.context, 0, &bytes_rgba, &odd, NULL, ERR),
			  CL_INVALID_IMAGE_DESCRIPTOR);
	if (!rig.pocl) {
		m = clCreateImage(rig.context, 0, &bytes_rgba, &none, NULL, ERR);
		CHECK(!m);
		CHECK(rig_error == CL_INVALID_IMAGE_SIZE ||
		      rig_error == CL_INVALID_IMAGE_DESCRIPTOR);
	}
	REJECTED_BUT_POCL(clCreateImage(rig.context, 0, &bytes_rgba, &wide, NULL, ERR),
			  CL_INVALID_IMAGE_SIZE);
	REJECTED(clCreateImage(rig.context, CL_MEM_USE_HOST_PTR, &bytes_rgba, &good, NULL, ERR),
		 CL_INVALID_HOST_PTR);
	REJECTED(clCreateImage(rig.context, 0, &bytes_rgba, &good, data, ERR), CL_INVALID_HOST_PTR);
}

static void samplers__transfers_rejected(void)
{
	need_images();
	const size_t origin[3] = {0, 0, 0}, far[3] = {7, 7, 0}, deep[3] = {0, 0, 1},
		     region[3] = {4, 4, 1}, empty[3] = {0, 4, 1};
	uint8_t data[8 * 8 * 4];
	cl_command_queue q = rig.queues[0];
	cl_mem m = image_2d(0, &bytes_rgba, 8, 8, NULL);

	FAILS(clEnqueueReadImage(q, m, 1, far, region, 0, 0, data, 0, NULL, NULL),
	      CL_INVALID_VALUE);
	FAILS(clEnqueueReadImage(q, m, 1, deep, region, 0, 0, data, 0, NULL, NULL),
	      CL_INVALID_VALUE);
	FAILS_BUT_POCL(clEnqueueReadImage(q, m, 1, origin, empty, 0, 0, data, 0, NULL, NULL),
		       CL_INVALID_VALUE);
	FAILS_BUT_POCL(clEnqueueReadImage(q, m, 1, origin, region, 3, 0, data, 0, NULL, NULL),
		       CL_INVALID_VALUE);
	FAILS_BUT_POCL(clEnqueueReadImage(q, m, 1, origin, region, 0, 0, NULL, 0, NULL, NULL),
		       CL_INVALID_VALUE);
	FAILS_BUT_POCL(clEnqueueReadImage(q, NULL, 1, origin, region, 0, 0, data, 0, NULL, NULL),
		       CL_INVALID_MEM_OBJECT);
	FAILS_BUT_POCL(clEnqueueWriteImage(q, m, 1, far, region, 0, 0, data, 0, NULL, NULL),
		       CL_INVALID_VALUE);
	FAILS_BUT_POCL(clEnqueueFillImage(q, m, NULL, origin, region, 0, NULL, NULL),
		       CL_INVALID_VALUE);
	FAILS_BUT_POCL(clEnqueueCopyImage(q, m, m, origin, origin, region, 0, NULL, NULL),
		       CL_MEM_COPY_OVERLAP);
	OK(clReleaseMemObject(m));
}

static void samplers__images_of_the_first_standard(void)
{
	uint8_t *data = rig_noise(8 * 4 * 4 * 2), *back = rig_memory(8 * 4 * 4 * 2);
	need_images();
	const size_t origin[3] = {0, 0, 0}, flat[3] = {8, 4, 1}, deep[3] = {8, 4, 2};
	cl_mem a =
		clCreateImage2D(rig.context, CL_MEM_COPY_HOST_PTR, &bytes_rgba, 8, 4, 0, data, ERR);

	MADE(a);
	OK(clEnqueueReadImage(rig.queues[0], a, CL_TRUE, origin, flat, 0, 0, back, 0, NULL, NULL));
	SAME_BYTES(back, data, 8 * 4 * 4);
	OK(clReleaseMemObject(a));
	a = clCreateImage3D(rig.context, CL_MEM_COPY_HOST_PTR, &bytes_rgba, 8, 4, 2, 0, 0, data,
			    ERR);
	MADE(a);
	OK(clEnqueueReadImage(rig.queues[0], a, CL_TRUE, origin, deep, 0, 0, back, 0, NULL, NULL));
	SAME_BYTES(back, data, 8 * 4 * 4 * 2);
	OK(clReleaseMemObject(a));
}

RIG_MAIN(CASE(samplers__kernels_read_and_write), CASE(samplers__each_mode),
	 CASE(samplers__formats_that_are_floats), CASE(samplers__volumes_and_layers),
	 CASE(samplers__images_of_the_programs_memory), CASE(samplers__queries),
	 CASE(samplers__images_rejected), CASE(samplers__transfers_rejected),
	 CASE(samplers__images_of_the_first_standard))
