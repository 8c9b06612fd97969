/* SPDX-License-Identifier: BSD-3-Clause */
/* One table of fixed bits serves decoding and encoding. */
#include <stddef.h>

#include "rv32/decode.h"
#include "rv32/nic.h"

#define LOAD     0x03u
#define LOAD_FP  0x07u
#define CUSTOM_0 0x0bu
#define MISC_MEM 0x0fu
#define OP_IMM   0x13u
#define AUIPC    0x17u
#define STORE    0x23u
#define STORE_FP 0x27u
#define CUSTOM_1 0x2bu
#define AMO      0x2fu
#define OP       0x33u
#define LUI      0x37u
#define OP_FP    0x53u
#define BRANCH   0x63u
#define JALR     0x67u
#define JAL      0x6fu
#define SYSTEM   0x73u

/* F3: major opcode and funct3; F7: also funct7; RS2: also rs2. */
#define F3(major, f3)          ((major) | (uint32_t)(f3) << 12)
#define F7(major, f3, f7)      (F3(major, f3) | (uint32_t)(f7) << 25)
#define RS2(major, f3, f7, r2) (F7(major, f3, f7) | (uint32_t)(r2) << 20)
/* Fixed bits of an atomic: funct5; aq and rl are free. */
#define A5(f5) (F3(AMO, 2) | (uint32_t)(f5) << 27)

