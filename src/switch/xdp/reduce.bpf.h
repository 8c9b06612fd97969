/* SPDX-License-Identifier: BSD-3-Clause */
/* Folds contributions in the order of the children. */
#ifndef SWITCH_XDP_REDUCE_H
#define SWITCH_XDP_REDUCE_H

#include "switch/xdp/maps.bpf.h"
#include "switch/xdp/softfloat.h"

/* Operator and type as one number, for use in a switch statement. */
#define REDUCE_KIND(op, type) ((__u32)(op) | (__u32)(type) << 8)

/* Returns 0 if this plane does not compute it. */
INLINE __u32 reduce_bytes(__u8 op, __u8 type)
{
	if (op != DXP_INC_SUM && op != DXP_INC_MIN && op != DXP_INC_MAX)
		return 0;
	if (type == DXP_INC_DOUBLE || type == DXP_INC_INT64)
		return 8;
	return type == DXP_INC_FLOAT || type == DXP_INC_INT32 ? 4 : 0;
}

/* Costly operators are not inlined, so that the verifier checks each once. */
__attribute__((noinline)) __u64 add_doubles(__u64 a, __u64 b)
{
	return sf_add_double(a, b);
}

__attribute__((noinline)) __u32 add_floats(__u32 a, __u32 b)
{
	return sf_add_float(a, b);
}

__attribute__((noinline)) int less_doubles(__u64 a, __u64 b)
{
	return sf_less_double(a, b);
}

__attribute__((noinline)) int less_floats(__u32 a, __u32 b)
{
	return sf_less_float(a, b);
}

/* a: fold so far; b: next word. Minimum is a < b ? a : b, as in C and the FPU. */
#define FOLD(expression)                                                       \
	do {                                                                   \
		for (i = 1; i < SWITCH_KERNEL_CHILDREN && i < children; i++) { \
			__u64 b = c->words[i][at];                             \
			a = (expression);                                      \
		}                                                              \
		return a;                                                      \
	} while (0)

/* Two 4-byte elements per word; the second may be unused. */
#define FOLD_TWO(expression)                                                   \
	do {                                                                   \
		low = (__u32)a;                                                \
		high = a >> 32;                                                \
		for (i = 1; i < SWITCH_KERNEL_CHILDREN && i < children; i++) { \
			__u64 word = c->words[i][at];                          \
			__u32 x = low, y = (__u32)word;                        \
			low = (expression);                                    \
			x = high;                                              \
			y = word >> 32;                                        \
			high = (expression);                                   \
		}                                                              \
		return (__u64)high << 32 | low;                                \
	} while (0)

/* Words `at` of all children. */
__attribute__((noinline)) __u64 reduce_word(struct kernel_contributions *c, __u32 at,
					    __u32 children, __u32 kind)
{
	__u32 i, low, high;
	__u64 a;

	if (!c || at >= SWITCH_KERNEL_WORDS)
		return 0;
	a = c->words[0][at];
	switch (kind) {
	case REDUCE_KIND(DXP_INC_SUM, DXP_INC_DOUBLE): FOLD(add_doubles(a, b));
	case REDUCE_KIND(DXP_INC_MIN, DXP_INC_DOUBLE): FOLD(less_doubles(a, b) ? a : b);
	case REDUCE_KIND(DXP_INC_MAX, DXP_INC_DOUBLE): FOLD(less_doubles(b, a) ? a : b);
	case REDUCE_KIND(DXP_INC_SUM, DXP_INC_INT64): FOLD(a + b);
	case REDUCE_KIND(DXP_INC_MIN, DXP_INC_INT64): FOLD((__s64)a < (__s64)b ? a : b);
	case REDUCE_KIND(DXP_INC_MAX, DXP_INC_INT64): FOLD((__s64)a > (__s64)b ? a : b);
	case REDUCE_KIND(DXP_INC_SUM, DXP_INC_FLOAT): FOLD_TWO(add_floats(x, y));
	case REDUCE_KIND(DXP_INC_MIN, DXP_INC_FLOAT): FOLD_TWO(less_floats(x, y) ? x : y);
	case REDUCE_KIND(DXP_INC_MAX, DXP_INC_FLOAT): FOLD_TWO(less_floats(y, x) ? x : y);
	case REDUCE_KIND(DXP_INC_SUM, DXP_INC_INT32): FOLD_TWO(x + y);
	case REDUCE_KIND(DXP_INC_MIN, DXP_INC_INT32): FOLD_TWO((__s32)x < (__s32)y ? x : y);
	case REDUCE_KIND(DXP_INC_MAX, DXP_INC_INT32): FOLD_TWO((__s32)x > (__s32)y ? x : y);
	default: return 0;
	}
}

/* Folds into the payload of `into`. */
__attribute__((noinline)) int reduce_all(struct kernel_contributions *from, struct work *into,
					 __u32 words, __u32 children, __u32 kind)
{
	if (!from || !into)
		return 0;
	for (__u32 at = 0; at < SWITCH_KERNEL_WORDS && at < words; at++)
		into->frame.payload[at] =
			children > 1 ? reduce_word(from, at, children, kind) : from->words[0][at];
	return 0;
}

#endif
