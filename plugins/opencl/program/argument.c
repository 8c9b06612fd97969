/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel arguments are checked and stored on the host, without a message. The standard forbids that
 * a kernel retains the objects in its arguments, so the enqueue checks their handles again. */
#include <stdlib.h>
#include <string.h>

#include "plugins/opencl/object/api.h"
#include "plugins/opencl/program/program.h"

void argument_clear(cl_kernel k, cl_uint index)
{
	struct argument *a = &k->arguments[index];
	enum argument_kind kind = k->about->arguments[index].kind;

	if (a->set == ARGUMENT_SET && kind == ARGUMENT_LOCAL)
		k->local_bytes -= a->bytes;
	if (a->set == ARGUMENT_SET && kind == ARGUMENT_VALUE && a->bytes > ARGUMENT_INLINE)
		free(a->large);
	*a = (struct argument){.set = ARGUMENT_UNSET};
}

cl_int argument_copy(struct argument *to, const struct argument *from, enum argument_kind kind)
{
	*to = *from;
	if (from->set != ARGUMENT_SET || kind != ARGUMENT_VALUE || from->bytes <= ARGUMENT_INLINE)
		return CL_SUCCESS;
	to->large = malloc(from->bytes);
	if (!to->large) {
		to->set = ARGUMENT_UNSET;
		return CL_OUT_OF_HOST_MEMORY;
	}
	memcpy(to->large, from->large, from->bytes);
	return CL_SUCCESS;
}

static void *handle_at(const void *value)
{
	void *handle = NULL;

	if (value)
		memcpy(&handle, value, sizeof(handle));
	return handle;
}

static cl_int buffer_set(cl_kernel k, struct argument *a, size_t size, const void *value)
{
	cl_mem m = handle_at(value);

	if (m && size == sizeof(cl_mem)) {
		if (!object_is(m, OBJECT_MEMORY) || m->context != k->program->context)
			return CL_INVALID_MEM_OBJECT;
		if (m->type != CL_MEM_OBJECT_BUFFER)
			return CL_INVALID_ARG_VALUE;
	}
	if (size != sizeof(cl_mem))
		return CL_INVALID_ARG_SIZE;
	*a = (struct argument){.set = ARGUMENT_SET, .memory = m};
	return CL_SUCCESS;
}

static bool image_fits(const struct argument_about *about, const struct _cl_mem *m)
{
	if (about->access == CL_KERNEL_ARG_ACCESS_READ_ONLY && (m->flags & CL_MEM_WRITE_ONLY))
		return false;
	if (about->access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY && (m->flags & CL_MEM_READ_ONLY))
		return false;
	if (about->access == CL_KERNEL_ARG_ACCESS_READ_WRITE &&
	    (m->flags & (CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)))
		return false;
	return m->type != CL_MEM_OBJECT_BUFFER && m->type != CL_MEM_OBJECT_PIPE;
}

static cl_int image_set(cl_kernel k, const struct argument_about *about, struct argument *a,
			size_t size, const void *value)
{
	cl_mem m = handle_at(value);

	if (!value)
		return CL_INVALID_ARG_VALUE;
	if (size != sizeof(cl_mem))
		return CL_INVALID_ARG_SIZE;
	if (!object_is(m, OBJECT_MEMORY) || m->context != k->program->context)
		return CL_INVALID_MEM_OBJECT;
	if (!image_fits(about, m))
		return CL_INVALID_ARG_VALUE;
	*a = (struct argument){.set = ARGUMENT_SET, .memory = m};
	return CL_SUCCESS;
}

static cl_int sampler_set(cl_kernel k, struct argument *a, size_t size, const void *value)
{
	cl_sampler s = handle_at(value);

	if (!value)
		return CL_INVALID_SAMPLER;
	if (size != sizeof(cl_sampler))
		return CL_INVALID_ARG_SIZE;
	if (!object_is(s, OBJECT_SAMPLER) || s->context != k->program->context)
		return CL_INVALID_SAMPLER;
	*a = (struct argument){.set = ARGUMENT_SET, .sampler = s};
	return CL_SUCCESS;
}

static cl_int local_set(struct argument *a, size_t size, const void *value)
{
	if (value)
		return CL_INVALID_ARG_VALUE;
	if (size == 0 || size > UINT32_MAX)
		return CL_INVALID_ARG_SIZE;
	*a = (struct argument){.set = ARGUMENT_SET, .bytes = (uint32_t)size};
	return CL_SUCCESS;
}

static bool size_fits(const struct argument_about *about, size_t size)
{
	if (size == 0 || size > ARGUMENT_BYTES_MAX)
		return false;
	return about->bytes == 0 || size == about->bytes ||
	       (about->short_bytes && size == about->short_bytes);
}

static cl_int value_set(const struct argument_about *about, struct argument *a, size_t size,
			const void *value)
{
	if (!value)
		return CL_INVALID_ARG_VALUE;
	if (!size_fits(about, size))
		return CL_INVALID_ARG_SIZE;
	/* The program may pass a vector of three elements without padding. The node gets it with
	 * the size of four elements. */
	size_t bytes = about->short_bytes == size ? size / 3 * 4 : size;
	struct argument set = {.set = ARGUMENT_SET, .bytes = (uint32_t)bytes};
	uint8_t *to = set.value;
	if (bytes > ARGUMENT_INLINE) {
		to = set.large = calloc(1, bytes);
		if (!to)
			return CL_OUT_OF_HOST_MEMORY;
	}
	memcpy(to, value, size);
	*a = set;
	return CL_SUCCESS;
}

static cl_int argument_set(cl_kernel k, cl_uint index, size_t size, const void *value)
{
	if (index >= k->about->argument_count)
		return CL_INVALID_ARG_INDEX;
	const struct argument_about *about = &k->about->arguments[index];
	struct argument a = {.set = ARGUMENT_UNSET};
	cl_int error = CL_INVALID_ARG_VALUE;
	switch (about->kind) {
	case ARGUMENT_VALUE: error = value_set(about, &a, size, value); break;
	case ARGUMENT_BUFFER: error = buffer_set(k, &a, size, value); break;
	case ARGUMENT_LOCAL: error = local_set(&a, size, value); break;
	case ARGUMENT_IMAGE: error = image_set(k, about, &a, size, value); break;
	case ARGUMENT_SAMPLER: error = sampler_set(k, &a, size, value); break;
	case ARGUMENT_OTHER: break;
	}
	if (error != CL_SUCCESS)
		return error;
	argument_clear(k, index);
	k->arguments[index] = a;
	if (about->kind == ARGUMENT_LOCAL)
		k->local_bytes += a.bytes;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clSetKernelArg(cl_kernel kernel, cl_uint arg_index,
						   size_t arg_size, const void *arg_value)
{
	cl_int error = CL_INVALID_KERNEL;

	opencl_enter();
	if (object_is(kernel, OBJECT_KERNEL))
		error = argument_set(kernel, arg_index, arg_size, arg_value);
	opencl_leave();
	return error;
}
