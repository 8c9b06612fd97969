/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/image.h"

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

static uint32_t channels(uint32_t order)
{
	switch (order) {
	case CL_RG:
	case CL_RA:
	case CL_Rx: return 2;
	case CL_RGB:
	case CL_RGx:
	case CL_sRGB: return 3;
	case CL_RGBA:
	case CL_BGRA:
	case CL_ARGB:
	case CL_ABGR:
	case CL_RGBx:
	case CL_sRGBx:
	case CL_sRGBA:
	case CL_sBGRA: return 4;
	default: return 1;
	}
}

static uint32_t pixel_bytes(const struct dxp_image *m)
{
	switch (m->type) {
	case CL_SNORM_INT16:
	case CL_UNORM_INT16:
	case CL_SIGNED_INT16:
	case CL_UNSIGNED_INT16:
	case CL_HALF_FLOAT: return 2 * channels(m->order);
	case CL_SIGNED_INT32:
	case CL_UNSIGNED_INT32:
	case CL_FLOAT: return 4 * channels(m->order);
	case CL_UNORM_SHORT_565:
	case CL_UNORM_SHORT_555: return 2;
	case CL_UNORM_INT_101010:
	case CL_UNORM_INT_101010_2: return 4;
	default: return channels(m->order);
	}
}

/* *sum += (count - 1) * pitch. False: `count` is 0, or an overflow. */
static bool steps_add(uint64_t *sum, uint64_t count, uint64_t pitch)
{
	uint64_t bytes;

	return count > 0 && !__builtin_mul_overflow(count - 1, pitch, &bytes) &&
	       !__builtin_add_overflow(*sum, bytes, sum);
}

bool image_span(const struct dxp_image *m, uint64_t *bytes)
{
	uint64_t sum = (uint64_t)m->width * pixel_bytes(m);
	uint64_t row = m->row_pitch ? m->row_pitch : sum;
	uint64_t rows = 1, slices = 1;

	switch (m->object) {
	case CL_MEM_OBJECT_IMAGE2D: rows = m->height; break;
	case CL_MEM_OBJECT_IMAGE3D:
		rows = m->height;
		slices = m->depth;
		break;
	case CL_MEM_OBJECT_IMAGE1D_ARRAY: slices = m->layers; break;
	case CL_MEM_OBJECT_IMAGE2D_ARRAY:
		rows = m->height;
		slices = m->layers;
		break;
	default: break;
	}
	uint64_t slice = m->slice_pitch;
	if (slice == 0 && __builtin_mul_overflow(row, rows, &slice))
		return false;
	if (m->width == 0 || !steps_add(&sum, rows, row) || !steps_add(&sum, slices, slice))
		return false;
	*bytes = sum;
	return true;
}
