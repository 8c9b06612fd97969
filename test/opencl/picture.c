/* SPDX-License-Identifier: BSD-3-Clause */
#include "picture.h"

const cl_mem_object_type picture_types[6] = {
	CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER,
	CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D};

size_t picture_channels(cl_channel_order order)
{
	switch (order) {
	case CL_R:
	case CL_A:
	case CL_Rx:
	case CL_INTENSITY:
	case CL_LUMINANCE:
	case CL_DEPTH: return 1;
	case CL_RG:
	case CL_RA:
	case CL_RGx: return 2;
	case CL_RGB:
	case CL_RGBx:
	case CL_sRGB: return 3;
	default: return 4;
	}
}

size_t picture_pixel_bytes(const cl_image_format *f)
{
	size_t channels = picture_channels(f->image_channel_order);

	switch (f->image_channel_data_type) {
	case CL_SNORM_INT8:
	case CL_UNORM_INT8:
	case CL_SIGNED_INT8:
	case CL_UNSIGNED_INT8: return channels;
	case CL_UNORM_SHORT_565:
	case CL_UNORM_SHORT_555: return 2;
	case CL_UNORM_INT_101010: return 4;
	case CL_SIGNED_INT32:
	case CL_UNSIGNED_INT32:
	case CL_FLOAT: return 4 * channels;
	default: return 2 * channels;
	}
}

size_t picture_formats(cl_mem_object_type type, cl_mem_flags flags, cl_image_format *out,
		       size_t space)
{
	cl_uint count = 0;

	if (clGetSupportedImageFormats(rig.context, flags, type, (cl_uint)space, out, &count) !=
	    CL_SUCCESS)
		return 0;
	return count < space ? count : space;
}

cl_image_desc picture_desc(cl_mem_object_type type, const size_t size[3])
{
	cl_image_desc d = {.image_type = type, .image_width = size[0]};

	switch (type) {
	case CL_MEM_OBJECT_IMAGE1D_ARRAY: d.image_array_size = size[1]; break;
	case CL_MEM_OBJECT_IMAGE2D: d.image_height = size[1]; break;
	case CL_MEM_OBJECT_IMAGE2D_ARRAY:
		d.image_height = size[1];
		d.image_array_size = size[2];
		break;
	case CL_MEM_OBJECT_IMAGE3D:
		d.image_height = size[1];
		d.image_depth = size[2];
		break;
	default: break;
	}
	return d;
}

static cl_uint dimensions(cl_mem_object_type type)
{
	switch (type) {
	case CL_MEM_OBJECT_IMAGE1D:
	case CL_MEM_OBJECT_IMAGE1D_BUFFER: return 1;
	case CL_MEM_OBJECT_IMAGE1D_ARRAY:
	case CL_MEM_OBJECT_IMAGE2D: return 2;
	default: return 3;
	}
}

struct picture picture_make(cl_mem_object_type type, const cl_image_format *format,
			    cl_mem_flags flags)
{
	struct picture p = {.type = type,
			    .format = *format,
			    .pixel = picture_pixel_bytes(format),
			    .size = {1, 1, 1}};

	for (cl_uint d = 0; d < dimensions(type); d++)
		p.size[d] = 1 + rig_below(d == 0 ? 40 : d == 1 ? 12 : 5);
	p.bytes = p.size[0] * p.size[1] * p.size[2] * p.pixel;
	p.model = rig_noise(p.bytes);
	cl_image_desc d = picture_desc(type, p.size);
	if (type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
		p.buffer = rig_buffer(CL_MEM_COPY_HOST_PTR, p.bytes, p.model);
		d.buffer = p.buffer;
		p.m = clCreateImage(rig.context, flags, format, &d, NULL, ERR);
	} else {
		p.m = clCreateImage(rig.context, flags | CL_MEM_COPY_HOST_PTR, format, &d, p.model,
				    ERR);
	}
	if (!p.m)
		rig_fail(__FILE__, __LINE__, "image type 0x%x order 0x%x of 0x%x: %s", type,
			 format->image_channel_order, format->image_channel_data_type,
			 rig_error_name(rig_error));
	return p;
}

void picture_release(struct picture *p)
{
	OK(clReleaseMemObject(p->m));
	if (p->buffer)
		OK(clReleaseMemObject(p->buffer));
}

void picture_rect(const struct picture *p, size_t origin[3], size_t region[3])
{
	for (int d = 0; d < 3; d++) {
		origin[d] = rig_below(p->size[d]);
		region[d] = 1 + rig_below(p->size[d] - origin[d]);
	}
}

uint8_t *picture_at(const struct picture *p, size_t x, size_t y, size_t z)
{
	return p->model + ((z * p->size[1] + y) * p->size[0] + x) * p->pixel;
}

void picture_check(const struct picture *p)
{
	static const size_t origin[3] = {0, 0, 0};
	uint8_t *back = rig_memory(p->bytes);

	for (cl_uint d = 0; d < rig.device_count; d++) {
		memset(back, 0, p->bytes);
		OK(clEnqueueReadImage(rig.queues[d], p->m, CL_TRUE, origin, p->size, 0, 0, back, 0,
				      NULL, NULL));
		SAME_BYTES(back, p->model, p->bytes);
	}
}
