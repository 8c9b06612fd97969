/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests profiles by source line, lists of instructions, and the option warps= of `rv32`. */
#include <CL/cl.h>
#include <dxp/about.h>

#include "base/log.h"
#include "test/unit/capture.h"
#include "test/unit/engine_rv32_rig.h"

static const char loops[] = "/* a loop, and a branch of one work-item */\n"
			    "kernel void loop(global uint *p) {\n"
			    "	uint sum = 0;\n"
			    "	for (uint i = 0; i < p[0]; i++)\n"
			    "		sum += ((volatile global uint *)p)[i % 8] * 3;\n"
			    "	p[64 + get_global_id(0)] = sum;\n"
			    "	if (get_global_id(0) == 7)\n"
			    "		p[1] = sum ^ 5;\n"
			    "}\n";

struct row {
	char function[64];
	uint32_t line;
	uint64_t warps, lanes;
};

struct profile {
	uint64_t launches;
	struct row rows[64];
	size_t count;
};

static void profile_read(struct engine_program *p, struct profile *out)
{
	struct dxp_about_record r;
	struct dxp_about a;
	uint8_t *data;
	size_t bytes;

	memset(out, 0, sizeof(*out));
	assert_int_equal(engine_fetch(engine, p, FETCH_PROFILE, &data, &bytes), DXP_OK);
	dxp_about_begin(&a, data, bytes);
	while (dxp_about_next(&a, &r)) {
		struct row *row = &out->rows[out->count];
		if (r.tag == DXP_ABOUT_PROFILE_LAUNCHES)
			out->launches = dxp_about_u64(r.data);
		if (r.tag != DXP_ABOUT_PROFILE_LINE)
			continue;
		assert_in_range(r.bytes, 20, 20 + sizeof(row->function) - 1);
		row->line = dxp_about_u32(r.data);
		row->warps = dxp_about_u64(r.data + 4);
		row->lanes = dxp_about_u64(r.data + 12);
		memcpy(row->function, r.data + 20, r.bytes - 20);
		assert_true(++out->count < ARRAY_COUNT(out->rows));
	}
	free(data);
}

static const struct row *row_of(const struct profile *p, uint32_t line)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->rows[i].line == line && strcmp(p->rows[i].function, "loop") == 0)
			return &p->rows[i];
	fail_msg("no row for line %u", line);
	return NULL;
}

static uint64_t lanes_of(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->count; i++)
		sum += p->rows[i].lanes;
	return sum;
}

/* 4 warps of 100 rounds: most instructions are in the loop; a branch of one work-item counts one
 * lane. */
static void counts_check(void)
{
	struct engine_program *p = rig_program(loops);
	struct engine_launch l = rig_launch(p, "loop", 128, 64);
	static struct profile before, once, twice;

	memset(memory, 0, 4096);
	memory[0] = 100;
	rig_good(&l);
	profile_read(p, &before);
	assert_int_equal(before.launches, 0);
	assert_int_equal(before.count, 0);
	rig_good(&l);
	profile_read(p, &once);
	assert_int_equal(once.launches, 1);
	assert_true(row_of(&once, 5)->warps >= 4 * 100 * 3);
	assert_true(row_of(&once, 5)->lanes == 32 * row_of(&once, 5)->warps);
	assert_true(row_of(&once, 6)->lanes < row_of(&once, 5)->lanes / 20);
	assert_true(row_of(&once, 8)->lanes >= 1);
	assert_true(row_of(&once, 8)->lanes == row_of(&once, 8)->warps);
	rig_good(&l);
	profile_read(p, &twice);
	assert_int_equal(twice.launches, 2);
	assert_int_equal(lanes_of(&twice), 2 * lanes_of(&once));
	engine_release(engine, p);
}

static void engine_fetch__profile(void **state)
{
	struct engine *one = engine;

	counts_check();
	assert_int_equal(rig_open("rv32:cores=3"), DXP_OK);
	counts_check();
	engine_close(engine);
	engine = one;
}

