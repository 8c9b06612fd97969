/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests each instruction's edge cases by the ISA manual, in each build, with masked lanes, and with
 * and without observable float flags. */
#include "test/unit/rv32_rig.h"

#define NAN_  0x7fc00000u
#define SNAN  0x7f800001u
#define INF   0x7f800000u
#define NEG   0x80000000u
#define ONE   0x3f800000u
#define TWO   0x40000000u
#define LEAST 1u /* smallest subnormal */

struct integer_case {
	enum rv32_opcode code;
	uint32_t a, b, want;
};

static const struct integer_case integers[] = {
	{RV32_ADD, 0xffffffff, 1, 0},
	{RV32_SUB, 0, 1, 0xffffffff},
	{RV32_SLL, 1, 33, 2},
	{RV32_SLL, 1, 31, NEG},
	{RV32_SRL, NEG, 31, 1},
	{RV32_SRL, NEG, 32, NEG},
	{RV32_SRA, NEG, 31, 0xffffffff},
	{RV32_SRA, 0x7fffffff, 63, 0},
	{RV32_SLT, 0xffffffff, 0, 1},
	{RV32_SLT, 0x7fffffff, NEG, 0},
	{RV32_SLTU, 0xffffffff, 0, 0},
	{RV32_SLTU, 0, NEG, 1},
	{RV32_XOR, 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0},
	{RV32_OR, 0xff00ff00, 0x0ff00ff0, 0xfff0fff0},
	{RV32_AND, 0xff00ff00, 0x0ff00ff0, 0x0f000f00},
	{RV32_MUL, 0x10001, 0x10001, 0x20001},
	{RV32_MUL, 0xffffffff, 0xffffffff, 1},
	{RV32_MULH, 0xffffffff, 0xffffffff, 0},
	{RV32_MULH, NEG, NEG, 0x40000000},
	{RV32_MULH, NEG, 0x7fffffff, 0xc0000000},
	{RV32_MULHSU, 0xffffffff, 0xffffffff, 0xffffffff},
	{RV32_MULHSU, NEG, 0xffffffff, 0x80000000},
	{RV32_MULHSU, 0x7fffffff, 0xffffffff, 0x7ffffffe},
	{RV32_MULHU, 0xffffffff, 0xffffffff, 0xfffffffe},
	{RV32_DIV, 7, 0, 0xffffffff},
	{RV32_DIV, NEG, 0xffffffff, NEG},
	{RV32_DIV, 0xfffffff9, 2, 0xfffffffd},
	{RV32_DIV, 7, 0xfffffffe, 0xfffffffd},
	{RV32_DIVU, 7, 0, 0xffffffff},
	{RV32_DIVU, NEG, 0xffffffff, 0},
	{RV32_REM, 7, 0, 7},
	{RV32_REM, NEG, 0xffffffff, 0},
	{RV32_REM, 0xfffffff9, 2, 0xffffffff},
	{RV32_REM, 7, 0xfffffffe, 1},
	{RV32_REMU, 7, 0, 7},
	{RV32_REMU, NEG, 0xffffffff, NEG},
};

struct float_case {
	enum rv32_opcode code;
	uint32_t rm, a, b, c, want, flags;
};

#define NX RV32_INEXACT
#define UF (RV32_UNDERFLOW | RV32_INEXACT)
#define OF (RV32_OVERFLOW | RV32_INEXACT)
#define DZ RV32_DIVZERO
#define NV RV32_INVALID

