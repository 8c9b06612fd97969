/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/ocl_arguments.h"

#include <stdio.h>

#include <dxp/status.h>

/* Equal arguments must share one buffer. NULL: no earlier one. */
static cl_mem made_before(const struct engine_launch *l, cl_uint i, const cl_mem *of_argument)
{
	const struct engine_argument *a = &l->arguments[i];

	for (cl_uint k = 0; k < i; k++)
		if (of_argument[k] && l->arguments[k].kind == a->kind &&
		    l->arguments[k].address == a->address &&
		    l->arguments[k].memory_bytes == a->memory_bytes)
			return of_argument[k];
	return NULL;
}

static cl_mem buffer_wrap(struct engine_ocl *o, const struct engine_argument *a, cl_uint i,
			  int *status, char text[ENGINE_TEXT_BYTES])
{
	cl_int error;
	cl_mem buffer = o->cl->clCreateBuffer(ocl_device_context(o->device),
					      CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
					      a->memory_bytes, a->memory, &error);
	if (buffer)
		return buffer;
	*status = ocl_judge(o, error);
	snprintf(text, ENGINE_TEXT_BYTES, "argument %u: %s (%d)", i, ocl_error_name(error), error);
	return NULL;
}

/* Sets an argument that is a BUFFER, or the window of a NIC. */
static int buffer_get(struct engine_ocl *o, const struct engine_launch *l, cl_uint i,
		      struct ocl_arguments *w, char text[ENGINE_TEXT_BYTES])
{
	const struct engine_argument *a = &l->arguments[i];
	int status = DXP_OK;
	cl_mem buffer;

	if (a->kind == COMMAND_ARG_BUFFER && a->address == ENGINE_NO_ADDRESS)
		return DXP_OK;
	if (o->bridge && a->kind == COMMAND_ARG_NIC) {
		snprintf(text, ENGINE_TEXT_BYTES,
			 "argument %u: kernels on this device cannot use the NIC, which is in the "
			 "host's memory; use SEND from the host",
			 i);
		return DXP_EUNSUPPORTED;
	}
	if (o->bridge && (buffer = made_before(l, i, w->of_argument))) {
		w->of_argument[i] = buffer;
		return DXP_OK;
	}
	buffer = o->bridge ? ocl_memory_buffer(&o->bridge->memory, a, i, &status, text)
			   : buffer_wrap(o, a, i, &status, text);
	if (!buffer)
		return status;
	w->of_argument[i] = w->made[w->count++] = buffer;
	return DXP_OK;
}

/* Parameters for clSetKernelArg(). */
struct setting {
	const void *value;
	size_t bytes;
	cl_sampler sampler;
};

static int setting_make(struct engine_ocl *o, const struct ocl_kernel *k,
			const struct engine_launch *l, cl_uint i, struct ocl_arguments *w,
			struct setting *s, char text[ENGINE_TEXT_BYTES])
{
	const struct engine_argument *a = &l->arguments[i];
	int status = DXP_OK;

	*s = (struct setting){.value = a->value, .bytes = a->bytes};
	if (a->kind == COMMAND_ARG_LOCAL)
		s->value = NULL;
	if (a->kind == COMMAND_ARG_SAMPLER) {
		s->sampler = ocl_sampler_get(o, &a->sampler, i, text);
		s->value = &s->sampler;
		s->bytes = sizeof(s->sampler);
		return s->sampler ? DXP_OK : DXP_EINVAL;
	}
	if (a->kind == COMMAND_ARG_IMAGE)
		status = ocl_image_make(o, k, l, i, w, text);
	else if (a->kind == COMMAND_ARG_BUFFER || a->kind == COMMAND_ARG_NIC)
		status = buffer_get(o, l, i, w, text);
	else
		return DXP_OK;
	s->value = w->of_argument[i] ? &w->of_argument[i] : NULL;
	s->bytes = sizeof(w->of_argument[i]);
	return status;
}

int ocl_arguments_set(struct engine_ocl *o, const struct ocl_kernel *k,
		      const struct engine_launch *l, struct ocl_arguments *w,
		      char text[ENGINE_TEXT_BYTES])
{
	struct setting s;

	w->count = 0;
	for (cl_uint i = 0; i < l->argument_count; i++) {
		w->of_argument[i] = NULL;
		int status = setting_make(o, k, l, i, w, &s, text);
		if (status != DXP_OK)
			return status;
		cl_int error = o->cl->clSetKernelArg(k->id, i, s.bytes, s.value);
		if (error != CL_SUCCESS) {
			snprintf(text, ENGINE_TEXT_BYTES, "kernel '%.80s', argument %u: %s (%d)",
				 l->kernel, i, ocl_error_name(error), error);
			return ocl_judge(o, error);
		}
	}
	return DXP_OK;
}

void ocl_arguments_drop(struct engine_ocl *o, struct ocl_arguments *w)
{
	while (w->count > 0)
		o->cl->clReleaseMemObject(w->made[--w->count]);
}
