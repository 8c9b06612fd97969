/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements clGetDeviceInfo. Values come from the node's device, unless the network, the node's
 * memory or the plugin changes them. Optional features that the plugin does not support are not
 * reported. */
#include <stdio.h>
#include <string.h>

#include "plugins/opencl/node/device.h"
#include "plugins/opencl/object/api.h"
#include "wire/limits.h"

#define MAX_PARAMETER_BYTES 1024u
/* bytes: smallest CL_DEVICE_MAX_MEM_ALLOC_SIZE that a full profile may report */
#define MIN_ALLOC_BYTES (32ull << 20)
/* bytes: smallest CL_DEVICE_PRINTF_BUFFER_SIZE that a full profile may report */
#define MIN_PRINTF_BYTES (1u << 20)

/* Extensions that only affect the device's compiler and memory, reported if the device reports
 * them. */
static const char *const extensions[] = {
	"cl_khr_byte_addressable_store",
	"cl_khr_global_int32_base_atomics",
	"cl_khr_global_int32_extended_atomics",
	"cl_khr_local_int32_base_atomics",
	"cl_khr_local_int32_extended_atomics",
	"cl_khr_int64_base_atomics",
	"cl_khr_int64_extended_atomics",
	"cl_khr_3d_image_writes",
	"cl_khr_fp16",
	"cl_khr_fp64",
	"cl_khr_extended_bit_ops",
	"cl_khr_integer_dot_product",
};

/* OpenCL C features that need the plugin's support, so they are not reported. */
static const char *const absent_features[] = {
	"__opencl_c_device_enqueue",
	"__opencl_c_pipes",
	"__opencl_c_subgroups",
	"__opencl_c_atomic_scope_all_devices",
};

static bool in_list(const char *const *list, size_t count, const char *name, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == length && memcmp(list[i], name, length) == 0)
			return true;
	return false;
}

static bool extension_kept(const char *name, size_t length)
{
	return in_list(extensions, sizeof(extensions) / sizeof(extensions[0]), name, length);
}

static bool feature_kept(const char *name, size_t length)
{
	return !in_list(absent_features, sizeof(absent_features) / sizeof(absent_features[0]), name,
			length);
}

/* Reported if the device has images. The pixels of every image are plain bytes, so an image made
 * from a buffer works too. */
static const cl_name_version of_images = {CL_MAKE_VERSION(1, 0, 0), "cl_khr_image2d_from_buffer"};

static bool has_images(cl_device_id d)
{
	return device_uint(d, CL_DEVICE_IMAGE_SUPPORT, CL_FALSE) != CL_FALSE;
}

#define EXTENSIONS_MAX (sizeof(extensions) / sizeof(extensions[0]) + 1)

static cl_int extensions_text(cl_device_id d, const struct info *i)
{
	char text[EXTENSIONS_MAX * CL_NAME_VERSION_MAX_NAME_SIZE];
	size_t bytes = 0, used = 0;
	const char *at = device_about(d, CL_DEVICE_EXTENSIONS, &bytes);
	const char *end = at ? at + strnlen(at, bytes) : at;

	while (at < end) {
		const char *space = memchr(at, ' ', (size_t)(end - at));
		size_t length = (size_t)((space ? space : end) - at);
		if (extension_kept(at, length) && used + length + 2 < sizeof(text)) {
			if (used)
				text[used++] = ' ';
			memcpy(text + used, at, length);
			used += length;
		}
		at += length + 1;
	}
	snprintf(text + used, sizeof(text) - used, "%s%s", has_images(d) && used ? " " : "",
		 has_images(d) ? of_images.name : "");
	return result_text(i, text);
}

#define VERSIONS_MAX 64

static cl_int versions(cl_device_id d, cl_device_info name, bool (*kept)(const char *, size_t),
		       const struct info *i)
{
	cl_name_version out[VERSIONS_MAX], line;
	size_t bytes = 0, count = 0;
	const char *data = device_about(d, name, &bytes);

	for (size_t at = 0; data && at + sizeof(line) <= bytes && count < VERSIONS_MAX;
	     at += sizeof(line)) {
		memcpy(&line, data + at, sizeof(line));
		if (kept(line.name, strnlen(line.name, sizeof(line.name))))
			out[count++] = line;
	}
	if (name == CL_DEVICE_EXTENSIONS_WITH_VERSION && has_images(d) && count < VERSIONS_MAX)
		out[count++] = of_images;
	return result_bytes(i, out, count * sizeof(line));
}

