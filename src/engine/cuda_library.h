/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA driver, opened at run time, so that a build needs no CUDA. Declarations follow its
 * public documentation. */
#ifndef ENGINE_CUDA_LIBRARY_H
#define ENGINE_CUDA_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cuda_context;
struct cuda_event;
struct cuda_function;
struct cuda_module;
struct cuda_stream;

/* Values of CUresult that need special handling. */
enum cuda_error {
	CUDA_OK = 0,
	CUDA_INVALID_VALUE = 1,
	CUDA_OUT_OF_MEMORY = 2,
	CUDA_NO_DEVICE = 100,
	CUDA_NOT_FOUND = 500,
	CUDA_LAUNCH_OUT_OF_RESOURCES = 701,
	CUDA_CONTEXT_ACTIVE = 708,
};

/* CUdevice_attribute, CUfunction_attribute, CUjit_option, and flags. */
#define CUDA_DEVICE_PROCESSORS       16
#define CUDA_DEVICE_MAPS_HOST        19
#define CUDA_DEVICE_CAPABILITY_MAJOR 75
#define CUDA_DEVICE_CAPABILITY_MINOR 76
#define CUDA_FUNCTION_THREADS_MAX    0
#define CUDA_FUNCTION_SHARED_MAX     8
#define CUDA_JIT_INFO_LOG            3
#define CUDA_JIT_INFO_LOG_BYTES      4
#define CUDA_JIT_ERROR_LOG           5
#define CUDA_JIT_ERROR_LOG_BYTES     6
#define CUDA_CONTEXT_MAP_HOST        8u
#define CUDA_HOST_PORTABLE           1u
#define CUDA_HOST_MAPPED             2u
#define CUDA_STREAM_NON_BLOCKING     1u
#define CUDA_EVENT_BLOCKING          1u
#define CUDA_EVENT_NO_TIMING         2u

/* X(name in the library, parameters); each returns a CUresult. */
#define CUDA_FUNCTIONS(X)                                                                       \
	X(cuInit, (unsigned flags))                                                             \
	X(cuGetErrorString, (int error, const char **text))                                     \
	X(cuDeviceGetCount, (int *count))                                                       \
	X(cuDeviceGet, (int *device, int ordinal))                                              \
	X(cuDeviceGetName, (char *name, int bytes, int device))                                 \
	X(cuDeviceGetAttribute, (int *value, int attribute, int device))                        \
	X(cuDevicePrimaryCtxSetFlags_v2, (int device, unsigned flags))                          \
	X(cuDevicePrimaryCtxRetain, (struct cuda_context * *context, int device))               \
	X(cuDevicePrimaryCtxRelease_v2, (int device))                                           \
	X(cuCtxSetCurrent, (struct cuda_context * context))                                     \
	X(cuMemGetInfo_v2, (size_t * unused, size_t * total))                                   \
	X(cuMemAlloc_v2, (uint64_t * pointer, size_t bytes))                                    \
	X(cuMemFree_v2, (uint64_t pointer))                                                     \
	X(cuMemHostRegister_v2, (void *base, size_t bytes, unsigned flags))                     \
	X(cuMemHostGetDevicePointer_v2, (uint64_t * pointer, void *base, unsigned flags))       \
	X(cuMemHostUnregister, (void *base))                                                    \
	X(cuMemcpyHtoDAsync_v2,                                                                 \
	  (uint64_t to, const void *from, size_t bytes, struct cuda_stream *stream))            \
	X(cuMemcpyDtoHAsync_v2,                                                                 \
	  (void *to, uint64_t from, size_t bytes, struct cuda_stream *stream))                  \
	X(cuMemcpyDtoDAsync_v2,                                                                 \
	  (uint64_t to, uint64_t from, size_t bytes, struct cuda_stream * stream))              \
	X(cuStreamCreate, (struct cuda_stream * *stream, unsigned flags))                       \
	X(cuStreamDestroy_v2, (struct cuda_stream * stream))                                    \
	X(cuStreamSynchronize, (struct cuda_stream * stream))                                   \
	X(cuEventCreate, (struct cuda_event * *event, unsigned flags))                          \
	X(cuEventDestroy_v2, (struct cuda_event * event))                                       \
	X(cuEventRecord, (struct cuda_event * event, struct cuda_stream * stream))              \
	X(cuEventSynchronize, (struct cuda_event * event))                                      \
	X(cuModuleLoadDataEx, (struct cuda_module * *module, const void *image, unsigned count, \
			       int *options, void **values))                                    \
	X(cuModuleUnload, (struct cuda_module * module))                                        \
	X(cuModuleGetFunction,                                                                  \
	  (struct cuda_function * *function, struct cuda_module * module, const char *name))    \
	X(cuFuncGetParamInfo,                                                                   \
	  (struct cuda_function * function, size_t index, size_t * offset, size_t * bytes))     \
	X(cuFuncGetAttribute, (int *value, int attribute, struct cuda_function *function))      \
	X(cuFuncSetAttribute, (struct cuda_function * function, int attribute, int value))      \
	X(cuLaunchKernel,                                                                       \
	  (struct cuda_function * function, unsigned grid_x, unsigned grid_y, unsigned grid_z,  \
	   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,         \
	   struct cuda_stream *stream, void **parameters, void **extra))

struct cuda_library {
#define CUDA_MEMBER(name, parameters) int(*name) parameters;
	CUDA_FUNCTIONS(CUDA_MEMBER)
#undef CUDA_MEMBER
};

/* Opens and initializes the library at the first call; it stays open. Any thread. DXP_EUNSUPPORTED:
 * no library or device (logged, with the next step). */
int cuda_library_get(const struct cuda_library **out);

/* Such as "an illegal memory access was encountered"; never NULL. */
const char *cuda_error_text(const struct cuda_library *cu, int error);

/* True: the context is unusable for all further calls. */
bool cuda_error_sticky(int error);

#endif
