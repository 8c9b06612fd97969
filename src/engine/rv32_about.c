/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of the device and of programs, as records (dxp/about.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/about.h>

#include "base/util.h"
#include "engine/ocl_library.h"
#include "engine/rv32_engine.h"

#define BUFFERS_BYTES ((uint64_t)(RV32_BUFFER_END - RV32_BUFFER_BASE))

static void info_put(struct records *out, uint32_t what, const void *data, size_t bytes)
{
	uint8_t *at = records_add(out, DXP_ABOUT_KERNEL_INFO, 4 + bytes);

	if (!at)
		return;
	records_put_le(at, what, 4);
	memcpy(at + 4, data, bytes);
}

static void attributes_put(const struct rv32_kernel *k, struct records *out)
{
	char text[256] = "";
	int used = 0;

	if (k->sizes[0])
		used = snprintf(text, sizeof(text), "reqd_work_group_size(%u,%u,%u)", k->sizes[0],
				k->sizes[1], k->sizes[2]);
	if (k->hints[0])
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 "%swork_group_size_hint(%u,%u,%u)", used ? " " : "", k->hints[0],
				 k->hints[1], k->hints[2]);
	if (k->attributes[0])
		snprintf(text + used, sizeof(text) - (size_t)used, "%s%.64s", used ? " " : "",
			 k->attributes);
	info_put(out, CL_KERNEL_ATTRIBUTES, text, strlen(text) + 1);
}

/* Returns the parameter's size as OpenCL reports it. A pointer counts as a handle of 8 bytes. */
static uint32_t value_bytes(const struct rv32_parameter *p)
{
	return p->space == RV32_SPACE_LOCAL   ? 0
	       : p->space == RV32_SPACE_VALUE ? p->bytes
					      : (uint32_t)sizeof(cl_mem);
}

static void parameter_put(const struct rv32_parameter *p, struct records *out)
{
	static const uint32_t spaces[] = {[RV32_SPACE_VALUE] = CL_KERNEL_ARG_ADDRESS_PRIVATE,
					  [RV32_SPACE_GLOBAL] = CL_KERNEL_ARG_ADDRESS_GLOBAL,
					  [RV32_SPACE_CONSTANT] = CL_KERNEL_ARG_ADDRESS_CONSTANT,
					  [RV32_SPACE_LOCAL] = CL_KERNEL_ARG_ADDRESS_LOCAL};
	const uint64_t qualifiers =
		(p->qualifiers & RV32_TYPE_CONST ? CL_KERNEL_ARG_TYPE_CONST : 0u) |
		(p->qualifiers & RV32_TYPE_RESTRICT ? CL_KERNEL_ARG_TYPE_RESTRICT : 0u) |
		(p->qualifiers & RV32_TYPE_VOLATILE ? CL_KERNEL_ARG_TYPE_VOLATILE : 0u);
	const size_t type_bytes = strlen(p->type) + 1, name_bytes = strlen(p->name) + 1;
	uint8_t *at = records_add(out, DXP_ABOUT_ARGUMENT, 20 + type_bytes + name_bytes);

	if (!at)
		return;
	records_put_le(at, spaces[p->space], 4);
	records_put_le(at + 4, CL_KERNEL_ARG_ACCESS_NONE, 4);
	records_put_le(at + 8, qualifiers, 8);
	records_put_le(at + 16, value_bytes(p), 4);
	memcpy(at + 20, p->type, type_bytes);
	memcpy(at + 20 + type_bytes, p->name, name_bytes);
}

static void kernel_put(const struct rv32_kernel *k, const struct rv32_settings *s,
		       struct records *out)
{
	const cl_uint count = k->parameter_count;
	const uint64_t group = (uint64_t)s->warps * RV32_LANES, multiple = RV32_LANES;
	const uint64_t local_bytes = k->local_bytes, private_bytes = s->private_bytes;
	const uint64_t sizes[3] = {k->sizes[0], k->sizes[1], k->sizes[2]};

	records_put(out, DXP_ABOUT_KERNEL, k->name, strlen(k->name));
	info_put(out, CL_KERNEL_NUM_ARGS, &count, sizeof(count));
	attributes_put(k, out);
	info_put(out, CL_KERNEL_WORK_GROUP_SIZE, &group, sizeof(group));
	info_put(out, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizes, sizeof(sizes));
	info_put(out, CL_KERNEL_LOCAL_MEM_SIZE, &local_bytes, sizeof(local_bytes));
	info_put(out, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, &multiple, sizeof(multiple));
	info_put(out, CL_KERNEL_PRIVATE_MEM_SIZE, &private_bytes, sizeof(private_bytes));
	for (uint32_t i = 0; i < k->parameter_count; i++)
		parameter_put(&k->parameters[i], out);
}

