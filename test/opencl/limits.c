/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that devices meet the minimum limits of a full-profile device, and that every device query
 * returns its value in the right form. */
#include "rig.h"

#include <CL/cl_ext.h>

static uint64_t number(cl_device_id d, cl_device_info name)
{
	uint64_t v = 0;

	OK(clGetDeviceInfo(d, name, sizeof(v), &v, NULL));
	return v;
}

#define AT_LEAST(name, least)                                             \
	do {                                                              \
		if (number(d, name) < (least))                            \
			rig_fail(__FILE__, __LINE__, "%s is %llu", #name, \
				 (unsigned long long)number(d, name));    \
	} while (0)

static void minimums(cl_device_id d)
{
	uint64_t global = number(d, CL_DEVICE_GLOBAL_MEM_SIZE), part = global / 4;
	size_t items[3];

	if (part > 1ull << 30)
		part = 1ull << 30;
	AT_LEAST(CL_DEVICE_MAX_COMPUTE_UNITS, 1);
	AT_LEAST(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 3);
	OK(clGetDeviceInfo(d, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(items), items, NULL));
	CHECK(items[0] && items[1] && items[2]);
	AT_LEAST(CL_DEVICE_MAX_WORK_GROUP_SIZE, 1);
	AT_LEAST(CL_DEVICE_MAX_MEM_ALLOC_SIZE, part > 32u << 20 ? part : 32u << 20);
	CHECK(number(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE) <= global);
	AT_LEAST(CL_DEVICE_MAX_PARAMETER_SIZE, 1024);
	AT_LEAST(CL_DEVICE_MEM_BASE_ADDR_ALIGN, 128 * 8);
	AT_LEAST(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 64 << 10);
	AT_LEAST(CL_DEVICE_MAX_CONSTANT_ARGS, 8);
	AT_LEAST(CL_DEVICE_LOCAL_MEM_SIZE, 32 << 10);
	AT_LEAST(CL_DEVICE_PRINTF_BUFFER_SIZE, 1 << 20);
	AT_LEAST(CL_DEVICE_PROFILING_TIMER_RESOLUTION, 1);
	AT_LEAST(CL_DEVICE_ADDRESS_BITS, 32);
	CHECK(number(d, CL_DEVICE_COMPILER_AVAILABLE) == CL_TRUE);
	CHECK(number(d, CL_DEVICE_LINKER_AVAILABLE) == CL_TRUE);
	CHECK(number(d, CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_KERNEL);
	CHECK(number(d, CL_DEVICE_QUEUE_ON_HOST_PROPERTIES) & CL_QUEUE_PROFILING_ENABLE);
	CHECK(number(d, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_ROUND_TO_NEAREST);
	CHECK(number(d, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_INF_NAN);
	if (number(d, CL_DEVICE_DOUBLE_FP_CONFIG))
		CHECK(rig_has_extension(d, "cl_khr_fp64"));
}

static void limits__full_profile(void)
{
	for (cl_uint i = 0; i < rig.device_count; i++)
		minimums(rig.devices[i]);
}

static void limits__images(void)
{
	for (cl_uint i = 0; i < rig.device_count; i++) {
		cl_device_id d = rig.devices[i];
		if (!number(d, CL_DEVICE_IMAGE_SUPPORT))
			continue;
		AT_LEAST(CL_DEVICE_MAX_READ_IMAGE_ARGS, 128);
		AT_LEAST(CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 64);
		AT_LEAST(CL_DEVICE_IMAGE2D_MAX_WIDTH, 8192);
		AT_LEAST(CL_DEVICE_IMAGE2D_MAX_HEIGHT, 8192);
		AT_LEAST(CL_DEVICE_IMAGE3D_MAX_WIDTH, 2048);
		AT_LEAST(CL_DEVICE_IMAGE3D_MAX_HEIGHT, 2048);
		AT_LEAST(CL_DEVICE_IMAGE3D_MAX_DEPTH, 2048);
		AT_LEAST(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 65536);
		AT_LEAST(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, 2048);
		AT_LEAST(CL_DEVICE_MAX_SAMPLERS, 16);
	}
}

/* Queried for its size, with a buffer of the exact size, with one that is a byte too small, and
 * without a buffer. */
struct param {
	cl_device_info name;
	size_t bytes; /* 0: not checked */
};
#define P(name, type)              \
	{                          \
		name, sizeof(type) \
	}
static const struct param params[] = {
	P(CL_DEVICE_TYPE, cl_device_type),
	P(CL_DEVICE_VENDOR_ID, cl_uint),
	P(CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint),
	P(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, cl_uint),
	P(CL_DEVICE_MAX_WORK_ITEM_SIZES, size_t[3]),
	P(CL_DEVICE_MAX_WORK_GROUP_SIZE, size_t),
	P(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, cl_uint),
	P(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, cl_uint),
	P(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, cl_uint),
	P(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, cl_uint),
	P(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, cl_uint),
	P(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, cl_uint),
	P(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, cl_uint),
	P(CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, cl_uint),
	P(CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, cl_uint),
	P(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, cl_uint),
	P(CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, cl_uint),
	P(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, cl_uint),
	P(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, cl_uint),
	P(CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, cl_uint),
	P(CL_DEVICE_MAX_CLOCK_FREQUENCY, cl_uint),
	P(CL_DEVICE_ADDRESS_BITS, cl_uint),
	P(CL_DEVICE_MAX_MEM_ALLOC_SIZE, cl_ulong),
	P(CL_DEVICE_IMAGE_SUPPORT, cl_bool),
	P(CL_DEVICE_MAX_READ_IMAGE_ARGS, cl_uint),
	P(CL_DEVICE_MAX_WRITE_IMAGE_ARGS, cl_uint),
	P(CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, cl_uint),
	P(CL_DEVICE_IMAGE2D_MAX_WIDTH, size_t),
	P(CL_DEVICE_IMAGE2D_MAX_HEIGHT, size_t),
	P(CL_DEVICE_IMAGE3D_MAX_WIDTH, size_t),
	P(CL_DEVICE_IMAGE3D_MAX_HEIGHT, size_t),
	P(CL_DEVICE_IMAGE3D_MAX_DEPTH, size_t),
	P(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, size_t),
	P(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, size_t),
	P(CL_DEVICE_IMAGE_PITCH_ALIGNMENT, cl_uint),
	P(CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, cl_uint),
	P(CL_DEVICE_MAX_SAMPLERS, cl_uint),
	P(CL_DEVICE_MAX_PIPE_ARGS, cl_uint),
	P(CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, cl_uint),
	P(CL_DEVICE_PIPE_MAX_PACKET_SIZE, cl_uint),
	P(CL_DEVICE_MAX_PARAMETER_SIZE, size_t),
	P(CL_DEVICE_MEM_BASE_ADDR_ALIGN, cl_uint),
	P(CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, cl_uint),
	P(CL_DEVICE_SINGLE_FP_CONFIG, cl_device_fp_config),
	P(CL_DEVICE_DOUBLE_FP_CONFIG, cl_device_fp_config),
	P(CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, cl_device_mem_cache_type),
	P(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, cl_uint),
	P(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, cl_ulong),
	P(CL_DEVICE_GLOBAL_MEM_SIZE, cl_ulong),
	P(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, cl_ulong),
	P(CL_DEVICE_MAX_CONSTANT_ARGS, cl_uint),
	P(CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, size_t),
	P(CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, size_t),
	P(CL_DEVICE_LOCAL_MEM_TYPE, cl_device_local_mem_type),
	P(CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong),
	P(CL_DEVICE_ERROR_CORRECTION_SUPPORT, cl_bool),
	P(CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool),
	P(CL_DEVICE_PROFILING_TIMER_RESOLUTION, size_t),
	P(CL_DEVICE_ENDIAN_LITTLE, cl_bool),
	P(CL_DEVICE_AVAILABLE, cl_bool),
	P(CL_DEVICE_COMPILER_AVAILABLE, cl_bool),
	P(CL_DEVICE_LINKER_AVAILABLE, cl_bool),
	P(CL_DEVICE_EXECUTION_CAPABILITIES, cl_device_exec_capabilities),
	P(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, cl_command_queue_properties),
	P(CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, cl_command_queue_properties),
	P(CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, cl_uint),
	P(CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, cl_uint),
	P(CL_DEVICE_MAX_ON_DEVICE_QUEUES, cl_uint),
	P(CL_DEVICE_MAX_ON_DEVICE_EVENTS, cl_uint),
	P(CL_DEVICE_PLATFORM, cl_platform_id),
	P(CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, cl_bool),
	P(CL_DEVICE_PARENT_DEVICE, cl_device_id),
	P(CL_DEVICE_PARTITION_MAX_SUB_DEVICES, cl_uint),
	P(CL_DEVICE_PARTITION_AFFINITY_DOMAIN, cl_device_affinity_domain),
	P(CL_DEVICE_REFERENCE_COUNT, cl_uint),
	P(CL_DEVICE_SVM_CAPABILITIES, cl_device_svm_capabilities),
	P(CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, cl_uint),
	P(CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, cl_uint),
	P(CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, cl_uint),
	P(CL_DEVICE_MAX_NUM_SUB_GROUPS, cl_uint),
	P(CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, cl_bool),
	P(CL_DEVICE_NUMERIC_VERSION, cl_version),
	P(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, cl_device_atomic_capabilities),
	P(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, cl_device_atomic_capabilities),
	P(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, cl_bool),
	P(CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, cl_bool),
	P(CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, cl_bool),
	P(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, cl_device_device_enqueue_capabilities),
	P(CL_DEVICE_PIPE_SUPPORT, cl_bool),
	P(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, size_t),
	{CL_DEVICE_NAME, 0},
	{CL_DEVICE_VENDOR, 0},
	{CL_DRIVER_VERSION, 0},
	{CL_DEVICE_PROFILE, 0},
	{CL_DEVICE_VERSION, 0},
	{CL_DEVICE_OPENCL_C_VERSION, 0},
	{CL_DEVICE_EXTENSIONS, 0},
	{CL_DEVICE_BUILT_IN_KERNELS, 0},
	{CL_DEVICE_IL_VERSION, 0},
	{CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, 0},
	{CL_DEVICE_PARTITION_PROPERTIES, 0},
	{CL_DEVICE_PARTITION_TYPE, 0},
	{CL_DEVICE_OPENCL_C_ALL_VERSIONS, 0},
	{CL_DEVICE_OPENCL_C_FEATURES, 0},
	{CL_DEVICE_EXTENSIONS_WITH_VERSION, 0},
	{CL_DEVICE_ILS_WITH_VERSION, 0},
	{CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, 0},
};

static void answer_has_its_size(cl_device_id d, const struct param *p)
{
	uint8_t *out = rig_memory(1 << 16);
	size_t bytes = SIZE_MAX, again = SIZE_MAX;
	cl_int error = clGetDeviceInfo(d, p->name, 0, NULL, &bytes);

	if (error != CL_SUCCESS)
		rig_fail(__FILE__, __LINE__, "parameter %#x: %s", p->name, rig_error_name(error));
	/* PoCL 3.1 returns some bit fields in 4 bytes. */
	if (p->bytes && bytes != p->bytes && !rig.pocl)
		rig_fail(__FILE__, __LINE__, "parameter %#x has %zu bytes, not %zu", p->name, bytes,
			 p->bytes);
	CHECK(bytes < 1 << 15);
	memset(out, 0xa5, 1 << 16);
	OK(clGetDeviceInfo(d, p->name, bytes, out, &again));
	EQUAL(again, bytes);
	EQUAL(out[bytes], 0xa5);
	OK(clGetDeviceInfo(d, p->name, 1 << 15, out, NULL));
	EQUAL(out[bytes], 0xa5);
	if (bytes)
		FAILS(clGetDeviceInfo(d, p->name, bytes - 1, out, NULL), CL_INVALID_VALUE);
}

static void limits__every_answer_has_its_size(void)
{
	for (cl_uint i = 0; i < rig.device_count; i++)
		for (size_t k = 0; k < COUNT_OF(params); k++)
			answer_has_its_size(rig.devices[i], &params[k]);
	FAILS(clGetDeviceInfo(rig.devices[0], 0, 0, NULL, NULL), CL_INVALID_VALUE);
}

/* A kernel may have arguments of 1024 bytes in total. */
static void limits__parameter_bytes(void)
{
	char source[2048] = "kernel void k(global long *out";
	cl_long sum = 0, wanted = 0;

	for (int i = 0; i < 127; i++)
		sprintf(source + strlen(source), ", long a%d", i);
	strcat(source, ") { *out = a0");
	for (int i = 1; i < 127; i++)
		sprintf(source + strlen(source), "^a%d", i);
	strcat(source, "; }");
	cl_kernel k = rig_kernel(source, "k");
	cl_mem m = rig_buffer(CL_MEM_READ_WRITE, sizeof(sum), NULL);
	SET(k, 0, m);
	for (cl_uint i = 0; i < 127; i++) {
		cl_long v = (cl_long)rig_random();
		wanted ^= v;
		SET(k, i + 1, v);
	}
	rig_run(rig.queues[0], k, 1);
	rig_read(rig.queues[0], m, &sum, sizeof(sum));
	CHECK(sum == wanted);
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(m));
}

static cl_mem small_image(float first)
{
	const cl_image_format rgba = {CL_RGBA, CL_FLOAT};
	const cl_image_desc desc = {
		.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
	float pixels[64] = {first};
	cl_mem m = clCreateImage(rig.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &rgba,
				 &desc, pixels, ERR);

	MADE(m);
	return m;
}

/* 127 images and a buffer need 1024 bytes of arguments, which the standard guarantees. */
#define IMAGES 127

/* Tests a kernel with the maximum number of image arguments. It writes every third image and reads
 * the others. */
static void limits__image_arguments(void)
{
	char source[16384] = "kernel void k(global float *out";
	float sum = 0, wanted = 0;
	cl_mem images[IMAGES];

	if (!rig.images)
		rig_skip("no images");
	for (int i = 0; i < IMAGES; i++)
		sprintf(source + strlen(source), ", %s image2d_t i%d",
			i % 3 ? "read_only" : "write_only", i);
	strcat(source, ") { float sum = 0;");
	for (int i = 0; i < IMAGES; i++)
		sprintf(source + strlen(source),
			i % 3 ? " sum += read_imagef(i%d, (int2)(0)).x;"
			      : " write_imagef(i%d, (int2)(0), (float4)(7));",
			i);
	strcat(source, " *out = sum; }");
	cl_kernel k = rig_kernel(source, "k");
	cl_mem m = rig_buffer(CL_MEM_READ_WRITE, sizeof(sum), NULL);
	SET(k, 0, m);
	for (cl_uint i = 0; i < IMAGES; i++) {
		images[i] = small_image((float)i);
		SET(k, i + 1, images[i]);
		wanted += i % 3 ? (float)i : 0;
	}
	rig_run(rig.queues[0], k, 1);
	rig_read(rig.queues[0], m, &sum, sizeof(sum));
	CHECK(sum == wanted);
	for (cl_uint i = 0; i < IMAGES; i++) {
		const size_t zero[3] = {0}, one[3] = {1, 1, 1};
		float pixel[4];
		OK(clEnqueueReadImage(rig.queues[0], images[i], CL_TRUE, zero, one, 0, 0, pixel, 0,
				      NULL, NULL));
		CHECK(pixel[0] == (i % 3 ? (float)i : 7));
		OK(clReleaseMemObject(images[i]));
	}
	OK(clReleaseKernel(k));
	OK(clReleaseMemObject(m));
}

/* Checks the form of the conformance version, and that values of an extension are there only with
 * it. */
static void limits__agree(void)
{
	for (cl_uint i = 0; i < rig.device_count; i++) {
		cl_device_id d = rig.devices[i];
		char version[64];
		int year, month, day, count, end = 0;
		uint64_t half;
		OK(clGetDeviceInfo(d, CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, sizeof(version),
				   version, NULL));
		sscanf(version, "v%4d-%2d-%2d-%2d%n", &year, &month, &day, &count, &end);
		CHECK(end == 14 && !version[end] && month >= 1 && month <= 12 && day >= 1 &&
		      day <= 31);
		if (!rig_has_extension(d, "cl_khr_fp16"))
			FAILS_BUT_POCL(clGetDeviceInfo(d, CL_DEVICE_HALF_FP_CONFIG, sizeof(half),
						       &half, NULL),
				       CL_INVALID_VALUE);
		bool from_buffers = rig_has_extension(d, "cl_khr_image2d_from_buffer");
		EQUAL(number(d, CL_DEVICE_IMAGE_PITCH_ALIGNMENT) != 0, from_buffers);
		EQUAL(number(d, CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT) != 0, from_buffers);
	}
}

RIG_MAIN(CASE(limits__full_profile), CASE(limits__images), CASE(limits__every_answer_has_its_size),
	 CASE(limits__parameter_bytes), CASE(limits__image_arguments), CASE(limits__agree))
