/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests platform, devices and contexts: every query of OpenCL 1.2, and rejections. */
#include "rig.h"

static void platform__describes_itself(void)
{
	static const cl_platform_info texts[] = {CL_PLATFORM_PROFILE, CL_PLATFORM_VERSION,
						 CL_PLATFORM_NAME, CL_PLATFORM_VENDOR,
						 CL_PLATFORM_EXTENSIONS};
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		size_t bytes = 0, again = 0;
		OK(clGetPlatformInfo(rig.platform, texts[i], 0, NULL, &bytes));
		CHECK(bytes >= 1);
		char *text = rig_memory(bytes + 1);
		memset(text, 'x', bytes + 1);
		OK(clGetPlatformInfo(rig.platform, texts[i], bytes, text, &again));
		EQUAL(again, bytes);
		EQUAL(strlen(text), bytes - 1);
		EQUAL(text[bytes], 'x');
		FAILS(clGetPlatformInfo(rig.platform, texts[i], bytes - 1, text, NULL),
		      CL_INVALID_VALUE);
	}
	char version[256] = "", extensions[4096] = "";
	OK(clGetPlatformInfo(rig.platform, CL_PLATFORM_VERSION, sizeof(version), version, NULL));
	CHECK(strncmp(version, "OpenCL ", 7) == 0 && version[8] == '.');
	OK(clGetPlatformInfo(rig.platform, CL_PLATFORM_EXTENSIONS, sizeof(extensions), extensions,
			     NULL));
	CHECK(strstr(extensions, "cl_khr_icd"));
	FAILS(clGetPlatformInfo(rig.platform, 0x9999, sizeof(version), version, NULL),
	      CL_INVALID_VALUE);
}

static void platform__lists_devices(void)
{
	cl_device_id some[RIG_DEVICES_MAX];
	cl_uint count = 0, one = 0;

	OK(clGetDeviceIDs(rig.platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count));
	EQUAL(count, rig.device_count);
	OK(clGetDeviceIDs(rig.platform, CL_DEVICE_TYPE_ALL, 1, some, &one));
	EQUAL(one, count);
	CHECK(some[0] == rig.devices[0]);
	OK(clGetDeviceIDs(rig.platform, CL_DEVICE_TYPE_DEFAULT, 1, some, &one));
	EQUAL(one, 1);
	FAILS(clGetDeviceIDs(rig.platform, CL_DEVICE_TYPE_ALL, 0, some, NULL), CL_INVALID_VALUE);
	FAILS(clGetDeviceIDs(rig.platform, CL_DEVICE_TYPE_ALL, 0, NULL, NULL), CL_INVALID_VALUE);
	FAILS_BUT_POCL(clGetDeviceIDs(rig.platform, 0, 1, some, NULL), CL_INVALID_DEVICE_TYPE);
	FAILS_BUT_POCL(clGetDeviceIDs(rig.platform, (cl_device_type)1 << 20, 1, some, NULL),
		       CL_INVALID_DEVICE_TYPE);
	FAILS(clGetDeviceIDs(rig.platform, CL_DEVICE_TYPE_CUSTOM, 1, some, NULL),
	      CL_DEVICE_NOT_FOUND);
	FAILS(clGetPlatformIDs(0, &rig.platform, NULL), CL_INVALID_VALUE);
}

/* `least` bytes; 0: the answer is a text */
struct query {
	cl_device_info what;
	size_t bytes;
	uint64_t least; /* minimum value, a little-endian number of up to 8 bytes */
};

