/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests images of every type and format of the devices: random reads, writes, copies, fills and
 * maps, compared with a model. samplers.c covers kernels that use images. */
#include "picture.h"

#define FORMATS_MAX 128

/* Calls `body` with a picture of each format of each type, except depth formats. If `of_buffers` is
 * false, skips images that are made from a buffer, because PoCL crashes on their partial reads and
 * writes. */
static void for_all(void (*body)(struct picture *p), bool of_buffers)
{
	cl_image_format formats[FORMATS_MAX];
	size_t pictures = 0;

	if (!rig.images)
		rig_skip("no images");
	for (size_t t = 0; t < COUNT_OF(picture_types); t++) {
		if (!of_buffers && picture_types[t] == CL_MEM_OBJECT_IMAGE1D_BUFFER)
			continue;
		size_t count =
			picture_formats(picture_types[t], CL_MEM_READ_WRITE, formats, FORMATS_MAX);
		for (size_t f = 0; f < count; f++) {
			if (formats[f].image_channel_order == CL_DEPTH)
				continue;
			struct picture p = picture_make(picture_types[t], &formats[f], 0);
			body(&p);
			picture_release(&p);
			pictures++;
		}
	}
	CHECK(pictures > 20);
}

/* Copies a region between the model and host memory in which rows and slices have pitches. */
static void model_rect(const struct picture *p, const size_t origin[3], const size_t region[3],
		       uint8_t *host, size_t row, size_t slice, bool to_model)
{
	for (size_t z = 0; z < region[2]; z++)
		for (size_t y = 0; y < region[1]; y++) {
			uint8_t *a = picture_at(p, origin[0], origin[1] + y, origin[2] + z);
			uint8_t *b = host + z * slice + y * row;
			memcpy(to_model ? a : b, to_model ? b : a, region[0] * p->pixel);
		}
}

struct pitches {
	size_t row, slice, bytes;
};

/* A slice pitch is a multiple of the row pitch; a 1D array has one row per slice. */
static struct pitches pitches_by_chance(const struct picture *p, const size_t region[3])
{
	struct pitches h = {0, 0, 0};
	bool tight = rig_below(2), rows = p->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;

	h.row = region[0] * p->pixel + (tight ? 0 : rig_below(5) * p->pixel);
	h.slice = rows ? h.row : h.row * (region[1] + (tight ? 0 : rig_below(3)));
	h.bytes = h.slice * region[2] + h.row * region[1];
	return h;
}

static void write_and_read(struct picture *p)
{
	size_t origin[3], region[3];

	picture_check(p);
	for (int round = 0; round < 3; round++) {
		cl_command_queue q = rig.queues[rig_below(rig.device_count)];
		picture_rect(p, origin, region);
		struct pitches h = pitches_by_chance(p, region);
		uint8_t *host = rig_noise(h.bytes);
		bool flat = p->size[2] == 1 && region[2] == 1 &&
			    p->type != CL_MEM_OBJECT_IMAGE1D_ARRAY &&
			    p->type != CL_MEM_OBJECT_IMAGE2D_ARRAY &&
			    p->type != CL_MEM_OBJECT_IMAGE3D;
		bool plain = p->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
		size_t slice = flat || plain ? 0 : h.slice;
		OK(clEnqueueWriteImage(q, p->m, round & 1, origin, region, h.row, slice, host, 0,
				       NULL, NULL));
		OK(clFinish(q));
		model_rect(p, origin, region, host, h.row, h.slice, true);
		picture_rect(p, origin, region);
		h = pitches_by_chance(p, region);
		host = rig_noise(h.bytes);
		uint8_t *wanted = rig_memory(h.bytes);
		memcpy(wanted, host, h.bytes);
		model_rect(p, origin, region, wanted, h.row, h.slice, false);
		slice = flat || plain ? 0 : h.slice;
		OK(clEnqueueReadImage(q, p->m, CL_TRUE, origin, region, h.row, slice, host, 0, NULL,
				      NULL));
		SAME_BYTES(host, wanted, h.bytes);
	}
	picture_check(p);
}

static void images__write_and_read_by_chance(void)
{
	for_all(write_and_read, true);
}

