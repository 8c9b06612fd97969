/* SPDX-License-Identifier: BSD-3-Clause */
/* The vector handlers, included twice by execute_body.h. MASKED 0: all lanes run; 1: only those of
 * w->active, and others keep their registers. NAME(x) names each copy. */

#if MASKED
#define NAME(x)    x##_masked
#define ACTIVE(k)  (((const vec *)(const void *)w->active)[k])
#define PUT(at, v) (at) = pick(ACTIVE(k), (v), (at))
#define FIRST      first_lane(w->mask)
#define HOLDS(m)   ((m) | ~ACTIVE(k))
#else
#define NAME(x)    x##_full
#define ACTIVE(k)  splat(UINT32_MAX)
#define PUT(at, v) (at) = (v)
#define FIRST      0
#define HOLDS(m)   (m)
#endif

#define HANDLER(name) static struct step *NAME(name)(struct warp * w, struct step * s)
#define EACH          for (unsigned k = 0; k < VECTORS; k++)

/* ---- integers ---- */

/* d = expression of x (rs1) and y (rs2). */
#define BINARY(name, expression)                                \
	HANDLER(name)                                           \
	{                                                       \
		const vec *a = row(w, s->a), *b = row(w, s->b); \
		vec *d = row(w, s->d);                          \
                                                                \
		EACH                                            \
		{                                               \
			const vec x = a[k], y = b[k];           \
                                                                \
			PUT(d[k], (vec)(expression));           \
		}                                               \
		return CONTINUE;                                \
	}

/* d = expression of x (rs1) and y (immediate). */
#define IMMEDIATE(name, expression)                    \
	HANDLER(name)                                  \
	{                                              \
		const vec *a = row(w, s->a);           \
		const vec y = splat((uint32_t)s->imm); \
		vec *d = row(w, s->d);                 \
                                                       \
		EACH                                   \
		{                                      \
			const vec x = a[k];            \
                                                       \
			PUT(d[k], (vec)(expression));  \
		}                                      \
		return CONTINUE;                       \
	}

/* Handler: d = expression of x (rs1) and y (rs2), one lane after the other. Computes it also for
 * lanes that do not run. */
#define SCALAR(name, expression)                                     \
	HANDLER(name)                                                \
	{                                                            \
		alignas(32) uint32_t t[RV32_LANES];                  \
		const uint32_t *a = w->row[s->a], *b = w->row[s->b]; \
		vec *d = row(w, s->d);                               \
                                                                     \
		for (int i = 0; i < RV32_LANES; i++) {               \
			const uint32_t x = a[i], y = b[i];           \
                                                                     \
			t[i] = (uint32_t)(expression);               \
		}                                                    \
		EACH PUT(d[k], ((const vec *)(const void *)t)[k]);   \
		return s + 1;                                        \
	}

BINARY(add, x + y)
BINARY(sub, x - y)
BINARY(sll, x << (y & 31))
BINARY(srl, x >> (y & 31))
BINARY(sra, (ivec)x >> (ivec)(y & 31))
BINARY(slt, (vec)((ivec)x < (ivec)y) & 1)
BINARY(sltu, (vec)(x < y) & 1)
BINARY(xor, x ^ y)
BINARY(or, x | y)
BINARY(and, x &y)
BINARY(mul, x *y)
IMMEDIATE(addi, x + y)
IMMEDIATE(slti, (vec)((ivec)x < (ivec)y) & 1)
IMMEDIATE(sltiu, (vec)(x < y) & 1)
IMMEDIATE(xori, x ^ y)
IMMEDIATE(ori, x | y)
IMMEDIATE(andi, x &y)

/* Handler: shifts all lanes by the same number of bits. */
#define SHIFT(name, type, operator)                                \
	HANDLER(name)                                              \
	{                                                          \
		const vec *a = row(w, s->a);                       \
		vec *d = row(w, s->d);                             \
                                                                   \
		EACH PUT(d[k], (vec)((type)a[k] operator s->imm)); \
		return CONTINUE;                                   \
	}

SHIFT(slli, vec, <<)
SHIFT(srli, vec, >>)
SHIFT(srai, ivec, >>)

SCALAR(mulh, (uint64_t)((int64_t)(int32_t)x *(int32_t)y) >> 32)
SCALAR(mulhsu, (uint64_t)((int64_t)(int32_t)x *(int64_t)y) >> 32)
SCALAR(mulhu, ((uint64_t)x * y) >> 32)
SCALAR(div_, divide(x, y))
SCALAR(divu, y ? x / y : UINT32_MAX)
SCALAR(rem_, x - divide(x, y) * y)
SCALAR(remu, y ? x % y : x)

