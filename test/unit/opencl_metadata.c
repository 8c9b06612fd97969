/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how the plugin reads a node's records about programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <dxp/about.h>
#include <dxp/status.h>

#include "plugins/opencl/object/types.h"
#include "plugins/opencl/program/metadata.h"

struct records {
	uint8_t data[4096];
	size_t bytes;
};

static void put(struct records *r, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		r->data[r->bytes++] = (uint8_t)(v >> (8 * i));
}

static void record(struct records *r, uint32_t tag, const void *data, size_t bytes)
{
	put(r, tag, 4);
	put(r, bytes, 4);
	memcpy(r->data + r->bytes, data, bytes);
	r->bytes += bytes;
}

static void argument(struct records *r, uint32_t address, uint32_t access, uint64_t qualifiers,
		     uint32_t value_bytes, const char *type)
{
	struct records a = {0};

	put(&a, address, 4);
	put(&a, access, 4);
	put(&a, qualifiers, 8);
	put(&a, value_bytes, 4);
	memcpy(a.data + a.bytes, type, strlen(type) + 1);
	a.bytes += strlen(type) + 1;
	memcpy(a.data + a.bytes, "name", 5);
	record(r, DXP_ABOUT_ARGUMENT, a.data, a.bytes + 5);
}

static void fact(struct records *r, uint32_t param, uint32_t words, uint64_t each)
{
	struct records f = {0};

	put(&f, param, 4);
	for (uint32_t i = 0; i < words; i++)
		put(&f, each + i, 8);
	record(r, DXP_ABOUT_KERNEL_INFO, f.data, f.bytes);
}

#define GLOBAL   CL_KERNEL_ARG_ADDRESS_GLOBAL
#define CONSTANT CL_KERNEL_ARG_ADDRESS_CONSTANT
#define LOCAL    CL_KERNEL_ARG_ADDRESS_LOCAL
#define PRIVATE  CL_KERNEL_ARG_ADDRESS_PRIVATE
#define NONE     CL_KERNEL_ARG_ACCESS_NONE
#define READS    CL_KERNEL_ARG_ACCESS_READ_ONLY
#define WRITES   CL_KERNEL_ARG_ACCESS_WRITE_ONLY
#define IS_CONST CL_KERNEL_ARG_TYPE_CONST

static const struct {
	uint32_t address, access;
	uint64_t qualifiers;
	uint32_t bytes;
	const char *type;
	enum argument_kind kind;
	uint32_t short_bytes;
	bool reads_only;
} arguments[] = {
	{GLOBAL, NONE, 0, 0, "int*", ARGUMENT_BUFFER, 0, false},
	{GLOBAL, NONE, IS_CONST, 0, "float4*", ARGUMENT_BUFFER, 0, true},
	{CONSTANT, NONE, 0, 0, "int*", ARGUMENT_BUFFER, 0, true},
	{LOCAL, NONE, 0, 0, "int*", ARGUMENT_LOCAL, 0, false},
	{GLOBAL, READS, 0, 0, "image2d_t", ARGUMENT_IMAGE, 0, true},
	{GLOBAL, WRITES, 0, 0, "image3d_t", ARGUMENT_IMAGE, 0, false},
	{GLOBAL, NONE, 0, 0, "image_type*", ARGUMENT_BUFFER, 0, false},
	{PRIVATE, NONE, 0, 0, "sampler_t", ARGUMENT_SAMPLER, 0, false},
	{PRIVATE, NONE, 0, 16, "int3", ARGUMENT_VALUE, 12, false},
	{PRIVATE, NONE, 0, 0, "double3", ARGUMENT_VALUE, 24, false},
	{PRIVATE, NONE, 0, 0, "struct pair", ARGUMENT_VALUE, 0, false},
	{GLOBAL, READS, CL_KERNEL_ARG_TYPE_PIPE, 0, "int", ARGUMENT_OTHER, 0, false},
};

#define ARGUMENTS (sizeof(arguments) / sizeof(arguments[0]))

static struct records program(void)
{
	struct records r = {0};

	record(&r, DXP_ABOUT_BINARY_TYPE, "\4\0\0\0", 4);
	record(&r, DXP_ABOUT_GLOBAL_BYTES, "\7\0\0\0\0\0\0\0", 8);
	record(&r, 0x7fffffff, "new", 3); /* an unknown kind is skipped */
	record(&r, DXP_ABOUT_KERNEL, "first", 5);
	fact(&r, CL_KERNEL_WORK_GROUP_SIZE, 1, 256);
	fact(&r, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, 3, 2);
	fact(&r, CL_KERNEL_LOCAL_MEM_SIZE, 1, 99);
	for (size_t i = 0; i < ARGUMENTS; i++)
		argument(&r, arguments[i].address, arguments[i].access, arguments[i].qualifiers,
			 arguments[i].bytes, arguments[i].type);
	record(&r, DXP_ABOUT_KERNEL, "second", 6);
	argument(&r, GLOBAL, NONE, 0, 0, "int*");
	return r;
}

