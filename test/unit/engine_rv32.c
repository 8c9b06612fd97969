/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kernels on the engine `rv32`: ids, arguments, work-groups, several cores. */
#include "test/unit/engine_rv32_rig.h"

/* ---- ids and sizes ---- */

static void engine_run__ids(void **state)
{
	struct engine_program *p = rig_program(
		"kernel void ids(global uint *out) {\n"
		"	uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
		"	uint at = (z * 6 + y) * 10 + x - get_global_offset(0);\n"
		"	out[at] = get_work_dim() + 10 * get_local_id(0) + 100 * get_local_id(1) +\n"
		"		1000 * get_group_id(0) + 10000 * get_group_id(1) +\n"
		"		100000 * get_num_groups(0) + 1000000 * get_local_size(1) +\n"
		"		10000000 * get_global_id(3) + 100000000 * get_local_size(3); }\n");
	struct engine_launch l = rig_launch(p, "ids", 10, 5);

	l.dimensions = 3;
	l.global[1] = 6;
	l.global[2] = 2;
	l.local[1] = 3;
	l.local[2] = 1;
	l.offset[0] = 1000;
	rig_good(&l);
	for (uint32_t z = 0; z < 2; z++)
		for (uint32_t y = 0; y < 6; y++)
			for (uint32_t x = 0; x < 10; x++)
				assert_int_equal(rig_word((z * 6 + y) * 10 + x),
						 3 + 10 * (x % 5) + 100 * (y % 3) + 1000 * (x / 5) +
							 10000 * (y / 3) + 200000 + 3000000 +
							 100000000);
	engine_release(engine, p);
}

/* Sizes around a warp and a work-group; local size 0: the engine chooses. */
static void engine_run__sizes(void **state)
{
	static const uint64_t sizes[][2] = {{1, 0},    {31, 0},      {32, 0},   {33, 0},
					    {1000, 0}, {1009, 0},    {4097, 0}, {96, 1},
					    {100, 50}, {1024, 1024}, {99, 33},  {64, 32}};
	struct engine_program *p = rig_program("kernel void one(global uint *out) {"
					       "	out[get_global_id(0)] += 1; }");

	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		struct engine_launch l = rig_launch(p, "one", sizes[i][0], sizes[i][1]);
		memset(memory, 0, 20000);
		rig_good(&l);
		for (uint32_t k = 0; k < 4200; k++)
			assert_int_equal(rig_word(k), k < sizes[i][0]);
	}
	engine_release(engine, p);
}

/* ---- arguments ---- */

struct odd {
	uint8_t a[3];
	uint32_t b;
};

static void engine_run__values(void **state)
{
	struct engine_program *p = rig_program(
		"struct odd { uchar a[3]; uint b; };\n"
		"kernel void values(global uint *out, char c, ushort s, long q, float3 f,\n"
		"	uchar16 v, struct odd o, constant uint *k, global uint *none) {\n"
		"	out[0] = c; out[1] = s; out[2] = q >> 32; out[3] = q; out[4] = f.z;\n"
		"	out[5] = v.sf; out[6] = o.a[2]; out[7] = o.b; out[8] = k[1];\n"
		"	out[9] = none == 0; }\n");
	struct engine_launch l = rig_launch(p, "values", 1, 1);
	const int8_t c = -5;
	const uint16_t s = 65000;
	const int64_t q = 0x123456789abcdef0;
	const float f[4] = {1, 2, 3, 4};
	const uint8_t v[16] = {[15] = 99};
	const struct odd o = {{1, 2, 77}, 0x87654321};

	l.argument_count = 9;
	l.arguments[1] = rig_value(&c, sizeof(c));
	l.arguments[2] = rig_value(&s, sizeof(s));
	l.arguments[3] = rig_value(&q, sizeof(q));
	l.arguments[4] = rig_value(f, sizeof(f));
	l.arguments[5] = rig_value(v, sizeof(v));
	l.arguments[6] = rig_value(&o, sizeof(o));
	l.arguments[7] = rig_buffer(4096, 8);
	l.arguments[8] = rig_buffer(0, 0);
	l.arguments[8].address = ENGINE_NO_ADDRESS;
	l.arguments[0].memory_bytes = 4096;
	memcpy(memory + 4100, &(uint32_t){4242}, 4);
	rig_good(&l);
	static const uint32_t right[] = {(uint32_t)-5, 65000, 0x12345678, 0x9abcdef0, 3,
					 99,           77,    0x87654321, 4242,       1};
	for (uint32_t i = 0; i < ARRAY_COUNT(right); i++)
		assert_int_equal(rig_word(i), right[i]);
	engine_release(engine, p);
}