/* Returns the size of the largest buffer: half of the node's memory. At least MIN_ALLOC_BYTES if
 * the node offers that much, at most the device's own limit. */
static uint64_t max_alloc(cl_device_id d)
{
	uint64_t whole = d->caps.memory_bytes, part = whole / 2;
	size_t own = device_size(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE, SIZE_MAX);

	if (part < MIN_ALLOC_BYTES)
		part = whole < MIN_ALLOC_BYTES ? whole : MIN_ALLOC_BYTES;
	return part < own ? part : own;
}

cl_device_type device_type(cl_device_id d)
{
	cl_device_type own = device_size(d, CL_DEVICE_TYPE, CL_DEVICE_TYPE_ACCELERATOR);

	return settings_get()->type ? settings_get()->type
				    : own & ~(cl_device_type)CL_DEVICE_TYPE_DEFAULT;
}

static cl_int info_identity(cl_device_id d, cl_device_info name, const struct info *i)
{
	switch (name) {
	case CL_DEVICE_TYPE: return result_ulong(i, device_type(d));
	case CL_DEVICE_NAME: return result_text(i, d->name);
	case CL_DEVICE_PLATFORM: return result_handle(i, platform_get());
	case CL_DEVICE_AVAILABLE: return result_uint(i, device_available(d));
	case CL_DRIVER_VERSION: return result_text(i, DXP_VERSION);
	case CL_DEVICE_VERSION: return result_text(i, "OpenCL 3.0 Direct xPU " DXP_VERSION);
	case CL_DEVICE_NUMERIC_VERSION: return result_uint(i, CL_MAKE_VERSION(3, 0, 0));
	/* The format of a date, which means that no version of the conformance tests was passed. */
	case CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED: return result_text(i, "v0000-01-01-00");
	case CL_DEVICE_EXTENSIONS: return extensions_text(d, i);
	case CL_DEVICE_EXTENSIONS_WITH_VERSION: return versions(d, name, extension_kept, i);
	case CL_DEVICE_OPENCL_C_FEATURES: return versions(d, name, feature_kept, i);
	case CL_DEVICE_REFERENCE_COUNT: return result_uint(i, 1);
	case CL_DEVICE_PARENT_DEVICE: return result_handle(i, NULL);
	default: return CL_INVALID_VALUE;
	}
}

static cl_int info_memory(cl_device_id d, cl_device_info name, const struct info *i)
{
	size_t own;

	switch (name) {
	case CL_DEVICE_GLOBAL_MEM_SIZE: return result_ulong(i, d->caps.memory_bytes);
	case CL_DEVICE_MAX_MEM_ALLOC_SIZE: return result_ulong(i, max_alloc(d));
	case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE:
		own = device_size(d, name, SIZE_MAX);
		return result_ulong(i, own < max_alloc(d) ? own : max_alloc(d));
	/* The value is in pixels. A pixel has at most 16 bytes. */
	case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
		own = device_size(d, name, 0);
		return result_size(i, own < max_alloc(d) / 16 ? own : max_alloc(d) / 16);
	/* The value is in pixels. If the device reports none, it is 1, because sub-buffers are
	 * aligned to more bytes than any pixel has. */
	case CL_DEVICE_IMAGE_PITCH_ALIGNMENT:
	case CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT:
		if (!has_images(d))
			return result_uint(i, 0);
		return result_uint(i, device_uint(d, name, 0) ? device_uint(d, name, 0) : 1);
	case CL_DEVICE_HOST_UNIFIED_MEMORY: return result_uint(i, CL_FALSE);
	case CL_DEVICE_MAX_PARAMETER_SIZE: return result_size(i, MAX_PARAMETER_BYTES);
	case CL_DEVICE_PRINTF_BUFFER_SIZE:
		own = device_size(d, name, MIN_PRINTF_BYTES);
		own = own > MIN_PRINTF_BYTES ? own : MIN_PRINTF_BYTES;
		return result_size(i, own < WIRE_PRINT_BYTES ? own : WIRE_PRINT_BYTES);
	case CL_DEVICE_SVM_CAPABILITIES: return result_ulong(i, 0);
	case CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES:
		own = device_size(d, name,
				  CL_DEVICE_ATOMIC_ORDER_RELAXED |
					  CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP);
		return result_ulong(i, own & ~(size_t)CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES);
	default: return CL_INVALID_VALUE;
	}
}