static const struct float_case floats[] = {
	/* half way: rounds to even */
	{RV32_FADD_S, RV32_RNE, ONE, 0x33800000, 0, ONE, NX},
	{RV32_FADD_S, RV32_RUP, ONE, 0x33800000, 0, ONE + 1, NX},
	{RV32_FADD_S, RV32_RMM, ONE, 0x33800000, 0, ONE + 1, NX},
	{RV32_FADD_S, RV32_RTZ, ONE, 0x33800000, 0, ONE, NX},
	{RV32_FADD_S, RV32_RDN, ONE, 0x33800000, 0, ONE, NX},
	{RV32_FADD_S, RV32_RNE, ONE, ONE | NEG, 0, 0, 0},
	{RV32_FADD_S, RV32_RDN, ONE, ONE | NEG, 0, NEG, 0},
	{RV32_FADD_S, RV32_RNE, INF, INF | NEG, 0, NAN_, NV},
	{RV32_FADD_S, RV32_RNE, 0xffc12345, ONE, 0, NAN_, 0},
	{RV32_FADD_S, RV32_RNE, SNAN, ONE, 0, NAN_, NV},
	{RV32_FADD_S, RV32_RNE, 0x7f7fffff, 0x7f7fffff, 0, INF, OF},
	{RV32_FADD_S, RV32_RTZ, 0x7f7fffff, 0x7f7fffff, 0, 0x7f7fffff, OF},
	{RV32_FSUB_S, RV32_RNE, NEG, NEG, 0, 0, 0},
	{RV32_FSUB_S, RV32_RNE, INF, INF, 0, NAN_, NV},
	{RV32_FMUL_S, RV32_RNE, LEAST, 0x3f000000, 0, 0, UF},
	{RV32_FMUL_S, RV32_RUP, LEAST, 0x3f000000, 0, LEAST, UF},
	{RV32_FMUL_S, RV32_RNE, 0, INF, 0, NAN_, NV},
	{RV32_FMUL_S, RV32_RNE, 0x00800000, 0x3f000000, 0, 0x00400000, 0},
	{RV32_FMUL_S, RV32_RNE, 0x3f7fffff, 0x00800001, 0, 0x00800000,
	 NX}, /* not tiny after rounding, so no underflow (UF) */
	{RV32_FDIV_S, RV32_RNE, ONE, 0, 0, INF, DZ},
	{RV32_FDIV_S, RV32_RNE, ONE, NEG, 0, INF | NEG, DZ},
	{RV32_FDIV_S, RV32_RNE, 0, NEG, 0, NAN_, NV},
	{RV32_FDIV_S, RV32_RNE, ONE, 0x40400000, 0, 0x3eaaaaab, NX},
	{RV32_FDIV_S, RV32_RDN, ONE, 0x40400000, 0, 0x3eaaaaaa, NX},
	{RV32_FSQRT_S, RV32_RNE, TWO, 0, 0, 0x3fb504f3, NX},
	{RV32_FSQRT_S, RV32_RUP, TWO, 0, 0, 0x3fb504f4, NX},
	{RV32_FSQRT_S, RV32_RNE, NEG, 0, 0, NEG, 0},
	{RV32_FSQRT_S, RV32_RNE, ONE | NEG, 0, 0, NAN_, NV},
	{RV32_FSQRT_S, RV32_RNE, INF, 0, 0, INF, 0},
	/* exact: (1 + 2^-12)^2 - 1 - 2^-11 = 2^-24 */
	{RV32_FMADD_S, RV32_RNE, 0x3f800800, 0x3f800800, 0xbf801000, 0x33800000, 0},
	{RV32_FMSUB_S, RV32_RNE, 0x3f800800, 0x3f800800, 0x3f801000, 0x33800000, 0},
	{RV32_FNMSUB_S, RV32_RNE, 0x3f800800, 0x3f800800, 0x3f801000, 0xb3800000, 0},
	{RV32_FNMADD_S, RV32_RNE, 0x3f800800, 0x3f800800, 0xbf801000, 0xb3800000, 0},
	/* 1 + 2^-24 + 2^-60; rounded twice, it would give 1 */
	{RV32_FMADD_S, RV32_RNE, 0x21800000, 0x3f800000, 0x3f800001, 0x3f800001, NX},
	{RV32_FMADD_S, RV32_RNE, 0x33800001, 0x3f800000, ONE, ONE + 1, NX},
	{RV32_FMADD_S, RV32_RNE, INF, 0, NAN_, NAN_, NV},
	{RV32_FMADD_S, RV32_RNE, INF, ONE, INF | NEG, NAN_, NV},
	{RV32_FMADD_S, RV32_RNE, 0, ONE, NEG, 0, 0},
	{RV32_FNMADD_S, RV32_RNE, 0, ONE, 0, NEG, 0},
	{RV32_FSGNJ_S, 0, ONE, NEG, 0, ONE | NEG, 0},
	{RV32_FSGNJN_S, 0, ONE, NEG, 0, ONE, 0},
	{RV32_FSGNJX_S, 0, ONE | NEG, NEG, 0, ONE, 0},
	/* a NaN's other bits stay */
	{RV32_FSGNJ_S, 0, SNAN, NEG, 0, SNAN | NEG, 0},
	{RV32_FMIN_S, 0, 0, NEG, 0, NEG, 0},
	{RV32_FMIN_S, 0, NEG, 0, 0, NEG, 0},
	{RV32_FMAX_S, 0, NEG, 0, 0, 0, 0},
	{RV32_FMAX_S, 0, 0, NEG, 0, 0, 0},
	{RV32_FMIN_S, 0, NAN_, ONE, 0, ONE, 0},
	{RV32_FMAX_S, 0, ONE, SNAN, 0, ONE, NV},
	{RV32_FMIN_S, 0, SNAN, 0xffffffff, 0, NAN_, NV},
	{RV32_FMIN_S, 0, INF | NEG, 0xff7fffff, 0, INF | NEG, 0},
	{RV32_FCVT_W_S, RV32_RTZ, 0xbfc00000, 0, 0, 0xffffffff, NX}, /* of -1.5 */
	{RV32_FCVT_W_S, RV32_RNE, 0xbfc00000, 0, 0, 0xfffffffe, NX},
	{RV32_FCVT_W_S, RV32_RMM, 0x40200000, 0, 0, 3, NX}, /* of 2.5 */
	{RV32_FCVT_W_S, RV32_RNE, 0x40200000, 0, 0, 2, NX},
	{RV32_FCVT_W_S, RV32_RDN, 0xbfc00000, 0, 0, 0xfffffffe, NX},
	{RV32_FCVT_W_S, RV32_RUP, 0xbfc00000, 0, 0, 0xffffffff, NX},
	{RV32_FCVT_W_S, RV32_RTZ, NAN_, 0, 0, 0x7fffffff, NV},
	{RV32_FCVT_W_S, RV32_RTZ, 0xffc00000, 0, 0, 0x7fffffff, NV},
	{RV32_FCVT_W_S, RV32_RTZ, INF, 0, 0, 0x7fffffff, NV},
	{RV32_FCVT_W_S, RV32_RTZ, INF | NEG, 0, 0, NEG, NV},
	{RV32_FCVT_W_S, RV32_RTZ, 0x4f000000, 0, 0, 0x7fffffff, NV},
	{RV32_FCVT_W_S, RV32_RTZ, 0xcf000000, 0, 0, NEG, 0},
	{RV32_FCVT_W_S, RV32_RTZ, 0xcf000001, 0, 0, NEG, NV},
	{RV32_FCVT_WU_S, RV32_RTZ, 0xbf800000, 0, 0, 0, NV},
	{RV32_FCVT_WU_S, RV32_RTZ, 0xbf7fffff, 0, 0, 0, NX},
	{RV32_FCVT_WU_S, RV32_RTZ, 0x4f7fffff, 0, 0, 0xffffff00, 0},
	{RV32_FCVT_WU_S, RV32_RTZ, 0x4f000000, 0, 0, NEG, 0},
	{RV32_FCVT_WU_S, RV32_RTZ, 0x4f800000, 0, 0, 0xffffffff, NV},
	{RV32_FCVT_WU_S, RV32_RTZ, NAN_, 0, 0, 0xffffffff, NV},
	{RV32_FCVT_WU_S, RV32_RTZ, INF | NEG, 0, 0, 0, NV},
	{RV32_FEQ_S, 0, 0, NEG, 0, 1, 0},
	{RV32_FEQ_S, 0, NAN_, NAN_, 0, 0, 0},
	{RV32_FEQ_S, 0, SNAN, ONE, 0, 0, NV},
	{RV32_FLT_S, 0, NAN_, ONE, 0, 0, NV},
	{RV32_FLT_S, 0, NEG, 0, 0, 0, 0},
	{RV32_FLT_S, 0, ONE | NEG, ONE, 0, 1, 0},
	{RV32_FLE_S, 0, 0, NEG, 0, 1, 0},
	{RV32_FLE_S, 0, ONE, NAN_, 0, 0, NV},
	{RV32_FCLASS_S, 0, INF | NEG, 0, 0, 1, 0},
	{RV32_FCLASS_S, 0, ONE | NEG, 0, 0, 2, 0},
	{RV32_FCLASS_S, 0, LEAST | NEG, 0, 0, 4, 0},
	{RV32_FCLASS_S, 0, NEG, 0, 0, 8, 0},
	{RV32_FCLASS_S, 0, 0, 0, 0, 16, 0},
	{RV32_FCLASS_S, 0, LEAST, 0, 0, 32, 0},
	{RV32_FCLASS_S, 0, ONE, 0, 0, 64, 0},
	{RV32_FCLASS_S, 0, INF, 0, 0, 128, 0},
	{RV32_FCLASS_S, 0, SNAN, 0, 0, 256, 0},
	{RV32_FCLASS_S, 0, NAN_, 0, 0, 512, 0},
	{RV32_FCVT_S_W, RV32_RNE, 0xffffffff, 0, 0, 0xbf800000, 0},
	{RV32_FCVT_S_W, RV32_RNE, 0x7fffffff, 0, 0, 0x4f000000, NX},
	{RV32_FCVT_S_W, RV32_RTZ, 0x7fffffff, 0, 0, 0x4effffff, NX},
	{RV32_FCVT_S_W, RV32_RNE, NEG, 0, 0, 0xcf000000, 0},
	{RV32_FCVT_S_WU, RV32_RNE, 0xffffffff, 0, 0, 0x4f800000, NX},
	{RV32_FCVT_S_WU, RV32_RDN, 0xffffffff, 0, 0, 0x4f7fffff, NX},
	{RV32_FMV_X_W, 0, SNAN, 0, 0, SNAN, 0},
	{RV32_FMV_W_X, 0, SNAN, 0, 0, SNAN, 0},
};

