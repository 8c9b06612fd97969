/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements the only platform. */
#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/api.h"

#include <dxp/cl_ext.h>

#define EXTENSIONS                                                                            \
	"cl_khr_icd " CL_DXP_TRANSFER_EXTENSION_NAME " " CL_DXP_DEVICE_NETWORK_EXTENSION_NAME \
	" " CL_DXP_FAILURE_EXTENSION_NAME " " CL_DXP_COLLECTIVE_EXTENSION_NAME

static struct _cl_platform_id platform = {
	.object = {.dispatch = &opencl_dispatch, .kind = OBJECT_PLATFORM, .references = 1}};

/* Every device supports these. */
static const cl_name_version extensions[] = {
	{CL_MAKE_VERSION(1, 0, 0), "cl_khr_icd"},
	{CL_MAKE_VERSION(1, 0, 0), CL_DXP_TRANSFER_EXTENSION_NAME},
	{CL_MAKE_VERSION(1, 0, 0), CL_DXP_DEVICE_NETWORK_EXTENSION_NAME},
	{CL_MAKE_VERSION(1, 0, 0), CL_DXP_FAILURE_EXTENSION_NAME},
	{CL_MAKE_VERSION(1, 2, 0), CL_DXP_COLLECTIVE_EXTENSION_NAME},
};

cl_platform_id platform_get(void)
{
	return &platform;
}

static cl_int get_info(cl_platform_info name, const struct info *i)
{
	switch (name) {
	case CL_PLATFORM_PROFILE: return result_text(i, "FULL_PROFILE");
	case CL_PLATFORM_VERSION: return result_text(i, "OpenCL 3.0 Direct xPU " DXP_VERSION);
	case CL_PLATFORM_NUMERIC_VERSION: return result_uint(i, CL_MAKE_VERSION(3, 0, 0));
	case CL_PLATFORM_NAME: return result_text(i, "Direct xPU");
	case CL_PLATFORM_VENDOR: return result_text(i, "Direct xPU");
	case CL_PLATFORM_EXTENSIONS: return result_text(i, EXTENSIONS);
	case CL_PLATFORM_EXTENSIONS_WITH_VERSION:
		return result_bytes(i, extensions, sizeof(extensions));
	case CL_PLATFORM_ICD_SUFFIX_KHR: return result_text(i, "DXP");
	/* ns; the resolution of the clock that measures the times of events. */
	case CL_PLATFORM_HOST_TIMER_RESOLUTION: return result_ulong(i, 1);
	default: return CL_INVALID_VALUE;
	}
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetPlatformInfo(cl_platform_id given, cl_platform_info name,
						      size_t size, void *value, size_t *size_ret)
{
	const struct info i = {size, value, size_ret};

	/* The standard does not define what a NULL platform means; here, the only platform. */
	if (given && given != &platform)
		return CL_INVALID_PLATFORM;
	return get_info(name, &i);
}
