/* SPDX-License-Identifier: BSD-3-Clause */
/* Decodes words to steps: handler, rows of the register file, immediate. */
#include <stdlib.h>
#include <string.h>

#include "rv32/decode.h"
#include "rv32/lane.h"

bool rv32_build_runs(enum rv32_build build)
{
#if defined(__x86_64__)
	if (build == RV32_BUILD_AVX2)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
		       __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
		       rv32_execute_avx2.run;
#else
	if (build == RV32_BUILD_AVX2)
		return false;
#endif
	return true;
}

/* FLOAT_x: a float register; READ_x, WRITE_D: the instruction reads the operand, writes the x
 * register rd. */
enum { FLOAT_D = 1, FLOAT_A = 2, FLOAT_B = 4, READ_A = 8, READ_B = 16, READ_C = 32, WRITE_D = 64 };

static unsigned operands_of(enum rv32_format format)
{
	switch (format) {
	case RV32_FORMAT_R:
	case RV32_FORMAT_AMO:
	case RV32_FORMAT_POST: return WRITE_D | READ_A | READ_B;
	case RV32_FORMAT_I:
	case RV32_FORMAT_SHIFT:
	case RV32_FORMAT_LOAD:
	case RV32_FORMAT_LR:
	case RV32_FORMAT_CSR: return WRITE_D | READ_A;
	case RV32_FORMAT_STORE:
	case RV32_FORMAT_BRANCH: return READ_A | READ_B;
	case RV32_FORMAT_U:
	case RV32_FORMAT_JUMP:
	case RV32_FORMAT_CSRI:
	case RV32_FORMAT_GET:
	case RV32_FORMAT_DEQUEUE: return WRITE_D;
	case RV32_FORMAT_SET: return READ_A;
	case RV32_FORMAT_FLOAD: return WRITE_D | FLOAT_D | READ_A;
	case RV32_FORMAT_FSTORE: return READ_A | READ_B | FLOAT_B;
	case RV32_FORMAT_F4:
		return WRITE_D | FLOAT_D | READ_A | FLOAT_A | READ_B | FLOAT_B | READ_C;
	case RV32_FORMAT_F3:
	case RV32_FORMAT_F3_NRM: return WRITE_D | FLOAT_D | READ_A | FLOAT_A | READ_B | FLOAT_B;
	case RV32_FORMAT_F2: return WRITE_D | FLOAT_D | READ_A | FLOAT_A;
	case RV32_FORMAT_FCMP: return WRITE_D | READ_A | FLOAT_A | READ_B | FLOAT_B;
	case RV32_FORMAT_FTOX:
	case RV32_FORMAT_FTOX_N: return WRITE_D | READ_A | FLOAT_A;
	case RV32_FORMAT_XTOF:
	case RV32_FORMAT_XTOF_N: return WRITE_D | FLOAT_D | READ_A;
	default: return 0;
	}
}

/* Returns true if the code may read the flags, or the rounding mode is not the vector handler's. */
static bool needs_software(const struct rv32_code *code, const struct rv32_op *op)
{
	const bool converts = op->code == RV32_FCVT_W_S || op->code == RV32_FCVT_WU_S;

	switch (rv32_format_of((enum rv32_opcode)op->code)) {
	case RV32_FORMAT_F4:
	case RV32_FORMAT_F3:
	case RV32_FORMAT_F2:
	case RV32_FORMAT_XTOF: return code->exact || (op->rm != RV32_RNE && op->rm != RV32_DYN);
	case RV32_FORMAT_FTOX: return code->exact || !converts || op->rm != RV32_RTZ;
	case RV32_FORMAT_FCMP: return code->exact;
	case RV32_FORMAT_F3_NRM:
		return code->exact && (op->code == RV32_FMIN_S || op->code == RV32_FMAX_S);
	default: return false;
	}
}

/* Returns the distance in steps, or NO_TARGET. */
static int32_t target_of(const struct rv32_code *code, uint32_t index, const struct rv32_op *op)
{
	const int64_t target = (int64_t)index + op->imm / 4;

	return op->imm % 4 || target < 0 || target >= code->count ? NO_TARGET : op->imm / 4;
}

static int32_t immediate_of(const struct rv32_code *code, uint32_t index, const struct rv32_op *op)
{
	switch (rv32_format_of((enum rv32_opcode)op->code)) {
	case RV32_FORMAT_BRANCH:
	case RV32_FORMAT_JUMP: return target_of(code, index, op);
	case RV32_FORMAT_CSR:
	case RV32_FORMAT_CSRI: return op->imm | (int32_t)op->code << 16;
	case RV32_FORMAT_AMO:
	case RV32_FORMAT_LR: return op->code;
	case RV32_FORMAT_U:
		return op->code == RV32_LUI ? op->imm
					    : (int32_t)((uint32_t)op->imm + code->base + 4 * index);
	default: return op->imm;
	}
}