/* A work-item's row has four words. */
static void load_operands(struct rig *g, bool as_floats)
{
	emit_csr(g, T0, RV32_CSR_LOCAL_INDEX);
	emit(g, RV32_SLLI, T0, T0, 0, 4);
	emit_li(g, T1, RIG_BUFFER);
	emit(g, RV32_ADD, T0, T0, T1, 0);
	emit(g, RV32_LW, A0, T0, 0, 0);
	emit(g, RV32_LW, A1, T0, 0, 4);
	for (int i = 0; i < 3 && as_floats; i++)
		emit(g, RV32_FLW, A0 + (unsigned)i, T0, 0, 4 * i);
}

/* Appends a branch: lanes with an odd number skip the next instruction, so their A5 stays
 * unchanged. */
static void skip_odd(struct rig *g)
{
	emit_csr(g, T2, RV32_CSR_LANE);
	emit(g, RV32_ANDI, T2, T2, 0, 1);
	emit(g, RV32_BNE, 0, T2, ZERO, 8);
}

static void put_operands(struct rig *g, uint32_t a, uint32_t b, uint32_t c)
{
	for (size_t i = 0; i < RV32_LANES; i++) {
		*rig_word(g, 4 * i) = a;
		*rig_word(g, 4 * i + 1) = b;
		*rig_word(g, 4 * i + 2) = c;
	}
}

