/* SPDX-License-Identifier: BSD-3-Clause */
/* Translates dxp statuses to OpenCL errors. */
#include "plugins/opencl/door.h"

cl_int error_of(int status)
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

#define CUDA_OUT_OF_MEMORY 2 /* CUresult */

cl_int error_of_end(int status, int32_t native)
{
	if (status >= DXP_OK)
		return CL_SUCCESS;
	if (native < 0)
		return native;
	return native == CUDA_OUT_OF_MEMORY ? CL_MEM_OBJECT_ALLOCATION_FAILURE : error_of(status);
}
