/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of the device as records. Features that the fabric lacks (command buffers, SVM, device
 * queues, pipes, IL) are reported as absent. */
#include <stdlib.h>
#include <string.h>

#include <dxp/about.h>

#include "base/util.h"
#include "engine/ocl_about.h"

/* Reported unchanged. */
static const cl_device_info as_it_is[] = {
	CL_DEVICE_TYPE,
	CL_DEVICE_VENDOR_ID,
	CL_DEVICE_MAX_COMPUTE_UNITS,
	CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS,
	CL_DEVICE_MAX_WORK_GROUP_SIZE,
	CL_DEVICE_MAX_WORK_ITEM_SIZES,
	CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR,
	CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT,
	CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT,
	CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG,
	CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT,
	CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE,
	CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF,
	CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR,
	CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT,
	CL_DEVICE_NATIVE_VECTOR_WIDTH_INT,
	CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG,
	CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT,
	CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE,
	CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF,
	CL_DEVICE_MAX_CLOCK_FREQUENCY,
	CL_DEVICE_ADDRESS_BITS,
	CL_DEVICE_MAX_MEM_ALLOC_SIZE,
	CL_DEVICE_MAX_PARAMETER_SIZE,
	CL_DEVICE_MEM_BASE_ADDR_ALIGN,
	CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE,
	CL_DEVICE_SINGLE_FP_CONFIG,
	CL_DEVICE_DOUBLE_FP_CONFIG,
	CL_DEVICE_HALF_FP_CONFIG,
	CL_DEVICE_GLOBAL_MEM_CACHE_TYPE,
	CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE,
	CL_DEVICE_GLOBAL_MEM_CACHE_SIZE,
	CL_DEVICE_GLOBAL_MEM_SIZE,
	CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE,
	CL_DEVICE_MAX_CONSTANT_ARGS,
	CL_DEVICE_LOCAL_MEM_TYPE,
	CL_DEVICE_LOCAL_MEM_SIZE,
	CL_DEVICE_ERROR_CORRECTION_SUPPORT,
	CL_DEVICE_PROFILING_TIMER_RESOLUTION,
	CL_DEVICE_ENDIAN_LITTLE,
	CL_DEVICE_AVAILABLE,
	CL_DEVICE_COMPILER_AVAILABLE,
	CL_DEVICE_LINKER_AVAILABLE,
	CL_DEVICE_PRINTF_BUFFER_SIZE,
	CL_DEVICE_PREFERRED_INTEROP_USER_SYNC,
	CL_DEVICE_NAME,
	CL_DEVICE_VENDOR,
	CL_DRIVER_VERSION,
	CL_DEVICE_PROFILE,
	CL_DEVICE_VERSION,
	CL_DEVICE_NUMERIC_VERSION,
	CL_DEVICE_OPENCL_C_VERSION,
	CL_DEVICE_OPENCL_C_ALL_VERSIONS,
	CL_DEVICE_OPENCL_C_FEATURES,
	CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED,
	CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE,
	CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE,
	CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT,
	CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT,
	CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT,
	CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES,
	CL_DEVICE_ATOMIC_FENCE_CAPABILITIES,
	CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT,
	CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT,
	CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT,
	CL_DEVICE_MAX_NUM_SUB_GROUPS,
	CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS,
	CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
};

static const cl_device_info of_images[] = {
	CL_DEVICE_MAX_READ_IMAGE_ARGS,
	CL_DEVICE_MAX_WRITE_IMAGE_ARGS,
	CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS,
	CL_DEVICE_IMAGE2D_MAX_WIDTH,
	CL_DEVICE_IMAGE2D_MAX_HEIGHT,
	CL_DEVICE_IMAGE3D_MAX_WIDTH,
	CL_DEVICE_IMAGE3D_MAX_HEIGHT,
	CL_DEVICE_IMAGE3D_MAX_DEPTH,
	CL_DEVICE_IMAGE_MAX_BUFFER_SIZE,
	CL_DEVICE_IMAGE_MAX_ARRAY_SIZE,
	CL_DEVICE_MAX_SAMPLERS,
	CL_DEVICE_IMAGE_PITCH_ALIGNMENT,
	CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT,
};