static void check_integer(struct rig *g, const struct integer_case *c, bool masked)
{
	rig_restart(g);
	load_operands(g, false);
	if (masked)
		skip_odd(g);
	emit(g, c->code, A5, A0, A1, 0);
	emit(g, RV32_SW, 0, T0, A5, 12);
	emit_ret(g);
	put_operands(g, c->a, c->b, 0);
	rig_run_ok(g);
	for (size_t i = 0; i < RV32_LANES; i++) {
		const uint32_t want = masked && i % 2 ? 0 : c->want;

		if (*rig_word(g, 4 * i + 3) != want)
			fail_msg("%s %08x, %08x is %08x, not %08x; lane %zu, build %d",
				 rv32_mnemonic(c->code), c->a, c->b, *rig_word(g, 4 * i + 3), want,
				 i, (int)g->build);
	}
}

static void rv32_execute__integers(void **state)
{
	struct rig *g = rig_create();

	EACH_BUILD(g)
	for (size_t i = 0; i < ARRAY_COUNT(integers); i++) {
		check_integer(g, &integers[i], false);
		check_integer(g, &integers[i], true);
	}
	rig_destroy(g);
}

static bool writes_float(enum rv32_opcode code)
{
	const enum rv32_format f = rv32_format_of(code);

	return f == RV32_FORMAT_F4 || f == RV32_FORMAT_F3 || f == RV32_FORMAT_F3_NRM ||
	       f == RV32_FORMAT_F2 || f == RV32_FORMAT_XTOF || f == RV32_FORMAT_XTOF_N;
}

