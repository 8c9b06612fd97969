/* SPDX-License-Identifier: BSD-3-Clause */
/* Image formats: pixel sizes, the formats that devices support, and conversion of a color to a
 * pixel. */
#include <math.h>
#include <string.h>

#include "plugins/opencl/memory/memory.h"
#include "plugins/opencl/node/device.h"

#include <CL/cl_half.h>

#define R 0
#define G 1
#define B 2
#define A 3
#define X 4 /* the channel is not used */

static const struct order_row {
	cl_channel_order order;
	uint8_t count;
	uint8_t from[4]; /* component of the color in channel i of a pixel */
	bool srgb;
} orders[] = {
	{CL_R, 1, {R}, false},
	{CL_A, 1, {A}, false},
	{CL_INTENSITY, 1, {R}, false},
	{CL_LUMINANCE, 1, {R}, false},
	{CL_DEPTH, 1, {R}, false},
	{CL_Rx, 2, {R, X}, false},
	{CL_RG, 2, {R, G}, false},
	{CL_RA, 2, {R, A}, false},
	{CL_RGx, 3, {R, G, X}, false},
	{CL_RGB, 3, {R, G, B}, false},
	{CL_RGBx, 4, {R, G, B, X}, false},
	{CL_RGBA, 4, {R, G, B, A}, false},
	{CL_BGRA, 4, {B, G, R, A}, false},
	{CL_ARGB, 4, {A, R, G, B}, false},
	{CL_ABGR, 4, {A, B, G, R}, false},
	{CL_sRGB, 3, {R, G, B}, true},
	{CL_sRGBx, 4, {R, G, B, X}, true},
	{CL_sRGBA, 4, {R, G, B, A}, true},
	{CL_sBGRA, 4, {B, G, R, A}, true},
};

static const struct type_row {
	cl_channel_type type;
	uint8_t bytes;  /* bytes of a channel, or of a whole packed pixel */
	uint8_t packed; /* channels in a packed pixel; 0: not packed */
} types[] = {
	{CL_SNORM_INT8, 1, 0},      {CL_SNORM_INT16, 2, 0},        {CL_UNORM_INT8, 1, 0},
	{CL_UNORM_INT16, 2, 0},     {CL_SIGNED_INT8, 1, 0},        {CL_SIGNED_INT16, 2, 0},
	{CL_SIGNED_INT32, 4, 0},    {CL_UNSIGNED_INT8, 1, 0},      {CL_UNSIGNED_INT16, 2, 0},
	{CL_UNSIGNED_INT32, 4, 0},  {CL_HALF_FLOAT, 2, 0},         {CL_FLOAT, 4, 0},
	{CL_UNORM_SHORT_565, 2, 3}, {CL_UNORM_SHORT_555, 2, 3},    {CL_UNORM_INT_101010, 4, 3},
	{CL_UNORM_INT24, 4, 1},     {CL_UNORM_INT_101010_2, 4, 4},
};

static const struct order_row *order_of(const cl_image_format *f)
{
	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
		if (orders[i].order == f->image_channel_order)
			return &orders[i];
	}
	return NULL;
}

static const struct type_row *type_of(const cl_image_format *f)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (types[i].type == f->image_channel_data_type)
			return &types[i];
	}
	return NULL;
}

/* OpenCL, table "Supported Image Channel Orders" and the text below it. */
static bool pair_valid(const struct order_row *o, const struct type_row *t)
{
	bool norm = t->type == CL_SNORM_INT8 || t->type == CL_SNORM_INT16 ||
		    t->type == CL_UNORM_INT8 || t->type == CL_UNORM_INT16;
	bool byte = t->bytes == 1;

	switch (o->order) {
	case CL_INTENSITY:
	case CL_LUMINANCE: return norm || t->type == CL_HALF_FLOAT || t->type == CL_FLOAT;
	case CL_DEPTH: return t->type == CL_UNORM_INT16 || t->type == CL_FLOAT;
	case CL_RGB:
	case CL_RGBx: return t->packed == 3;
	case CL_BGRA:
	case CL_ARGB:
	case CL_ABGR: return byte;
	case CL_RGBA: return !t->packed || t->packed == 4;
	default: return o->srgb ? t->type == CL_UNORM_INT8 : !t->packed;
	}
}

size_t format_bytes(const cl_image_format *f)
{
	const struct order_row *o = order_of(f);
	const struct type_row *t = type_of(f);

	if (!o || !t || !pair_valid(o, t))
		return 0;
	return t->packed ? t->bytes : (size_t)t->bytes * o->count;
}

