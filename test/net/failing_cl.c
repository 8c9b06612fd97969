/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into an OpenCL program: call number FAIL_AT of FAIL_CALL fails with
 * CL_OUT_OF_RESOURCES; others reach the library. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool fails(const char *name)
{
	static long calls;
	const char *wanted = getenv("FAIL_CALL"), *number = getenv("FAIL_AT");

	return wanted && number && strcmp(wanted, name) == 0 && ++calls == atol(number);
}

#define WRAP(type, name, failed, parameters, arguments)                               \
	__attribute__((visibility("default"))) type CL_API_CALL name parameters       \
	{                                                                             \
		type(*real) parameters = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
                                                                                      \
		return fails(#name) ? (failed) : real arguments;                      \
	}
#define WRAP_CALL(name, parameters, arguments) \
	WRAP(cl_int, name, CL_OUT_OF_RESOURCES, parameters, arguments)
#define WRAP_CREATE(type, name, parameters, arguments) \
	WRAP(type, name, (*error = CL_OUT_OF_RESOURCES, (type)NULL), parameters, arguments)

WRAP_CALL(clGetPlatformIDs, (cl_uint count, cl_platform_id *list, cl_uint *found),
	  (count, list, found))
WRAP_CALL(clGetDeviceIDs,
	  (cl_platform_id p, cl_device_type type, cl_uint count, cl_device_id *list,
	   cl_uint *found),
	  (p, type, count, list, found))
WRAP_CREATE(cl_context, clCreateContext,
	    (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
	     void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
	     cl_int *error),
	    (properties, count, devices, notify, data, error))
WRAP_CREATE(cl_command_queue, clCreateCommandQueue,
	    (cl_context c, cl_device_id d, cl_command_queue_properties properties, cl_int *error),
	    (c, d, properties, error))
WRAP_CREATE(cl_program, clCreateProgramWithSource,
	    (cl_context c, cl_uint count, const char **texts, const size_t *lengths, cl_int *error),
	    (c, count, texts, lengths, error))
WRAP_CALL(clBuildProgram,
	  (cl_program p, cl_uint count, const cl_device_id *devices, const char *options,
	   void(CL_CALLBACK *notify)(cl_program, void *), void *data),
	  (p, count, devices, options, notify, data))
WRAP_CREATE(cl_kernel, clCreateKernel, (cl_program p, const char *name, cl_int *error),
	    (p, name, error))
WRAP_CALL(clSetKernelArg, (cl_kernel k, cl_uint index, size_t bytes, const void *value),
	  (k, index, bytes, value))
WRAP_CREATE(cl_mem, clCreateBuffer,
	    (cl_context c, cl_mem_flags flags, size_t bytes, void *host, cl_int *error),
	    (c, flags, bytes, host, error))
WRAP_CALL(clEnqueueFillBuffer,
	  (cl_command_queue q, cl_mem m, const void *pattern, size_t pattern_bytes, size_t offset,
	   size_t bytes, cl_uint count, const cl_event *wait, cl_event *event),
	  (q, m, pattern, pattern_bytes, offset, bytes, count, wait, event))
WRAP_CALL(clEnqueueReadBuffer,
	  (cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset, size_t bytes, void *to,
	   cl_uint count, const cl_event *wait, cl_event *event),
	  (q, m, blocking, offset, bytes, to, count, wait, event))
WRAP_CALL(clEnqueueWriteBuffer,
	  (cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset, size_t bytes,
	   const void *from, cl_uint count, const cl_event *wait, cl_event *event),
	  (q, m, blocking, offset, bytes, from, count, wait, event))
WRAP_CALL(clEnqueueNDRangeKernel,
	  (cl_command_queue q, cl_kernel k, cl_uint dimensions, const size_t *offset,
	   const size_t *global, const size_t *local, cl_uint count, const cl_event *wait,
	   cl_event *event),
	  (q, k, dimensions, offset, global, local, count, wait, event))
WRAP_CALL(clRetainMemObject, (cl_mem m), (m))
WRAP_CALL(clRetainEvent, (cl_event e), (e))
WRAP_CALL(clGetEventInfo,
	  (cl_event e, cl_event_info name, size_t bytes, void *value, size_t *found),
	  (e, name, bytes, value, found))
WRAP_CALL(clWaitForEvents, (cl_uint count, const cl_event *list), (count, list))
WRAP_CALL(clFlush, (cl_command_queue q), (q))
WRAP_CALL(clFinish, (cl_command_queue q), (q))
