/* SPDX-License-Identifier: BSD-3-Clause */
/* Entry points for optional features of OpenCL that no device supports, with the errors that the
 * standard requires, and calls that do nothing. */
#include "plugins/opencl/command/event.h"
#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/api.h"
#include "plugins/opencl/program/program.h"

static void set(cl_int *errcode, cl_int error)
{
	if (errcode)
		*errcode = error;
}

/* `otherwise`: error if `handle` is no handle of this kind. */
static cl_int reject(const void *handle, enum object_kind kind, cl_int otherwise)
{
	opencl_enter();
	bool valid = object_is(handle, kind);
	opencl_leave();
	return valid ? CL_INVALID_OPERATION : otherwise;
}

static cl_int reject_queue(cl_command_queue queue)
{
	return reject(queue, OBJECT_QUEUE, CL_INVALID_COMMAND_QUEUE);
}

CL_API_ENTRY void *CL_API_CALL dxp_clSVMAlloc(cl_context context, cl_svm_mem_flags flags,
					      size_t bytes, cl_uint alignment)
{
	return NULL;
}

CL_API_ENTRY void CL_API_CALL dxp_clSVMFree(cl_context context, void *pointer)
{
}

CL_API_ENTRY cl_int CL_API_CALL
dxp_clEnqueueSVMFree(cl_command_queue queue, cl_uint pointers, void *list[],
		     void(CL_CALLBACK *call)(cl_command_queue, cl_uint, void *[], void *),
		     void *data, cl_uint count, const cl_event *waits, cl_event *event)
{
	return reject_queue(queue);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking,
						       void *to, const void *from, size_t bytes,
						       cl_uint count, const cl_event *waits,
						       cl_event *event)
{
	return reject_queue(queue);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueSVMMemFill(cl_command_queue queue, void *to,
							const void *pattern, size_t pattern_bytes,
							size_t bytes, cl_uint count,
							const cl_event *waits, cl_event *event)
{
	return reject_queue(queue);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking,
						    cl_map_flags flags, void *pointer, size_t bytes,
						    cl_uint count, const cl_event *waits,
						    cl_event *event)
{
	return reject_queue(queue);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueSVMUnmap(cl_command_queue queue, void *pointer,
						      cl_uint count, const cl_event *waits,
						      cl_event *event)
{
	return reject_queue(queue);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint pointers,
							   const void **list, const size_t *sizes,
							   cl_mem_migration_flags flags,
							   cl_uint count, const cl_event *waits,
							   cl_event *event)
{
	return reject_queue(queue);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index,
							     const void *value)
{
	return reject(kernel, OBJECT_KERNEL, CL_INVALID_KERNEL);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info name,
							size_t size, const void *value)
{
	return reject(kernel, OBJECT_KERNEL, CL_INVALID_KERNEL);
}

CL_API_ENTRY cl_mem CL_API_CALL dxp_clCreatePipe(cl_context context, cl_mem_flags flags,
						 cl_uint packet_bytes, cl_uint packets,
						 const cl_pipe_properties *properties,
						 cl_int *errcode)
{
	set(errcode, reject(context, OBJECT_CONTEXT, CL_INVALID_CONTEXT));
	return NULL;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetPipeInfo(cl_mem pipe, cl_pipe_info name, size_t size,
						  void *value, size_t *size_ret)
{
	return CL_INVALID_MEM_OBJECT;
}

CL_API_ENTRY cl_program CL_API_CALL dxp_clCreateProgramWithIL(cl_context context, const void *il,
							      size_t bytes, cl_int *errcode)
{
	set(errcode, reject(context, OBJECT_CONTEXT, CL_INVALID_CONTEXT));
	return NULL;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clSetProgramSpecializationConstant(cl_program program,
								       cl_uint id, size_t bytes,
								       const void *value)
{
	return reject(program, OBJECT_PROGRAM, CL_INVALID_PROGRAM);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clSetProgramReleaseCallback(
	cl_program program, void(CL_CALLBACK *call)(cl_program, void *), void *data)
{
	return reject(program, OBJECT_PROGRAM, CL_INVALID_PROGRAM);
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device,
							    cl_kernel_sub_group_info name,
							    size_t input_bytes, const void *input,
							    size_t size, void *value,
							    size_t *size_ret)
{
	cl_int error = CL_INVALID_OPERATION;

	opencl_enter();
	if (!object_is(kernel, OBJECT_KERNEL))
		error = CL_INVALID_KERNEL;
	else if (!kernel_device_of(kernel, device))
		error = CL_INVALID_DEVICE;
	opencl_leave();
	return error;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clEnqueueNativeKernel(cl_command_queue queue,
							  void(CL_CALLBACK *call)(void *),
							  void *data, size_t bytes, cl_uint mems,
							  const cl_mem *list,
							  const void **arguments, cl_uint count,
							  const cl_event *waits, cl_event *event)
{
	return reject_queue(queue);
}

/* ---- built-in kernels: no device has any, so each name is unknown ---- */

CL_API_ENTRY cl_program CL_API_CALL dxp_clCreateProgramWithBuiltInKernels(
	cl_context context, cl_uint count, const cl_device_id *devices, const char *names,
	cl_int *errcode)
{
	cl_int error = CL_INVALID_VALUE;

	opencl_enter();
	if (!object_is(context, OBJECT_CONTEXT))
		error = CL_INVALID_CONTEXT;
	for (cl_uint i = 0; error == CL_INVALID_VALUE && devices && i < count; i++)
		if (!object_is(devices[i], OBJECT_DEVICE) || !context_has(context, devices[i]))
			error = CL_INVALID_DEVICE;
	opencl_leave();
	set(errcode, error);
	return NULL;
}

CL_API_ENTRY cl_int CL_API_CALL
dxp_clCreateSubDevices(cl_device_id device, const cl_device_partition_property *properties,
		       cl_uint entries, cl_device_id *out, cl_uint *count)
{
	opencl_enter();
	bool valid = object_is(device, OBJECT_DEVICE);
	opencl_leave();
	if (!valid)
		return CL_INVALID_DEVICE;
	/* For any parameters: no partition type is supported. */
	return CL_INVALID_VALUE;
}

/* ---- clUnloadCompiler: the compilers are on the nodes ---- */

CL_API_ENTRY cl_int CL_API_CALL dxp_clUnloadCompiler(void)
{
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clUnloadPlatformCompiler(cl_platform_id platform)
{
	return platform == platform_get() ? CL_SUCCESS : CL_INVALID_PLATFORM;
}