/* A write through one buffer is read through the other. */
static void engine_run__overlap(void **state)
{
	struct engine_program *p =
		rig_program("kernel void move(global uint *a, global uint *b) {"
			    "	b[0] = 7; a[5] = a[4] + 1; b[2] = a[5] + 1; }");
	struct engine_launch l = rig_launch(p, "move", 1, 1);

	l.argument_count = 2;
	l.arguments[0] = rig_buffer(128, 64);
	l.arguments[1] = rig_buffer(128 + 16, 64);
	rig_good(&l);
	assert_int_equal(rig_word(32 + 4), 7);
	assert_int_equal(rig_word(32 + 5), 8);
	assert_int_equal(rig_word(32 + 6), 9);
	engine_release(engine, p);
}

/* ---- work-groups ---- */

static const char sums[] =
	"kernel void sum(global uint *data, local uint *more) {\n"
	"	local uint t[256], last;\n"
	"	uint l = get_local_id(0), n = get_local_size(0);\n"
	"	t[l] = data[get_global_id(0)];\n"
	"	more[l] = l == n - 1 ? t[l] : 0;\n"
	"	if (l == 0) last = 5;\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	for (uint s = n / 2; s > 0; s >>= 1) {\n"
	"		if (l < s) t[l] += t[l + s];\n"
	"		barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	}\n"
	"	data[get_global_id(0)] = t[0] + more[n - 1] + last;\n"
	"}\n"
	/* nearly fills local memory, so it uses the addresses of kernel `sum`'s variables */
	"kernel void other(global uint *data) {\n"
	"	local uint big[15000];\n"
	"	big[get_local_id(0) * 100] = get_local_id(0);\n"
	"	barrier(CLK_LOCAL_MEM_FENCE);\n"
	"	data[get_global_id(0)] = big[(get_local_size(0) - 1 - get_local_id(0)) * 100];\n"
	"}\n";

/* Each work-item stores to it first, and it is still one variable of the work-group. */
static void engine_run__local_scalar(void **state)
{
	struct engine_program *p = rig_program("kernel void one(global uint *out) {\n"
					       "	local uint t; t = 1;\n"
					       "	barrier(CLK_LOCAL_MEM_FENCE);\n"
					       "	if (get_local_id(0) == 3) t = 7;\n"
					       "	barrier(CLK_LOCAL_MEM_FENCE);\n"
					       "	out[get_global_id(0)] = t; }\n");
	struct engine_launch l = rig_launch(p, "one", 256, 128);

	rig_good(&l);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(rig_word(i), 7);
	engine_release(engine, p);
}

static void engine_run__local(void **state)
{
	struct engine_program *p = rig_program(sums);
	struct engine_launch l = rig_launch(p, "sum", 2048, 256);

	l.argument_count = 2;
	l.arguments[1] = rig_local(1024);
	for (uint32_t i = 0; i < 2048; i++)
		memcpy(memory + 4 * i, &i, 4);
	rig_good(&l);
	for (uint32_t i = 0; i < 2048; i++) {
		uint32_t first = i / 256 * 256;
		assert_int_equal(rig_word(i), 256 * first + 255 * 128 + first + 255 + 5);
	}
	l = rig_launch(p, "other", 128, 128);
	rig_good(&l);
	for (uint32_t i = 0; i < 128; i++)
		assert_int_equal(rig_word(i), 127 - i);
	engine_release(engine, p);
}