static cl_int info_queues(cl_device_id d, cl_device_info name, const struct info *i)
{
	switch (name) {
	case CL_DEVICE_QUEUE_ON_HOST_PROPERTIES:
		return result_ulong(i, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
					       CL_QUEUE_PROFILING_ENABLE);
	case CL_DEVICE_EXECUTION_CAPABILITIES: return result_ulong(i, CL_EXEC_KERNEL);
	case CL_DEVICE_PROFILING_TIMER_RESOLUTION: return result_size(i, 1);
	case CL_DEVICE_PREFERRED_INTEROP_USER_SYNC: return result_uint(i, CL_TRUE);
	case CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES:
	case CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES: return result_ulong(i, 0);
	case CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE:
	case CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE:
	case CL_DEVICE_MAX_ON_DEVICE_QUEUES:
	case CL_DEVICE_MAX_ON_DEVICE_EVENTS: return result_uint(i, 0);
	default: return CL_INVALID_VALUE;
	}
}

static cl_int info_absent(cl_device_id d, cl_device_info name, const struct info *i)
{
	static const cl_device_partition_property none = 0;

	switch (name) {
	case CL_DEVICE_PARTITION_MAX_SUB_DEVICES: return result_uint(i, 1);
	case CL_DEVICE_PARTITION_PROPERTIES:
	case CL_DEVICE_PARTITION_TYPE: return result_bytes(i, &none, sizeof(none));
	case CL_DEVICE_PARTITION_AFFINITY_DOMAIN: return result_ulong(i, 0);
	case CL_DEVICE_BUILT_IN_KERNELS:
	case CL_DEVICE_IL_VERSION: return result_text(i, "");
	case CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION:
	case CL_DEVICE_ILS_WITH_VERSION: return result_bytes(i, NULL, 0);
	case CL_DEVICE_MAX_NUM_SUB_GROUPS:
	case CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS:
	case CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT:
	case CL_DEVICE_PIPE_SUPPORT:
	case CL_DEVICE_MAX_PIPE_ARGS:
	case CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS:
	case CL_DEVICE_PIPE_MAX_PACKET_SIZE: return result_uint(i, 0);
	default: return CL_INVALID_VALUE;
	}
}

cl_int device_info(cl_device_id d, cl_device_info name, const struct info *i)
{
	static cl_int (*const own[])(cl_device_id, cl_device_info, const struct info *) = {
		info_identity, info_memory, info_queues, info_absent};
	/* First finds the function that knows `name`, by calls without a buffer. With the real
	 * buffer, it could fail because the buffer is too small, and the next function would be
	 * tried. */
	size_t answered = SIZE_MAX, bytes = 0;
	struct info with_size = {i->size, i->value, &answered};

	for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++) {
		const struct info queries = {0, NULL, &answered};
		if (own[k](d, name, &queries) != CL_SUCCESS)
			continue;
		cl_int error = own[k](d, name, &with_size);
		if (i->size_ret && error == CL_SUCCESS)
			*i->size_ret = answered;
		return error;
	}
	const void *data = device_about(d, name, &bytes);
	/* This name belongs to cl_khr_fp16, so it is unknown if the device lacks that extension.
	 * (The name for doubles belongs to the core of OpenCL.) */
	if (name == CL_DEVICE_HALF_FP_CONFIG && device_size(d, name, 0) == 0)
		data = NULL;
	return data ? result_bytes(i, data, bytes) : CL_INVALID_VALUE;
}

CL_API_ENTRY cl_int CL_API_CALL dxp_clGetDeviceInfo(cl_device_id device, cl_device_info name,
						    size_t size, void *value, size_t *size_ret)
{
	const struct info i = {size, value, size_ret};
	cl_int error = CL_INVALID_DEVICE;

	opencl_enter();
	if (object_is(device, OBJECT_DEVICE))
		error = device_info(device, name, &i);
	opencl_leave();
	return error;
}
