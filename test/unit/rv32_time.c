/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the model of time with cycles by hand and a published figure. */
#include "rv32/time.h"
#include "test/unit/rv32_rig.h"

#define N 64u /* rows and columns */

static struct rv32_time_result run_model(struct rig *g, const struct rv32_time_parameters *p)
{
	struct rv32_time *time = rv32_time_create(p, g->words, g->count, RV32_CODE_BASE);
	struct rv32_time_result result;

	assert_non_null(time);
	g->launch.trace = rv32_time_trace;
	g->launch.trace_context = time;
	rig_run_ok(g);
	rv32_time_read(time, &result);
	rv32_time_destroy(time);
	return result;
}

/* Each latency differs, to detect a wrong one. One core, one warp of 32. */
static const struct rv32_time_parameters simple = {.name = "simple",
						   .cores = 1,
						   .warps = 1,
						   .threads = 32,
						   .clock_mhz = 100,
						   .integer = 1,
						   .multiply = 3,
						   .divide = 20,
						   .fused = 4,
						   .convert = 5,
						   .float_divide = 16,
						   .square_root = 11,
						   .load = 6,
						   .branch = 2,
						   .cache_bytes = 4096,
						   .line_bytes = 64,
						   .memory = 100,
						   .line_cycles = 10};

static void rv32_time__latencies(void **state)
{
	struct rig *g = rig_create();
	struct rv32_time_result r;

	/* issued in 0 .. 4; the return keeps the warp busy for 2 more */
	for (unsigned i = 0; i < 4; i++)
		emit(g, RV32_ADDI, A0 + i, ZERO, 0, 1);
	emit_ret(g);
	r = run_model(g, &simple);
	assert_int_equal(r.cycles[RV32_TIME_NOMINAL], 4 + 2);
	assert_int_equal(r.warp_instructions, 5);
	assert_int_equal(r.ipc_thousandths[RV32_TIME_NOMINAL], 5000 / 6);
	/* dependent: issued in 0 (mul), 3 (add), 4 (div), 24 (add), 25 (return) */
	rig_restart(g);
	emit(g, RV32_MUL, A0, A1, A2, 0);
	emit(g, RV32_ADDI, A0, A0, 0, 1);
	emit(g, RV32_DIV, A0, A0, A2, 0);
	emit(g, RV32_ADDI, A0, A0, 0, 1);
	emit_ret(g);
	r = run_model(g, &simple);
	assert_int_equal(r.cycles[RV32_TIME_NOMINAL], 25 + 2);
	rig_destroy(g);
}

/* 128 bytes are two lines: both missed, then both hit. */
static void rv32_time__cache(void **state)
{
	struct rig *g = rig_create();
	struct rv32_time_result r;

	emit_csr(g, T0, RV32_CSR_LANE);          /* cycle 0 */
	emit(g, RV32_SLLI, T0, T0, 0, 2);        /* cycle 1 */
	emit(g, RV32_LUI, T1, 0, 0, RIG_BUFFER); /* cycle 2 */
	emit(g, RV32_ADD, T0, T0, T1, 0);        /* cycle 3 */
	/* cycle 4: two lines, in 4 and 5; the second comes from 24 to 124 */
	emit(g, RV32_LW, A0, T0, 0, 0);
	emit(g, RV32_ADDI, A1, A0, 0, 1); /* cycle 24 + 100 + 6 = 130 */
	/* cycle 131: hits in 131 and 132; result in 138 */
	emit(g, RV32_LW, A0, T0, 0, 0);
	emit(g, RV32_ADDI, A1, A0, 0, 1); /* cycle 138 */
	/* cycle 139; busy until 141 */
	emit_ret(g);
	r = run_model(g, &simple);
	assert_int_equal(r.lines, 4);
	assert_int_equal(r.lines_missed, 2);
	assert_int_equal(r.cycles[RV32_TIME_NOMINAL], 141);
	assert_true(r.cycles[RV32_TIME_FAST] < 141 && r.cycles[RV32_TIME_SLOW] > 141);
	rig_destroy(g);
}

/* Appends a matrix product C = A * B as clang compiles the plain loop. Each work-item computes one
 * element. */
static void emit_matmul(struct rig *g)
{
	emit_csr(g, T0, RV32_CSR_GLOBAL_ID);
	emit_csr(g, T1, RV32_CSR_GLOBAL_ID + 1);
	emit_li(g, A0, RIG_BUFFER);
	emit_li(g, A1, RIG_BUFFER + 4 * N * N);
	emit_li(g, A2, RIG_BUFFER + 8 * N * N);
	emit(g, RV32_SLLI, T1, T1, 0, 8);
	emit(g, RV32_SLLI, T0, T0, 0, 2);
	emit(g, RV32_ADD, A0, A0, T1, 0);
	emit(g, RV32_ADD, A1, A1, T0, 0);
	emit(g, RV32_ADD, A2, A2, T1, 0);
	emit(g, RV32_ADD, A2, A2, T0, 0);
	emit(g, RV32_ADDI, A3, ZERO, 0, N);
	emit(g, RV32_FLW, A0, A0, 0, 0);
	emit(g, RV32_FLW, A1, A1, 0, 0);
	emit_float(g, RV32_FMADD_S, A2, A0, A1, A2, RV32_DYN);
	emit(g, RV32_ADDI, A3, A3, 0, -1);
	emit(g, RV32_ADDI, A0, A0, 0, 4);
	emit(g, RV32_ADDI, A1, A1, 0, 4 * N);
	emit(g, RV32_BNE, 0, A3, ZERO, -24);
	emit(g, RV32_FSW, 0, A2, A2, 0);
	emit_ret(g);
}