static const uint32_t match_of[RV32_OPCODES] = {
	[RV32_LUI] = LUI,
	[RV32_AUIPC] = AUIPC,
	[RV32_JAL] = JAL,
	[RV32_JALR] = F3(JALR, 0),
	[RV32_BEQ] = F3(BRANCH, 0),
	[RV32_BNE] = F3(BRANCH, 1),
	[RV32_BLT] = F3(BRANCH, 4),
	[RV32_BGE] = F3(BRANCH, 5),
	[RV32_BLTU] = F3(BRANCH, 6),
	[RV32_BGEU] = F3(BRANCH, 7),
	[RV32_LB] = F3(LOAD, 0),
	[RV32_LH] = F3(LOAD, 1),
	[RV32_LW] = F3(LOAD, 2),
	[RV32_LBU] = F3(LOAD, 4),
	[RV32_LHU] = F3(LOAD, 5),
	[RV32_SB] = F3(STORE, 0),
	[RV32_SH] = F3(STORE, 1),
	[RV32_SW] = F3(STORE, 2),
	[RV32_ADDI] = F3(OP_IMM, 0),
	[RV32_SLTI] = F3(OP_IMM, 2),
	[RV32_SLTIU] = F3(OP_IMM, 3),
	[RV32_XORI] = F3(OP_IMM, 4),
	[RV32_ORI] = F3(OP_IMM, 6),
	[RV32_ANDI] = F3(OP_IMM, 7),
	[RV32_SLLI] = F7(OP_IMM, 1, 0),
	[RV32_SRLI] = F7(OP_IMM, 5, 0),
	[RV32_SRAI] = F7(OP_IMM, 5, 0x20),
	[RV32_ADD] = F7(OP, 0, 0),
	[RV32_SUB] = F7(OP, 0, 0x20),
	[RV32_SLL] = F7(OP, 1, 0),
	[RV32_SLT] = F7(OP, 2, 0),
	[RV32_SLTU] = F7(OP, 3, 0),
	[RV32_XOR] = F7(OP, 4, 0),
	[RV32_SRL] = F7(OP, 5, 0),
	[RV32_SRA] = F7(OP, 5, 0x20),
	[RV32_OR] = F7(OP, 6, 0),
	[RV32_AND] = F7(OP, 7, 0),
	[RV32_FENCE] = F3(MISC_MEM, 0),
	[RV32_PAUSE] = 0x0100000f,
	[RV32_ECALL] = 0x00000073,
	[RV32_EBREAK] = 0x00100073,
	[RV32_CSRRW] = F3(SYSTEM, 1),
	[RV32_CSRRS] = F3(SYSTEM, 2),
	[RV32_CSRRC] = F3(SYSTEM, 3),
	[RV32_CSRRWI] = F3(SYSTEM, 5),
	[RV32_CSRRSI] = F3(SYSTEM, 6),
	[RV32_CSRRCI] = F3(SYSTEM, 7),
	[RV32_MUL] = F7(OP, 0, 1),
	[RV32_MULH] = F7(OP, 1, 1),
	[RV32_MULHSU] = F7(OP, 2, 1),
	[RV32_MULHU] = F7(OP, 3, 1),
	[RV32_DIV] = F7(OP, 4, 1),
	[RV32_DIVU] = F7(OP, 5, 1),
	[RV32_REM] = F7(OP, 6, 1),
	[RV32_REMU] = F7(OP, 7, 1),
	[RV32_LR_W] = A5(0x02),
	[RV32_SC_W] = A5(0x03),
	[RV32_AMOSWAP_W] = A5(0x01),
	[RV32_AMOADD_W] = A5(0x00),
	[RV32_AMOXOR_W] = A5(0x04),
	[RV32_AMOAND_W] = A5(0x0c),
	[RV32_AMOOR_W] = A5(0x08),
	[RV32_AMOMIN_W] = A5(0x10),
	[RV32_AMOMAX_W] = A5(0x14),
	[RV32_AMOMINU_W] = A5(0x18),
	[RV32_AMOMAXU_W] = A5(0x1c),
	[RV32_FLW] = F3(LOAD_FP, 2),
	[RV32_FSW] = F3(STORE_FP, 2),
	[RV32_FMADD_S] = 0x43,
	[RV32_FMSUB_S] = 0x47,
	[RV32_FNMSUB_S] = 0x4b,
	[RV32_FNMADD_S] = 0x4f,
	[RV32_FADD_S] = F7(OP_FP, 0, 0x00),
	[RV32_FSUB_S] = F7(OP_FP, 0, 0x04),
	[RV32_FMUL_S] = F7(OP_FP, 0, 0x08),
	[RV32_FDIV_S] = F7(OP_FP, 0, 0x0c),
	[RV32_FSQRT_S] = F7(OP_FP, 0, 0x2c),
	[RV32_FSGNJ_S] = F7(OP_FP, 0, 0x10),
	[RV32_FSGNJN_S] = F7(OP_FP, 1, 0x10),
	[RV32_FSGNJX_S] = F7(OP_FP, 2, 0x10),
	[RV32_FMIN_S] = F7(OP_FP, 0, 0x14),
	[RV32_FMAX_S] = F7(OP_FP, 1, 0x14),
	[RV32_FCVT_W_S] = RS2(OP_FP, 0, 0x60, 0),
	[RV32_FCVT_WU_S] = RS2(OP_FP, 0, 0x60, 1),
	[RV32_FMV_X_W] = F7(OP_FP, 0, 0x70),
	[RV32_FEQ_S] = F7(OP_FP, 2, 0x50),
	[RV32_FLT_S] = F7(OP_FP, 1, 0x50),
	[RV32_FLE_S] = F7(OP_FP, 0, 0x50),
	[RV32_FCLASS_S] = F7(OP_FP, 1, 0x70),
	[RV32_FCVT_S_W] = RS2(OP_FP, 0, 0x68, 0),
	[RV32_FCVT_S_WU] = RS2(OP_FP, 0, 0x68, 1),
	[RV32_FMV_W_X] = F7(OP_FP, 0, 0x78),
	[RV32_DXP_BAR] = F3(CUSTOM_0, 4),
	[RV32_DXP_SET] = F3(CUSTOM_1, 1),
	[RV32_DXP_GET] = F3(CUSTOM_1, 2),
	[RV32_DXP_POST] = F3(CUSTOM_1, 0),
	[RV32_DXP_DEQUEUE] = F3(CUSTOM_1, 3),
};

/* The bits that match_of fixes; FORMAT_NONE: all. */
static const uint32_t mask_of[] = {
	[RV32_FORMAT_NONE] = 0xffffffff,    [RV32_FORMAT_R] = 0xfe00707f,
	[RV32_FORMAT_I] = 0x0000707f,       [RV32_FORMAT_SHIFT] = 0xfe00707f,
	[RV32_FORMAT_LOAD] = 0x0000707f,    [RV32_FORMAT_STORE] = 0x0000707f,
	[RV32_FORMAT_BRANCH] = 0x0000707f,  [RV32_FORMAT_U] = 0x0000007f,
	[RV32_FORMAT_JUMP] = 0x0000007f,    [RV32_FORMAT_FENCE] = 0x0000707f,
	[RV32_FORMAT_CSR] = 0x0000707f,     [RV32_FORMAT_CSRI] = 0x0000707f,
	[RV32_FORMAT_LR] = 0xf9f0707f,      [RV32_FORMAT_AMO] = 0xf800707f,
	[RV32_FORMAT_FLOAD] = 0x0000707f,   [RV32_FORMAT_FSTORE] = 0x0000707f,
	[RV32_FORMAT_F4] = 0x0600007f,      [RV32_FORMAT_F3] = 0xfe00007f,
	[RV32_FORMAT_F3_NRM] = 0xfe00707f,  [RV32_FORMAT_F2] = 0xfff0007f,
	[RV32_FORMAT_FCMP] = 0xfe00707f,    [RV32_FORMAT_FTOX] = 0xfff0007f,
	[RV32_FORMAT_FTOX_N] = 0xfff0707f,  [RV32_FORMAT_XTOF] = 0xfff0007f,
	[RV32_FORMAT_XTOF_N] = 0xfff0707f,  [RV32_FORMAT_SET] = 0xff007fff, /* registers 0 .. 15 */
	[RV32_FORMAT_GET] = 0x000ff07f,     [RV32_FORMAT_POST] = 0x0000707f,
	[RV32_FORMAT_DEQUEUE] = 0xfffff07f,
};

