/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks OpenCL as an xPU would find it. Opens the library at run time, so that a machine without
 * it can be a host. Declares only the four functions that list devices, as in the OpenCL
 * specification. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "cmd/dxp/checks.h"

#define OPENCL_LIBRARY     "libOpenCL.so.1"
#define CL_PLATFORM_NAME   0x0902
#define CL_DEVICE_NAME     0x102b
#define CL_DEVICE_TYPE_ALL 0xffffffffull
#define NAMES_MAX          16
#define OWN_PLATFORM       "Direct xPU"

struct opencl {
	void *library;
	int32_t (*platforms)(uint32_t count, void **out, uint32_t *total);
	int32_t (*platform_info)(void *platform, uint32_t what, size_t bytes, void *out,
				 size_t *size);
	int32_t (*devices)(void *platform, uint64_t type, uint32_t count, void **out,
			   uint32_t *total);
	int32_t (*device_info)(void *device, uint32_t what, size_t bytes, void *out, size_t *size);
};

static bool opencl_open(struct opencl *cl)
{
	cl->library = dlopen(OPENCL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!cl->library)
		return false;
	*(void **)&cl->platforms = dlsym(cl->library, "clGetPlatformIDs");
	*(void **)&cl->platform_info = dlsym(cl->library, "clGetPlatformInfo");
	*(void **)&cl->devices = dlsym(cl->library, "clGetDeviceIDs");
	*(void **)&cl->device_info = dlsym(cl->library, "clGetDeviceInfo");
	return cl->platforms && cl->platform_info && cl->devices && cl->device_info;
}

/* Returns the kind of memory that an xPU on this device would have. */
static const char *device_memory(const char *device_name)
{
	char name[FABRIC_DEVICE_BYTES + 8];
	struct engine_description d;

	/* truncated to the length that engines use */
	snprintf(name, sizeof(name), "ocl:%.*s", FABRIC_DEVICE_BYTES - 1, device_name);
	return checks_engine_try(name, &d) ? checks_memory_kind_text(&d) : "does not work";
}

static void check_platform(const struct opencl *cl, void *platform, struct check *c, bool *pocl)
{
	char platform_name[128] = "?", device_name[256], list[400] = "";
	void *devices[NAMES_MAX];
	uint32_t count = 0;

	cl->platform_info(platform, CL_PLATFORM_NAME, sizeof(platform_name), platform_name, NULL);
	/* skips this project's platform: its devices are on other machines */
	if (strcmp(platform_name, OWN_PLATFORM) == 0) {
		check_set(c, CHECK_OK, "OpenCL platform", NULL,
			  OWN_PLATFORM
			  ": OpenCL programs on this machine see the xPUs of its fabric");
		return;
	}
	if (cl->devices(platform, CL_DEVICE_TYPE_ALL, NAMES_MAX, devices, &count) != 0)
		count = 0;
	for (uint32_t i = 0; i < count && i < NAMES_MAX; i++) {
		size_t used = strlen(list);
		if (cl->device_info(devices[i], CL_DEVICE_NAME, sizeof(device_name), device_name,
				    NULL) == 0)
			snprintf(list + used, sizeof(list) - used, "%s%s (%s)", used ? ", " : "",
				 device_name, device_memory(device_name));
	}
	*pocl |= strstr(platform_name, "Portable Computing Language") != NULL;
	check_set(c, count ? CHECK_OK : CHECK_WARN, "OpenCL platform",
		  count ? NULL : "install the driver of that platform, or ignore this", "%s: %s",
		  platform_name, count ? list : "no devices");
}

/* Leaves the library open, because OpenCL drivers do not survive being closed. */
unsigned checks_opencl(struct check *out)
{
	struct opencl cl = {0};
	void *platforms[NAMES_MAX];
	uint32_t total = 0;
	bool pocl = false;
	unsigned count = 0;

	/* an xPU on a named device sets the same value */
	setenv("POCL_DEVICES", "basic pthread", 0);
	if (!opencl_open(&cl)) {
		check_set(&out[count++], CHECK_FAIL, "OpenCL",
			  "apt install ocl-icd-libopencl1 pocl-opencl-icd",
			  "cannot open %s; this machine can be a host, but cannot run an xPU with "
			  "engine ocl",
			  OPENCL_LIBRARY);
		return count;
	}
	if (cl.platforms(NAMES_MAX, platforms, &total) != 0)
		total = 0;
	check_set(&out[count++], CHECK_OK, "OpenCL", NULL, "%s with %u platforms", OPENCL_LIBRARY,
		  total);
	for (uint32_t i = 0; i < total && i < NAMES_MAX; i++)
		check_platform(&cl, platforms[i], &out[count++], &pocl);
	check_set(&out[count++], pocl ? CHECK_OK : CHECK_FAIL, "PoCL",
		  pocl ? NULL : "apt install pocl-opencl-icd",
		  pocl ? "present: the default engine has its device"
		       : "absent: the default engine has no device");
	return count;
}