/* Executes LUI and AUIPC, whose result code.c has computed. */
HANDLER(constant)
{
	const vec v = splat((uint32_t)s->imm);
	vec *d = row(w, s->d);

	EACH PUT(d[k], v);
	return CONTINUE;
}

/* ---- jumps ---- */

HANDLER(jump)
{
	struct step *to = s + s->imm;

	if (s->imm <= 0) {
		if (s->imm == NO_TARGET)
			return rv32_lane_no_target(w, s, w->mask);
		count_branch(w, 0u - (uint32_t)s->imm);
		if (w->countdown <= 0)
			return leave(w, s, 1, to, EVENT_COUNTDOWN);
#if MASKED
	} else if (to > w->meet) {
		return leave(w, s, 1, to, EVENT_PASSED);
#endif
	}
	w->count += (uint64_t)(s - w->block) + 1;
	w->block = to;
	return to;
}

/* Branches with some or all running lanes. */
INLINE struct step *NAME(branch)(struct warp *w, struct step *s, uint32_t branching)
{
	if (branching == 0)
		return CONTINUE;
	if (branching == (MASKED ? w->mask : UINT32_MAX))
		return NAME(jump)(w, s);
	if (s->imm == NO_TARGET)
		return rv32_lane_no_target(w, s, branching);
	if (s->imm <= 0)
		count_branch(w, 0u - (uint32_t)s->imm);
	w->other = s + s->imm;
	w->other_mask = branching;
	return leave(w, s, 1, s + 1, EVENT_SPLIT);
}

/* Lanes whose condition is all ones branch. */
#define BRANCH(name, condition)                                                        \
	HANDLER(name)                                                                  \
	{                                                                              \
		const vec *a = row(w, s->a), *b = row(w, s->b);                        \
		uint32_t branching = 0;                                                \
                                                                                       \
		EACH                                                                   \
		{                                                                      \
			const vec x = a[k], y = b[k];                                  \
                                                                                       \
			branching |= bits_of((vec)(condition)&ACTIVE(k)) << WIDTH * k; \
		}                                                                      \
		return NAME(branch)(w, s, branching);                                  \
	}

BRANCH(beq, x == y)
BRANCH(bne, x != y)
BRANCH(blt, (ivec)x < (ivec)y)
BRANCH(bge, (ivec)x >= (ivec)y)
BRANCH(bltu, x < y)
BRANCH(bgeu, x >= y)

/* ---- floats, rounded to nearest ---- */

BINARY(fadd, canonical((fvec)x + (fvec)y))
BINARY(fsub, canonical((fvec)x - (fvec)y))
BINARY(fmul, canonical((fvec)x *(fvec)y))
BINARY(fdiv, canonical((fvec)x / (fvec)y))
BINARY(fsqrt, vector_sqrt(x) + (y & 0))
BINARY(fsgnj, (x & 0x7fffffff) | (y & 0x80000000))
BINARY(fsgnjn, (x & 0x7fffffff) | (~y & 0x80000000))
BINARY(fsgnjx, x ^ (y & 0x80000000))
BINARY(feq, (vec)((fvec)x == (fvec)y) & 1)
BINARY(flt, (vec)((fvec)x < (fvec)y) & 1)
BINARY(fle, (vec)((fvec)x <= (fvec)y) & 1)
BINARY(fmin, vector_minimum(x, y, splat(0)))
BINARY(fmax, vector_minimum(x, y, splat(UINT32_MAX)))
IMMEDIATE(move, x + (y & 0))
IMMEDIATE(fcvt_w_s, vector_to_signed(x) + (y & 0))
IMMEDIATE(fcvt_wu_s, vector_to_unsigned(x) + (y & 0))
IMMEDIATE(fcvt_s_w, (vec) __builtin_convertvector((ivec)x, fvec) + (y & 0))
SCALAR(fcvt_s_wu, float_bits((float)x) + (y & 0))

/* d = x * y + z; the signs flip those of product and z. */
#define FUSED(name, product_sign, addend_sign)                                                   \
	HANDLER(name)                                                                            \
	{                                                                                        \
		const vec *a = row(w, s->a), *b = row(w, s->b), *c = row(w, s->c);               \
		vec *d = row(w, s->d);                                                           \
                                                                                                 \
		EACH PUT(d[k], vector_fused(a[k] ^ (product_sign), b[k], c[k] ^ (addend_sign))); \
		return CONTINUE;                                                                 \
	}

