/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements images. The bytes of an image have the same layout on every device and on the host, so
 * it is transferred as a buffer is. The layout has the pitches of host memory that the program
 * gave; otherwise it has no gaps. */
#include <string.h>

#include "plugins/opencl/memory/memory.h"

#define ACCESS_FLAGS (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)

struct plan {
	cl_context context;
	cl_mem_flags flags;
	cl_image_format format;
	cl_image_desc desc;
	void *host;
	size_t pixel;
	uint64_t row_pitch, slice_pitch, bytes;
	/* Largest values that any device of the context reports: */
	uint64_t width_2d, height_2d, width_3d, height_3d, depth_3d, layers, buffer_pixels, memory;
};

static bool is_array(cl_mem_object_type type)
{
	return type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
}

static void extents(cl_mem m, uint64_t extent[3])
{
	extent[0] = m->image.width;
	extent[1] = m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? m->image.layers
		    : m->image.height                      ? m->image.height
							   : 1;
	extent[2] = m->type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? m->image.layers
		    : m->type == CL_MEM_OBJECT_IMAGE3D     ? m->image.depth
							   : 1;
}

uint64_t image_second_pitch(cl_mem m)
{
	return m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? m->image.slice_pitch : m->image.row_pitch;
}

uint64_t image_third_pitch(cl_mem m)
{
	if (m->type == CL_MEM_OBJECT_IMAGE3D || m->type == CL_MEM_OBJECT_IMAGE2D_ARRAY)
		return m->image.slice_pitch;
	return image_second_pitch(m) * (m->image.height ? m->image.height : 1);
}

bool image_region(cl_mem m, const size_t *origin, const size_t *region, uint64_t *at,
		  struct dxp_rect *rect)
{
	uint64_t extent[3], pixel = format_bytes(&m->format);

	if (!origin || !region)
		return false;
	extents(m, extent);
	for (int i = 0; i < 3; i++) {
		if (!region[i] || origin[i] > extent[i] || region[i] > extent[i] - origin[i])
			return false;
	}
	uint64_t second = image_second_pitch(m), third = image_third_pitch(m);
	*at = origin[0] * pixel + origin[1] * second + origin[2] * third;
	*rect = (struct dxp_rect){
		.row_bytes = region[0] * pixel,
		.rows = region[1],
		.slices = region[2],
		.from_row_pitch = second,
		.from_slice_pitch = third,
		.to_row_pitch = second,
		.to_slice_pitch = third,
	};
	return true;
}

static cl_int sizes_check(const struct plan *p)
{
	const cl_image_desc *d = &p->desc;
	uint64_t w = d->image_width, h = d->image_height, z = d->image_depth,
		 n = d->image_array_size;

	switch (d->image_type) {
	case CL_MEM_OBJECT_IMAGE1D:
		return !w                ? CL_INVALID_IMAGE_DESCRIPTOR
		       : w > p->width_2d ? CL_INVALID_IMAGE_SIZE
					 : CL_SUCCESS;
	case CL_MEM_OBJECT_IMAGE1D_BUFFER:
		return !w                     ? CL_INVALID_IMAGE_DESCRIPTOR
		       : w > p->buffer_pixels ? CL_INVALID_IMAGE_SIZE
					      : CL_SUCCESS;
	case CL_MEM_OBJECT_IMAGE1D_ARRAY:
		return !w || !n                           ? CL_INVALID_IMAGE_DESCRIPTOR
		       : w > p->width_2d || n > p->layers ? CL_INVALID_IMAGE_SIZE
							  : CL_SUCCESS;
	case CL_MEM_OBJECT_IMAGE2D:
		return !w || !h                              ? CL_INVALID_IMAGE_DESCRIPTOR
		       : w > p->width_2d || h > p->height_2d ? CL_INVALID_IMAGE_SIZE
							     : CL_SUCCESS;
	case CL_MEM_OBJECT_IMAGE2D_ARRAY:
		return !w || !h || !n ? CL_INVALID_IMAGE_DESCRIPTOR
		       : w > p->width_2d || h > p->height_2d || n > p->layers
			       ? CL_INVALID_IMAGE_SIZE
			       : CL_SUCCESS;
	case CL_MEM_OBJECT_IMAGE3D:
		return !w || !h || !z ? CL_INVALID_IMAGE_DESCRIPTOR
		       : w > p->width_3d || h > p->height_3d || z > p->depth_3d
			       ? CL_INVALID_IMAGE_SIZE
			       : CL_SUCCESS;
	default: return CL_INVALID_IMAGE_DESCRIPTOR;
	}
}