static void engine_run__atomics(void **state)
{
	struct engine_program *p =
		rig_program("kernel void count(global int *a) {\n"
			    "	local uint n;\n"
			    "	if (get_local_id(0) == 0) n = 0;\n"
			    "	barrier(CLK_LOCAL_MEM_FENCE);\n"
			    "	atomic_inc(&n); atomic_add(a, 3); atomic_max(a + 1, "
			    "(int)get_global_id(0));\n"
			    "	atomic_min(a + 2, -(int)get_global_id(0)); atom_or(a + 3, 1 << "
			    "get_local_id(0) "
			    "% 32);\n"
			    "	int old; do old = a[4]; while (atomic_cmpxchg(a + 4, old, old + 2) "
			    "!= old);\n"
			    "	barrier(CLK_LOCAL_MEM_FENCE);\n"
			    "	if (get_local_id(0) == 0) atomic_add(a + 5, n); }\n");
	struct engine_launch l = rig_launch(p, "count", 1024, 128);

	memset(memory, 0, 64);
	rig_good(&l);
	assert_int_equal(rig_word(0), 3072);
	assert_int_equal(rig_word(1), 1023);
	assert_int_equal(rig_word(2), (uint32_t)-1023);
	assert_int_equal(rig_word(3), UINT32_MAX);
	assert_int_equal(rig_word(4), 2048);
	assert_int_equal(rig_word(5), 1024);
	engine_release(engine, p);
}

/* ---- cores ---- */

static void engine_run__cores(void **state)
{
	struct engine *one = engine;
	struct engine_description d;

	assert_int_equal(rig_open("rv32:cores=3"), DXP_OK);
	engine_describe(engine, &d);
	assert_int_equal(d.compute_units, 3);
	struct engine_program *p = rig_program(sums);
	for (int round = 0; round < 20; round++) {
		struct engine_launch l = rig_launch(p, "sum", 64 * 256, 256);
		l.argument_count = 2;
		l.arguments[1] = rig_local(1024);
		for (uint32_t i = 0; i < 64 * 256; i++)
			memcpy(memory + 4 * i, &i, 4);
		rig_good(&l);
		for (uint32_t i = 0; i < 64 * 256; i += 37) {
			uint32_t first = i / 256 * 256;
			assert_int_equal(rig_word(i), 256 * first + 255 * 128 + first + 255 + 5);
		}
	}
	engine_release(engine, p);
	engine_close(engine);
	engine = one;
}

static void engine_run__time(void **state)
{
	struct engine *one = engine;

	assert_int_equal(rig_open("rv32:time=vortex-4x4"), DXP_OK);
	struct engine_program *p =
		rig_program("kernel void one(global uint *out) {"
			    "	out[get_global_id(0)] = get_local_id(0); }");
	struct engine_launch l = rig_launch(p, "one", 256, 64);
	rig_good(&l);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(rig_word(i), i % 64);
	struct dxp_event_cycles c = engine->cycles;
	assert_int_equal(c.cores, 32);
	assert_int_equal(c.clock_mhz, 200);
	assert_true(0 < c.cycles_least && c.cycles_least < c.cycles && c.cycles < c.cycles_most);
	assert_true(c.instructions > 0 && 0 < c.lines_missed && c.lines_missed <= c.lines);
	rig_good(&l);
	assert_memory_equal(&c, &engine->cycles, sizeof(c));
	l.kernel = "two"; /* a failed launch has no cycles */
	assert_int_equal(engine_run(engine, &l, text), DXP_ENOENT);
	assert_int_equal(engine->cycles.cycles, 0);
	engine_release(engine, p);
	engine_close(engine);
	engine = one;
}

static void engine_open__options(void **state)
{
	static const char *const wrong[] = {"rv32:cores=0",    "rv32:cores=65",
					    "rv32:cores=x",    "rv32:cores",
					    "rv32:speed=1",    "rv32:private=8",
					    "rv32:build=neon", "rv32:limit=-1",
					    "rv32:time=never", "rv32:time=vortex-4x4,cores=2",
					    "rv32:warps=0",    "rv32:warps=33",
					    "rv32:warps=1.5",  "rv32:trace=100001"};
	struct engine *kept = engine;

	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
		assert_int_equal(rig_open(wrong[i]), DXP_EINVAL);
	engine = kept;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_run__ids),      cmocka_unit_test(engine_run__sizes),
		cmocka_unit_test(engine_run__values),   cmocka_unit_test(engine_run__overlap),
		cmocka_unit_test(engine_run__local),    cmocka_unit_test(engine_run__local_scalar),
		cmocka_unit_test(engine_run__atomics),  cmocka_unit_test(engine_run__cores),
		cmocka_unit_test(engine_open__options), cmocka_unit_test(engine_run__time),
	};
	int status = rig_begin("rv32");

	if (status != 0)
		return status;
	status = cmocka_run_group_tests(tests, NULL, NULL);
	rig_end();
	return status;
}