#define ACCESS_FLAGS \
	(CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY | CL_MEM_KERNEL_READ_AND_WRITE)

/* 0: the record is not for this access and object type. */
static uint32_t record_formats(const struct dxp_about_record *r, uint32_t access,
			       cl_mem_object_type type)
{
	if (r->tag != DXP_ABOUT_IMAGE_FORMATS || r->bytes < 8 || dxp_about_u32(r->data) != access ||
	    dxp_about_u32(r->data + 4) != type)
		return 0;
	return (r->bytes - 8) / 8;
}

static cl_image_format record_format(const struct dxp_about_record *r, uint32_t index)
{
	const uint8_t *at = r->data + 8 + (size_t)8 * index;

	return (cl_image_format){dxp_about_u32(at), dxp_about_u32(at + 4)};
}

static bool device_supports(cl_device_id d, uint32_t access, cl_mem_object_type type,
			    const cl_image_format *f)
{
	struct dxp_about_record r;
	struct dxp_about a;

	dxp_about_begin(&a, d->about, d->about ? d->about_bytes : 0);
	while (dxp_about_next(&a, &r)) {
		for (uint32_t i = 0, n = record_formats(&r, access, type); i < n; i++) {
			cl_image_format has = record_format(&r, i);
			if (has.image_channel_order == f->image_channel_order &&
			    has.image_channel_data_type == f->image_channel_data_type)
				return true;
		}
	}
	return false;
}

static uint32_t access_of(cl_mem_flags flags)
{
	flags &= ACCESS_FLAGS;
	return flags ? (uint32_t)flags : CL_MEM_READ_WRITE;
}

static bool has_images(cl_device_id d)
{
	return device_uint(d, CL_DEVICE_IMAGE_SUPPORT, CL_FALSE) != CL_FALSE;
}

/* Devices without images are skipped: a command with an image fails on them. */
static bool all_support(cl_context c, uint32_t access, cl_mem_object_type type,
			const cl_image_format *f)
{
	bool some = false;

	for (cl_uint i = 0; i < c->device_count; i++) {
		if (!has_images(c->devices[i]))
			continue;
		if (!device_supports(c->devices[i], access, type, f))
			return false;
		some = true;
	}
	return some;
}

bool format_supported(cl_context c, cl_mem_flags flags, cl_mem_object_type type,
		      const cl_image_format *f)
{
	return all_support(c, access_of(flags), type, f);
}

static cl_uint list(cl_context c, uint32_t access, cl_mem_object_type type, cl_uint space,
		    cl_image_format *out)
{
	struct dxp_about_record r;
	struct dxp_about a;
	cl_uint found = 0, first = 0;

	while (first < c->device_count && !has_images(c->devices[first]))
		first++;
	if (first == c->device_count)
		return 0;
	cl_device_id d = c->devices[first];
	dxp_about_begin(&a, d->about, d->about ? d->about_bytes : 0);
	while (dxp_about_next(&a, &r)) {
		for (uint32_t i = 0, n = record_formats(&r, access, type); i < n; i++) {
			cl_image_format f = record_format(&r, i);
			if (!format_bytes(&f) || !all_support(c, access, type, &f))
				continue;
			if (found < space)
				out[found] = f;
			found++;
		}
	}
	return found;
}