static void copy_images(struct picture *p)
{
	struct picture other = picture_make(p->type, &p->format, 0);
	size_t from[3], to[3], region[3];

	for (int round = 0; round < 3; round++) {
		for (int d = 0; d < 3; d++) {
			from[d] = rig_below(p->size[d]);
			to[d] = rig_below(other.size[d]);
			size_t a = p->size[d] - from[d], b = other.size[d] - to[d];
			region[d] = 1 + rig_below(a < b ? a : b);
		}
		cl_command_queue q = rig.queues[rig_below(rig.device_count)];
		OK(clEnqueueCopyImage(q, p->m, other.m, from, to, region, 0, NULL, NULL));
		OK(clFinish(q));
		for (size_t z = 0; z < region[2]; z++)
			for (size_t y = 0; y < region[1]; y++)
				memcpy(picture_at(&other, to[0], to[1] + y, to[2] + z),
				       picture_at(p, from[0], from[1] + y, from[2] + z),
				       region[0] * p->pixel);
	}
	picture_check(&other);
	picture_release(&other);
}

static void images__copy_by_chance(void)
{
	for_all(copy_images, !rig.pocl);
}

static void copy_buffers(struct picture *p)
{
	size_t origin[3], region[3], at = p->pixel * rig_below(9);
	cl_command_queue q = rig.queues[rig_below(rig.device_count)];

	picture_rect(p, origin, region);
	size_t bytes = region[0] * region[1] * region[2] * p->pixel;
	uint8_t *host = rig_noise(at + bytes), *back = rig_memory(at + bytes);
	cl_mem m = rig_buffer(CL_MEM_COPY_HOST_PTR, at + bytes, host);
	OK(clEnqueueCopyBufferToImage(q, m, p->m, at, origin, region, 0, NULL, NULL));
	OK(clFinish(q));
	model_rect(p, origin, region, host + at, region[0] * p->pixel,
		   region[0] * region[1] * p->pixel, true);
	picture_check(p);
	OK(clReleaseMemObject(m));
	picture_rect(p, origin, region);
	bytes = region[0] * region[1] * region[2] * p->pixel;
	host = rig_noise(at + bytes);
	back = rig_memory(at + bytes);
	m = rig_buffer(CL_MEM_COPY_HOST_PTR, at + bytes, host);
	OK(clEnqueueCopyImageToBuffer(q, p->m, m, origin, region, at, 0, NULL, NULL));
	model_rect(p, origin, region, host + at, region[0] * p->pixel,
		   region[0] * region[1] * p->pixel, false);
	rig_read(q, m, back, at + bytes);
	SAME_BYTES(back, host, at + bytes);
	OK(clReleaseMemObject(m));
}

static void images__from_and_to_buffers_by_chance(void)
{
	for_all(copy_buffers, !rig.pocl);
}

static void map_images(struct picture *p)
{
	size_t origin[3], region[3], row = 0, slice = 0;
	bool layers = p->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;

	for (int round = 0; round < 3; round++) {
		cl_command_queue q = rig.queues[rig_below(rig.device_count)];
		picture_rect(p, origin, region);
		uint8_t *map = clEnqueueMapImage(q, p->m, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
						 origin, region, &row, &slice, 0, NULL, NULL, ERR);
		MADE(map);
		CHECK(row >= region[0] * p->pixel || layers || rig.pocl);
		size_t step = layers ? slice : row; /* distance from one y to the next */
		for (size_t z = 0; z < region[2]; z++)
			for (size_t y = 0; y < region[1]; y++) {
				uint8_t *a = map + z * slice + y * step;
				uint8_t *b = picture_at(p, origin[0], origin[1] + y, origin[2] + z);
				SAME_BYTES(a, b, region[0] * p->pixel);
				rig_scramble(a, p->pixel);
				memcpy(b, a, p->pixel);
			}
		OK(clEnqueueUnmapMemObject(q, p->m, map, 0, NULL, NULL));
		OK(clFinish(q));
	}
	picture_check(p);
}

static void images__map_by_chance(void)
{
	for_all(map_images, !rig.pocl);
}