FUSED(fmadd, 0, 0)
FUSED(fmsub, 0, 0x80000000)
FUSED(fnmsub, 0x80000000, 0)
FUSED(fnmadd, 0x80000000, 0x80000000)

#include "rv32/execute_memory.h"

static const step_fn NAME(handlers)[RV32_OPCODES] = {
	[RV32_LUI] = NAME(constant),
	[RV32_AUIPC] = NAME(constant),
	[RV32_JAL] = NAME(jump),
	[RV32_BEQ] = NAME(beq),
	[RV32_BNE] = NAME(bne),
	[RV32_BLT] = NAME(blt),
	[RV32_BGE] = NAME(bge),
	[RV32_BLTU] = NAME(bltu),
	[RV32_BGEU] = NAME(bgeu),
	[RV32_LB] = NAME(lb),
	[RV32_LH] = NAME(lh),
	[RV32_LW] = NAME(load),
	[RV32_LBU] = NAME(lbu),
	[RV32_LHU] = NAME(lhu),
	[RV32_SB] = NAME(sb),
	[RV32_SH] = NAME(sh),
	[RV32_SW] = NAME(store),
	[RV32_ADDI] = NAME(addi),
	[RV32_SLTI] = NAME(slti),
	[RV32_SLTIU] = NAME(sltiu),
	[RV32_XORI] = NAME(xori),
	[RV32_ORI] = NAME(ori),
	[RV32_ANDI] = NAME(andi),
	[RV32_SLLI] = NAME(slli),
	[RV32_SRLI] = NAME(srli),
	[RV32_SRAI] = NAME(srai),
	[RV32_ADD] = NAME(add),
	[RV32_SUB] = NAME(sub),
	[RV32_SLL] = NAME(sll),
	[RV32_SLT] = NAME(slt),
	[RV32_SLTU] = NAME(sltu),
	[RV32_XOR] = NAME(xor),
	[RV32_SRL] = NAME(srl),
	[RV32_SRA] = NAME(sra),
	[RV32_OR] = NAME(or),
	[RV32_AND] = NAME(and),
	[RV32_MUL] = NAME(mul),
	[RV32_MULH] = NAME(mulh),
	[RV32_MULHSU] = NAME(mulhsu),
	[RV32_MULHU] = NAME(mulhu),
	[RV32_DIV] = NAME(div_),
	[RV32_DIVU] = NAME(divu),
	[RV32_REM] = NAME(rem_),
	[RV32_REMU] = NAME(remu),
	[RV32_FLW] = NAME(load),
	[RV32_FSW] = NAME(store),
	[RV32_FMADD_S] = NAME(fmadd),
	[RV32_FMSUB_S] = NAME(fmsub),
	[RV32_FNMSUB_S] = NAME(fnmsub),
	[RV32_FNMADD_S] = NAME(fnmadd),
	[RV32_FADD_S] = NAME(fadd),
	[RV32_FSUB_S] = NAME(fsub),
	[RV32_FMUL_S] = NAME(fmul),
	[RV32_FDIV_S] = NAME(fdiv),
	[RV32_FSQRT_S] = NAME(fsqrt),
	[RV32_FSGNJ_S] = NAME(fsgnj),
	[RV32_FSGNJN_S] = NAME(fsgnjn),
	[RV32_FSGNJX_S] = NAME(fsgnjx),
	[RV32_FMIN_S] = NAME(fmin),
	[RV32_FMAX_S] = NAME(fmax),
	[RV32_FCVT_W_S] = NAME(fcvt_w_s),
	[RV32_FCVT_WU_S] = NAME(fcvt_wu_s),
	[RV32_FMV_X_W] = NAME(move),
	[RV32_FEQ_S] = NAME(feq),
	[RV32_FLT_S] = NAME(flt),
	[RV32_FLE_S] = NAME(fle),
	[RV32_FCVT_S_W] = NAME(fcvt_s_w),
	[RV32_FCVT_S_WU] = NAME(fcvt_s_wu),
	[RV32_FMV_W_X] = NAME(move),
};

#undef NAME
#undef ACTIVE
#undef PUT
#undef FIRST
#undef HOLDS
#undef HANDLER
#undef EACH
#undef BINARY
#undef IMMEDIATE
#undef SCALAR
#undef SHIFT
#undef BRANCH
#undef FUSED