#define FORMAT_OF(name, mnemonic, format) RV32_FORMAT_##format,
static const uint8_t formats[RV32_OPCODES] = {RV32_OP_LIST(FORMAT_OF)};
#undef FORMAT_OF

#define MNEMONIC_OF(name, mnemonic, format) mnemonic,
static const char *const mnemonics[RV32_OPCODES] = {RV32_OP_LIST(MNEMONIC_OF)};
#undef MNEMONIC_OF

const char *rv32_mnemonic(enum rv32_opcode code)
{
	return mnemonics[code];
}

enum rv32_format rv32_format_of(enum rv32_opcode code)
{
	return (enum rv32_format)formats[code];
}

static uint32_t bits(uint32_t word, unsigned low, unsigned count)
{
	return word >> low & ((1u << count) - 1);
}

static int32_t immediate_branch(uint32_t w)
{
	uint32_t sign = w & 0x80000000 ? 0xfffff000 : 0;

	return (int32_t)(sign | bits(w, 7, 1) << 11 | bits(w, 25, 6) << 5 | bits(w, 8, 4) << 1);
}

static int32_t immediate_jump(uint32_t w)
{
	uint32_t sign = w & 0x80000000 ? 0xfff00000 : 0;

	return (int32_t)(sign | (w & 0x000ff000) | bits(w, 20, 1) << 11 | bits(w, 21, 10) << 1);
}

static int32_t immediate_high(uint32_t w)
{
	return (int32_t)(bits(w, 20, 12) ^ 0x800) - 0x800;
}

static int32_t immediate_of(enum rv32_format format, uint32_t w)
{
	switch (format) {
	case RV32_FORMAT_I:
	case RV32_FORMAT_LOAD:
	case RV32_FORMAT_FLOAD: return immediate_high(w);
	case RV32_FORMAT_STORE:
	case RV32_FORMAT_FSTORE: return (immediate_high(w) & ~31) | (int32_t)bits(w, 7, 5);
	case RV32_FORMAT_BRANCH: return immediate_branch(w);
	case RV32_FORMAT_U: return (int32_t)(w & 0xfffff000);
	case RV32_FORMAT_JUMP: return immediate_jump(w);
	case RV32_FORMAT_SHIFT: return (int32_t)bits(w, 20, 5);
	case RV32_FORMAT_FENCE:
	case RV32_FORMAT_CSR:
	case RV32_FORMAT_CSRI:
	case RV32_FORMAT_SET:
	case RV32_FORMAT_GET: return (int32_t)bits(w, 20, 12);
	case RV32_FORMAT_POST: return (int32_t)bits(w, 25, 7);
	default: return 0;
	}
}

static bool has_rounding(enum rv32_format format)
{
	return format == RV32_FORMAT_F4 || format == RV32_FORMAT_F3 || format == RV32_FORMAT_F2 ||
	       format == RV32_FORMAT_FTOX || format == RV32_FORMAT_XTOF;
}

static bool has_rd(enum rv32_format format)
{
	return format != RV32_FORMAT_NONE && format != RV32_FORMAT_STORE &&
	       format != RV32_FORMAT_BRANCH && format != RV32_FORMAT_FSTORE &&
	       format != RV32_FORMAT_SET;
}

static bool has_rs1(enum rv32_format format)
{
	return format != RV32_FORMAT_NONE && format != RV32_FORMAT_U &&
	       format != RV32_FORMAT_JUMP && format != RV32_FORMAT_GET &&
	       format != RV32_FORMAT_DEQUEUE;
}