static void read__reads_kinds_of_arguments(void **state)
{
	struct records r = program();
	struct program_about p;

	assert_int_equal(metadata_read(&p, r.data, r.bytes), DXP_OK);
	assert_int_equal(p.kernel_count, 2);
	const struct kernel_about *k = metadata_kernel(&p, "first");
	assert_int_equal(k->argument_count, ARGUMENTS);
	for (size_t i = 0; i < ARGUMENTS; i++) {
		const struct argument_about *a = &k->arguments[i];
		if (a->kind != arguments[i].kind || a->bytes != arguments[i].bytes ||
		    a->short_bytes != arguments[i].short_bytes ||
		    a->reads_only != arguments[i].reads_only)
			fail_msg("'%s', argument %zu", arguments[i].type, i);
		assert_string_equal(a->type, arguments[i].type);
		assert_string_equal(a->name, "name");
	}
	metadata_clear(&p);
}

static void read__reads_facts(void **state)
{
	struct records r = program();
	struct program_about p;

	assert_int_equal(metadata_read(&p, r.data, r.bytes), DXP_OK);
	assert_int_equal(p.type, 4);
	assert_int_equal(p.global_bytes, 7);
	const struct kernel_about *k = metadata_kernel(&p, "first");
	assert_int_equal(k->group_size, 256);
	assert_int_equal(k->local_bytes, 99);
	assert_int_equal(k->required[0], 2);
	assert_int_equal(k->required[2], 4);
	assert_int_equal(metadata_fact(k, CL_KERNEL_LOCAL_MEM_SIZE)->bytes, 8);
	assert_null(metadata_fact(k, CL_KERNEL_PRIVATE_MEM_SIZE));
	assert_null(metadata_kernel(&p, "firs"));
	k = metadata_kernel(&p, "second");
	assert_int_equal(k->argument_count, 1);
	assert_int_equal(k->fact_count, 0);
	metadata_clear(&p);
}

/* A cut between two records leaves a valid, shorter list. */
static void read__rejects_what_is_cut(void **state)
{
	struct records r = program();
	struct program_about p;
	size_t begin = 0, end = 8 + 4;

	for (size_t n = 0; n < r.bytes; n++) {
		uint8_t *cut = malloc(n + 1);
		memcpy(cut, r.data, n);
		if (n == end) {
			begin = end;
			end += 8 + dxp_about_u32(r.data + begin + 4);
		}
		int status = metadata_read(&p, cut, n);
		assert_int_equal(status, n == begin ? DXP_OK : DXP_EMALFORMED);
		metadata_clear(&p);
		free(cut);
	}
}

static void read__rejects_what_belongs_to_no_kernel(void **state)
{
	struct records r = {0};
	struct program_about p;

	argument(&r, GLOBAL, NONE, 0, 0, "int*");
	record(&r, DXP_ABOUT_KERNEL, "late", 4);
	assert_int_equal(metadata_read(&p, r.data, r.bytes), DXP_EMALFORMED);
	/* ends before the argument's second name */
	r = (struct records){0};
	record(&r, DXP_ABOUT_KERNEL, "k", 1);
	record(&r, DXP_ABOUT_ARGUMENT, "01234567890123456789abc", 24);
	assert_int_equal(metadata_read(&p, r.data, r.bytes), DXP_EMALFORMED);
}

static void alike__compares_arguments(void **state)
{
	struct records one = {0}, other = {0};
	struct program_about p, q;

	record(&one, DXP_ABOUT_KERNEL, "k", 1);
	argument(&one, GLOBAL, NONE, 0, 0, "int*");
	record(&other, DXP_ABOUT_KERNEL, "k", 1);
	argument(&other, GLOBAL, NONE, 0, 0, "float*");
	assert_int_equal(metadata_read(&p, one.data, one.bytes), DXP_OK);
	assert_int_equal(metadata_read(&q, other.data, other.bytes), DXP_OK);
	assert_true(metadata_alike(&p.kernels[0], &p.kernels[0]));
	assert_false(metadata_alike(&p.kernels[0], &q.kernels[0]));
	metadata_clear(&p);
	metadata_clear(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read__reads_kinds_of_arguments),
		cmocka_unit_test(read__reads_facts),
		cmocka_unit_test(read__rejects_what_is_cut),
		cmocka_unit_test(read__rejects_what_belongs_to_no_kernel),
		cmocka_unit_test(alike__compares_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
