/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements buffers and sub-buffers. A buffer gets memory on a device when that device first uses
 * it. */
#include "plugins/opencl/memory/memory.h"

#include "plugins/opencl/node/device.h"

#define ACCESS_FLAGS  (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)
#define HOST_FLAGS    (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)
#define POINTER_FLAGS (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)

static cl_int make(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
		   size_t bytes, void *host, cl_mem *out)
{
	cl_mem m = memory_new(context, NULL, CL_MEM_OBJECT_BUFFER, flags);

	if (!m)
		return CL_OUT_OF_HOST_MEMORY;
	m->bytes = bytes;
	cl_int error = memory_properties_set(m, properties);
	if (error == CL_SUCCESS)
		error = memory_fill_from(m, host);
	if (error != CL_SUCCESS)
		memory_abandon(m);
	else
		*out = m;
	return error;
}

static cl_int create(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
		     size_t bytes, void *host, cl_mem *out)
{
	opencl_enter();
	bool known = object_is(context, OBJECT_CONTEXT);
	opencl_leave();
	if (!known)
		return CL_INVALID_CONTEXT;
	if (!memory_flags_valid(flags))
		return CL_INVALID_VALUE;
	if (!flags)
		flags = CL_MEM_READ_WRITE;
	if (!bytes || bytes > memory_device_most(context, CL_DEVICE_MAX_MEM_ALLOC_SIZE))
		return CL_INVALID_BUFFER_SIZE;
	cl_int error = memory_pointer_check(flags, host);
	if (error != CL_SUCCESS)
		return error;
	opencl_enter();
	error = make(context, properties, flags, bytes, host, out);
	opencl_leave();
	return error;
}

CL_API_ENTRY cl_mem CL_API_CALL
dxp_clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties,
				 cl_mem_flags flags, size_t size, void *host, cl_int *error)
{
	cl_mem m = NULL;
	cl_int status = create(context, properties, flags, size, host, &m);

	if (error != CL_SUCCESS)
		*error = status;
	return m;
}

CL_API_ENTRY cl_mem CL_API_CALL dxp_clCreateBuffer(cl_context context, cl_mem_flags flags,
						   size_t size, void *host, cl_int *error)
{
	return dxp_clCreateBufferWithProperties(context, NULL, flags, size, host, error);
}

cl_int memory_inherit(cl_mem_flags whole, cl_mem_flags *flags)
{
	cl_mem_flags f = *flags;

	if (!memory_flags_valid(f) || (f & POINTER_FLAGS))
		return CL_INVALID_VALUE;
	if ((whole & CL_MEM_WRITE_ONLY && f & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) ||
	    (whole & CL_MEM_READ_ONLY && f & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)))
		return CL_INVALID_VALUE;
	if ((whole & CL_MEM_HOST_WRITE_ONLY && f & CL_MEM_HOST_READ_ONLY) ||
	    (whole & CL_MEM_HOST_READ_ONLY && f & CL_MEM_HOST_WRITE_ONLY) ||
	    (whole & CL_MEM_HOST_NO_ACCESS && f & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)))
		return CL_INVALID_VALUE;
	if (!(f & ACCESS_FLAGS))
		f |= whole & ACCESS_FLAGS;
	if (!(f & HOST_FLAGS))
		f |= whole & HOST_FLAGS;
	*flags = f | (whole & POINTER_FLAGS);
	return CL_SUCCESS;
}

/* OpenCL requires the alignment of at least one device. */
static bool aligned(cl_context c, uint64_t origin)
{
	for (cl_uint i = 0; i < c->device_count; i++) {
		cl_uint bytes = device_uint(c->devices[i], CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024) / 8;
		if (!bytes || origin % bytes == 0)
			return true;
	}
	return false;
}

static cl_int check_region(cl_mem whole, cl_buffer_create_type type, const cl_buffer_region *r)
{
	if (type != CL_BUFFER_CREATE_TYPE_REGION || !r)
		return CL_INVALID_VALUE;
	if (!r->size)
		return CL_INVALID_BUFFER_SIZE;
	if (r->origin > whole->bytes || r->size > whole->bytes - r->origin)
		return CL_INVALID_VALUE;
	return aligned(whole->context, r->origin) ? CL_SUCCESS : CL_MISALIGNED_SUB_BUFFER_OFFSET;
}

static cl_int sub_buffer(cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type,
			 const void *info, cl_mem *out)
{
	const cl_buffer_region *region = info;

	if (!object_is(whole, OBJECT_MEMORY) || whole->type != CL_MEM_OBJECT_BUFFER ||
	    whole->parent)
		return CL_INVALID_MEM_OBJECT;
	cl_int error = memory_inherit(whole->flags, &flags);
	if (error == CL_SUCCESS)
		error = check_region(whole, type, region);
	if (error != CL_SUCCESS)
		return error;
	cl_mem m = memory_new(whole->context, whole, CL_MEM_OBJECT_BUFFER, flags);
	if (!m)
		return CL_OUT_OF_HOST_MEMORY;
	m->origin = region->origin;
	m->bytes = region->size;
	*out = m;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_mem CL_API_CALL dxp_clCreateSubBuffer(cl_mem whole, cl_mem_flags flags,
						      cl_buffer_create_type type, const void *info,
						      cl_int *error)
{
	cl_mem m = NULL;

	opencl_enter();
	cl_int status = sub_buffer(whole, flags, type, info, &m);
	opencl_leave();
	if (error != CL_SUCCESS)
		*error = status;
	return m;
}