static void check_float(struct rig *g, const struct float_case *c, bool masked, bool flags)
{
	rig_restart(g);
	load_operands(g, true);
	if (masked)
		skip_odd(g);
	emit_float(g, c->code, A5, A0, A1, rv32_format_of(c->code) == RV32_FORMAT_F4 ? A2 : 0,
		   c->rm);
	if (rv32_format_of(c->code) == RV32_FORMAT_F2 || rv32_format_of(c->code) > RV32_FORMAT_FCMP)
		g->words[g->count - 1] = rv32_encode(&(struct rv32_op){
			.code = (uint8_t)c->code, .rd = A5, .rs1 = A0, .rm = (uint8_t)c->rm});
	emit(g, writes_float(c->code) ? RV32_FSW : RV32_SW, 0, T0, A5, 12);
	if (flags) {
		emit_csr(g, A4, RV32_CSR_FFLAGS);
		emit(g, RV32_SW, 0, T0, A4, 8);
	}
	emit_ret(g);
	put_operands(g, c->a, c->b, c->c);
	rig_run_ok(g);
	for (size_t i = 0; i < RV32_LANES; i++) {
		const bool runs = !masked || i % 2 == 0;

		if (*rig_word(g, 4 * i + 3) != (runs ? c->want : 0))
			fail_msg("%s %08x, %08x, %08x rm %u is %08x, not %08x; lane %zu, build %d",
				 rv32_mnemonic(c->code), c->a, c->b, c->c, c->rm,
				 *rig_word(g, 4 * i + 3), runs ? c->want : 0, i, (int)g->build);
		if (flags && *rig_word(g, 4 * i + 2) != (runs ? c->flags : 0))
			fail_msg("%s %08x, %08x, %08x: flags %x, not %x", rv32_mnemonic(c->code),
				 c->a, c->b, c->c, *rig_word(g, 4 * i + 2), c->flags);
	}
}

static void rv32_execute__floats(void **state)
{
	struct rig *g = rig_create();

	EACH_BUILD(g)
	for (size_t i = 0; i < ARRAY_COUNT(floats); i++)
		for (int way = 0; way < 4; way++)
			check_float(g, &floats[i], way & 1, way & 2);
	rig_destroy(g);
}