static const struct query queries[] = {
	{CL_DEVICE_TYPE, sizeof(cl_device_type), 1},
	{CL_DEVICE_VENDOR_ID, sizeof(cl_uint), 0},
	{CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint), 1},
	{CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, sizeof(cl_uint), 3},
	{CL_DEVICE_MAX_WORK_ITEM_SIZES, 3 * sizeof(size_t), 1},
	{CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t), 1},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, sizeof(cl_uint), 0},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, sizeof(cl_uint), 0},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, sizeof(cl_uint), 0},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, sizeof(cl_uint), 0},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, sizeof(cl_uint), 0},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, sizeof(cl_uint), 0},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, sizeof(cl_uint), 0},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, sizeof(cl_uint), 0},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, sizeof(cl_uint), 0},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, sizeof(cl_uint), 0},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, sizeof(cl_uint), 0},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof(cl_uint), 0},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, sizeof(cl_uint), 0},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, sizeof(cl_uint), 0},
	{CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof(cl_uint), 0},
	{CL_DEVICE_ADDRESS_BITS, sizeof(cl_uint), 32},
	{CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong), 1 << 20},
	{CL_DEVICE_IMAGE_SUPPORT, sizeof(cl_bool), 0},
	{CL_DEVICE_MAX_READ_IMAGE_ARGS, sizeof(cl_uint), 0},
	{CL_DEVICE_MAX_WRITE_IMAGE_ARGS, sizeof(cl_uint), 0},
	{CL_DEVICE_IMAGE2D_MAX_WIDTH, sizeof(size_t), 0},
	{CL_DEVICE_IMAGE2D_MAX_HEIGHT, sizeof(size_t), 0},
	{CL_DEVICE_IMAGE3D_MAX_WIDTH, sizeof(size_t), 0},
	{CL_DEVICE_IMAGE3D_MAX_HEIGHT, sizeof(size_t), 0},
	{CL_DEVICE_IMAGE3D_MAX_DEPTH, sizeof(size_t), 0},
	{CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, sizeof(size_t), 0},
	{CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, sizeof(size_t), 0},
	{CL_DEVICE_MAX_SAMPLERS, sizeof(cl_uint), 0},
	{CL_DEVICE_MAX_PARAMETER_SIZE, sizeof(size_t), 1024},
	{CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(cl_uint), 1024},
	{CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, sizeof(cl_uint), 128},
	{CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_device_fp_config), CL_FP_ROUND_TO_NEAREST},
	{CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_device_fp_config), 0},
	{CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, sizeof(cl_device_mem_cache_type), 0},
	{CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, sizeof(cl_uint), 0},
	{CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof(cl_ulong), 0},
	{CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong), 1 << 20},
	{CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, sizeof(cl_ulong), 65536},
	{CL_DEVICE_MAX_CONSTANT_ARGS, sizeof(cl_uint), 8},
	{CL_DEVICE_LOCAL_MEM_TYPE, sizeof(cl_device_local_mem_type), 1},
	{CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong), 32768},
	{CL_DEVICE_ERROR_CORRECTION_SUPPORT, sizeof(cl_bool), 0},
	{CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(cl_bool), 0},
	{CL_DEVICE_PROFILING_TIMER_RESOLUTION, sizeof(size_t), 1},
	{CL_DEVICE_ENDIAN_LITTLE, sizeof(cl_bool), 0},
	{CL_DEVICE_AVAILABLE, sizeof(cl_bool), 1},
	{CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool), 1},
	{CL_DEVICE_LINKER_AVAILABLE, sizeof(cl_bool), 1},
	{CL_DEVICE_EXECUTION_CAPABILITIES, sizeof(cl_device_exec_capabilities), CL_EXEC_KERNEL},
	{CL_DEVICE_QUEUE_PROPERTIES, sizeof(cl_command_queue_properties),
	 CL_QUEUE_PROFILING_ENABLE},
	{CL_DEVICE_BUILT_IN_KERNELS, 0, 0},
	{CL_DEVICE_PLATFORM, sizeof(cl_platform_id), 1},
	{CL_DEVICE_NAME, 0, 0},
	{CL_DEVICE_VENDOR, 0, 0},
	{CL_DRIVER_VERSION, 0, 0},
	{CL_DEVICE_PROFILE, 0, 0},
	{CL_DEVICE_VERSION, 0, 0},
	{CL_DEVICE_OPENCL_C_VERSION, 0, 0},
	{CL_DEVICE_EXTENSIONS, 0, 0},
	{CL_DEVICE_PRINTF_BUFFER_SIZE, sizeof(size_t), 1024},
	{CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, sizeof(cl_bool), 0},
	{CL_DEVICE_PARENT_DEVICE, sizeof(cl_device_id), 0},
	{CL_DEVICE_PARTITION_MAX_SUB_DEVICES, sizeof(cl_uint), 0},
	{CL_DEVICE_PARTITION_AFFINITY_DOMAIN, sizeof(cl_device_affinity_domain), 0},
	{CL_DEVICE_REFERENCE_COUNT, sizeof(cl_uint), 1},
};

static void platform_query(cl_device_id d, const struct query *q)
{
	size_t bytes = 0;
	uint8_t value[16384];

	rig_check_error(__FILE__, (int)q->what, "clGetDeviceInfo",
			clGetDeviceInfo(d, q->what, 0, NULL, &bytes), CL_SUCCESS);
	if (bytes < q->bytes || bytes == 0 || bytes > sizeof(value))
		rig_fail(__FILE__, __LINE__, "query 0x%x has %zu bytes", q->what, bytes);
	OK(clGetDeviceInfo(d, q->what, bytes, value, NULL));
	FAILS(clGetDeviceInfo(d, q->what, bytes - 1, value, NULL), CL_INVALID_VALUE);
	if (q->bytes == 0) {
		EQUAL(strlen((char *)value), bytes - 1);
		return;
	}
	uint64_t number = 0;
	memcpy(&number, value, bytes < 8 ? bytes : 8);
	if (number < q->least)
		rig_fail(__FILE__, __LINE__, "query 0x%x is %llu", q->what,
			 (unsigned long long)number);
}

