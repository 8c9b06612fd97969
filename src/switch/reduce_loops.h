/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops by operator and type, and their table; only for reduce.c and reduce_avx2.c.
 *
 * Floating-point MIN and MAX are into < from ? into : from (MAX: >), as in Open MPI. Comparisons
 * with NaN are false, so the later operand stays, also of two zeros. MPI leaves this undefined; the
 * fixed order of folding repeats results. A sum or product with a NaN is one; of two NaNs, the
 * compiler decides the payload. */
#ifndef SWITCH_REDUCE_LOOPS_H
#define SWITCH_REDUCE_LOOPS_H

#include "switch/reduce.h"
#include "switch/reduce_half.h"

/* Element types that need no alignment. */
#define ANYWHERE __attribute__((aligned(1)))
typedef int8_t any_int8;
typedef uint8_t any_uint8;
typedef int16_t any_int16 ANYWHERE;
typedef uint16_t any_uint16 ANYWHERE;
typedef int32_t any_int32 ANYWHERE;
typedef uint32_t any_uint32 ANYWHERE;
typedef int64_t any_int64 ANYWHERE;
typedef uint64_t any_uint64 ANYWHERE;
typedef float any_float ANYWHERE;
typedef double any_double ANYWHERE;

/* `result`: of elements a (`into`) and b (`from`). */
#define LOOP(name, type, result)                                                          \
	static void name(void *restrict into, const void *restrict from, size_t elements) \
	{                                                                                 \
		any_##type *restrict x = into;                                            \
		const any_##type *restrict y = from;                                      \
                                                                                          \
		for (size_t i = 0; i < elements; i++) {                                   \
			any_##type a = x[i], b = y[i];                                    \
			x[i] = (any_##type)(result);                                      \
		}                                                                         \
	}

/* Sums wrap as unsigned. 1u keeps 16-bit factors from int, whose overflow is undefined. */
#define INTEGER_ORDER(type)                   \
	LOOP(min_##type, type, a < b ? a : b) \
	LOOP(max_##type, type, a > b ? a : b)
#define INTEGER_RING(type)                           \
	LOOP(sum_##type, type, a + b)                \
	LOOP(prod_##type, type, 1u * a * b)          \
	LOOP(land_##type, type, (a != 0) & (b != 0)) \
	LOOP(lor_##type, type, (a != 0) | (b != 0))  \
	LOOP(lxor_##type, type, (a != 0) ^ (b != 0)) \
	LOOP(band_##type, type, a &b)                \
	LOOP(bor_##type, type, a | b)                \
	LOOP(bxor_##type, type, a ^ b)

INTEGER_ORDER(int8)
INTEGER_ORDER(int16)
INTEGER_ORDER(int32)
INTEGER_ORDER(int64)
INTEGER_ORDER(uint8)
INTEGER_ORDER(uint16)
INTEGER_ORDER(uint32)
INTEGER_ORDER(uint64)
INTEGER_RING(uint8)
INTEGER_RING(uint16)
INTEGER_RING(uint32)
INTEGER_RING(uint64)

#define FLOATING(type)                        \
	LOOP(sum_##type, type, a + b)         \
	LOOP(prod_##type, type, a *b)         \
	LOOP(min_##type, type, a < b ? a : b) \
	LOOP(max_##type, type, a > b ? a : b)

FLOATING(float)
FLOATING(double)

#define HALF(form)                                                                          \
	LOOP(sum_##form, uint16, form##_of_float(form##_to_float(a) + form##_to_float(b)))  \
	LOOP(prod_##form, uint16, form##_of_float(form##_to_float(a) * form##_to_float(b))) \
	LOOP(min_##form, uint16, form##_to_float(a) < form##_to_float(b) ? a : b)           \
	LOOP(max_##form, uint16, form##_to_float(a) > form##_to_float(b) ? a : b)

HALF(fp16)
HALF(bf16)

/* Pairs: value, index directly behind, zeros up to `bytes`. Of equal values, the lower index
 * stays. */
#define PAIR(name, type, bytes, before)                                                   \
	static void name(void *restrict into, const void *restrict from, size_t elements) \
	{                                                                                 \
		uint8_t *x = into;                                                        \
		const uint8_t *y = from;                                                  \
                                                                                          \
		for (; elements > 0; elements--, x += (bytes), y += (bytes)) {            \
			any_##type a = *(any_##type *)x, b = *(const any_##type *)y;      \
			any_int32 *i = (any_int32 *)(x + sizeof(a));                      \
			any_int32 j = *(const any_int32 *)(y + sizeof(b));                \
                                                                                          \
			*(any_##type *)x = b before a ? b : a;                            \
			*i = b before a || (b == a && j < *i) ? j : *i;                   \
			memset(x + sizeof(a) + 4, 0, (bytes) - sizeof(a) - 4);            \
		}                                                                         \
	}

#define PAIRS(type, bytes)                  \
	PAIR(minloc_##type, type, bytes, <) \
	PAIR(maxloc_##type, type, bytes, >)

PAIRS(int32, 8)
PAIRS(int64, 16)
PAIRS(float, 8)
PAIRS(double, 16)

/* ---- table ---- */

#define ORDER_ROW(op)                                                                             \
	{                                                                                         \
		[DXP_INC_INT8] = op##_int8, [DXP_INC_INT16] = op##_int16,                         \
		[DXP_INC_INT32] = op##_int32, [DXP_INC_INT64] = op##_int64,                       \
		[DXP_INC_UINT8] = op##_uint8, [DXP_INC_UINT16] = op##_uint16,                     \
		[DXP_INC_UINT32] = op##_uint32, [DXP_INC_UINT64] = op##_uint64, FLOATING_PART(op) \
	}
#define FLOATING_PART(op)                                                                     \
	[DXP_INC_FP16] = op##_fp16, [DXP_INC_BF16] = op##_bf16, [DXP_INC_FLOAT] = op##_float, \
	[DXP_INC_DOUBLE] = op##_double
/* Signed and unsigned have the same bits. */
#define INTEGER_PART(op)                                                                           \
	[DXP_INC_INT8] = op##_uint8, [DXP_INC_INT16] = op##_uint16, [DXP_INC_INT32] = op##_uint32, \
	[DXP_INC_INT64] = op##_uint64, [DXP_INC_UINT8] = op##_uint8,                               \
	[DXP_INC_UINT16] = op##_uint16, [DXP_INC_UINT32] = op##_uint32,                            \
	[DXP_INC_UINT64] = op##_uint64
#define PAIR_ROW(op)                                                                  \
	{                                                                             \
		[DXP_INC_INT32_INT] = op##_int32, [DXP_INC_INT64_INT] = op##_int64,   \
		[DXP_INC_FLOAT_INT] = op##_float, [DXP_INC_DOUBLE_INT] = op##_double, \
	}

static const reduce_fn loops[DXP_INC_OPS][DXP_INC_TYPES] = {
	[DXP_INC_SUM] = {INTEGER_PART(sum), FLOATING_PART(sum)},
	[DXP_INC_PROD] = {INTEGER_PART(prod), FLOATING_PART(prod)},
	[DXP_INC_MIN] = ORDER_ROW(min),
	[DXP_INC_MAX] = ORDER_ROW(max),
	[DXP_INC_LAND] = {INTEGER_PART(land)},
	[DXP_INC_LOR] = {INTEGER_PART(lor)},
	[DXP_INC_LXOR] = {INTEGER_PART(lxor)},
	[DXP_INC_BAND] = {INTEGER_PART(band), [DXP_INC_BYTES] = band_uint8},
	[DXP_INC_BOR] = {INTEGER_PART(bor), [DXP_INC_BYTES] = bor_uint8},
	[DXP_INC_BXOR] = {INTEGER_PART(bxor), [DXP_INC_BYTES] = bxor_uint8},
	[DXP_INC_MINLOC] = PAIR_ROW(minloc),
	[DXP_INC_MAXLOC] = PAIR_ROW(maxloc),
};

#endif
