/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements queries of kernels. */
#include <string.h>

#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/api.h"
#include "plugins/opencl/program/program.h"

static cl_int fact_get(const struct kernel_about *k, uint32_t param, const struct info *i)
{
	const struct kernel_fact *f = metadata_fact(k, param);

	return f ? result_bytes(i, f->data, f->bytes) : CL_INVALID_VALUE;
}

static cl_int get_attributes(cl_kernel k, const struct info *i)
{
	const struct kernel_fact *f = metadata_fact(k->about, CL_KERNEL_ATTRIBUTES);

	if (f && f->bytes > 0 && f->data[f->bytes - 1] == '\0')
		return result_bytes(i, f->data, f->bytes);
	return result_text(i, "");
}

static cl_int get_info(cl_kernel k, cl_kernel_info name, const struct info *i)
{
	switch (name) {
	case CL_KERNEL_FUNCTION_NAME: return result_text(i, k->about->name);
	case CL_KERNEL_NUM_ARGS: return result_uint(i, k->about->argument_count);
	case CL_KERNEL_REFERENCE_COUNT: return result_uint(i, k->object.references);
	case CL_KERNEL_CONTEXT: return result_handle(i, k->program->context);
	case CL_KERNEL_PROGRAM: return result_handle(i, k->program);
	case CL_KERNEL_ATTRIBUTES: return get_attributes(k, i);
	default: return CL_INVALID_VALUE;
	}
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetKernelInfo(cl_kernel kernel, cl_kernel_info name,
						    size_t size, void *value, size_t *size_ret)
{
	const struct info i = {size, value, size_ret};
	cl_int error = CL_INVALID_KERNEL;

	opencl_enter();
	if (object_is(kernel, OBJECT_KERNEL))
		error = get_info(kernel, name, &i);
	opencl_leave();
	return error;
}

/* NULL: the program was built without argument information. */
static const struct argument_about *arguments_known(cl_kernel k)
{
	for (cl_uint i = 0; i < k->program->device_count; i++) {
		const struct kernel_device *d = &k->devices[i];
		if (d->build && program_recipe_has_argument_info(d->build->recipe))
			return d->about->arguments;
	}
	return NULL;
}

/* A device may report an empty text. */
static cl_int name_get(const char *text, const struct info *i)
{
	return *text ? result_text(i, text) : CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
}

static cl_int get_known(const struct argument_about *a, cl_kernel_arg_info name,
			const struct info *i)
{
	switch (name) {
	case CL_KERNEL_ARG_ADDRESS_QUALIFIER: return result_uint(i, a->address);
	case CL_KERNEL_ARG_ACCESS_QUALIFIER: return result_uint(i, a->access);
	case CL_KERNEL_ARG_TYPE_QUALIFIER: return result_ulong(i, a->qualifiers);
	case CL_KERNEL_ARG_TYPE_NAME: return name_get(a->type, i);
	case CL_KERNEL_ARG_NAME: return name_get(a->name, i);
	default: return CL_INVALID_VALUE;
	}
}

/* If there is no argument information, returns CL_KERNEL_ARG_INFO_NOT_AVAILABLE for any `name`,
 * valid or not. PoCL does this too. */
static cl_int get_argument_info(cl_kernel k, cl_uint index, cl_kernel_arg_info name,
				const struct info *i)
{
	const struct argument_about *known = arguments_known(k);

	if (index >= k->about->argument_count)
		return CL_INVALID_ARG_INDEX;
	return known ? get_known(&known[index], name, i) : CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetKernelArgInfo(cl_kernel kernel, cl_uint index,
						       cl_kernel_arg_info name, size_t size,
						       void *value, size_t *size_ret)
{
	const struct info i = {size, value, size_ret};
	cl_int error = CL_INVALID_KERNEL;

	opencl_enter();
	if (object_is(kernel, OBJECT_KERNEL))
		error = get_argument_info(kernel, index, name, &i);
	opencl_leave();
	return error;
}

/* Local arguments count only after the program has set them. */
static cl_int get_local_bytes(cl_kernel k, const struct kernel_device *d, const struct info *i)
{
	return result_ulong(i, d->about->local_bytes + k->local_bytes);
}

static cl_int get_group_info(cl_kernel k, const struct kernel_device *d,
			     cl_kernel_work_group_info name, const struct info *i)
{
	cl_device_id device = d->build->device;

	switch (name) {
	case CL_KERNEL_WORK_GROUP_SIZE:
		return result_size(i,
				   d->about->group_size
					   ? d->about->group_size
					   : device_size(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1));
	case CL_KERNEL_COMPILE_WORK_GROUP_SIZE: {
		size_t required[3];
		for (int n = 0; n < 3; n++)
			required[n] = (size_t)d->about->required[n];
		return result_bytes(i, required, sizeof(required));
	}
	case CL_KERNEL_LOCAL_MEM_SIZE: return get_local_bytes(k, d, i);
	case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
		return metadata_fact(d->about, name) ? fact_get(d->about, name, i)
						     : result_size(i, 1);
	case CL_KERNEL_PRIVATE_MEM_SIZE:
		return metadata_fact(d->about, name) ? fact_get(d->about, name, i)
						     : result_ulong(i, 0);
	/* Valid only for built-in kernels and custom devices, which do not exist here. */
	case CL_KERNEL_GLOBAL_WORK_SIZE:
	default: return CL_INVALID_VALUE;
	}
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
							     cl_kernel_work_group_info name,
							     size_t size, void *value,
							     size_t *size_ret)
{
	const struct info i = {size, value, size_ret};
	cl_int error = CL_INVALID_KERNEL;

	opencl_enter();
	if (object_is(kernel, OBJECT_KERNEL)) {
		struct kernel_device *d = kernel_device_of(kernel, device);
		error = d ? get_group_info(kernel, d, name, &i) : CL_INVALID_DEVICE;
	}
	opencl_leave();
	return error;
}