static void platform__all_device_queries(void)
{
	for (cl_uint i = 0; i < rig.device_count; i++) {
		for (size_t k = 0; k < COUNT_OF(queries); k++)
			platform_query(rig.devices[i], &queries[k]);
		cl_uint value;
		FAILS(clGetDeviceInfo(rig.devices[i], 0x9999, sizeof(value), &value, NULL),
		      CL_INVALID_VALUE);
		cl_platform_id p;
		OK(clGetDeviceInfo(rig.devices[i], CL_DEVICE_PLATFORM, sizeof(p), &p, NULL));
		CHECK(p == rig.platform);
		/* root devices: retain and release have no effect */
		OK(clRetainDevice(rig.devices[i]));
		OK(clReleaseDevice(rig.devices[i]));
		OK(clReleaseDevice(rig.devices[i]));
		OK(clGetDeviceInfo(rig.devices[i], CL_DEVICE_REFERENCE_COUNT, sizeof(value), &value,
				   NULL));
		EQUAL(value, 1);
	}
}

static void platform__versions_agree(void)
{
	char text[256], c[256];

	OK(clGetDeviceInfo(rig.devices[0], CL_DEVICE_VERSION, sizeof(text), text, NULL));
	CHECK(strncmp(text, "OpenCL ", 7) == 0);
	OK(clGetDeviceInfo(rig.devices[0], CL_DEVICE_OPENCL_C_VERSION, sizeof(c), c, NULL));
	CHECK(strncmp(c, "OpenCL C ", 9) == 0);
	if (text[7] < '3')
		rig_skip("not OpenCL 3.0");
	cl_version number = 0;
	OK(clGetDeviceInfo(rig.devices[0], CL_DEVICE_NUMERIC_VERSION, sizeof(number), &number,
			   NULL));
	EQUAL(CL_VERSION_MAJOR(number), text[7] - '0');
	EQUAL(CL_VERSION_MINOR(number), text[9] - '0');
	OK(clGetPlatformInfo(rig.platform, CL_PLATFORM_NUMERIC_VERSION, sizeof(number), &number,
			     NULL));
	EQUAL(CL_VERSION_MAJOR(number), 3);
	cl_name_version list[256];
	size_t bytes = 0;
	char names[16384];
	OK(clGetDeviceInfo(rig.devices[0], CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof(list), list,
			   &bytes));
	OK(clGetDeviceInfo(rig.devices[0], CL_DEVICE_EXTENSIONS, sizeof(names), names, NULL));
	for (size_t i = 0; i < bytes / sizeof(list[0]); i++)
		CHECK(strstr(names, list[i].name));
	OK(clGetDeviceInfo(rig.devices[0], CL_DEVICE_OPENCL_C_ALL_VERSIONS, sizeof(list), list,
			   &bytes));
	CHECK(bytes >= sizeof(list[0]) && strcmp(list[0].name, "OpenCL C") == 0);
}

static void platform__sub_devices(void)
{
	cl_uint units = 0, most = 0, count = 77;
	cl_device_id subs[64];

	OK(clGetDeviceInfo(rig.devices[0], CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units,
			   NULL));
	OK(clGetDeviceInfo(rig.devices[0], CL_DEVICE_PARTITION_MAX_SUB_DEVICES, sizeof(most), &most,
			   NULL));
	cl_device_partition_property list[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
	cl_device_partition_property bad[] = {0x7777, 1, 0};
	cl_int error = clCreateSubDevices(rig.devices[0], list, COUNT_OF(subs), subs, &count);
	if (error == CL_SUCCESS) {
		CHECK(count >= 1 && count <= units);
		for (cl_uint i = 0; i < count; i++) {
			cl_device_id parent = NULL;
			OK(clGetDeviceInfo(subs[i], CL_DEVICE_PARENT_DEVICE, sizeof(parent),
					   &parent, NULL));
			CHECK(parent == rig.devices[0]);
			OK(clReleaseDevice(subs[i]));
		}
	} else {
		CHECK(most < 2);
		CHECK(error == CL_INVALID_VALUE || error == CL_DEVICE_PARTITION_FAILED);
	}
	FAILS(clCreateSubDevices(rig.devices[0], bad, COUNT_OF(subs), subs, &count),
	      CL_INVALID_VALUE);
	FAILS(clCreateSubDevices(rig.devices[0], NULL, COUNT_OF(subs), subs, &count),
	      CL_INVALID_VALUE);
	FAILS(clCreateSubDevices(NULL, list, COUNT_OF(subs), subs, &count), CL_INVALID_DEVICE);
}

static void platform__compilers_and_extensions(void)
{
	OK(clUnloadPlatformCompiler(rig.platform));
	OK(clUnloadCompiler());
	CHECK(!clGetExtensionFunctionAddressForPlatform(rig.platform, "clNoSuchFunctionXYZ"));
	CHECK(!clGetExtensionFunctionAddress("clNoSuchFunctionXYZ"));
	cl_kernel k = rig_kernel("kernel void f(global int *a) { a[0] = 1; }", "f");
	OK(clReleaseKernel(k)); /* loads the compiler again */
}

RIG_MAIN(CASE(platform__describes_itself), CASE(platform__lists_devices),
	 CASE(platform__all_device_queries), CASE(platform__versions_agree),
	 CASE(platform__sub_devices), CASE(platform__compilers_and_extensions))
