/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenCL loader, opened at run time, so that a build needs no OpenCL library. Types come from
 * the Khronos headers. */
#ifndef ENGINE_OCL_LIBRARY_H
#define ENGINE_OCL_LIBRARY_H

/* 3.0 for its device properties; functions are of 1.2 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#define OCL_FUNCTIONS(X)              \
	X(clGetPlatformIDs)           \
	X(clGetPlatformInfo)          \
	X(clGetDeviceIDs)             \
	X(clGetDeviceInfo)            \
	X(clCreateContext)            \
	X(clReleaseContext)           \
	X(clCreateCommandQueue)       \
	X(clReleaseCommandQueue)      \
	X(clCreateBuffer)             \
	X(clCreateSubBuffer)          \
	X(clReleaseMemObject)         \
	X(clEnqueueWriteBuffer)       \
	X(clEnqueueReadBuffer)        \
	X(clEnqueueCopyBuffer)        \
	X(clEnqueueMapBuffer)         \
	X(clEnqueueUnmapMemObject)    \
	X(clSetEventCallback)         \
	X(clGetEventInfo)             \
	X(clReleaseEvent)             \
	X(clCreateProgramWithSource)  \
	X(clBuildProgram)             \
	X(clGetProgramBuildInfo)      \
	X(clGetProgramInfo)           \
	X(clCompileProgram)           \
	X(clLinkProgram)              \
	X(clCreateProgramWithBinary)  \
	X(clGetKernelWorkGroupInfo)   \
	X(clCreateImage)              \
	X(clCreateSampler)            \
	X(clReleaseSampler)           \
	X(clGetSupportedImageFormats) \
	X(clReleaseProgram)           \
	X(clCreateKernel)             \
	X(clReleaseKernel)            \
	X(clGetKernelInfo)            \
	X(clGetKernelArgInfo)         \
	X(clSetKernelArg)             \
	X(clEnqueueNDRangeKernel)     \
	X(clFlush)                    \
	X(clFinish)

struct ocl_library {
#define OCL_MEMBER(name) __typeof__(&name) name;
	OCL_FUNCTIONS(OCL_MEMBER)
#undef OCL_MEMBER
};

/* Opens the library at the first call; it stays open. Any thread. DXP_EUNSUPPORTED: missing
 * (logged, with what to install). */
int ocl_library_get(const struct ocl_library **out);

/* Such as "CL_OUT_OF_RESOURCES"; never NULL. */
const char *ocl_error_name(cl_int error);

#endif