static void fill(const struct rv32_code *code, uint32_t index, const struct rv32_op *op,
		 const step_fn *handlers, struct step *s)
{
	const enum rv32_format format = rv32_format_of((enum rv32_opcode)op->code);
	const unsigned o = operands_of(format);

	s->d = (uint8_t)(op->rd + (o & FLOAT_D ? ROW_FLOAT : 0));
	s->a = (uint8_t)(op->rs1 + (o & FLOAT_A ? ROW_FLOAT : 0));
	s->b = (uint8_t)(op->rs2 + (o & FLOAT_B ? ROW_FLOAT : 0));
	s->c = (uint8_t)(op->rs3 + ROW_FLOAT);
	if (s->d == 0 && o & WRITE_D)
		s->d = ROW_SINK;
	s->imm = immediate_of(code, index, op);
	s->fn = handlers[op->code];
	if (needs_software(code, op) ||
	    (!s->fn && rv32_lane_handler(op->code) == rv32_lane_float)) {
		s->imm = op->code | op->rm << 8;
		s->fn = rv32_lane_float;
	}
	/* The vector handler only jumps; one that stores its return address needs the lane
	 * handler. */
	if (!s->fn || (op->code == RV32_JAL && op->rd))
		s->fn = rv32_lane_handler(op->code);
}

/* Marks rows that are read; at a warp's start only these are cleared. */
static void note_reads(const struct rv32_op *op, bool reads[ROWS])
{
	const unsigned o = operands_of(rv32_format_of((enum rv32_opcode)op->code));

	if (o & READ_A)
		reads[op->rs1 + (o & FLOAT_A ? ROW_FLOAT : 0)] = true;
	if (o & READ_B)
		reads[op->rs2 + (o & FLOAT_B ? ROW_FLOAT : 0)] = true;
	if (o & READ_C)
		reads[op->rs3 + ROW_FLOAT] = true;
	/* Its callback may read any argument register. */
	for (unsigned i = 0; op->code == RV32_ECALL && i < ROW_SINK; i++)
		reads[i] = true;
}

static bool is_csr(const struct rv32_op *op)
{
	return op->code >= RV32_CSRRW && op->code <= RV32_CSRRCI;
}

/* Finds the rows that the code reads, and instructions that need care. */
static void survey(struct rv32_code *code)
{
	bool reads[ROWS] = {[0] = true};

	for (uint32_t i = 0; i < code->count; i++) {
		const struct rv32_op op = rv32_decode(code->words[i]);

		note_reads(&op, reads);
		if (is_csr(&op) && op.imm >= RV32_CSR_FFLAGS && op.imm <= RV32_CSR_FCSR)
			code->exact = true;
		code->posts |= op.code >= RV32_DXP_SET;
		code->reserves |= op.code == RV32_LR_W || op.code == RV32_SC_W;
	}
	for (unsigned i = 0; i < ROW_SINK; i++)
		if (reads[i])
			code->read_rows[code->row_count++] = (uint8_t)i;
}

static void decode_all(struct rv32_code *code)
{
	const step_fn illegal = rv32_lane_handler(RV32_ILLEGAL);

	survey(code);
	for (uint32_t i = 0; i < code->count; i++) {
		const struct rv32_op op = rv32_decode(code->words[i]);

		fill(code, i, &op, code->execute->full, &code->full[i]);
		fill(code, i, &op, code->execute->masked, &code->masked[i]);
	}
	/* Two steps behind the code trap. A lone group has the second one as `meet`, which no group
	 * executes, so it runs on until an event. */
	for (uint32_t i = code->count; i < code->count + 2; i++)
		code->full[i].fn = code->masked[i].fn = illegal;
}

struct rv32_code *rv32_code_create(const uint32_t *words, size_t count, uint32_t base,
				   enum rv32_build build)
{
	struct rv32_code *code;

	if (count == 0 || count > RV32_CODE_BYTES_MAX / 4 || base % RV32_PAGE_BYTES ||
	    base < RV32_CODE_BASE || base > RV32_BUFFER_BASE - RV32_CODE_BYTES_MAX ||
	    !rv32_build_runs(build))
		return NULL;
	code = calloc(1, sizeof(*code));
	if (!code)
		return NULL;
	if (build == RV32_BUILD_BEST && rv32_build_runs(RV32_BUILD_AVX2))
		build = RV32_BUILD_AVX2;
	code->execute = build == RV32_BUILD_AVX2 ? &rv32_execute_avx2 : &rv32_execute_baseline;
	code->base = base;
	code->count = (uint32_t)count;
	code->words = malloc(count * sizeof(*words));
	code->full = calloc(count + 2, sizeof(*code->full));
	code->masked = calloc(count + 2, sizeof(*code->masked));
	if (!code->words || !code->full || !code->masked) {
		rv32_code_destroy(code);
		return NULL;
	}
	memcpy(code->words, words, count * sizeof(*words));
	decode_all(code);
	return code;
}

void rv32_code_destroy(struct rv32_code *code)
{
	if (!code)
		return;
	free(code->words);
	free(code->full);
	free(code->masked);
	free(code);
}