/* A reserved mode in frm causes a trap. */
static void rv32_execute__dynamic_rounding(void **state)
{
	struct rig *g = rig_create();

	for (int32_t mode = RV32_RNE; mode <= RV32_RMM + 1; mode++) {
		rig_restart(g);
		load_operands(g, true);
		emit(g, RV32_CSRRWI, ZERO, (unsigned)mode, 0, RV32_CSR_FRM);
		emit_float(g, RV32_FADD_S, A5, A0, A1, 0, RV32_DYN);
		emit(g, RV32_FSW, 0, T0, A5, 12);
		emit_ret(g);
		put_operands(g, ONE, 0x33800000, 0);
		if (mode > RV32_RMM) {
			assert_int_equal(rig_run(g), DXP_EDEVICE);
			assert_int_equal(g->trap.kind, RV32_TRAP_ILLEGAL);
		} else {
			rig_run_ok(g);
			assert_int_equal(*rig_word(g, 3), mode >= RV32_RUP ? ONE + 1 : ONE);
		}
	}
	rig_destroy(g);
}

/* Register x0 stays 0, even as the destination of any instruction. */
static void rv32_execute__x0(void **state)
{
	struct rig *g = rig_create();

	EACH_BUILD(g)
	{
		rig_restart(g);
		load_operands(g, false);
		emit(g, RV32_ADDI, ZERO, ZERO, 0, 5);
		emit(g, RV32_LW, ZERO, T0, 0, 0);
		emit_csr(g, ZERO, RV32_CSR_LANE);
		emit(g, RV32_AMOADD_W, ZERO, T0, A0, 0);
		emit(g, RV32_LUI, ZERO, 0, 0, 0x1000);
		emit(g, RV32_JAL, ZERO, 0, 0, 4);
		emit(g, RV32_SW, 0, T0, ZERO, 12);
		emit_ret(g);
		put_operands(g, 7, 0, 0);
		*rig_word(g, 3) = 1;
		rig_run_ok(g);
		assert_int_equal(*rig_word(g, 3), 0);
		assert_int_equal(*rig_word(g, 0), 14);
	}
	rig_destroy(g);
}

/* Loads and stores of each width work at each alignment, in global, local and private memory. */
static void rv32_execute__misaligned(void **state)
{
	static const uint32_t bases[] = {RIG_BUFFER + 2048, RV32_LOCAL_BASE, RV32_PRIVATE_END - 64};
	struct rig *g = rig_create();

	g->launch.local[0] = 1;
	EACH_BUILD(g)
	for (size_t k = 0; k < ARRAY_COUNT(bases); k++) {
		for (int32_t at = 0; at < 8; at++) {
			rig_restart(g);
			emit_li(g, S0, bases[k]);
			emit_li(g, S1, RIG_BUFFER);
			emit_li(g, A0, 0x8182f384);
			emit(g, RV32_SW, 0, S0, A0, at);
			emit(g, RV32_SH, 0, S0, A0, at + 9);
			emit(g, RV32_SB, 0, S0, A0, at + 16);
			emit(g, RV32_LW, A1, S0, 0, at);
			emit(g, RV32_LH, A2, S0, 0, at + 9);
			emit(g, RV32_LHU, A3, S0, 0, at + 9);
			emit(g, RV32_LB, A4, S0, 0, at + 16);
			emit(g, RV32_LBU, A5, S0, 0, at + 1);
			for (unsigned i = 0; i < 5; i++)
				emit(g, RV32_SW, 0, S1, A1 + i, (int32_t)(4 * i));
			emit_ret(g);
			rig_run_ok(g);
			assert_int_equal(*rig_word(g, 0), 0x8182f384);
			assert_int_equal(*rig_word(g, 1), 0xfffff384);
			assert_int_equal(*rig_word(g, 2), 0xf384);
			assert_int_equal(*rig_word(g, 3), 0xffffff84);
			assert_int_equal(*rig_word(g, 4), 0xf3);
		}
	}
	rig_destroy(g);
}

