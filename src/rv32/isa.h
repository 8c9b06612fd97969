/* SPDX-License-Identifier: BSD-3-Clause */
/* Instructions of an rv32 xPU: rv32imaf, reads of ids, and own ones in custom-0 and custom-1. One
 * list defines enumeration, mnemonics and formats. */
#ifndef RV32_ISA_H
#define RV32_ISA_H

#include <stdbool.h>
#include <stdint.h>

enum rv32_format {
	RV32_FORMAT_NONE,   /* no operands */
	RV32_FORMAT_R,      /* rd, rs1, rs2 */
	RV32_FORMAT_I,      /* rd, rs1, imm */
	RV32_FORMAT_SHIFT,  /* rd, rs1, imm 0 .. 31 */
	RV32_FORMAT_LOAD,   /* rd, imm(rs1) */
	RV32_FORMAT_STORE,  /* rs2, imm(rs1) */
	RV32_FORMAT_BRANCH, /* rs1, rs2, pc + imm */
	RV32_FORMAT_U,      /* rd, imm: upper 20 bits in place */
	RV32_FORMAT_JUMP,   /* rd, pc + imm */
	RV32_FORMAT_FENCE,  /* imm: fm << 8 | pred << 4 | succ */
	RV32_FORMAT_CSR,    /* rd, imm: CSR, rs1 */
	RV32_FORMAT_CSRI,   /* rd, imm: CSR, rs1: 0 .. 31 */
	RV32_FORMAT_LR,     /* rd, (rs1) */
	RV32_FORMAT_AMO,    /* rd, rs2, (rs1) */
	RV32_FORMAT_FLOAD,  /* fd, imm(rs1) */
	RV32_FORMAT_FSTORE, /* fs2, imm(rs1) */
	RV32_FORMAT_F4,     /* fd, fs1, fs2, fs3, rm */
	RV32_FORMAT_F3,     /* fd, fs1, fs2, rm */
	RV32_FORMAT_F3_NRM, /* fd, fs1, fs2 */
	RV32_FORMAT_F2,     /* fd, fs1, rm */
	RV32_FORMAT_FCMP,   /* rd, fs1, fs2 */
	RV32_FORMAT_FTOX,   /* rd, fs1, rm */
	RV32_FORMAT_FTOX_N, /* rd, fs1 */
	RV32_FORMAT_XTOF,   /* fd, rs1, rm */
	RV32_FORMAT_XTOF_N, /* fd, rs1 */
	RV32_FORMAT_SET,    /* imm: register, rs1 */
	RV32_FORMAT_GET,    /* rd, imm: register */
	RV32_FORMAT_POST,   /* rd, rs1, rs2, imm: enum dxp_op */
	RV32_FORMAT_DEQUEUE /* rd */
};

/* X(name, mnemonic, format). ILLEGAL is first, so that zeros do not run. */
#define RV32_OP_LIST(X)                 \
	X(ILLEGAL, "illegal", NONE)     \
	X(LUI, "lui", U)                \
	X(AUIPC, "auipc", U)            \
	X(JAL, "jal", JUMP)             \
	X(JALR, "jalr", LOAD)           \
	X(BEQ, "beq", BRANCH)           \
	X(BNE, "bne", BRANCH)           \
	X(BLT, "blt", BRANCH)           \
	X(BGE, "bge", BRANCH)           \
	X(BLTU, "bltu", BRANCH)         \
	X(BGEU, "bgeu", BRANCH)         \
	X(LB, "lb", LOAD)               \
	X(LH, "lh", LOAD)               \
	X(LW, "lw", LOAD)               \
	X(LBU, "lbu", LOAD)             \
	X(LHU, "lhu", LOAD)             \
	X(SB, "sb", STORE)              \
	X(SH, "sh", STORE)              \
	X(SW, "sw", STORE)              \
	X(ADDI, "addi", I)              \
	X(SLTI, "slti", I)              \
	X(SLTIU, "sltiu", I)            \
	X(XORI, "xori", I)              \
	X(ORI, "ori", I)                \
	X(ANDI, "andi", I)              \
	X(SLLI, "slli", SHIFT)          \
	X(SRLI, "srli", SHIFT)          \
	X(SRAI, "srai", SHIFT)          \
	X(ADD, "add", R)                \
	X(SUB, "sub", R)                \
	X(SLL, "sll", R)                \
	X(SLT, "slt", R)                \
	X(SLTU, "sltu", R)              \
	X(XOR, "xor", R)                \
	X(SRL, "srl", R)                \
	X(SRA, "sra", R)                \
	X(OR, "or", R)                  \
	X(AND, "and", R)                \
	X(FENCE, "fence", FENCE)        \
	X(PAUSE, "pause", NONE)         \
	X(ECALL, "ecall", NONE)         \
	X(EBREAK, "ebreak", NONE)       \
	X(CSRRW, "csrrw", CSR)          \
	X(CSRRS, "csrrs", CSR)          \
	X(CSRRC, "csrrc", CSR)          \
	X(CSRRWI, "csrrwi", CSRI)       \
	X(CSRRSI, "csrrsi", CSRI)       \
	X(CSRRCI, "csrrci", CSRI)       \
	X(MUL, "mul", R)                \
	X(MULH, "mulh", R)              \
	X(MULHSU, "mulhsu", R)          \
	X(MULHU, "mulhu", R)            \
	X(DIV, "div", R)                \
	X(DIVU, "divu", R)              \
	X(REM, "rem", R)                \
	X(REMU, "remu", R)              \
	X(LR_W, "lr.w", LR)             \
	X(SC_W, "sc.w", AMO)            \
	X(AMOSWAP_W, "amoswap.w", AMO)  \
	X(AMOADD_W, "amoadd.w", AMO)    \
	X(AMOXOR_W, "amoxor.w", AMO)    \
	X(AMOAND_W, "amoand.w", AMO)    \
	X(AMOOR_W, "amoor.w", AMO)      \
	X(AMOMIN_W, "amomin.w", AMO)    \
	X(AMOMAX_W, "amomax.w", AMO)    \
	X(AMOMINU_W, "amominu.w", AMO)  \
	X(AMOMAXU_W, "amomaxu.w", AMO)  \
	X(FLW, "flw", FLOAD)            \
	X(FSW, "fsw", FSTORE)           \
	X(FMADD_S, "fmadd.s", F4)       \
	X(FMSUB_S, "fmsub.s", F4)       \
	X(FNMSUB_S, "fnmsub.s", F4)     \
	X(FNMADD_S, "fnmadd.s", F4)     \
	X(FADD_S, "fadd.s", F3)         \
	X(FSUB_S, "fsub.s", F3)         \
	X(FMUL_S, "fmul.s", F3)         \
	X(FDIV_S, "fdiv.s", F3)         \
	X(FSQRT_S, "fsqrt.s", F2)       \
	X(FSGNJ_S, "fsgnj.s", F3_NRM)   \
	X(FSGNJN_S, "fsgnjn.s", F3_NRM) \
	X(FSGNJX_S, "fsgnjx.s", F3_NRM) \
	X(FMIN_S, "fmin.s", F3_NRM)     \
	X(FMAX_S, "fmax.s", F3_NRM)     \
	X(FCVT_W_S, "fcvt.w.s", FTOX)   \
	X(FCVT_WU_S, "fcvt.wu.s", FTOX) \
	X(FMV_X_W, "fmv.x.w", FTOX_N)   \
	X(FEQ_S, "feq.s", FCMP)         \
	X(FLT_S, "flt.s", FCMP)         \
	X(FLE_S, "fle.s", FCMP)         \
	X(FCLASS_S, "fclass.s", FTOX_N) \
	X(FCVT_S_W, "fcvt.s.w", XTOF)   \
	X(FCVT_S_WU, "fcvt.s.wu", XTOF) \
	X(FMV_W_X, "fmv.w.x", XTOF_N)   \
	X(DXP_BAR, "dxp.bar", NONE)     \
	X(DXP_SET, "dxp.set", SET)      \
	X(DXP_GET, "dxp.get", GET)      \
	X(DXP_POST, "dxp.post", POST)   \
	X(DXP_DEQUEUE, "dxp.take", DEQUEUE)

