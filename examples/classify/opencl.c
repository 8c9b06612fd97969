/* SPDX-License-Identifier: BSD-3-Clause */
#include "opencl.h"

#include <dlfcn.h>
#include <string.h>

#include <dxp/status.h>

#define LIBRARY "libOpenCL.so.1"

int opencl_load(struct opencl *out, struct fault *fault)
{
	struct opencl cl;
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return fault_set(fault, DXP_ENOENT,
				 "no OpenCL on this machine (%s); install pocl-opencl-icd",
				 dlerror());
#define FIND(name)                                                                          \
	{                                                                                   \
		void *symbol = dlsym(library, #name);                                       \
		if (!symbol)                                                                \
			return fault_set(fault, DXP_ENOENT, "%s lacks %s", LIBRARY, #name); \
		memcpy(&cl.name, &symbol, sizeof(symbol));                                  \
	}
	OPENCL_LIST(FIND)
#undef FIND
	*out = cl;
	return DXP_OK;
}
