/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements samplers. */
#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/memory/memory.h"

/* entries of a property list: three pairs, and the 0 that ends the list */
#define PROPERTIES_MAX 7

static void end(void *handle)
{
	cl_sampler s = handle;

	free(s->properties);
	object_drop(s->context);
}

static bool addressing_valid(cl_addressing_mode mode)
{
	return mode >= CL_ADDRESS_NONE && mode <= CL_ADDRESS_MIRRORED_REPEAT;
}

static bool sampler_valid(const struct dxp_sampler *s)
{
	return s->normalized <= CL_TRUE && addressing_valid(s->addressing) &&
	       (s->filter == CL_FILTER_NEAREST || s->filter == CL_FILTER_LINEAR);
}

static cl_int keep(cl_sampler s, const cl_sampler_properties *list, size_t count)
{
	if (!list)
		return CL_SUCCESS;
	s->properties = calloc(count, sizeof *s->properties);
	if (!s->properties)
		return CL_OUT_OF_HOST_MEMORY;
	s->property_bytes = count * sizeof *s->properties;
	memcpy(s->properties, list, s->property_bytes);
	return CL_SUCCESS;
}

static cl_int create(cl_context context, const struct dxp_sampler *sampler,
		     const cl_sampler_properties *list, size_t count, cl_sampler *out)
{
	opencl_enter();
	bool known = object_is(context, OBJECT_CONTEXT);
	opencl_leave();
	if (!known)
		return CL_INVALID_CONTEXT;
	if (!sampler_valid(sampler))
		return CL_INVALID_VALUE;
	if (!memory_device_most(context, CL_DEVICE_IMAGE_SUPPORT))
		return CL_INVALID_OPERATION;
	cl_int error = CL_OUT_OF_HOST_MEMORY;
	opencl_enter();
	cl_sampler s = object_new(OBJECT_SAMPLER, sizeof *s);
	if (s) {
		object_end_with(OBJECT_SAMPLER, end);
		s->context = context;
		object_hold(context);
		s->sampler = *sampler;
		error = keep(s, list, count);
		if (error != CL_SUCCESS)
			object_release(s);
		else
			*out = s;
	}
	opencl_leave();
	return error;
}

CL_API_ENTRY cl_sampler CL_API_CALL dxp_clCreateSampler(cl_context context, cl_bool normalized,
							cl_addressing_mode addressing,
							cl_filter_mode filter, cl_int *error)
{
	const struct dxp_sampler sampler = {normalized, addressing, filter};
	cl_sampler s = NULL;
	cl_int status = create(context, &sampler, NULL, 0, &s);

	if (error)
		*error = status;
	return s;
}

/* Returns false if the property is unknown or repeated, or its value is invalid. */
static bool property(struct dxp_sampler *s, cl_sampler_properties name, cl_sampler_properties value,
		     unsigned *seen)
{
	unsigned bit = name >= CL_SAMPLER_NORMALIZED_COORDS && name <= CL_SAMPLER_FILTER_MODE
			       ? 1u << (name - CL_SAMPLER_NORMALIZED_COORDS)
			       : 0;

	if (!bit || (*seen & bit) || value > UINT32_MAX)
		return false;
	*seen |= bit;
	if (name == CL_SAMPLER_NORMALIZED_COORDS)
		s->normalized = (uint32_t)value;
	else if (name == CL_SAMPLER_ADDRESSING_MODE)
		s->addressing = (uint32_t)value;
	else
		s->filter = (uint32_t)value;
	return true;
}

CL_API_ENTRY cl_sampler CL_API_CALL dxp_clCreateSamplerWithProperties(
	cl_context context, const cl_sampler_properties *list, cl_int *error)
{
	struct dxp_sampler sampler = {CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST};
	cl_int status = CL_SUCCESS;
	cl_sampler s = NULL;
	size_t count = 0;
	unsigned seen = 0;

	for (; list && list[count] && !status; count += 2) {
		if (count + 2 >= PROPERTIES_MAX ||
		    !property(&sampler, list[count], list[count + 1], &seen))
			status = CL_INVALID_VALUE;
	}
	if (!status)
		status = create(context, &sampler, list, count + 1, &s);
	if (error)
		*error = status;
	return s;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clRetainSampler(cl_sampler s)
{
	opencl_enter();
	bool known = object_is(s, OBJECT_SAMPLER);
	if (known)
		object_retain(s);
	opencl_leave();
	return known ? CL_SUCCESS : CL_INVALID_SAMPLER;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clReleaseSampler(cl_sampler s)
{
	opencl_enter();
	bool known = object_is(s, OBJECT_SAMPLER);
	if (known)
		object_release(s);
	opencl_leave();
	return known ? CL_SUCCESS : CL_INVALID_SAMPLER;
}

static cl_int answer(cl_sampler s, cl_sampler_info param, const struct info *i)
{
	switch (param) {
	case CL_SAMPLER_REFERENCE_COUNT: return result_uint(i, s->object.references);
	case CL_SAMPLER_CONTEXT: return result_handle(i, s->context);
	case CL_SAMPLER_NORMALIZED_COORDS: return result_uint(i, s->sampler.normalized);
	case CL_SAMPLER_ADDRESSING_MODE: return result_uint(i, s->sampler.addressing);
	case CL_SAMPLER_FILTER_MODE: return result_uint(i, s->sampler.filter);
	case CL_SAMPLER_PROPERTIES: return result_bytes(i, s->properties, s->property_bytes);
	default: return CL_INVALID_VALUE;
	}
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetSamplerInfo(cl_sampler s, cl_sampler_info param,
						     size_t size, void *value, size_t *size_ret)
{
	const struct info i = {size, value, size_ret};

	opencl_enter();
	cl_int error = object_is(s, OBJECT_SAMPLER) ? answer(s, param, &i) : CL_INVALID_SAMPLER;
	opencl_leave();
	return error;
}