bool rv32_about_program(const struct engine_program *p, const struct rv32_settings *s,
			struct records *out)
{
	uint8_t number[8];

	records_put_le(number, p->type, 4);
	records_put(out, DXP_ABOUT_BINARY_TYPE, number, 4);
	if (!p->image)
		return !out->failed;
	records_put_le(number, 0, 8); /* OpenCL C 1.2 has no program-scope variables */
	records_put(out, DXP_ABOUT_GLOBAL_BYTES, number, 8);
	for (uint32_t i = 0; i < p->image->kernel_count; i++)
		kernel_put(&p->image->kernels[i], s, out);
	return !out->failed;
}

struct number {
	cl_device_info what;
	int bytes; /* 4 or 8 */
	uint64_t value;
};

/* Properties that are the same for all rv32 devices. The preferred vector width is 1, because a
 * lane works best with scalars. */
static const struct number constants[] = {
	{CL_DEVICE_TYPE, 8, CL_DEVICE_TYPE_GPU},
	{CL_DEVICE_VENDOR_ID, 4, 0x52563332}, /* the letters "RV32"; no PCI vendor number */
	{CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 4, 3},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, 4, 1},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, 4, 1},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, 4, 1},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, 4, 1},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, 4, 1},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, 4, 0},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, 4, 0},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, 4, 1},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, 4, 1},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, 4, 1},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, 4, 1},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 4, 1},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, 4, 0},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, 4, 0},
	{CL_DEVICE_ADDRESS_BITS, 4, 32},
	{CL_DEVICE_MAX_PARAMETER_SIZE, 8, COMMAND_VALUE_BYTES},
	{CL_DEVICE_MEM_BASE_ADDR_ALIGN, 4, 8 * RV32_VALUE_ALIGN},
	{CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, 4, RV32_VALUE_ALIGN},
	{CL_DEVICE_SINGLE_FP_CONFIG, 8,
	 CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_FMA |
		 CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT},
	{CL_DEVICE_DOUBLE_FP_CONFIG, 8, 0},
	{CL_DEVICE_HALF_FP_CONFIG, 8, 0},
	{CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, 4, CL_NONE},
	{CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, 4, 0},
	{CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 8, 0},
	{CL_DEVICE_MAX_CONSTANT_ARGS, 4, COMMAND_ARGS_MAX},
	{CL_DEVICE_LOCAL_MEM_TYPE, 4, CL_LOCAL},
	{CL_DEVICE_LOCAL_MEM_SIZE, 8, RV32_LOCAL_BYTES_MAX},
	{CL_DEVICE_ERROR_CORRECTION_SUPPORT, 4, CL_FALSE},
	{CL_DEVICE_PROFILING_TIMER_RESOLUTION, 8, 1},
	{CL_DEVICE_ENDIAN_LITTLE, 4, CL_TRUE},
	{CL_DEVICE_AVAILABLE, 4, CL_TRUE},
	{CL_DEVICE_COMPILER_AVAILABLE, 4, CL_TRUE},
	{CL_DEVICE_LINKER_AVAILABLE, 4, CL_TRUE},
	{CL_DEVICE_PRINTF_BUFFER_SIZE, 8, WIRE_PRINT_BYTES},
	{CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, 4, CL_FALSE},
	{CL_DEVICE_IMAGE_SUPPORT, 4, CL_FALSE},
	{CL_DEVICE_MAX_READ_IMAGE_ARGS, 4, 0},
	{CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 4, 0},
	{CL_DEVICE_IMAGE2D_MAX_WIDTH, 8, 0},
	{CL_DEVICE_IMAGE2D_MAX_HEIGHT, 8, 0},
	{CL_DEVICE_IMAGE3D_MAX_WIDTH, 8, 0},
	{CL_DEVICE_IMAGE3D_MAX_HEIGHT, 8, 0},
	{CL_DEVICE_IMAGE3D_MAX_DEPTH, 8, 0},
	{CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 8, 0},
	{CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, 8, 0},
	{CL_DEVICE_MAX_SAMPLERS, 4, 0},
	{CL_DEVICE_HOST_UNIFIED_MEMORY, 4, CL_FALSE},
	{CL_DEVICE_PARTITION_MAX_SUB_DEVICES, 4, 0},
	/* Features of later OpenCL versions: this device supports none of them. */
	{CL_DEVICE_SVM_CAPABILITIES, 8, 0},
	{CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, 4, 0},
	{CL_DEVICE_IMAGE_PITCH_ALIGNMENT, 4, 0},
	{CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, 4, 0},
	{CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, 8, 0},
	{CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, 4, 0},
	{CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, 4, 0},
	{CL_DEVICE_MAX_ON_DEVICE_QUEUES, 4, 0},
	{CL_DEVICE_MAX_ON_DEVICE_EVENTS, 4, 0},
	{CL_DEVICE_MAX_PIPE_ARGS, 4, 0},
	{CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, 4, 0},
	{CL_DEVICE_PIPE_MAX_PACKET_SIZE, 4, 0},
	{CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, 8, 0},
	{CL_DEVICE_PIPE_SUPPORT, 4, CL_FALSE},
	{CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, 8, 0},
	{CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, 8, 0},
	{CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, 4, 0},
	{CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, 4, 0},
	{CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, 4, 0},
	{CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, 8,
	 CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP},
	{CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, 8,
	 CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL |
		 CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP},
	{CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, 4, CL_FALSE},
	{CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, 4, CL_FALSE},
	{CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, 4, CL_FALSE},
	{CL_DEVICE_MAX_NUM_SUB_GROUPS, 4, 0},
	{CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, 4, CL_FALSE},
	{CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, 8, RV32_LANES},
};

