/* SPDX-License-Identifier: BSD-3-Clause */
/* Entry points that are not there yet: each call fails. */
#include "doors/opencl/door.h"

long door_pending_error(void);
long door_pending_handle(void);

long door_pending_error(void)
{
	return -59; /* CL_INVALID_OPERATION */
}

long door_pending_handle(void)
{
	return 0;
}

void program_lost(cl_device_id d)
{
}

#define PENDING(name, of) __asm__(".globl dxp_" #name "\n.set dxp_" #name ", door_pending_" #of)

PENDING(clCreateBuffer, handle);
PENDING(clCreateImage2D, handle);
PENDING(clCreateImage3D, handle);
PENDING(clRetainMemObject, error);
PENDING(clReleaseMemObject, error);
PENDING(clGetSupportedImageFormats, error);
PENDING(clGetMemObjectInfo, error);
PENDING(clGetImageInfo, error);
PENDING(clCreateSampler, handle);
PENDING(clRetainSampler, error);
PENDING(clReleaseSampler, error);
PENDING(clGetSamplerInfo, error);
PENDING(clCreateProgramWithSource, handle);
PENDING(clCreateProgramWithBinary, handle);
PENDING(clRetainProgram, error);
PENDING(clReleaseProgram, error);
PENDING(clBuildProgram, error);
PENDING(clGetProgramInfo, error);
PENDING(clGetProgramBuildInfo, error);
PENDING(clCreateKernel, handle);
PENDING(clCreateKernelsInProgram, handle);
PENDING(clRetainKernel, error);
PENDING(clReleaseKernel, error);
PENDING(clSetKernelArg, error);
PENDING(clGetKernelInfo, error);
PENDING(clGetKernelWorkGroupInfo, error);
PENDING(clEnqueueReadBuffer, error);
PENDING(clEnqueueWriteBuffer, error);
PENDING(clEnqueueCopyBuffer, error);
PENDING(clEnqueueReadImage, error);
PENDING(clEnqueueWriteImage, error);
PENDING(clEnqueueCopyImage, error);
PENDING(clEnqueueCopyImageToBuffer, error);
PENDING(clEnqueueCopyBufferToImage, error);
PENDING(clEnqueueMapBuffer, handle);
PENDING(clEnqueueMapImage, handle);
PENDING(clEnqueueUnmapMemObject, error);
PENDING(clEnqueueNDRangeKernel, error);
PENDING(clEnqueueTask, error);
PENDING(clCreateSubBuffer, handle);
PENDING(clSetMemObjectDestructorCallback, error);
PENDING(clEnqueueReadBufferRect, error);
PENDING(clEnqueueWriteBufferRect, error);
PENDING(clEnqueueCopyBufferRect, error);
PENDING(clCreateImage, handle);
PENDING(clCompileProgram, error);
PENDING(clLinkProgram, handle);
PENDING(clGetKernelArgInfo, error);
PENDING(clEnqueueFillBuffer, error);
PENDING(clEnqueueFillImage, error);
PENDING(clEnqueueMigrateMemObjects, error);
PENDING(clCreateSamplerWithProperties, handle);
PENDING(clCloneKernel, handle);
PENDING(clCreateBufferWithProperties, handle);
PENDING(clCreateImageWithProperties, handle);
