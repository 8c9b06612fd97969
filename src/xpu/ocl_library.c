/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/ocl_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"

#define LIBRARY "libOpenCL.so.1"
#define INSTALL "install PoCL, for example: apt install pocl-opencl-icd ocl-icd-libopencl1; or use --engine none"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ocl_library library;
static int library_status = DXP_EUNSUPPORTED;

static void library_open(void)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		log_error("cannot open %s (%s); " INSTALL, LIBRARY, dlerror());
		return;
	}
#define OCL_RESOLVE(name)                                                                          \
	*(void **)&library.name = dlsym(handle, #name);                                            \
	if (!library.name) {                                                                       \
		log_error("%s has no %s; " INSTALL, LIBRARY, #name);                               \
		return;                                                                            \
	}
	OCL_FUNCTIONS(OCL_RESOLVE)
#undef OCL_RESOLVE
	library_status = DXP_OK;
}

int ocl_library_get(const struct ocl_library **out)
{
	pthread_once(&once, library_open);
	if (library_status == DXP_OK)
		*out = &library;
	return library_status;
}

#define OCL_ERRORS(X)                                                                              \
	X(CL_DEVICE_NOT_FOUND) X(CL_DEVICE_NOT_AVAILABLE) X(CL_COMPILER_NOT_AVAILABLE)             \
	X(CL_MEM_OBJECT_ALLOCATION_FAILURE) X(CL_OUT_OF_RESOURCES) X(CL_OUT_OF_HOST_MEMORY)        \
	X(CL_BUILD_PROGRAM_FAILURE) X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)                \
	X(CL_INVALID_VALUE) X(CL_INVALID_BUFFER_SIZE) X(CL_INVALID_BUILD_OPTIONS)                  \
	X(CL_INVALID_PROGRAM_EXECUTABLE) X(CL_INVALID_KERNEL_NAME) X(CL_INVALID_ARG_INDEX)         \
	X(CL_INVALID_ARG_VALUE) X(CL_INVALID_ARG_SIZE) X(CL_INVALID_KERNEL_ARGS)                   \
	X(CL_INVALID_WORK_DIMENSION) X(CL_INVALID_WORK_GROUP_SIZE) X(CL_INVALID_WORK_ITEM_SIZE)    \
	X(CL_INVALID_GLOBAL_WORK_SIZE) X(CL_INVALID_HOST_PTR) X(CL_INVALID_MEM_OBJECT)

const char *ocl_error_name(cl_int error)
{
	switch (error) {
#define OCL_CASE(name) case name: return #name;
	OCL_ERRORS(OCL_CASE)
#undef OCL_CASE
	default: return "an OpenCL error";
	}
}
