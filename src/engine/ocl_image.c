/* SPDX-License-Identifier: BSD-3-Clause */
/* Images over DIRECT memory, without copies, with the pitches of the host (CL_MEM_USE_HOST_PTR; 0.3
 * us per image on PoCL). */
#include <stdio.h>
#include <string.h>

#include <dxp/status.h>

#include "base/util.h"
#include "engine/ocl_arguments.h"

static uint32_t channels_of(uint32_t order)
{
	switch (order) {
	case CL_R:
	case CL_A:
	case CL_Rx:
	case CL_DEPTH:
	case CL_INTENSITY:
	case CL_LUMINANCE: return 1;
	case CL_RG:
	case CL_RA:
	case CL_RGx: return 2;
	case CL_RGB:
	case CL_RGBx:
	case CL_sRGB: return 3;
	case CL_RGBA:
	case CL_BGRA:
	case CL_ARGB:
	case CL_ABGR:
	case CL_sRGBx:
	case CL_sRGBA:
	case CL_sBGRA: return 4;
	default: return 0;
	}
}

static uint32_t pixel_bytes(uint32_t order, uint32_t type)
{
	switch (type) {
	case CL_UNORM_SHORT_565:
	case CL_UNORM_SHORT_555: return 2;
	case CL_UNORM_INT_101010:
	case CL_UNORM_INT_101010_2: return 4;
	case CL_SNORM_INT8:
	case CL_UNORM_INT8:
	case CL_SIGNED_INT8:
	case CL_UNSIGNED_INT8: return channels_of(order);
	case CL_SNORM_INT16:
	case CL_UNORM_INT16:
	case CL_SIGNED_INT16:
	case CL_UNSIGNED_INT16:
	case CL_HALF_FLOAT: return 2 * channels_of(order);
	case CL_SIGNED_INT32:
	case CL_UNSIGNED_INT32:
	case CL_FLOAT: return 4 * channels_of(order);
	default: return 0;
	}
}

/* Layers of an array are slices. False: unknown kind. */
static bool sides(const struct dxp_image *m, uint64_t *rows, uint64_t *slices)
{
	*rows = *slices = 1;
	switch (m->object) {
	case CL_MEM_OBJECT_IMAGE1D:
	case CL_MEM_OBJECT_IMAGE1D_BUFFER: return true;
	case CL_MEM_OBJECT_IMAGE1D_ARRAY: *slices = m->layers; return true;
	case CL_MEM_OBJECT_IMAGE2D: *rows = m->height; return true;
	case CL_MEM_OBJECT_IMAGE2D_ARRAY:
		*rows = m->height;
		*slices = m->layers;
		return true;
	case CL_MEM_OBJECT_IMAGE3D:
		*rows = m->height;
		*slices = m->depth;
		return true;
	default: return false;
	}
}

uint64_t ocl_image_span(struct dxp_image *m)
{
	const uint64_t row = (uint64_t)m->width * pixel_bytes(m->order, m->type);
	uint64_t rows, slices;

	if (!sides(m, &rows, &slices) || row == 0 || rows == 0 || slices == 0)
		return 0;
	if (m->row_pitch == 0)
		m->row_pitch = row;
	if (m->row_pitch < row)
		return 0;
	/* Each product is below 2^96. */
	const unsigned __int128 slice = (unsigned __int128)m->row_pitch * rows;
	if (m->slice_pitch == 0 && slice <= UINT64_MAX)
		m->slice_pitch = (uint64_t)slice;
	if (slices > 1 && m->slice_pitch < slice)
		return 0;
	const unsigned __int128 span = (unsigned __int128)m->slice_pitch * (slices - 1) +
				       (unsigned __int128)m->row_pitch * (rows - 1) + row;
	return span <= UINT64_MAX ? (uint64_t)span : 0;
}

static cl_mem made_store(struct ocl_arguments *w, cl_mem made)
{
	if (made)
		w->made[w->count++] = made;
	return made;
}

static size_t line_widest(struct engine_ocl *o)
{
	size_t widest = 0;

	o->cl->clGetDeviceInfo(ocl_device_id(o->device), CL_DEVICE_IMAGE2D_MAX_WIDTH,
			       sizeof(widest), &widest, NULL);
	return widest;
}

/* The launch has no other memory object. */
static bool alone(const struct engine_launch *l, uint32_t i)
{
	uint32_t others = 0;

	for (uint32_t k = 0; k < l->argument_count; k++)
		others += k != i && l->arguments[k].memory != NULL;
	return others == 0;
}

/* An image1d_buffer_t. PoCL 3.1 crashes if it is a kernel's only memory object, but accepts a
 * one-dimensional image there, whose width is limited. */
static cl_mem line_create(struct engine_ocl *o, const struct engine_argument *a,
			  const struct dxp_image *m, uint64_t span, struct ocl_arguments *w,
			  cl_int *error)
{
	const cl_image_format format = {m->order, m->type};
	cl_image_desc d = {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = m->width};
	cl_context context = ocl_device_context(o->device);

	if (m->width <= line_widest(o))
		return o->cl->clCreateImage(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
					    &format, &d, a->memory, error);
	cl_mem buffer = made_store(w, o->cl->clCreateBuffer(context,
							    CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
							    span, a->memory, error));
	d.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
	d.buffer = buffer;
	return buffer ? o->cl->clCreateImage(context, CL_MEM_READ_WRITE, &format, &d, NULL, error)
		      : NULL;
}

