/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes an instruction as its operand format requires. */
#include "rv32/disasm.h"

#include <inttypes.h>
#include <stdio.h>

#include "rv32/decode.h"

#define FENCE_TSO 0x833

static const char *const x_names[32] = {"zero", "ra", "sp",  "gp",  "tp", "t0", "t1", "t2",
					"s0",   "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
					"a6",   "a7", "s2",  "s3",  "s4", "s5", "s6", "s7",
					"s8",   "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
static const char *const f_names[32] = {"ft0", "ft1", "ft2",  "ft3",  "ft4", "ft5", "ft6",  "ft7",
					"fs0", "fs1", "fa0",  "fa1",  "fa2", "fa3", "fa4",  "fa5",
					"fa6", "fa7", "fs2",  "fs3",  "fs4", "fs5", "fs6",  "fs7",
					"fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};
static const char *const rounding_names[8] = {"rne", "rtz", "rdn", "rup", "rmm", "?", "?", "dyn"};
static const char *const order_names[4] = {"", ".rl", ".aq", ".aqrl"};

/* Writes a set of the letters i, o, r, w. */
static const char *order_set(unsigned bits, char text[5])
{
	int n = 0;

	for (int i = 0; i < 4; i++)
		if (bits & (8u >> i))
			text[n++] = "iorw"[i];
	if (n == 0)
		text[n++] = '0';
	text[n] = '\0';
	return text;
}

static int with_rounding(char *text, size_t bytes, int used, const struct rv32_op *op)
{
	if (op->rm == RV32_DYN || used < 0 || (size_t)used >= bytes)
		return used;
	return used + snprintf(text + used, bytes - (size_t)used, ", %s", rounding_names[op->rm]);
}

static int integers(const struct rv32_op *op, uint32_t pc, const char *m, char *text, size_t bytes)
{
	const char *d = x_names[op->rd], *a = x_names[op->rs1], *b = x_names[op->rs2];
	const uint32_t target = pc + (uint32_t)op->imm;
	char before[5], after[5];

	switch (rv32_format_of((enum rv32_opcode)op->code)) {
	case RV32_FORMAT_R: return snprintf(text, bytes, "%s %s, %s, %s", m, d, a, b);
	case RV32_FORMAT_I:
	case RV32_FORMAT_SHIFT:
		return snprintf(text, bytes, "%s %s, %s, %" PRId32, m, d, a, op->imm);
	case RV32_FORMAT_LOAD:
		return snprintf(text, bytes, "%s %s, %" PRId32 "(%s)", m, d, op->imm, a);
	case RV32_FORMAT_STORE:
		return snprintf(text, bytes, "%s %s, %" PRId32 "(%s)", m, b, op->imm, a);
	case RV32_FORMAT_BRANCH:
		return snprintf(text, bytes, "%s %s, %s, 0x%" PRIx32, m, a, b, target);
	case RV32_FORMAT_U:
		return snprintf(text, bytes, "%s %s, 0x%" PRIx32, m, d, (uint32_t)op->imm >> 12);
	case RV32_FORMAT_JUMP: return snprintf(text, bytes, "%s %s, 0x%" PRIx32, m, d, target);
	case RV32_FORMAT_FENCE:
		if (op->imm == FENCE_TSO)
			return snprintf(text, bytes, "%s.tso", m);
		return snprintf(text, bytes, "%s %s, %s", m,
				order_set((unsigned)op->imm >> 4 & 15, before),
				order_set((unsigned)op->imm & 15, after));
	case RV32_FORMAT_CSR:
		return snprintf(text, bytes, "%s %s, 0x%" PRIx32 ", %s", m, d, (uint32_t)op->imm,
				a);
	case RV32_FORMAT_CSRI:
		return snprintf(text, bytes, "%s %s, 0x%" PRIx32 ", %u", m, d, (uint32_t)op->imm,
				op->rs1);
	case RV32_FORMAT_LR:
		return snprintf(text, bytes, "%s%s %s, (%s)", m, order_names[op->aq], d, a);
	case RV32_FORMAT_AMO:
		return snprintf(text, bytes, "%s%s %s, %s, (%s)", m, order_names[op->aq], d, b, a);
	case RV32_FORMAT_SET: return snprintf(text, bytes, "%s %" PRId32 ", %s", m, op->imm, a);
	case RV32_FORMAT_GET: return snprintf(text, bytes, "%s %s, %" PRId32, m, d, op->imm);
	case RV32_FORMAT_POST:
		return snprintf(text, bytes, "%s %s, %s, %s, %" PRId32, m, d, a, b, op->imm);
	case RV32_FORMAT_DEQUEUE: return snprintf(text, bytes, "%s %s", m, d);
	default: return snprintf(text, bytes, "%s", m);
	}
}

static int floats(const struct rv32_op *op, const char *m, char *text, size_t bytes)
{
	const char *x = x_names[op->rd], *d = f_names[op->rd], *a = f_names[op->rs1];
	const char *b = f_names[op->rs2];

	switch (rv32_format_of((enum rv32_opcode)op->code)) {
	case RV32_FORMAT_FLOAD:
		return snprintf(text, bytes, "%s %s, %" PRId32 "(%s)", m, d, op->imm,
				x_names[op->rs1]);
	case RV32_FORMAT_FSTORE:
		return snprintf(text, bytes, "%s %s, %" PRId32 "(%s)", m, b, op->imm,
				x_names[op->rs1]);
	case RV32_FORMAT_F4:
		return snprintf(text, bytes, "%s %s, %s, %s, %s", m, d, a, b, f_names[op->rs3]);
	case RV32_FORMAT_F3:
	case RV32_FORMAT_F3_NRM: return snprintf(text, bytes, "%s %s, %s, %s", m, d, a, b);
	case RV32_FORMAT_F2: return snprintf(text, bytes, "%s %s, %s", m, d, a);
	case RV32_FORMAT_FCMP: return snprintf(text, bytes, "%s %s, %s, %s", m, x, a, b);
	case RV32_FORMAT_FTOX:
	case RV32_FORMAT_FTOX_N: return snprintf(text, bytes, "%s %s, %s", m, x, a);
	default: /* FORMAT_XTOF, FORMAT_XTOF_N */
		return snprintf(text, bytes, "%s %s, %s", m, d, x_names[op->rs1]);
	}
}

/* Returns false for a FENCE with nonzero fields that the device ignores, which the text cannot
 * show. */
static bool is_canonical(const struct rv32_op *op)
{
	return op->code != RV32_FENCE ||
	       (op->rd == 0 && op->rs1 == 0 && (op->imm >> 8 == 0 || op->imm == FENCE_TSO));
}

int rv32_disasm(uint32_t word, uint32_t pc, char *text, size_t bytes)
{
	const struct rv32_op op = rv32_decode(word);
	const enum rv32_format format = rv32_format_of((enum rv32_opcode)op.code);
	const char *mnemonic = rv32_mnemonic((enum rv32_opcode)op.code);
	int used;

	if (op.code == RV32_ILLEGAL || !is_canonical(&op))
		return snprintf(text, bytes, ".word 0x%08" PRIx32, word);
	if (format < RV32_FORMAT_FLOAD || format > RV32_FORMAT_XTOF_N)
		return integers(&op, pc, mnemonic, text, bytes);
	used = floats(&op, mnemonic, text, bytes);
	if (format == RV32_FORMAT_F4 || format == RV32_FORMAT_F3 || format == RV32_FORMAT_F2 ||
	    format == RV32_FORMAT_FTOX || format == RV32_FORMAT_XTOF)
		used = with_rounding(text, bytes, used, &op);
	return used;
}