/* SC succeeds once after LR, at its address, if the word is unchanged. */
static void rv32_execute__reservation(void **state)
{
	struct rig *g = rig_create();

	g->launch.local[0] = 1;
	emit_li(g, S0, RIG_BUFFER);
	emit_li(g, A0, 5);
	emit(g, RV32_LR_W, A1, S0, 0, 0);
	emit(g, RV32_SC_W, A2, S0, A0, 0); /* 0: success */
	emit(g, RV32_SC_W, A3, S0, A0, 0); /* 1: used up */
	emit(g, RV32_LR_W, A1, S0, 0, 0);
	emit(g, RV32_ADDI, S1, S0, 0, 4);
	emit(g, RV32_SC_W, A4, S1, A0, 0); /* 1: another address */
	emit(g, RV32_LR_W, A1, S0, 0, 0);
	emit(g, RV32_SW, 0, S0, ZERO, 0);
	emit(g, RV32_SC_W, A5, S0, A0, 0); /* 1: the word was changed */
	for (unsigned i = 0; i < 4; i++)
		emit(g, RV32_SW, 0, S0, A2 + i, (int32_t)(16 + 4 * i));
	emit_ret(g);
	rig_run_ok(g);
	assert_int_equal(*rig_word(g, 4), 0);
	assert_int_equal(*rig_word(g, 5), 1);
	assert_int_equal(*rig_word(g, 6), 1);
	assert_int_equal(*rig_word(g, 7), 1);
	assert_int_equal(*rig_word(g, 0), 0);
	rig_destroy(g);
}

static void rv32_execute__atomics(void **state)
{
	static const struct {
		enum rv32_opcode code;
		uint32_t first, operand, last;
	} cases[] = {
		{RV32_AMOADD_W, 0xfffffff0, 1, 16},
		{RV32_AMOSWAP_W, 9, 4, 4},
		{RV32_AMOXOR_W, 6, 3, 6},
		{RV32_AMOAND_W, 6, 3, 2},
		{RV32_AMOOR_W, 6, 1, 7},
		{RV32_AMOMIN_W, 1, 0xffffffff, 0xffffffff},
		{RV32_AMOMAX_W, 1, 0xffffffff, 1},
		{RV32_AMOMINU_W, 1, 0xffffffff, 1},
		{RV32_AMOMAXU_W, 1, 0xffffffff, 0xffffffff},
	};
	struct rig *g = rig_create();

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		rig_restart(g);
		emit_li(g, S0, RIG_BUFFER);
		emit_li(g, A0, cases[i].operand);
		emit(g, cases[i].code, A1, S0, A0, 0);
		emit_csr(g, T0, RV32_CSR_LANE);
		emit(g, RV32_SLLI, T0, T0, 0, 2);
		emit(g, RV32_ADD, T0, T0, S0, 0);
		emit(g, RV32_SW, 0, T0, A1, 64);
		emit_ret(g);
		*rig_word(g, 0) = cases[i].first;
		rig_run_ok(g);
		assert_int_equal(*rig_word(g, 0), cases[i].last);
		assert_int_equal(*rig_word(g, 16), cases[i].first);
		if (cases[i].code == RV32_AMOADD_W)
			for (uint32_t k = 0; k < RV32_LANES; k++)
				assert_int_equal(*rig_word(g, 16 + k), cases[i].first + k);
	}
	rig_destroy(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rv32_execute__integers),
		cmocka_unit_test(rv32_execute__floats),
		cmocka_unit_test(rv32_execute__dynamic_rounding),
		cmocka_unit_test(rv32_execute__x0),
		cmocka_unit_test(rv32_execute__misaligned),
		cmocka_unit_test(rv32_execute__reservation),
		cmocka_unit_test(rv32_execute__atomics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