/* Reported as 0, in 4 or 8 bytes: the fabric lacks them. */
static const struct {
	cl_device_info what;
	int bytes;
} absent[] = {
	{CL_DEVICE_SVM_CAPABILITIES, 8},
	{CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, 8},
	{CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, 4},
	{CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, 4},
	{CL_DEVICE_MAX_ON_DEVICE_QUEUES, 4},
	{CL_DEVICE_MAX_ON_DEVICE_EVENTS, 4},
	{CL_DEVICE_MAX_PIPE_ARGS, 4},
	{CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, 4},
	{CL_DEVICE_PIPE_MAX_PACKET_SIZE, 4},
	{CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, 8},
	{CL_DEVICE_PIPE_SUPPORT, 4},
	{CL_DEVICE_HOST_UNIFIED_MEMORY, 4},
	{CL_DEVICE_PARTITION_MAX_SUB_DEVICES, 4},
};

/* Reported if the device has them: only those of the language, because those of the API would need
 * support in the fabric. */
static const char *const extensions[] = {
	"cl_khr_byte_addressable_store",
	"cl_khr_global_int32_base_atomics",
	"cl_khr_global_int32_extended_atomics",
	"cl_khr_local_int32_base_atomics",
	"cl_khr_local_int32_extended_atomics",
	"cl_khr_int64_base_atomics",
	"cl_khr_int64_extended_atomics",
	"cl_khr_fp64",
	"cl_khr_fp16",
	"cl_khr_3d_image_writes",
	"cl_khr_subgroups",
	"cl_khr_subgroup_ballot",
	"cl_khr_subgroup_shuffle",
	"cl_khr_subgroup_shuffle_relative",
	"cl_khr_subgroup_extended_types",
	"cl_khr_subgroup_non_uniform_vote",
	"cl_khr_subgroup_non_uniform_arithmetic",
	"cl_khr_subgroup_clustered_reduce",
	"cl_khr_subgroup_rotate",
	"cl_khr_integer_dot_product",
	"cl_khr_expect_assume",
	"cl_khr_extended_bit_ops",
	"cl_khr_select_fprounding_mode",
	"cl_khr_mipmap_image",
	"cl_intel_subgroups",
	"cl_intel_subgroups_short",
	"cl_intel_subgroups_char",
};

static bool extension_works(const char *name, size_t bytes, bool images)
{
	static const char writes[] = "cl_khr_3d_image_writes";

	if (!images && bytes == sizeof(writes) - 1 && memcmp(name, writes, bytes) == 0)
		return false;
	for (size_t i = 0; i < ARRAY_COUNT(extensions); i++)
		if (strlen(extensions[i]) == bytes && memcmp(extensions[i], name, bytes) == 0)
			return true;
	return false;
}

/* The caller frees it; NULL: unknown to the device. */
static void *info_get(const struct ocl_library *cl, cl_device_id device, cl_device_info what,
		      size_t *bytes)
{
	*bytes = 0;
	if (cl->clGetDeviceInfo(device, what, 0, NULL, bytes) != CL_SUCCESS)
		return NULL;
	void *data = calloc(1, *bytes + 1);
	if (data && cl->clGetDeviceInfo(device, what, *bytes, data, NULL) == CL_SUCCESS)
		return data;
	free(data);
	return NULL;
}

static void infos_put(const struct ocl_library *cl, cl_device_id device, const cl_device_info *list,
		      size_t count, struct records *out)
{
	size_t bytes;

	for (size_t i = 0; i < count; i++) {
		void *data = info_get(cl, device, list[i], &bytes);
		if (data)
			records_put(out, list[i], data, bytes);
		free(data);
	}
}

static void extensions_put(const struct ocl_library *cl, cl_device_id device, bool images,
			   struct records *out)
{
	size_t bytes, used = 0;
	char *text = info_get(cl, device, CL_DEVICE_EXTENSIONS, &bytes), *rest;
	char *kept = text ? calloc(1, bytes + 2) : NULL;

