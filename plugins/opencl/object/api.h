/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists every entry point of OpenCL 3.0, in the order of the loader's table. dxp_<entry point>
 * implements it, with the prototype in cl.h. icd.c puts all of them into the table, so a missing
 * one causes a link error. */
#ifndef OPENCL_API_H
#define OPENCL_API_H

#include "plugins/opencl/object/object.h"

#define OPENCL_ENTRY_POINTS(X)                      \
	X(clGetPlatformIDs)                         \
	X(clGetPlatformInfo)                        \
	X(clGetDeviceIDs)                           \
	X(clGetDeviceInfo)                          \
	X(clCreateContext)                          \
	X(clCreateContextFromType)                  \
	X(clRetainContext)                          \
	X(clReleaseContext)                         \
	X(clGetContextInfo)                         \
	X(clCreateCommandQueue)                     \
	X(clRetainCommandQueue)                     \
	X(clReleaseCommandQueue)                    \
	X(clGetCommandQueueInfo)                    \
	X(clSetCommandQueueProperty)                \
	X(clCreateBuffer)                           \
	X(clCreateImage2D)                          \
	X(clCreateImage3D)                          \
	X(clRetainMemObject)                        \
	X(clReleaseMemObject)                       \
	X(clGetSupportedImageFormats)               \
	X(clGetMemObjectInfo)                       \
	X(clGetImageInfo)                           \
	X(clCreateSampler)                          \
	X(clRetainSampler)                          \
	X(clReleaseSampler)                         \
	X(clGetSamplerInfo)                         \
	X(clCreateProgramWithSource)                \
	X(clCreateProgramWithBinary)                \
	X(clRetainProgram)                          \
	X(clReleaseProgram)                         \
	X(clBuildProgram)                           \
	X(clUnloadCompiler)                         \
	X(clGetProgramInfo)                         \
	X(clGetProgramBuildInfo)                    \
	X(clCreateKernel)                           \
	X(clCreateKernelsInProgram)                 \
	X(clRetainKernel)                           \
	X(clReleaseKernel)                          \
	X(clSetKernelArg)                           \
	X(clGetKernelInfo)                          \
	X(clGetKernelWorkGroupInfo)                 \
	X(clWaitForEvents)                          \
	X(clGetEventInfo)                           \
	X(clRetainEvent)                            \
	X(clReleaseEvent)                           \
	X(clGetEventProfilingInfo)                  \
	X(clFlush)                                  \
	X(clFinish)                                 \
	X(clEnqueueReadBuffer)                      \
	X(clEnqueueWriteBuffer)                     \
	X(clEnqueueCopyBuffer)                      \
	X(clEnqueueReadImage)                       \
	X(clEnqueueWriteImage)                      \
	X(clEnqueueCopyImage)                       \
	X(clEnqueueCopyImageToBuffer)               \
	X(clEnqueueCopyBufferToImage)               \
	X(clEnqueueMapBuffer)                       \
	X(clEnqueueMapImage)                        \
	X(clEnqueueUnmapMemObject)                  \
	X(clEnqueueNDRangeKernel)                   \
	X(clEnqueueTask)                            \
	X(clEnqueueNativeKernel)                    \
	X(clEnqueueMarker)                          \
	X(clEnqueueWaitForEvents)                   \
	X(clEnqueueBarrier)                         \
	X(clGetExtensionFunctionAddress)            \
	X(clSetEventCallback)                       \
	X(clCreateSubBuffer)                        \
	X(clSetMemObjectDestructorCallback)         \
	X(clCreateUserEvent)                        \
	X(clSetUserEventStatus)                     \
	X(clEnqueueReadBufferRect)                  \
	X(clEnqueueWriteBufferRect)                 \
	X(clEnqueueCopyBufferRect)                  \
	X(clCreateSubDevices)                       \
	X(clRetainDevice)                           \
	X(clReleaseDevice)                          \
	X(clCreateImage)                            \
	X(clCreateProgramWithBuiltInKernels)        \
	X(clCompileProgram)                         \
	X(clLinkProgram)                            \
	X(clUnloadPlatformCompiler)                 \
	X(clGetKernelArgInfo)                       \
	X(clEnqueueFillBuffer)                      \
	X(clEnqueueFillImage)                       \
	X(clEnqueueMigrateMemObjects)               \
	X(clEnqueueMarkerWithWaitList)              \
	X(clEnqueueBarrierWithWaitList)             \
	X(clGetExtensionFunctionAddressForPlatform) \
	X(clCreateCommandQueueWithProperties)       \
	X(clCreatePipe)                             \
	X(clGetPipeInfo)                            \
	X(clSVMAlloc)                               \
	X(clSVMFree)                                \
	X(clEnqueueSVMFree)                         \
	X(clEnqueueSVMMemcpy)                       \
	X(clEnqueueSVMMemFill)                      \
	X(clEnqueueSVMMap)                          \
	X(clEnqueueSVMUnmap)                        \
	X(clCreateSamplerWithProperties)            \
	X(clSetKernelArgSVMPointer)                 \
	X(clSetKernelExecInfo)                      \
	X(clCloneKernel)                            \
	X(clCreateProgramWithIL)                    \
	X(clEnqueueSVMMigrateMem)                   \
	X(clGetDeviceAndHostTimer)                  \
	X(clGetHostTimer)                           \
	X(clGetKernelSubGroupInfo)                  \
	X(clSetDefaultDeviceCommandQueue)           \
	X(clSetProgramReleaseCallback)              \
	X(clSetProgramSpecializationConstant)       \
	X(clCreateBufferWithProperties)             \
	X(clCreateImageWithProperties)              \
	X(clSetContextDestructorCallback)

#define OPENCL_DECLARE(name) extern CL_API_ENTRY __typeof__(name) dxp_##name;
OPENCL_ENTRY_POINTS(OPENCL_DECLARE)
#undef OPENCL_DECLARE

#endif