#define RV32_OP_ENUM(name, mnemonic, format) RV32_##name,
enum rv32_opcode { RV32_OP_LIST(RV32_OP_ENUM) RV32_OPCODES };
#undef RV32_OP_ENUM

/* Rounding modes, as encoded. */
enum rv32_rounding {
	RV32_RNE,    /* to nearest, ties to even */
	RV32_RTZ,    /* towards zero */
	RV32_RDN,    /* down */
	RV32_RUP,    /* up */
	RV32_RMM,    /* to nearest, ties away from zero */
	RV32_DYN = 7 /* work-item's frm */
};

enum rv32_fflag {
	RV32_INEXACT = 1,
	RV32_UNDERFLOW = 2,
	RV32_OVERFLOW = 4,
	RV32_DIVZERO = 8,
	RV32_INVALID = 16
};

/* Those above RV32_CSR_FCSR are read-only. Of three dimensions, x is listed, y and z follow. */
enum rv32_csr {
	RV32_CSR_FFLAGS = 0x001,
	RV32_CSR_FRM = 0x002,
	RV32_CSR_FCSR = 0x003,
	RV32_CSR_INSTRET = 0xc02,     /* by this warp, low word */
	RV32_CSR_INSTRETH = 0xc82,    /* by this warp, high word */
	RV32_CSR_GLOBAL_ID = 0xcc0,   /* with the launch's offset */
	RV32_CSR_LOCAL_ID = 0xcc3,    /* in the work-group */
	RV32_CSR_GROUP_ID = 0xcc6,    /* of the work-group */
	RV32_CSR_GLOBAL_SIZE = 0xcc9, /* work-items */
	RV32_CSR_LOCAL_SIZE = 0xccc,  /* work-items of a work-group */
	RV32_CSR_GROUPS = 0xccf,      /* work-groups */
	RV32_CSR_OFFSET = 0xcd2,      /* the launch's offset */
	RV32_CSR_DIMENSIONS = 0xcd5,  /* 1 .. 3 */
	RV32_CSR_LOCAL_INDEX = 0xcd6, /* linear, in the work-group */
	RV32_CSR_LANE = 0xcd7,        /* 0 .. 31 */
	RV32_CSR_CORE = 0xcd8,        /* index of the core */
	RV32_CSR_LOCAL_BYTES = 0xcd9  /* of a work-group */
};

/* Registers are 0 .. 31; the format determines the members in use. */
struct rv32_op {
	uint8_t code; /* enum rv32_opcode */
	uint8_t rd, rs1, rs2, rs3;
	uint8_t rm;  /* enum rv32_rounding */
	uint8_t aq;  /* atomics: aq << 1 | rl */
	int32_t imm; /* sign-extended; jumps: bytes from the instruction */
};

const char *rv32_mnemonic(enum rv32_opcode code);

enum rv32_format rv32_format_of(enum rv32_opcode code);

#endif
