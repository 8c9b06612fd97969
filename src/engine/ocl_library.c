/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/ocl_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"

#define LIBRARY "libOpenCL.so.1"
#define INSTALL                                                                              \
	"install PoCL, for example: apt install pocl-opencl-icd ocl-icd-libopencl1; or use " \
	"--engine none"

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
#define OCL_RESOLVE(name)                                            \
	*(void **)&library.name = dlsym(handle, #name);              \
	if (!library.name) {                                         \
		log_error("%s has no %s; " INSTALL, LIBRARY, #name); \
		return;                                              \
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

static const struct {
	cl_int error;
	const char *name;
} errors[] = {
#define OCL_ERROR(name)     \
	{                   \
		name, #name \
	}
	OCL_ERROR(CL_DEVICE_NOT_FOUND),
	OCL_ERROR(CL_DEVICE_NOT_AVAILABLE),
	OCL_ERROR(CL_COMPILER_NOT_AVAILABLE),
	OCL_ERROR(CL_MEM_OBJECT_ALLOCATION_FAILURE),
	OCL_ERROR(CL_OUT_OF_RESOURCES),
	OCL_ERROR(CL_OUT_OF_HOST_MEMORY),
	OCL_ERROR(CL_BUILD_PROGRAM_FAILURE),
	OCL_ERROR(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
	OCL_ERROR(CL_INVALID_VALUE),
	OCL_ERROR(CL_INVALID_BUFFER_SIZE),
	OCL_ERROR(CL_INVALID_BUILD_OPTIONS),
	OCL_ERROR(CL_INVALID_PROGRAM_EXECUTABLE),
	OCL_ERROR(CL_INVALID_KERNEL_NAME),
	OCL_ERROR(CL_INVALID_ARG_INDEX),
	OCL_ERROR(CL_INVALID_ARG_VALUE),
	OCL_ERROR(CL_INVALID_ARG_SIZE),
	OCL_ERROR(CL_INVALID_KERNEL_ARGS),
	OCL_ERROR(CL_INVALID_WORK_DIMENSION),
	OCL_ERROR(CL_INVALID_WORK_GROUP_SIZE),
	OCL_ERROR(CL_INVALID_WORK_ITEM_SIZE),
	OCL_ERROR(CL_INVALID_GLOBAL_WORK_SIZE),
	OCL_ERROR(CL_INVALID_HOST_PTR),
	OCL_ERROR(CL_INVALID_MEM_OBJECT),
	OCL_ERROR(CL_MISALIGNED_SUB_BUFFER_OFFSET),
	OCL_ERROR(CL_MEM_COPY_OVERLAP),
	OCL_ERROR(CL_MAP_FAILURE),
	OCL_ERROR(CL_INVALID_CONTEXT),
	OCL_ERROR(CL_INVALID_COMMAND_QUEUE),
	OCL_ERROR(CL_INVALID_EVENT),
#undef OCL_ERROR
};

const char *ocl_error_name(cl_int error)
{
	for (size_t i = 0; i < ARRAY_COUNT(errors); i++)
		if (errors[i].error == error)
			return errors[i].name;
	return "an OpenCL error";
}
