/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what the OpenCL engine reports of kernels and device, and arguments of every kind. */
#include "ocl_rig.h"

#include "engine/ocl_library.h"

static const char kernels[] =
	"typedef struct { int a; float b[5]; char c; } thing;\n"
	"typedef uint word;\n"
	"__attribute__((reqd_work_group_size(4, 2, 1)))\n"
	"kernel void every(global const uint *restrict in, constant float4 *some, local float *l,\n"
	"                thing t, float3 v, read_only image2d_t im, sampler_t s,\n"
	"                volatile global thing *ps, word w) { }\n"
	"kernel void none(void) { }\n";

static struct dxp_about about;
static struct dxp_about_record record;

static void next(uint32_t tag)
{
	assert_true(dxp_about_next(&about, &record));
	assert_int_equal(record.tag, tag);
}

/* Advances to the next such record. */
static void info(uint32_t what)
{
	do
		next(DXP_ABOUT_KERNEL_INFO);
	while (dxp_about_u32(record.data) != what);
}

static void argument(uint32_t where, uint32_t access, uint64_t type, uint32_t bytes,
		     const char *type_name, const char *name)
{
	do
		assert_true(dxp_about_next(&about, &record));
	while (record.tag == DXP_ABOUT_KERNEL_INFO);
	assert_int_equal(record.tag, DXP_ABOUT_ARGUMENT);
	assert_int_equal(dxp_about_u32(record.data), where);
	assert_int_equal(dxp_about_u32(record.data + 4), access);
	assert_int_equal(dxp_about_u64(record.data + 8), type);
	assert_int_equal(dxp_about_u32(record.data + 16), bytes);
	const char *text_at = (const char *)record.data + 20;
	assert_string_equal(text_at, type_name);
	assert_string_equal(text_at + strlen(text_at) + 1, name);
	assert_int_equal(record.bytes, 20 + strlen(type_name) + strlen(name) + 2);
}

