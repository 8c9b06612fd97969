/* SPDX-License-Identifier: BSD-3-Clause */
/* Translates dxp statuses to OpenCL errors, and writes the answers of clGet...Info. */
#include <string.h>

#include "plugins/opencl/object/object.h"

cl_int result_of(int status)
{
	if (status >= DXP_OK)
		return CL_SUCCESS;
	switch (status) {
	case DXP_ETIMEDOUT:
	case DXP_EPEERRESET:
	case DXP_EPEERLOST:
	case DXP_ECLOSED:
	case DXP_EAUTH: return CL_DEVICE_NOT_AVAILABLE;
	case DXP_EINVAL:
	case DXP_ERANGE: return CL_INVALID_VALUE;
	case DXP_EUNSUPPORTED: return CL_INVALID_OPERATION;
	case DXP_EBUILD: return CL_BUILD_PROGRAM_FAILURE;
	case DXP_ECANCELED: return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
	default: return CL_OUT_OF_RESOURCES;
	}
}

#define CUDA_OUT_OF_MEMORY 2 /* value of the CUresult CUDA_ERROR_OUT_OF_MEMORY */

cl_int result_of_command(int status, int32_t native)
{
	if (status >= DXP_OK)
		return CL_SUCCESS;
	if (native < 0)
		return native;
	return native == CUDA_OUT_OF_MEMORY ? CL_MEM_OBJECT_ALLOCATION_FAILURE : result_of(status);
}

cl_int result_bytes(const struct info *i, const void *data, size_t bytes)
{
	if (i->value && i->size < bytes)
		return CL_INVALID_VALUE;
	if (i->value && bytes)
		memcpy(i->value, data, bytes);
	if (i->size_ret)
		*i->size_ret = bytes;
	return CL_SUCCESS;
}

cl_int result_text(const struct info *i, const char *text)
{
	return result_bytes(i, text, strlen(text) + 1);
}

cl_int result_uint(const struct info *i, cl_uint v)
{
	return result_bytes(i, &v, sizeof(v));
}

cl_int result_ulong(const struct info *i, cl_ulong v)
{
	return result_bytes(i, &v, sizeof(v));
}

cl_int result_size(const struct info *i, size_t v)
{
	return result_bytes(i, &v, sizeof(v));
}

cl_int result_handle(const struct info *i, const void *handle)
{
	return result_bytes(i, &handle, sizeof(handle));
}