static void number_put(struct records *out, cl_device_info what, uint64_t value, int bytes)
{
	uint8_t data[8];

	records_put_le(data, value, bytes);
	records_put(out, what, data, (size_t)bytes);
}

static void text_put(struct records *out, cl_device_info what, const char *text)
{
	records_put(out, what, text, strlen(text) + 1);
}

static const char *const extensions[] = {
	"cl_khr_byte_addressable_store",        "cl_khr_global_int32_base_atomics",
	"cl_khr_global_int32_extended_atomics", "cl_khr_local_int32_base_atomics",
	"cl_khr_local_int32_extended_atomics",
};

static void extensions_put(struct records *out)
{
	cl_name_version list[ARRAY_COUNT(extensions)] = {0};
	char text[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_COUNT(extensions); i++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "",
					 extensions[i]);
		list[i].version = CL_MAKE_VERSION(1, 0, 0);
		snprintf(list[i].name, sizeof(list[i].name), "%s", extensions[i]);
	}
	text_put(out, CL_DEVICE_EXTENSIONS, text);
	records_put(out, CL_DEVICE_EXTENSIONS_WITH_VERSION, list, sizeof(list));
}

static void versions_put(struct records *out)
{
	cl_name_version list[3] = {0};

	for (unsigned i = 0; i < ARRAY_COUNT(list); i++) {
		list[i].version = CL_MAKE_VERSION(1, i, 0);
		snprintf(list[i].name, sizeof(list[i].name), "OpenCL C");
	}
	text_put(out, CL_DEVICE_VERSION, "OpenCL 1.2 rv32");
	text_put(out, CL_DEVICE_OPENCL_C_VERSION, "OpenCL C 1.2 rv32");
	number_put(out, CL_DEVICE_NUMERIC_VERSION, CL_MAKE_VERSION(1, 2, 0), 4);
	records_put(out, CL_DEVICE_OPENCL_C_ALL_VERSIONS, list, sizeof(list));
	records_put(out, CL_DEVICE_OPENCL_C_FEATURES, list, 0);
}

bool rv32_about_device(const struct engine_rv32 *r, struct records *out)
{
	const uint64_t items = (uint64_t)r->settings.warps * RV32_LANES;
	const uint64_t sizes[3] = {items, items, items};
	const uint64_t most = min_u64(r->memory_bytes, BUFFERS_BYTES / 2);
	struct engine_description d;

	for (size_t i = 0; i < ARRAY_COUNT(constants); i++)
		number_put(out, constants[i].what, constants[i].value, constants[i].bytes);
	number_put(out, DXP_ABOUT_PROFILES, 1, 4);
	number_put(out, CL_DEVICE_MAX_WORK_GROUP_SIZE, items, 8);
	number_put(out, CL_DEVICE_MAX_COMPUTE_UNITS, r->settings.cores, 4);
	number_put(out, CL_DEVICE_MAX_CLOCK_FREQUENCY, r->settings.clock_mhz, 4);
	number_put(out, CL_DEVICE_GLOBAL_MEM_SIZE, r->memory_bytes, 8);
	number_put(out, CL_DEVICE_MAX_MEM_ALLOC_SIZE, most, 8);
	number_put(out, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, most, 8);
	records_put(out, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizes, sizeof(sizes));
	engine_describe(&r->engine, &d);
	text_put(out, CL_DEVICE_NAME, d.device);
	text_put(out, CL_DEVICE_VENDOR, "Direct xPU");
	text_put(out, CL_DRIVER_VERSION, DXP_VERSION);
	text_put(out, CL_DEVICE_PROFILE, "FULL_PROFILE");
	versions_put(out);
	extensions_put(out);
	return !out->failed;
}