/* Published: 3.68 GFLOP/s on 32 cores of 4 warps and 4 threads at 200 MHz. The model's interval
 * must contain it, below the peak of 25.6. */
static void rv32_time__published_matmul(void **state)
{
	const struct rv32_time_parameters *p = rv32_time_preset("vortex-4x4");
	struct rig *g = rig_create();
	uint8_t *memory = calloc(3, 4 * N * N);
	const struct rv32_segment segment = {.host = memory,
					     .base = RIG_BUFFER,
					     .bytes = 12 * N * N,
					     .kind = RV32_GLOBAL,
					     .access = RV32_READ | RV32_WRITE};
	struct rv32_time_result r;
	double gflops[RV32_TIME_CASES];

	assert_non_null(p);
	assert_non_null(memory);
	g->launch.segments = &segment;
	g->launch.segment_count = 1;
	g->launch.dimensions = 2;
	g->launch.local[0] = N;
	g->launch.groups[1] = N;
	emit_matmul(g);
	r = run_model(g, p);
	for (int k = 0; k < RV32_TIME_CASES; k++) {
		const double seconds = (double)r.cycles[k] / (p->clock_mhz * 1e6);

		gflops[k] = 2.0 * N * N * N / seconds / 1e9;
	}
	printf("vortex-4x4: %.2f .. %.2f .. %.2f GFLOP/s, IPC %.2f\n", gflops[RV32_TIME_SLOW],
	       gflops[RV32_TIME_NOMINAL], gflops[RV32_TIME_FAST],
	       r.ipc_thousandths[RV32_TIME_NOMINAL] / 1000.0);
	assert_true(gflops[RV32_TIME_SLOW] < 3.68 && 3.68 < gflops[RV32_TIME_FAST]);
	assert_true(gflops[RV32_TIME_SLOW] > 1.8 && gflops[RV32_TIME_FAST] < 6.5);
	free(memory);
	rig_destroy(g);
}

/* More warps hide more latency. */
static void rv32_time__presets(void **state)
{
	struct rig *g = rig_create();
	uint64_t last = UINT64_MAX;
	static const char *const names[] = {"vortex-2x4", "vortex-4x4", "vortex-8x4"};

	emit_li(g, A0, RIG_BUFFER);
	for (int i = 0; i < 100; i++) {
		emit(g, RV32_LW, A1, A0, 0, 4 * i);
		emit(g, RV32_ADD, A2, A2, A1, 0);
	}
	emit_ret(g);
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		struct rv32_time_result r = run_model(g, rv32_time_preset(names[i]));

		assert_true(r.cycles[RV32_TIME_NOMINAL] < last);
		last = r.cycles[RV32_TIME_NOMINAL];
	}
	assert_null(rv32_time_preset("vortex"));
	/* 32 times as long on one core, but for rounding */
	struct rv32_time_result many = run_model(g, rv32_time_preset("vortex-4x4"));
	struct rv32_time_result one = run_model(g, rv32_time_preset("vortex-0.2.3"));
	assert_in_range(one.cycles[RV32_TIME_NOMINAL], 32 * (many.cycles[RV32_TIME_NOMINAL] - 1),
			32 * many.cycles[RV32_TIME_NOMINAL]);
	rig_destroy(g);
}

static void rv32_time__bad_parameters(void **state)
{
	static const uint32_t word = 0x8067;
	struct rv32_time_parameters p = simple;

	p.warps = 2;
	assert_null(rv32_time_create(&p, &word, 1, RV32_CODE_BASE));
	p = simple;
	p.threads = 12;
	assert_null(rv32_time_create(&p, &word, 1, RV32_CODE_BASE));
	p = simple;
	p.line_bytes = 2048;
	assert_null(rv32_time_create(&p, &word, 1, RV32_CODE_BASE));
	for (size_t i = 0; rv32_time_preset_at(i); i++) {
		struct rv32_time *time =
			rv32_time_create(rv32_time_preset_at(i), &word, 1, RV32_CODE_BASE);

		assert_non_null(time);
		rv32_time_destroy(time);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rv32_time__latencies),        cmocka_unit_test(rv32_time__cache),
		cmocka_unit_test(rv32_time__published_matmul), cmocka_unit_test(rv32_time__presets),
		cmocka_unit_test(rv32_time__bad_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