static bool is_image_type(cl_mem_object_type type)
{
	return type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetSupportedImageFormats(cl_context context,
							       cl_mem_flags flags,
							       cl_mem_object_type type,
							       cl_uint space, cl_image_format *out,
							       cl_uint *count)
{
	cl_mem_flags access = flags & ACCESS_FLAGS;
	cl_int error = CL_SUCCESS;

	if (!is_image_type(type) || (!space && out) || (access & (access - 1)) ||
	    !memory_flags_valid(flags & ~(cl_mem_flags)CL_MEM_KERNEL_READ_AND_WRITE))
		error = CL_INVALID_VALUE;
	opencl_enter();
	if (!object_is(context, OBJECT_CONTEXT))
		error = CL_INVALID_CONTEXT;
	if (error == CL_SUCCESS) {
		cl_uint found = list(context, access_of(flags), type, out ? space : 0, out);
		if (count)
			*count = found;
	}
	opencl_leave();
	return error;
}

static float to_srgb(float v)
{
	if (!(v > 0.0f))
		return 0.0f;
	if (v > 1.0f)
		return 1.0f;
	return v < 0.0031308f ? 12.92f * v : 1.055f * powf(v, 1.0f / 2.4f) - 0.055f;
}

/* Limits `v` to [least, 1], multiplies by `scale`, and rounds to the nearest even number. NaN
 * becomes 0. */
static int32_t to_norm(float v, float least, float scale)
{
	if (!(v > least))
		return (int32_t)(v <= least ? least * scale : 0.0f);
	return (int32_t)rintf((v > 1.0f ? 1.0f : v) * scale);
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* Little-endian; 1, 2 or 4 bytes. */
static void put(uint8_t *at, uint32_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

/* The four bytes of the color at `from` are a float, an int or a uint, by the type. */
static uint32_t channel(cl_channel_type type, const void *from, bool srgb)
{
	float f;
	int32_t i;
	uint32_t u;

	memcpy(&f, from, sizeof f);
	memcpy(&i, from, sizeof i);
	memcpy(&u, from, sizeof u);
	switch (type) {
	case CL_SNORM_INT8: return (uint32_t)to_norm(f, -1.0f, 127.0f);
	case CL_SNORM_INT16: return (uint32_t)to_norm(f, -1.0f, 32767.0f);
	case CL_UNORM_INT8: return (uint32_t)to_norm(srgb ? to_srgb(f) : f, 0.0f, 255.0f);
	case CL_UNORM_INT16: return (uint32_t)to_norm(f, 0.0f, 65535.0f);
	case CL_UNORM_INT24: return (uint32_t)to_norm(f, 0.0f, 16777215.0f);
	case CL_SIGNED_INT8: return (uint32_t)clamp(i, INT8_MIN, INT8_MAX);
	case CL_SIGNED_INT16: return (uint32_t)clamp(i, INT16_MIN, INT16_MAX);
	case CL_UNSIGNED_INT8: return (uint32_t)clamp(u, 0, UINT8_MAX);
	case CL_UNSIGNED_INT16: return (uint32_t)clamp(u, 0, UINT16_MAX);
	case CL_HALF_FLOAT: return cl_half_from_float(f, CL_HALF_RTE);
	default: return u; /* 32-bit channels are stored unchanged */
	}
}

static uint32_t packed(cl_channel_type type, const void *color)
{
	float c[4];

	memcpy(c, color, sizeof c);
	switch (type) {
	case CL_UNORM_SHORT_565:
		return (uint32_t)(to_norm(c[0], 0.0f, 31.0f) << 11 |
				  to_norm(c[1], 0.0f, 63.0f) << 5 | to_norm(c[2], 0.0f, 31.0f));
	case CL_UNORM_SHORT_555:
		return (uint32_t)(to_norm(c[0], 0.0f, 31.0f) << 10 |
				  to_norm(c[1], 0.0f, 31.0f) << 5 | to_norm(c[2], 0.0f, 31.0f));
	case CL_UNORM_INT_101010:
		return (uint32_t)to_norm(c[0], 0.0f, 1023.0f) << 20 |
		       (uint32_t)to_norm(c[1], 0.0f, 1023.0f) << 10 |
		       (uint32_t)to_norm(c[2], 0.0f, 1023.0f);
	default:
		return (uint32_t)to_norm(c[0], 0.0f, 1023.0f) << 22 |
		       (uint32_t)to_norm(c[1], 0.0f, 1023.0f) << 12 |
		       (uint32_t)to_norm(c[2], 0.0f, 1023.0f) << 2 |
		       (uint32_t)to_norm(c[3], 0.0f, 3.0f);
	}
}

size_t format_pack(const cl_image_format *f, const void *color, uint8_t *pixel)
{
	const struct order_row *o = order_of(f);
	const struct type_row *t = type_of(f);

	memset(pixel, 0, 16);
	if (t->packed > 1) {
		put(pixel, packed(t->type, color), t->bytes);
		return t->bytes;
	}
	for (size_t i = 0; i < o->count; i++) {
		if (o->from[i] == X)
			continue;
		/* The alpha channel is linear, even in an sRGB pixel. */
		bool srgb = o->srgb && o->from[i] != A;
		const uint8_t *from = (const uint8_t *)color + (size_t)4 * o->from[i];
		put(pixel + i * t->bytes, channel(t->type, from, srgb), t->bytes);
	}
	return (size_t)t->bytes * o->count;
}