/* ---- fills: ones and zeros are the same in every number format ---- */

static size_t store_one(uint8_t *to, cl_channel_type type, bool one)
{
	static const float floats[2] = {0, 1};
	static const uint16_t halves[2] = {0, 0x3c00};
	uint32_t number = one;

	switch (type) {
	case CL_SNORM_INT8: *to = one ? 127 : 0; return 1;
	case CL_UNORM_INT8: *to = one ? 255 : 0; return 1;
	case CL_SIGNED_INT8:
	case CL_UNSIGNED_INT8: *to = one; return 1;
	case CL_SNORM_INT16: number = one ? 32767 : 0; break;
	case CL_UNORM_INT16: number = one ? 65535 : 0; break;
	case CL_SIGNED_INT16:
	case CL_UNSIGNED_INT16: break;
	case CL_SIGNED_INT32:
	case CL_UNSIGNED_INT32: memcpy(to, &number, 4); return 4;
	case CL_FLOAT: memcpy(to, &floats[one], 4); return 4;
	case CL_HALF_FLOAT: memcpy(to, &halves[one], 2); return 2;
	default: return 0;
	}
	memcpy(to, &number, 2);
	return 2;
}

/* Which channel (red, green, blue or alpha) each component holds. */
static const char *places(cl_channel_order order)
{
	switch (order) {
	case CL_R: return "r";
	case CL_A: return "a";
	case CL_RG: return "rg";
	case CL_RA: return "ra";
	case CL_RGBA: return "rgba";
	case CL_BGRA: return "bgra";
	case CL_ARGB: return "argb";
	case CL_ABGR: return "abgr";
	default: return NULL;
	}
}

static void fill(struct picture *p)
{
	const cl_channel_type type = p->format.image_channel_data_type;
	const char *order = places(p->format.image_channel_order);
	bool whole = type == CL_SIGNED_INT8 || type == CL_SIGNED_INT16 || type == CL_SIGNED_INT32 ||
		     type == CL_UNSIGNED_INT8 || type == CL_UNSIGNED_INT16 ||
		     type == CL_UNSIGNED_INT32;
	size_t origin[3], region[3], at = 0;
	bool colour[4];
	cl_float4 floats;
	cl_int4 numbers;
	uint8_t pixel[16];

	if (!order || store_one(pixel, type, true) == 0)
		return;
	for (int i = 0; i < 4; i++) {
		colour[i] = rig_below(2);
		floats.s[i] = colour[i];
		numbers.s[i] = colour[i];
	}
	for (const char *c = order; *c; c++)
		at += store_one(pixel + at, type, colour[strchr("rgba", *c) - "rgba"]);
	cl_command_queue q = rig.queues[rig_below(rig.device_count)];
	picture_rect(p, origin, region);
	OK(clEnqueueFillImage(q, p->m, whole ? (void *)&numbers : (void *)&floats, origin, region,
			      0, NULL, NULL));
	OK(clFinish(q));
	for (size_t z = 0; z < region[2]; z++)
		for (size_t y = 0; y < region[1]; y++)
			for (size_t x = 0; x < region[0]; x++)
				memcpy(picture_at(p, origin[0] + x, origin[1] + y, origin[2] + z),
				       pixel, p->pixel);
	picture_check(p);
}

static void images__fill(void)
{
	for_all(fill, !rig.pocl);
}

