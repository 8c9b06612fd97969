/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic: all contributions of a slot into one, in the order of children. */
#ifndef SWITCH_XDP_REDUCE_H
#define SWITCH_XDP_REDUCE_H

#include "switch/xdp/maps.bpf.h"
#include "switch/xdp/softfloat.h"

/* Operation and type in one number, to choose by. */
#define REDUCE_KIND(op, type) ((__u32)(op) | (__u32)(type) << 8)

/* Element bytes of what this plane computes; 0: it does not. */
INLINE __u32 reduce_bytes(__u8 op, __u8 type)
{
	if (op != DXP_INC_SUM && op != DXP_INC_MIN && op != DXP_INC_MAX)
		return 0;
	if (type == DXP_INC_DOUBLE || type == DXP_INC_INT64)
		return 8;
	return type == DXP_INC_FLOAT || type == DXP_INC_INT32 ? 4 : 0;
}

/* a op b, as C and the FPU have it: a minimum is a < b ? a : b. */
__attribute__((noinline)) __u64 reduce_pair(__u32 kind, __u64 a, __u64 b)
{
	switch (kind) {
	case REDUCE_KIND(DXP_INC_SUM, DXP_INC_DOUBLE): return sf_add_double(a, b);
	case REDUCE_KIND(DXP_INC_MIN, DXP_INC_DOUBLE): return sf_less_double(a, b) ? a : b;
	case REDUCE_KIND(DXP_INC_MAX, DXP_INC_DOUBLE): return sf_less_double(b, a) ? a : b;
	case REDUCE_KIND(DXP_INC_SUM, DXP_INC_FLOAT): return sf_add_float(a, b);
	case REDUCE_KIND(DXP_INC_MIN, DXP_INC_FLOAT): return sf_less_float(a, b) ? a : b;
	case REDUCE_KIND(DXP_INC_MAX, DXP_INC_FLOAT): return sf_less_float(b, a) ? a : b;
	case REDUCE_KIND(DXP_INC_SUM, DXP_INC_INT32):
	case REDUCE_KIND(DXP_INC_SUM, DXP_INC_INT64): return a + b;
	case REDUCE_KIND(DXP_INC_MIN, DXP_INC_INT32): return (__s32)a < (__s32)b ? a : b;
	case REDUCE_KIND(DXP_INC_MAX, DXP_INC_INT32): return (__s32)a > (__s32)b ? a : b;
	case REDUCE_KIND(DXP_INC_MIN, DXP_INC_INT64): return (__s64)a < (__s64)b ? a : b;
	case REDUCE_KIND(DXP_INC_MAX, DXP_INC_INT64): return (__s64)a > (__s64)b ? a : b;
	default: return 0;
	}
}

/* One word of the payload: an element of 8 bytes, or two of 4 (of which the second may be nothing).
 */
__attribute__((noinline)) __u64 reduce_word(struct kernel_contributions *c, __u32 at,
					    __u32 children, __u32 kind)
{
	__u32 type = kind >> 8, i;
	__u64 sum, low, high;

	if (!c || at >= SWITCH_KERNEL_WORDS)
		return 0;
	sum = c->words[0][at];
	if (type == DXP_INC_DOUBLE || type == DXP_INC_INT64) {
		for (i = 1; i < SWITCH_KERNEL_CHILDREN && i < children; i++)
			sum = reduce_pair(kind, sum, c->words[i][at]);
		return sum;
	}
	low = (__u32)sum;
	high = sum >> 32;
	for (i = 1; i < SWITCH_KERNEL_CHILDREN && i < children; i++) {
		low = (__u32)reduce_pair(kind, low, (__u32)c->words[i][at]);
		high = (__u32)reduce_pair(kind, high, c->words[i][at] >> 32);
	}
	return high << 32 | low;
}

struct reduction {
	struct kernel_contributions *from;
	struct work *into;
	__u32 children, kind;
};

static long reduce_step(__u32 at, void *context)
{
	struct reduction *r = context;

	if (at < SWITCH_KERNEL_WORDS)
		r->into->frame.payload[at] = reduce_word(r->from, at, r->children, r->kind);
	return 0;
}

/* Of `words` words; the result is in the payload of `into`. */
INLINE void reduce_all(struct kernel_contributions *from, struct work *into, __u32 words,
		       __u32 children, __u32 kind)
{
	struct reduction r = {from, into, children, kind};

	if (words == 1)
		into->frame.payload[0] = reduce_word(from, 0, children, kind);
	else
		bpf_loop(words, reduce_step, &r, 0);
}

#endif
