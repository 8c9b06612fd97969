/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads OpenCL at run time: machines without it can still use xPUs. */
#ifndef CLASSIFY_OPENCL_H
#define CLASSIFY_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "fault.h"

#define OPENCL_LIST(X)               \
	X(clGetPlatformIDs)          \
	X(clGetDeviceIDs)            \
	X(clGetDeviceInfo)           \
	X(clCreateContext)           \
	X(clReleaseContext)          \
	X(clCreateCommandQueue)      \
	X(clReleaseCommandQueue)     \
	X(clCreateBuffer)            \
	X(clCreateSubBuffer)         \
	X(clReleaseMemObject)        \
	X(clCreateProgramWithSource) \
	X(clBuildProgram)            \
	X(clGetProgramBuildInfo)     \
	X(clReleaseProgram)          \
	X(clCreateKernel)            \
	X(clReleaseKernel)           \
	X(clSetKernelArg)            \
	X(clEnqueueNDRangeKernel)    \
	X(clEnqueueWriteBuffer)      \
	X(clEnqueueReadBuffer)       \
	X(clEnqueueCopyBuffer)       \
	X(clWaitForEvents)           \
	X(clGetEventInfo)            \
	X(clGetEventProfilingInfo)   \
	X(clReleaseEvent)            \
	X(clFinish)

struct opencl {
#define FUNCTION(name) __typeof__(name) *name;
	OPENCL_LIST(FUNCTION)
#undef FUNCTION
};

/* Loads libOpenCL until exit. Returns DXP_ENOENT if it is absent or lacks a function. */
int opencl_load(struct opencl *out, struct fault *fault);

#endif