static cl_mem image_create(struct engine_ocl *o, const struct engine_argument *a,
			   const struct dxp_image *m, uint64_t span, struct ocl_arguments *w,
			   cl_int *error)
{
	const cl_image_format format = {m->order, m->type};
	const bool array = m->object == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
			   m->object == CL_MEM_OBJECT_IMAGE2D_ARRAY;
	const bool deep = array || m->object == CL_MEM_OBJECT_IMAGE3D;
	const cl_image_desc d = {
		.image_type = m->object,
		.image_width = m->width,
		.image_height = m->height,
		.image_depth = m->object == CL_MEM_OBJECT_IMAGE3D ? m->depth : 0,
		.image_array_size = array ? m->layers : 0,
		.image_row_pitch = m->row_pitch,
		.image_slice_pitch = deep ? m->slice_pitch : 0,
	};

	if (m->object == CL_MEM_OBJECT_IMAGE1D_BUFFER)
		return line_create(o, a, m, span, w, error);
	return o->cl->clCreateImage(ocl_device_context(o->device),
				    CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, &format, &d, a->memory,
				    error);
}

/* Many drivers do not check the type. */
static const char *type_of(uint32_t object)
{
	return object == CL_MEM_OBJECT_IMAGE1D          ? "image1d_t"
	       : object == CL_MEM_OBJECT_IMAGE1D_ARRAY  ? "image1d_array_t"
	       : object == CL_MEM_OBJECT_IMAGE1D_BUFFER ? "image1d_buffer_t"
	       : object == CL_MEM_OBJECT_IMAGE2D        ? "image2d_t"
	       : object == CL_MEM_OBJECT_IMAGE2D_ARRAY  ? "image2d_array_t"
							: "image3d_t";
}

int ocl_image_make(struct engine_ocl *o, const struct ocl_kernel *k, const struct engine_launch *l,
		   uint32_t i, struct ocl_arguments *w, char text[ENGINE_TEXT_BYTES])
{
	const struct engine_argument *a = &l->arguments[i];
	struct dxp_image m = a->image;
	const uint64_t span = ocl_image_span(&m);
	cl_int error = CL_SUCCESS;

	if (!o->images) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "argument %u: kernels on this device accept no images; use a buffer", i);
		return DXP_EUNSUPPORTED;
	}
	if (span == 0 || span > a->memory_bytes || !a->memory) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.80s', argument %u: an image of %u x %u x %u pixels, pitches "
			 "%llu and %llu, does not fit its %llu bytes",
			 l->kernel, i, m.width, m.height, m.depth ? m.depth : m.layers,
			 (unsigned long long)m.row_pitch, (unsigned long long)m.slice_pitch,
			 (unsigned long long)a->memory_bytes);
		return DXP_EINVAL;
	}
	/* Types of depth images have other names. */
	if (m.order != CL_DEPTH &&
	    strncmp(k->parameters[i].type, type_of(m.object), strlen(type_of(m.object))) != 0) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.80s', argument %u: its type is %s, %s was given", l->kernel, i,
			 k->parameters[i].type, type_of(m.object));
		return DXP_EINVAL;
	}
	if (m.object == CL_MEM_OBJECT_IMAGE1D_BUFFER && alone(l, i) && m.width > line_widest(o) &&
	    ocl_device_is_pocl(o->device)) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "kernel '%.80s', argument %u: PoCL crashes if an image of a buffer with "
			 "more than %zu pixels is the only argument; add a buffer argument",
			 l->kernel, i, line_widest(o));
		return DXP_EUNSUPPORTED;
	}
	w->of_argument[i] = made_store(w, image_create(o, a, &m, span, w, &error));
	if (w->of_argument[i])
		return DXP_OK;
	snprintf(text, ENGINE_TEXT_BYTES,
		 "kernel '%.80s', argument %u: the device cannot create this image: %s (%d)",
		 l->kernel, i, ocl_error_name(error), error);
	return ocl_judge(o, error);
}

cl_sampler ocl_sampler_get(struct engine_ocl *o, const struct dxp_sampler *s, uint32_t i,
			   char text[ENGINE_TEXT_BYTES])
{
	cl_int error = CL_INVALID_VALUE;

	for (uint32_t k = 0; k < o->sampler_count; k++)
		if (memcmp(&o->samplers[k].what, s, sizeof(*s)) == 0)
			return o->samplers[k].id;
	cl_sampler made = NULL;
	/* Only 20 combinations are valid, so the table cannot fill up. */
	if (o->images && s->normalized <= 1 && o->sampler_count < ARRAY_COUNT(o->samplers))
		made = o->cl->clCreateSampler(ocl_device_context(o->device), s->normalized,
					      s->addressing, s->filter, &error);
	if (made) {
		o->samplers[o->sampler_count].what = *s;
		o->samplers[o->sampler_count++].id = made;
		return made;
	}
	snprintf(text, ENGINE_TEXT_BYTES,
		 "argument %u: the device cannot create this sampler (%u, %#x, %#x): %s (%d)", i,
		 s->normalized, s->addressing, s->filter, ocl_error_name(error), error);
	return NULL;
}

void ocl_samplers_drop(struct engine_ocl *o)
{
	while (o->sampler_count > 0)
		o->cl->clReleaseSampler(o->samplers[--o->sampler_count].id);
}