static cl_int pitches_set(struct plan *p)
{
	const cl_image_desc *d = &p->desc;
	uint64_t line = d->image_width * p->pixel;
	/* If an image is made from a buffer, a row pitch has no effect, but the conformance tests
	 * set one. */
	bool own = p->host || d->mem_object;
	uint64_t rows = d->image_height, slices;

	if ((d->image_row_pitch || d->image_slice_pitch) && !own)
		return CL_INVALID_IMAGE_DESCRIPTOR;
	p->row_pitch = d->image_row_pitch ? d->image_row_pitch : line;
	if (p->row_pitch < line || p->row_pitch % p->pixel)
		return CL_INVALID_IMAGE_DESCRIPTOR;
	switch (d->image_type) {
	case CL_MEM_OBJECT_IMAGE3D: slices = d->image_depth; break;
	case CL_MEM_OBJECT_IMAGE2D_ARRAY: slices = d->image_array_size; break;
	case CL_MEM_OBJECT_IMAGE1D_ARRAY:
		rows = 1;
		slices = d->image_array_size;
		break;
	case CL_MEM_OBJECT_IMAGE2D:
		return __builtin_mul_overflow(p->row_pitch, rows, &p->bytes) ? CL_INVALID_IMAGE_SIZE
									     : CL_SUCCESS;
	default: p->bytes = p->row_pitch; return CL_SUCCESS;
	}
	uint64_t least;
	if (__builtin_mul_overflow(p->row_pitch, rows, &least))
		return CL_INVALID_IMAGE_SIZE;
	p->slice_pitch = d->image_slice_pitch ? d->image_slice_pitch : least;
	if (p->slice_pitch < least || p->slice_pitch % p->row_pitch)
		return CL_INVALID_IMAGE_DESCRIPTOR;
	return __builtin_mul_overflow(p->slice_pitch, slices, &p->bytes) ? CL_INVALID_IMAGE_SIZE
									 : CL_SUCCESS;
}

/* Checks the object that the image is made from, if any. Caller holds the lock. */
static cl_int parent_check(struct plan *p)
{
	cl_mem m = p->desc.mem_object;
	bool is_1d = p->desc.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;

	if (!m)
		return is_1d ? CL_INVALID_IMAGE_DESCRIPTOR : CL_SUCCESS;
	if (!is_1d && p->desc.image_type != CL_MEM_OBJECT_IMAGE2D)
		return CL_INVALID_IMAGE_DESCRIPTOR;
	if (!object_is(m, OBJECT_MEMORY) || m->context != p->context)
		return CL_INVALID_IMAGE_DESCRIPTOR;
	if (m->type != CL_MEM_OBJECT_BUFFER && (is_1d || m->type != CL_MEM_OBJECT_IMAGE2D))
		return CL_INVALID_IMAGE_DESCRIPTOR;
	if (m->type == CL_MEM_OBJECT_IMAGE2D) {
		/* The new image shows the same pixels. Its channel order may differ from its
		 * parent's, also between sRGB and linear. */
		if (m->image.width != p->desc.image_width ||
		    m->image.height != p->desc.image_height || p->desc.image_row_pitch ||
		    p->desc.image_slice_pitch || format_bytes(&m->format) != p->pixel ||
		    m->format.image_channel_data_type != p->format.image_channel_data_type)
			return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
		p->row_pitch = m->image.row_pitch;
		p->bytes = m->bytes;
	}
	if (p->bytes > m->bytes)
		return CL_INVALID_IMAGE_DESCRIPTOR;
	return memory_inherit(m->flags, &p->flags);
}

