/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements the interface to the ICD loader: three symbols and the table that every object begins
 * with. Table entries of unsupported extensions (GL, D3D, EGL) are NULL, as loaders expect. */
#include <string.h>

#include "plugins/opencl/entry/extension.h"
#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/api.h"

/* The loader indexes a table of its own size. */
_Static_assert(sizeof(cl_icd_dispatch) == 149 * sizeof(void *), "cl_icd.h has another table");

#define ENTRY(name) .name = dxp_##name,
const cl_icd_dispatch door_dispatch = {DOOR_ENTRY_POINTS(ENTRY)};
#undef ENTRY

struct extension_function {
	const char *name;
	void *address;
};

static cl_int CL_API_CALL icd_get_platforms(cl_uint entries, cl_platform_id *platforms,
					    cl_uint *count);

#define ENTRY(name) {#name, (void *)dxp_##name},
static const struct extension_function functions[] = {
	{"clIcdGetPlatformIDsKHR", (void *)icd_get_platforms},
	DOOR_ENTRY_POINTS(ENTRY) EXTENSION_FUNCTIONS(ENTRY)};
#undef ENTRY

static cl_int CL_API_CALL icd_get_platforms(cl_uint entries, cl_platform_id *platforms,
					    cl_uint *count)
{
	if ((platforms && !entries) || (!platforms && !count))
		return CL_INVALID_VALUE;
	if (platforms)
		platforms[0] = platform_get();
	if (count)
		*count = 1;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetPlatformIDs(cl_uint entries, cl_platform_id *platforms,
						     cl_uint *count)
{
	return icd_get_platforms(entries, platforms, count);
}

CL_API_ENTRY void *CL_API_CALL dxp_clGetExtensionFunctionAddress(const char *name)
{
	for (size_t i = 0; name && i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(functions[i].name, name) == 0)
			return functions[i].address;
	return NULL;
}

CL_API_ENTRY void *CL_API_CALL dxp_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
									    const char *name)
{
	return platform == platform_get() ? dxp_clGetExtensionFunctionAddress(name) : NULL;
}

/* ---- the only exported symbols; the loader finds them by name ---- */

DXP_API CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint entries,
							       cl_platform_id *platforms,
							       cl_uint *count)
{
	return icd_get_platforms(entries, platforms, count);
}

DXP_API CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
	return dxp_clGetExtensionFunctionAddress(name);
}

DXP_API CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
							  cl_platform_info name, size_t size,
							  void *value, size_t *size_ret)
{
	return dxp_clGetPlatformInfo(platform, name, size, value, size_ret);
}
