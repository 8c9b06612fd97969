/* SPDX-License-Identifier: BSD-3-Clause */
/* IEEE 754 addition and comparison by integers, as BPF has no floats, with an x86 FPU's bits (SSE,
 * defaults): nearest even, subnormals, infinities. Of two NaNs the first, made quiet; infinity
 * minus infinity is the negative default NaN. A test compiles it for the host.
 *
 * Numbers are in the low `exponent + fraction + 1` bits; both formats inline this source. */
#ifndef SWITCH_XDP_SOFTFLOAT_H
#define SWITCH_XDP_SOFTFLOAT_H

#include <linux/types.h>

#define SF_INLINE static inline __attribute__((always_inline))

#define SF_GUARD 3 /* below the fraction: guard, round and sticky bit */

/* Sets the lowest bit if a 1 bit is shifted out. */
SF_INLINE __u64 sf_shift_sticky(__u64 v, __u32 count)
{
	if (count == 0)
		return v;
	if (count > 63)
		return v != 0;
	return v >> count | ((v << (64 - count)) != 0);
}

/* v is not 0. */
SF_INLINE __u32 sf_leading_zeros(__u64 v)
{
	__u32 count = 0;

	if (!(v >> 32)) {
		count += 32;
		v <<= 32;
	}
	if (!(v >> 48)) {
		count += 16;
		v <<= 16;
	}
	if (!(v >> 56)) {
		count += 8;
		v <<= 8;
	}
	if (!(v >> 60)) {
		count += 4;
		v <<= 4;
	}
	if (!(v >> 62)) {
		count += 2;
		v <<= 2;
	}
	return count + !(v >> 63);
}

/* Rounds to nearest even. The leading bit of `v` is fraction_bits + SF_GUARD, or lower if exponent
 * is 1 (subnormal). */
SF_INLINE __u64 sf_round(__u64 sign, __u32 exponent, __u64 v, __u32 fraction_bits,
			 __u32 exponent_max)
{
	__u64 low = v & ((1u << SF_GUARD) - 1), half = 1u << (SF_GUARD - 1);

	v >>= SF_GUARD;
	if (low > half || (low == half && (v & 1)))
		v++;
	if (exponent >= exponent_max)
		return sign | (__u64)exponent_max << fraction_bits;
	/* the leading bit, or a carry, adds one to the exponent */
	return sign | (((__u64)(exponent - 1) << fraction_bits) + v);
}

/* Adds finite numbers with |a| >= |b|. */
SF_INLINE __u64 sf_add_finite(__u64 a, __u64 b, __u32 fraction_bits, __u32 exponent_max)
{
	const __u64 hidden = 1ull << fraction_bits;
	const __u64 sign_bit = ((__u64)exponent_max + 1) << fraction_bits;
	const __u64 top = hidden << SF_GUARD;
	__u64 sign = a & sign_bit, opposite = (a ^ b) & sign_bit;
	__u32 exponent = (a >> fraction_bits) & exponent_max;
	__u32 other = (b >> fraction_bits) & exponent_max;

	a &= hidden - 1;
	b &= hidden - 1;
	if (exponent)
		a |= hidden;
	else
		exponent = 1;
	if (other)
		b |= hidden;
	else
		other = 1;
	a <<= SF_GUARD;
	b = sf_shift_sticky(b << SF_GUARD, exponent - other);

	if (!opposite) {
		a += b;
		if (a & top << 1) {
			a = a >> 1 | (a & 1);
			exponent++;
		}
	} else {
		a -= b;
		if (a == 0)
			return 0;
		if (!(a & top)) {
			__u32 up = sf_leading_zeros(a) - (63 - fraction_bits - SF_GUARD);

			if (up > exponent - 1)
				up = exponent - 1;
			a <<= up & 63;
			exponent -= up;
		}
	}
	return sf_round(sign, exponent, a, fraction_bits, exponent_max);
}

SF_INLINE __u64 sf_add(__u64 a, __u64 b, __u32 fraction_bits, __u32 exponent_max)
{
	const __u64 sign_bit = ((__u64)exponent_max + 1) << fraction_bits;
	const __u64 infinity = (__u64)exponent_max << fraction_bits;
	const __u64 quiet = 1ull << (fraction_bits - 1);
	__u64 size_a = a & (sign_bit - 1), size_b = b & (sign_bit - 1), t;

	if (size_a > infinity)
		return a | quiet;
	if (size_b > infinity)
		return b | quiet;
	if (size_a < size_b) {
		t = a;
		a = b;
		b = t;
		t = size_a;
		size_a = size_b;
		size_b = t;
	}
	if (size_a == infinity)
		return size_b == infinity && a != b ? sign_bit | infinity | quiet : a;
	return sf_add_finite(a, b, fraction_bits, exponent_max);
}

/* Returns 0 also with a NaN; both zeros are equal. */
SF_INLINE int sf_less(__u64 a, __u64 b, __u32 fraction_bits, __u32 exponent_max)
{
	const __u64 sign_bit = ((__u64)exponent_max + 1) << fraction_bits;
	const __u64 infinity = (__u64)exponent_max << fraction_bits;
	__u64 size_a = a & (sign_bit - 1), size_b = b & (sign_bit - 1);

	if (size_a > infinity || size_b > infinity || (size_a | size_b) == 0)
		return 0;
	if ((a ^ b) & sign_bit)
		return (a & sign_bit) != 0;
	return a & sign_bit ? size_a > size_b : size_a < size_b;
}

SF_INLINE __u64 sf_add_double(__u64 a, __u64 b)
{
	return sf_add(a, b, 52, 0x7ff);
}

SF_INLINE __u32 sf_add_float(__u32 a, __u32 b)
{
	return (__u32)sf_add(a, b, 23, 0xff);
}

SF_INLINE int sf_less_double(__u64 a, __u64 b)
{
	return sf_less(a, b, 52, 0x7ff);
}

SF_INLINE int sf_less_float(__u32 a, __u32 b)
{
	return sf_less(a, b, 23, 0xff);
}

#endif