static cl_int desc_check(struct plan *p)
{
	p->pixel = format_bytes(&p->format);
	if (!p->pixel)
		return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
	if (p->desc.num_mip_levels || p->desc.num_samples)
		return CL_INVALID_IMAGE_DESCRIPTOR;
	cl_int error = sizes_check(p);
	if (error == CL_SUCCESS)
		error = pitches_set(p);
	if (error == CL_SUCCESS && p->bytes > p->memory)
		error = CL_INVALID_IMAGE_SIZE;
	return error != CL_SUCCESS ? error : memory_pointer_check(p->flags, p->host);
}

static void limits_get(struct plan *p)
{
	cl_context c = p->context;

	p->width_2d = memory_device_most(c, CL_DEVICE_IMAGE2D_MAX_WIDTH);
	p->height_2d = memory_device_most(c, CL_DEVICE_IMAGE2D_MAX_HEIGHT);
	p->width_3d = memory_device_most(c, CL_DEVICE_IMAGE3D_MAX_WIDTH);
	p->height_3d = memory_device_most(c, CL_DEVICE_IMAGE3D_MAX_HEIGHT);
	p->depth_3d = memory_device_most(c, CL_DEVICE_IMAGE3D_MAX_DEPTH);
	p->layers = memory_device_most(c, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
	p->buffer_pixels = memory_device_most(c, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE);
	p->memory = memory_device_most(c, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
}

static void layout_set(cl_mem m, const struct plan *p)
{
	const cl_image_desc *d = &p->desc;
	bool high = d->image_type == CL_MEM_OBJECT_IMAGE2D ||
		    d->image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
		    d->image_type == CL_MEM_OBJECT_IMAGE3D;

	m->format = p->format;
	m->desc = p->desc;
	m->bytes = p->bytes;
	m->image = (struct dxp_image){
		.order = p->format.image_channel_order,
		.type = p->format.image_channel_data_type,
		.object = d->image_type,
		.access = (uint32_t)(p->flags & ACCESS_FLAGS),
		.width = (uint32_t)d->image_width,
		.height = high ? (uint32_t)d->image_height : 0,
		.depth = d->image_type == CL_MEM_OBJECT_IMAGE3D ? (uint32_t)d->image_depth : 0,
		.layers = is_array(d->image_type) ? (uint32_t)d->image_array_size : 0,
		.row_pitch = p->row_pitch,
		.slice_pitch = p->slice_pitch,
	};
}

static cl_int make(struct plan *p, const cl_mem_properties *properties, cl_mem *out)
{
	cl_int error = parent_check(p);

	if (error != CL_SUCCESS)
		return error;
	if (!p->flags)
		p->flags = CL_MEM_READ_WRITE;
	if (!format_supported(p->context, p->flags, p->desc.image_type, &p->format))
		return CL_IMAGE_FORMAT_NOT_SUPPORTED;
	cl_mem m = memory_new(p->context, p->desc.mem_object, p->desc.image_type, p->flags);
	if (!m)
		return CL_OUT_OF_HOST_MEMORY;
	layout_set(m, p);
	error = memory_properties_set(m, properties);
	if (error == CL_SUCCESS)
		error = memory_fill_from(m, p->host);
	if (error != CL_SUCCESS)
		memory_abandon(m);
	else
		*out = m;
	return error;
}

static cl_int create(struct plan *p, const cl_mem_properties *properties,
		     const cl_image_format *format, const cl_image_desc *desc, cl_mem *out)
{
	opencl_enter();
	bool known = object_is(p->context, OBJECT_CONTEXT);
	opencl_leave();
	if (!known)
		return CL_INVALID_CONTEXT;
	if (!memory_flags_valid(p->flags))
		return CL_INVALID_VALUE;
	if (!format)
		return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
	if (!desc)
		return CL_INVALID_IMAGE_DESCRIPTOR;
	if (!memory_device_most(p->context, CL_DEVICE_IMAGE_SUPPORT))
		return CL_INVALID_OPERATION;
	limits_get(p);
	p->format = *format;
	p->desc = *desc;
	cl_int error = desc_check(p);
	if (error != CL_SUCCESS)
		return error;
	opencl_enter();
	error = make(p, properties, out);
	opencl_leave();
	return error;
}

CL_API_ENTRY cl_mem CL_API_CALL dxp_clCreateImageWithProperties(
	cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
	const cl_image_format *format, const cl_image_desc *desc, void *host, cl_int *error)
{
	struct plan p = {.context = context, .flags = flags, .host = host};
	cl_mem m = NULL;
	cl_int status = create(&p, properties, format, desc, &m);

	if (error != CL_SUCCESS)
		*error = status;
	return m;
}

CL_API_ENTRY cl_mem CL_API_CALL dxp_clCreateImage(cl_context context, cl_mem_flags flags,
						  const cl_image_format *format,
						  const cl_image_desc *desc, void *host,
						  cl_int *error)
{
	return dxp_clCreateImageWithProperties(context, NULL, flags, format, desc, host, error);
}

/* The calls of OpenCL 1.0 have no descriptor, so an error of it becomes CL_INVALID_IMAGE_SIZE. */
static cl_mem create_old(cl_context context, cl_mem_flags flags, const cl_image_format *format,
			 const cl_image_desc *desc, void *host, cl_int *error)
{
	cl_int status;
	cl_mem m = dxp_clCreateImage(context, flags, format, desc, host, &status);

	if (error)
		*error = status == CL_INVALID_IMAGE_DESCRIPTOR ? CL_INVALID_IMAGE_SIZE : status;
	return m;
}

CL_API_ENTRY cl_mem CL_API_CALL dxp_clCreateImage2D(cl_context context, cl_mem_flags flags,
						    const cl_image_format *format, size_t width,
						    size_t height, size_t row_pitch, void *host,
						    cl_int *error)
{
	const cl_image_desc desc = {
		.image_type = CL_MEM_OBJECT_IMAGE2D,
		.image_width = width,
		.image_height = height,
		.image_row_pitch = row_pitch,
	};

	return create_old(context, flags, format, &desc, host, error);
}

CL_API_ENTRY cl_mem CL_API_CALL dxp_clCreateImage3D(cl_context context, cl_mem_flags flags,
						    const cl_image_format *format, size_t width,
						    size_t height, size_t depth, size_t row_pitch,
						    size_t slice_pitch, void *host, cl_int *error)
{
	const cl_image_desc desc = {
		.image_type = CL_MEM_OBJECT_IMAGE3D,
		.image_width = width,
		.image_height = height,
		.image_depth = depth,
		.image_row_pitch = row_pitch,
		.image_slice_pitch = slice_pitch,
	};

	return create_old(context, flags, format, &desc, host, error);
}

static cl_int answer(cl_mem m, cl_image_info param, const struct info *i)
{
	bool buffer = m->parent && m->parent->type == CL_MEM_OBJECT_BUFFER;

	switch (param) {
	case CL_IMAGE_FORMAT: return result_bytes(i, &m->format, sizeof m->format);
	case CL_IMAGE_ELEMENT_SIZE: return result_size(i, format_bytes(&m->format));
	case CL_IMAGE_ROW_PITCH: return result_size(i, m->image.row_pitch);
	case CL_IMAGE_SLICE_PITCH: return result_size(i, m->image.slice_pitch);
	case CL_IMAGE_WIDTH: return result_size(i, m->image.width);
	case CL_IMAGE_HEIGHT: return result_size(i, m->image.height);
	case CL_IMAGE_DEPTH: return result_size(i, m->image.depth);
	case CL_IMAGE_ARRAY_SIZE: return result_size(i, m->image.layers);
	case CL_IMAGE_BUFFER: return result_handle(i, buffer ? m->parent : NULL);
	case CL_IMAGE_NUM_MIP_LEVELS:
	case CL_IMAGE_NUM_SAMPLES: return result_uint(i, 0);
	default: return CL_INVALID_VALUE;
	}
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetImageInfo(cl_mem m, cl_image_info param, size_t size,
						   void *value, size_t *size_ret)
{
	const struct info i = {size, value, size_ret};

	opencl_enter();
	bool known = object_is(m, OBJECT_MEMORY) && m->type != CL_MEM_OBJECT_BUFFER;
	cl_int error = known ? answer(m, param, &i) : CL_INVALID_MEM_OBJECT;
	opencl_leave();
	return error;
}