	for (char *word = kept ? strtok_r(text, " ", &rest) : NULL; word;
	     word = strtok_r(NULL, " ", &rest)) {
		size_t letters = strlen(word);
		if (!extension_works(word, letters, images))
			continue;
		if (used)
			kept[used++] = ' ';
		memcpy(kept + used, word, letters);
		used += letters;
	}
	if (kept)
		records_put(out, CL_DEVICE_EXTENSIONS, kept, used + 1);
	free(kept);
	free(text);
	cl_name_version *list = info_get(cl, device, CL_DEVICE_EXTENSIONS_WITH_VERSION, &bytes);
	size_t count = 0;
	for (size_t i = 0; list && i < bytes / sizeof(*list); i++)
		if (extension_works(list[i].name, strnlen(list[i].name, sizeof(list[i].name)),
				    images))
			list[count++] = list[i];
	if (list)
		records_put(out, CL_DEVICE_EXTENSIONS_WITH_VERSION, list, count * sizeof(*list));
	free(list);
}

static void formats_put(const struct ocl_library *cl, cl_context context, cl_mem_flags access,
			cl_mem_object_type object, struct records *out)
{
	cl_uint count = 0;

	if (cl->clGetSupportedImageFormats(context, access, object, 0, NULL, &count) !=
		    CL_SUCCESS ||
	    count == 0)
		return;
	cl_image_format *list = calloc(count, sizeof(*list));
	if (!list)
		return;
	uint8_t *at = records_add(out, DXP_ABOUT_IMAGE_FORMATS, 8 + 8 * (size_t)count);
	if (at) {
		cl->clGetSupportedImageFormats(context, access, object, count, list, NULL);
		records_put_le(at, access, 4);
		records_put_le(at + 4, object, 4);
		for (cl_uint i = 0; i < count; i++) {
			records_put_le(at + 8 + 8 * i, list[i].image_channel_order, 4);
			records_put_le(at + 12 + 8 * i, list[i].image_channel_data_type, 4);
		}
	}
	free(list);
}

static void images_put(const struct ocl_library *cl, cl_device_id device, cl_context context,
		       struct records *out)
{
	static const cl_mem_flags accesses[] = {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY,
						CL_MEM_READ_WRITE, CL_MEM_KERNEL_READ_AND_WRITE};
	static const cl_mem_object_type objects[] = {
		CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER,
		CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D};

	infos_put(cl, device, of_images, ARRAY_COUNT(of_images), out);
	for (size_t a = 0; a < ARRAY_COUNT(accesses); a++)
		for (size_t o = 0; o < ARRAY_COUNT(objects); o++)
			formats_put(cl, context, accesses[a], objects[o], out);
}

bool ocl_about_device(const struct ocl_library *cl, cl_device_id device, cl_context context,
		      bool images, struct records *out)
{
	static const uint8_t zero[8];
	const cl_bool with_images = images ? CL_TRUE : CL_FALSE;
	const cl_device_exec_capabilities kernels = CL_EXEC_KERNEL;

	infos_put(cl, device, as_it_is, ARRAY_COUNT(as_it_is), out);
	for (size_t i = 0; i < ARRAY_COUNT(absent); i++)
		records_put(out, absent[i].what, zero, (size_t)absent[i].bytes);
	records_put(out, CL_DEVICE_EXECUTION_CAPABILITIES, &kernels, sizeof(kernels));
	records_put(out, CL_DEVICE_BUILT_IN_KERNELS, "", 1);
	records_put(out, CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, NULL, 0);
	records_put(out, CL_DEVICE_IL_VERSION, "", 1);
	records_put(out, CL_DEVICE_ILS_WITH_VERSION, NULL, 0);
	extensions_put(cl, device, images, out);
	records_put(out, CL_DEVICE_IMAGE_SUPPORT, &with_images, sizeof(with_images));
	if (images)
		images_put(cl, device, context, out);
	return !out->failed;
}