static void images_queries(struct picture *p)
{
	cl_image_format format = {0, 0};
	size_t pixel = 0, width = 0, other = 0;
	cl_mem_object_type type = 0;

	OK(clGetImageInfo(p->m, CL_IMAGE_FORMAT, sizeof(format), &format, NULL));
	CHECK(memcmp(&format, &p->format, sizeof(format)) == 0);
	OK(clGetImageInfo(p->m, CL_IMAGE_ELEMENT_SIZE, sizeof(pixel), &pixel, NULL));
	EQUAL(pixel, p->pixel);
	OK(clGetImageInfo(p->m, CL_IMAGE_WIDTH, sizeof(width), &width, NULL));
	EQUAL(width, p->size[0]);
	OK(clGetMemObjectInfo(p->m, CL_MEM_TYPE, sizeof(type), &type, NULL));
	EQUAL(type, p->type);
	bool high = p->type == CL_MEM_OBJECT_IMAGE2D || p->type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
		    p->type == CL_MEM_OBJECT_IMAGE3D;
	OK(clGetImageInfo(p->m, CL_IMAGE_HEIGHT, sizeof(other), &other, NULL));
	EQUAL(other, high ? p->size[1] : 0);
	OK(clGetImageInfo(p->m, CL_IMAGE_DEPTH, sizeof(other), &other, NULL));
	EQUAL(other, p->type == CL_MEM_OBJECT_IMAGE3D ? p->size[2] : 0);
	OK(clGetImageInfo(p->m, CL_IMAGE_ARRAY_SIZE, sizeof(other), &other, NULL));
	EQUAL(other, p->type == CL_MEM_OBJECT_IMAGE1D_ARRAY   ? p->size[1]
		     : p->type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? p->size[2]
							      : 0);
	FAILS(clGetImageInfo(p->m, 0x1, sizeof(other), &other, NULL), CL_INVALID_VALUE);
	FAILS(clGetImageInfo(p->m, CL_IMAGE_WIDTH, 1, &other, NULL), CL_INVALID_VALUE);
}

/* An image over a part of a buffer, with a row pitch longer than its rows. */
static void images__over_buffers(void)
{
	static const char source[] =
		"kernel void k(read_only image2d_t in, write_only image2d_t out) {\n"
		"	int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
		"	write_imageui(out, at, read_imageui(in, at) + 1); }\n";
	const cl_image_format rgba = {CL_RGBA, CL_UNSIGNED_INT8};
	const cl_buffer_region part = {1024, 1024};
	const size_t size[2] = {7, 5}, pitch = 9 * 4, bytes = 2048;
	uint8_t *from = rig_noise(bytes), *to = rig_memory(bytes);

	if (!rig_has_extension(rig.devices[0], "cl_khr_image2d_from_buffer"))
		rig_skip("no images of buffers");
	cl_mem whole[2], sub[2], image[2];
	cl_kernel k = rig_kernel(source, "k");
	for (cl_uint i = 0; i < 2; i++) {
		whole[i] = rig_buffer(CL_MEM_READ_WRITE, bytes, NULL);
		rig_write(rig.queues[0], whole[i], from, bytes);
		sub[i] = clCreateSubBuffer(whole[i], 0, CL_BUFFER_CREATE_TYPE_REGION, &part, ERR);
		MADE(sub[i]);
		const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
					    .image_width = size[0],
					    .image_height = size[1],
					    .image_row_pitch = pitch,
					    .mem_object = sub[i]};
		image[i] = clCreateImage(rig.context, 0, &rgba, &desc, NULL, ERR);
		MADE(image[i]);
		SET(k, i, image[i]);
	}
	OK(clEnqueueNDRangeKernel(rig.queues[0], k, 2, NULL, size, NULL, 0, NULL, NULL));
	rig_read(rig.queues[0], whole[1], to, bytes);
	for (size_t y = 0; y < size[1]; y++)
		for (size_t x = 0; x < size[0] * 4; x++)
			from[part.origin + y * pitch + x]++;
	/* In the model 255 + 1 wraps to 0, but the format of the image saturates at 255. */
	for (size_t i = part.origin; i < part.origin + size[1] * pitch; i++)
		if ((i - part.origin) % pitch < size[0] * 4 && from[i] == 0)
			from[i] = 255;
	SAME_BYTES(to, from, bytes);
	OK(clReleaseKernel(k));
	for (cl_uint i = 0; i < 2; i++) {
		OK(clReleaseMemObject(image[i]));
		OK(clReleaseMemObject(sub[i]));
		OK(clReleaseMemObject(whole[i]));
	}
}

static void images__queries(void)
{
	for_all(images_queries, true);
}

RIG_MAIN(CASE(images__write_and_read_by_chance), CASE(images__copy_by_chance),
	 CASE(images__from_and_to_buffers_by_chance), CASE(images__map_by_chance),
	 CASE(images__fill), CASE(images__queries), CASE(images__over_buffers))