/* Compiled but not linked, a program cannot run. */
static void engine_fetch__no_profile(void **state)
{
	const struct engine_file file = {.data = loops, .bytes = strlen(loops)};
	const struct engine_source s = {
		.kind = DXP_PROGRAM_COMPILE, .options = "", .files = &file, .file_count = 1};
	struct engine_program *p;
	uint8_t *data;
	size_t bytes;
	char *log = NULL;

	assert_int_equal(engine_build(engine, &s, &p, &log), DXP_OK);
	free(log);
	assert_int_equal(engine_fetch(engine, p, FETCH_PROFILE, &data, &bytes), DXP_EINVAL);
	assert_int_equal(engine_fetch(engine, NULL, FETCH_PROFILE, &data, &bytes), DXP_EINVAL);
	engine_release(engine, p);
}

static uint32_t occurrences(const char *in, const char *what)
{
	uint32_t count = 0;

	for (const char *at = in; (at = strstr(at, what)); at += strlen(what))
		count++;
	return count;
}

static void engine_run__trace(void **state)
{
	static char log[65536];
	struct engine *one = engine;
	struct stderr_capture c;

	assert_int_equal(rig_open("rv32:trace=12"), DXP_OK);
	struct engine_program *p = rig_program(loops);
	struct engine_launch l = rig_launch(p, "loop", 64, 64);
	memset(memory, 0, 4096);
	memory[0] = 100;
	log_level_set(LOG_LEVEL_INFO);
	stderr_capture_begin(&c);
	rig_good(&l);
	stderr_capture_end(&c, log, sizeof(log));
	log_level_set(LOG_LEVEL_WARN);
	assert_int_equal(occurrences(log, "trace: kernel 'loop' core 0 warp 0 pc 0x000"), 12);
	assert_int_equal(occurrences(log, " mask ffffffff  "), 12);
	assert_non_null(strstr(log, "lw a"));
	assert_non_null(strstr(log, "# loop+0x"));
	assert_non_null(strstr(log, ", line "));
	engine_release(engine, p);
	engine_close(engine);
	engine = one;
}

static uint64_t device_number(cl_uint what)
{
	struct dxp_about_record r;
	struct dxp_about a;
	uint64_t number = 0;
	uint8_t *data;
	size_t bytes;

	assert_int_equal(engine_fetch(engine, NULL, FETCH_DEVICE, &data, &bytes), DXP_OK);
	dxp_about_begin(&a, data, bytes);
	while (dxp_about_next(&a, &r))
		if (r.tag == what)
			number = r.bytes == 4 ? dxp_about_u32(r.data) : dxp_about_u64(r.data);
	free(data);
	return number;
}

static void engine_run__warps(void **state)
{
	struct engine *one = engine;

	assert_int_equal(device_number(CL_DEVICE_MAX_WORK_GROUP_SIZE), 1024);
	assert_int_equal(device_number(DXP_ABOUT_PROFILES), 1);
	assert_int_equal(rig_open("rv32:warps=2"), DXP_OK);
	assert_int_equal(device_number(CL_DEVICE_MAX_WORK_GROUP_SIZE), 64);
	assert_int_equal(device_number(CL_DEVICE_MAX_WORK_ITEM_SIZES), 64);
	struct engine_program *p =
		rig_program("kernel void k(global uint *p) { local uint n;\n"
			    "	if (get_local_id(0) == 0) n = 0;\n"
			    "	barrier(CLK_LOCAL_MEM_FENCE); atomic_inc(&n);\n"
			    "	barrier(CLK_LOCAL_MEM_FENCE); p[get_global_id(0)] = n; }\n");
	struct engine_launch l = rig_launch(p, "k", 256, 0);
	rig_good(&l);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(rig_word(i), 64);
	l = rig_launch(p, "k", 256, 64);
	rig_good(&l);
	l = rig_launch(p, "k", 256, 128);
	assert_int_equal(rig_run(&l), DXP_EINVAL);
	assert_non_null(strstr(text, "a work-group has 64 work-items at most with warps=2 (128)"));
	assert_int_equal(engine->native, CL_INVALID_WORK_GROUP_SIZE);
	engine_release(engine, p);
	engine_close(engine);
	engine = one;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_fetch__profile),
		cmocka_unit_test(engine_fetch__no_profile),
		cmocka_unit_test(engine_run__trace),
		cmocka_unit_test(engine_run__warps),
	};
	int status = rig_begin("rv32");

	if (status != 0)
		return status;
	status = cmocka_run_group_tests(tests, NULL, NULL);
	rig_end();
	return status;
}