static void engine_fetch__about_kernels(void **state)
{
	struct engine_program *p = rig_build(DXP_PROGRAM_SOURCE, "", kernels);
	uint8_t *records;
	size_t bytes;

	assert_int_equal(engine_fetch(engine, p, FETCH_ABOUT, &records, &bytes), DXP_OK);
	dxp_about_begin(&about, records, bytes);
	next(DXP_ABOUT_BINARY_TYPE);
	assert_int_equal(dxp_about_u32(record.data), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
	do
		assert_true(dxp_about_next(&about, &record));
	while (record.tag != DXP_ABOUT_KERNEL);
	assert_int_equal(record.bytes, 5);
	assert_memory_equal(record.data, "every", 5);
	info(CL_KERNEL_NUM_ARGS);
	assert_int_equal(dxp_about_u32(record.data + 4), 9);
	info(CL_KERNEL_ATTRIBUTES);
	assert_string_equal((const char *)record.data + 4, "reqd_work_group_size(4,2,1)");
	info(CL_KERNEL_WORK_GROUP_SIZE);
	assert_int_equal(record.bytes, 4 + sizeof(size_t));
	info(CL_KERNEL_COMPILE_WORK_GROUP_SIZE);
	assert_int_equal(record.bytes, 4 + 3 * sizeof(size_t));
	assert_int_equal(dxp_about_u64(record.data + 12), 2);
	enum {
		GLOBAL = CL_KERNEL_ARG_ADDRESS_GLOBAL,
		PRIVATE = CL_KERNEL_ARG_ADDRESS_PRIVATE,
		NO = CL_KERNEL_ARG_ACCESS_NONE
	};
	argument(GLOBAL, NO, CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT, 8, "uint*",
		 "in");
	argument(CL_KERNEL_ARG_ADDRESS_CONSTANT, NO, CL_KERNEL_ARG_TYPE_CONST, 8, "float4*",
		 "some");
	argument(CL_KERNEL_ARG_ADDRESS_LOCAL, NO, 0, 0, "float*", "l");
	/* size 0: PoCL accepts any */
	argument(PRIVATE, NO, 0, 0, "thing", "t");
	argument(PRIVATE, NO, 0, 16, "float3", "v");
	argument(GLOBAL, CL_KERNEL_ARG_ACCESS_READ_ONLY, 0, 8, "image2d_t", "im");
	argument(PRIVATE, NO, 0, 8, "sampler_t", "s");
	argument(GLOBAL, NO, CL_KERNEL_ARG_TYPE_VOLATILE, 8, "thing*", "ps");
	argument(PRIVATE, NO, 0, 0, "word", "w");
	next(DXP_ABOUT_KERNEL);
	assert_memory_equal(record.data, "none", 4);
	free(records);
	engine_release(engine, p);
}

static const struct dxp_about_record *find(const uint8_t *records, size_t bytes, uint32_t tag)
{
	dxp_about_begin(&about, records, bytes);
	while (dxp_about_next(&about, &record))
		if (record.tag == tag)
			return &record;
	return NULL;
}

static void engine_fetch__about_the_device(void **state)
{
	uint8_t *records;
	size_t bytes;
	uint32_t formats = 0;

	assert_int_equal(engine_fetch(engine, NULL, FETCH_DEVICE, &records, &bytes), DXP_OK);
	assert_non_null(find(records, bytes, CL_DEVICE_NAME));
	assert_int_equal(record.bytes, strlen((const char *)record.data) + 1);
	assert_non_null(find(records, bytes, CL_DEVICE_MAX_WORK_ITEM_SIZES));
	assert_int_equal(record.bytes, 3 * sizeof(size_t));
	assert_non_null(find(records, bytes, CL_DEVICE_NUMERIC_VERSION));
	assert_non_null(find(records, bytes, CL_DEVICE_IMAGE_SUPPORT));
	assert_int_equal(dxp_about_u32(record.data), 1);
	assert_non_null(find(records, bytes, CL_DEVICE_SVM_CAPABILITIES));
	assert_int_equal(dxp_about_u64(record.data), 0);
	assert_non_null(find(records, bytes, CL_DEVICE_EXTENSIONS));
	assert_non_null(strstr((const char *)record.data, "cl_khr_byte_addressable_store"));
	assert_null(strstr((const char *)record.data, "cl_khr_command_buffer"));
	assert_non_null(find(records, bytes, CL_DEVICE_EXTENSIONS_WITH_VERSION));
	assert_int_equal(record.bytes % sizeof(cl_name_version), 0);
	assert_null(find(records, bytes, CL_DEVICE_PLATFORM));
	dxp_about_begin(&about, records, bytes);
	while (dxp_about_next(&about, &record))
		formats += record.tag == DXP_ABOUT_IMAGE_FORMATS;
	assert_int_equal(formats, 24); /* 4 kinds of access, 6 image types */
	assert_ptr_equal(about.at, about.end);
	free(records);
	assert_int_equal(engine_fetch(engine, NULL, FETCH_ABOUT, &records, &bytes), DXP_EINVAL);
}

static const char arguments[] =
	"typedef struct { uint at[256]; } large;\n"
	"typedef struct { uint at[3]; } small;\n"
	"kernel void values(global uint *out, large a, small b, constant uint *c, local uint *l)\n"
	"{ l[0] = 5; out[0] = a.at[255] + b.at[2] + c[1] + l[0] + get_global_id(0) + "
	"get_global_offset(1); }\n"
	"kernel void null(global uint *out, global uint *nothing, constant uint *no)\n"
	"{ out[0] = (nothing == 0) + 2 * (no == 0); }\n";

static void engine_run__arguments_of_every_kind(void **state)
{
	struct engine_program *p = rig_build(DXP_PROGRAM_SOURCE, "", arguments);
	struct engine_launch l = rig_launch(p, "values");
	uint32_t large[256] = {0}, small[3] = {0, 0, 20};

	large[255] = 1;
	l.dimensions = 2;
	l.argument_count = 5;
	l.offset[0] = 1000;
	l.offset[1] = 40000;
	l.arguments[0] = rig_buffer(4096 + 4, 4); /* part of an allocation */
	l.arguments[1] = (struct engine_argument){.bytes = sizeof(large), .value = large};
	l.arguments[2] = (struct engine_argument){.bytes = sizeof(small), .value = small};
	l.arguments[3] = rig_buffer(0, 64);
	l.arguments[4] = (struct engine_argument){.kind = COMMAND_ARG_LOCAL, .bytes = 4};
	((uint32_t *)rig_memory(0))[1] = 300;
	rig_run(&l);
	assert_int_equal(((uint32_t *)rig_memory(4096))[1], 41326);
	l.arguments[4].bytes = 0;
	assert_int_equal(engine_run(engine, &l, text), DXP_EINVAL);
	assert_non_null(strstr(text, "argument 4: 0 bytes of local memory"));
	l.arguments[4].bytes = 4;
	l.local[0] = l.global[0] = 1u << 20;
	l.local[1] = 1;
	assert_int_equal(engine_run(engine, &l, text), DXP_EINVAL);
	assert_non_null(strstr(text, "CL_INVALID_WORK_"));
	l = rig_launch(p, "null");
	l.argument_count = 3;
	l.arguments[0] = rig_buffer(0, 64);
	l.arguments[1] = l.arguments[2] =
		(struct engine_argument){.kind = COMMAND_ARG_BUFFER, .address = ENGINE_NO_ADDRESS};
	rig_run(&l);
	assert_int_equal(((uint32_t *)rig_memory(0))[0], 3);
	engine_release(engine, p);
}

/* characters; PoCL makes a file name of it */
#define NAME 220

/* 500 kernels, one with a long name and 128 arguments. */
static void engine_build__no_small_limits(void **state)
{
	char *all = NULL, name[COMMAND_NAME_BYTES];
	size_t bytes;
	FILE *out = open_memstream(&all, &bytes);

	memset(name, 'n', NAME);
	name[NAME] = '\0';
	fprintf(out, "kernel void %s(global uint *o", name);
	for (int i = 1; i < COMMAND_ARGS_MAX; i++)
		fprintf(out, ", uint a%d", i);
	fprintf(out, ") { o[0] = a1 + a%d; }\n", COMMAND_ARGS_MAX - 1);
	for (int i = 0; i < 500; i++)
		fprintf(out, "kernel void k%d(global uint *o) { o[0] = %d; }\n", i, i);
	fclose(out);
	struct engine_program *p = rig_build(DXP_PROGRAM_SOURCE, "", all);
	free(all);
	struct engine_launch l = rig_launch(p, name);
	const uint32_t one = 21;
	l.argument_count = COMMAND_ARGS_MAX;
	l.arguments[0] = rig_buffer(0, 64);
	for (int i = 1; i < COMMAND_ARGS_MAX; i++)
		l.arguments[i] = (struct engine_argument){.bytes = 4, .value = &one};
	rig_run(&l);
	assert_int_equal(((uint32_t *)rig_memory(0))[0], 42);
	memset(name, 'n', COMMAND_NAME_BYTES - 1); /* would crash PoCL */
	name[COMMAND_NAME_BYTES - 1] = '\0';
	assert_int_equal(engine_run(engine, &l, text), DXP_EUNSUPPORTED);
	assert_non_null(strstr(text, "use a shorter one"));
	l = rig_launch(p, "k499");
	l.argument_count = 1;
	l.arguments[0] = rig_buffer(0, 64);
	rig_run(&l);
	assert_int_equal(((uint32_t *)rig_memory(0))[0], 499);
	engine_release(engine, p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_fetch__about_kernels),
		cmocka_unit_test(engine_fetch__about_the_device),
		cmocka_unit_test(engine_run__arguments_of_every_kind),
		cmocka_unit_test(engine_build__no_small_limits),
	};
	int failed = rig_open();

	if (failed)
		return failed;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rig_close();
	return failed;
}
