/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of X-14: the source's matrix product on the cores of engine rv32, with the cycles of their
 * model of time for the source's processor (docs/reference/rv32.md). */
#include <stdio.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "cmd/dxp/model_check.h"
#include "rv32/core.h"
#include "rv32/decode.h"
#include "rv32/time.h"

#define N          64u /* rows and columns */
#define BYTES      (4 * N * N)
#define XPU_GFLOPS 3.68         /* measured by the source */
#define PRESET     "vortex-4x4" /* 32 cores of 4 warps with 4 threads, at 200 MHz */

enum { ZERO, RA, T0 = 5, T1, A0 = 10, A1, A2, A3 };

/* C = A * B as clang compiles the plain loop. Each work-item computes one element. */
static const struct rv32_op product[] = {
	{.code = RV32_CSRRS, .rd = T0, .imm = RV32_CSR_GLOBAL_ID},     /* column */
	{.code = RV32_CSRRS, .rd = T1, .imm = RV32_CSR_GLOBAL_ID + 1}, /* row */
	{.code = RV32_LUI, .rd = A0, .imm = RV32_BUFFER_BASE},
	{.code = RV32_LUI, .rd = A1, .imm = RV32_BUFFER_BASE + BYTES},
	{.code = RV32_LUI, .rd = A2, .imm = RV32_BUFFER_BASE + 2 * BYTES},
	{.code = RV32_SLLI, .rd = T1, .rs1 = T1, .imm = 8},
	{.code = RV32_SLLI, .rd = T0, .rs1 = T0, .imm = 2},
	{.code = RV32_ADD, .rd = A0, .rs1 = A0, .rs2 = T1},
	{.code = RV32_ADD, .rd = A1, .rs1 = A1, .rs2 = T0},
	{.code = RV32_ADD, .rd = A2, .rs1 = A2, .rs2 = T1},
	{.code = RV32_ADD, .rd = A2, .rs1 = A2, .rs2 = T0},
	{.code = RV32_ADDI, .rd = A3, .rs1 = ZERO, .imm = N},
	{.code = RV32_FLW, .rd = A0, .rs1 = A0},
	{.code = RV32_FLW, .rd = A1, .rs1 = A1},
	{.code = RV32_FMADD_S, .rd = A2, .rs1 = A0, .rs2 = A1, .rs3 = A2, .rm = RV32_DYN},
	{.code = RV32_ADDI, .rd = A3, .rs1 = A3, .imm = -1},
	{.code = RV32_ADDI, .rd = A0, .rs1 = A0, .imm = 4},
	{.code = RV32_ADDI, .rd = A1, .rs1 = A1, .imm = 4 * N},
	{.code = RV32_BNE, .rs1 = A3, .rs2 = ZERO, .imm = -24},
	{.code = RV32_FSW, .rs1 = A2, .rs2 = A2},
	{.code = RV32_JALR, .rd = ZERO, .rs1 = RA},
};

/* Runs the product; `time` follows it. */
static int product_run(const uint32_t *words, uint8_t *memory, struct rv32_time *time)
{
	const struct rv32_core_options options = {.warps = N / RV32_LANES};
	const struct rv32_segment segment = {.host = memory,
					     .base = RV32_BUFFER_BASE,
					     .bytes = 3 * BYTES,
					     .kind = RV32_GLOBAL,
					     .access = RV32_READ | RV32_WRITE};
	struct rv32_launch launch = {.segments = &segment,
				     .segment_count = 1,
				     .entry = RV32_CODE_BASE,
				     .dimensions = 2,
				     .groups = {1, N, 1},
				     .local = {N, 1, 1},
				     .private_bytes = RV32_PRIVATE_BYTES,
				     .trace = rv32_time_trace,
				     .trace_context = time};
	struct rv32_core *core = rv32_core_create(&options);
	struct rv32_counters counters;
	struct rv32_trap trap;
	int status = DXP_ENOMEM;

	launch.code =
		rv32_code_create(words, ARRAY_COUNT(product), RV32_CODE_BASE, RV32_BUILD_BEST);
	if (core && launch.code)
		status = rv32_core_run(core, &launch, &counters, &trap);
	rv32_code_destroy(launch.code);
	rv32_core_destroy(core);
	return status;
}

static int product_time(const struct rv32_time_parameters *of, struct rv32_time_result *out)
{
	uint32_t words[ARRAY_COUNT(product)];
	uint8_t *memory = calloc(3, BYTES);
	int status = DXP_ENOMEM;

	for (size_t i = 0; i < ARRAY_COUNT(product); i++)
		words[i] = rv32_encode(&product[i]);
	struct rv32_time *time = rv32_time_create(of, words, ARRAY_COUNT(product), RV32_CODE_BASE);
	if (memory && time)
		status = product_run(words, memory, time);
	if (status == DXP_OK)
		rv32_time_read(time, out);
	rv32_time_destroy(time);
	free(memory);
	return status;
}

int model_xpu_rows(const struct model_parameters *p, uint64_t seed, const struct model_sink *sink)
{
	const struct rv32_time_parameters *of = rv32_time_preset(PRESET);
	double gflops[RV32_TIME_CASES];
	struct rv32_time_result r;
	int status = product_time(of, &r);

	if (status != DXP_OK)
		return error_set(status, "the matrix product of X-14 does not run: %s",
				 dxp_status_text(status));
	for (int i = 0; i < RV32_TIME_CASES; i++)
		gflops[i] = 2.0 * N * N * N * of->clock_mhz / 1e3 / (double)r.cycles[i];
	struct model_row row = model_row_plain("X-14", "matrix product on the xPU", "GFLOP/s",
					       gflops[RV32_TIME_NOMINAL]);
	snprintf(row.x, sizeof(row.x), "%u", N);
	row.low = gflops[RV32_TIME_SLOW];
	row.high = gflops[RV32_TIME_FAST];
	row.assumptions = "memory latency,memory bandwidth,load,branch";
	model_emit(sink, &row);
	row = model_row_shape("X-14", "the interval has the matrix product's figure",
			      gflops[RV32_TIME_SLOW] < XPU_GFLOPS &&
				      XPU_GFLOPS < gflops[RV32_TIME_FAST]);
	model_emit(sink, &row);
	return DXP_OK;
}