static bool has_rs2(enum rv32_format format)
{
	switch (format) {
	case RV32_FORMAT_R:
	case RV32_FORMAT_STORE:
	case RV32_FORMAT_BRANCH:
	case RV32_FORMAT_AMO:
	case RV32_FORMAT_FSTORE:
	case RV32_FORMAT_F4:
	case RV32_FORMAT_F3:
	case RV32_FORMAT_F3_NRM:
	case RV32_FORMAT_FCMP:
	case RV32_FORMAT_POST: return true;
	default: return false;
	}
}

static struct rv32_op fields_of(enum rv32_opcode code, uint32_t word)
{
	enum rv32_format format = formats[code];
	struct rv32_op op = {.code = (uint8_t)code};

	if (has_rd(format))
		op.rd = (uint8_t)bits(word, 7, 5);
	if (has_rs1(format))
		op.rs1 = (uint8_t)bits(word, 15, 5);
	if (has_rs2(format))
		op.rs2 = (uint8_t)bits(word, 20, 5);
	if (format == RV32_FORMAT_F4)
		op.rs3 = (uint8_t)bits(word, 27, 5);
	if (has_rounding(format))
		op.rm = (uint8_t)bits(word, 12, 3);
	if (format == RV32_FORMAT_AMO || format == RV32_FORMAT_LR)
		op.aq = (uint8_t)bits(word, 25, 2);
	op.imm = immediate_of(format, word);
	return op;
}

/* Returns false if the fixed bits match, but the device has no such operands. */
static bool operands_exist(const struct rv32_op *op)
{
	enum rv32_format format = formats[op->code];

	if (has_rounding(format))
		return op->rm <= RV32_RMM || op->rm == RV32_DYN;
	if (format == RV32_FORMAT_GET)
		return op->imm < RV32_NIC_REGISTERS ||
		       (op->imm >= RV32_NIC_ERROR && op->imm < RV32_NIC_VALUES_END);
	return true;
}

/* Words without operands come first, because PAUSE also matches FENCE. */
static enum rv32_opcode opcode_of(uint32_t word)
{
	enum rv32_opcode found = RV32_ILLEGAL;

	for (unsigned i = RV32_ILLEGAL + 1; i < RV32_OPCODES; i++) {
		if ((word & mask_of[formats[i]]) != match_of[i])
			continue;
		if (formats[i] == RV32_FORMAT_NONE)
			return (enum rv32_opcode)i;
		found = (enum rv32_opcode)i;
	}
	return found;
}

struct rv32_op rv32_decode(uint32_t word)
{
	struct rv32_op op = fields_of(opcode_of(word), word);

	if (!operands_exist(&op))
		op = (struct rv32_op){.code = RV32_ILLEGAL};
	return op;
}

static uint32_t encoded_immediate(enum rv32_format format, uint32_t i)
{
	switch (format) {
	case RV32_FORMAT_STORE:
	case RV32_FORMAT_FSTORE: return bits(i, 5, 7) << 25 | bits(i, 0, 5) << 7;
	case RV32_FORMAT_BRANCH:
		return bits(i, 12, 1) << 31 | bits(i, 5, 6) << 25 | bits(i, 1, 4) << 8 |
		       bits(i, 11, 1) << 7;
	case RV32_FORMAT_U: return i & 0xfffff000;
	case RV32_FORMAT_JUMP:
		return bits(i, 20, 1) << 31 | bits(i, 1, 10) << 21 | bits(i, 11, 1) << 20 |
		       (i & 0x000ff000);
	case RV32_FORMAT_SHIFT: return bits(i, 0, 5) << 20;
	case RV32_FORMAT_POST: return bits(i, 0, 7) << 25;
	default: return bits(i, 0, 12) << 20;
	}
}

uint32_t rv32_encode(const struct rv32_op *op)
{
	enum rv32_format format = formats[op->code];
	uint32_t word = match_of[op->code];

	if (format == RV32_FORMAT_NONE)
		return word;
	/* Fields that a format lacks are 0 in `op`; fixed bits of funct3 and rs2 are in `word`
	 * already. */
	word |= (uint32_t)op->rd << 7 | (uint32_t)op->rs1 << 15 | (uint32_t)op->rs2 << 20 |
		(uint32_t)op->rs3 << 27 | (uint32_t)op->aq << 25;
	if (has_rounding(format))
		word |= (uint32_t)op->rm << 12;
	return word | encoded_immediate(format, (uint32_t)op->imm);
}
