/* SPDX-License-Identifier: BSD-3-Clause */
/* 16-bit floats to float and back, to nearest even, with subnormals, infinities and NaNs; a NaN
 * becomes quiet and keeps payload bits that fit. No branches, so that loops vectorize; integers,
 * because clang 14 has no _Float16 on x86. */
#ifndef SWITCH_REDUCE_HALF_H
#define SWITCH_REDUCE_HALF_H

#include <stdint.h>
#include <string.h>

static inline float float_of_bits(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static inline uint32_t bits_of_float(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

/* Returns `a` if `choice` is 1, `b` if 0; by masks, because gcc makes ?: a branch here. */
static inline uint32_t pick(uint32_t choice, uint32_t a, uint32_t b)
{
	return b ^ ((a ^ b) & -choice);
}

/* fp16 shifted into a float; 112: difference of biases. */
#define FP16_SHIFT     13
#define FP16_EXPONENT  (0x7c00u << FP16_SHIFT)
#define FP16_REBIAS    (112u << 23)
#define FP16_TINY      (113u << 23) /* 2^-14, smallest normal fp16 */
#define FP16_OVER      (143u << 23) /* 2^16, too large for fp16 */
#define FLOAT_INFINITY (255u << 23)
/* Added to a float below 2^-14, it leaves the rounded subnormal fp16 in the low bits. */
#define FP16_ALIGN (126u << 23) /* 2^-1; its last bit counts 2^-24 */

static inline float fp16_to_float(uint16_t h)
{
	uint32_t sign = (h & 0x8000u) << 16, bits = (h & 0x7fffu) << FP16_SHIFT;
	uint32_t exponent = bits & FP16_EXPONENT;
	uint32_t special = bits + 2 * FP16_REBIAS;
	uint32_t subnormal =
		bits_of_float(float_of_bits(bits + FP16_TINY) - float_of_bits(FP16_TINY));
	uint32_t normal = bits + FP16_REBIAS;

	normal = pick(exponent == FP16_EXPONENT, special, normal);
	return float_of_bits(pick(exponent == 0, subnormal, normal) | sign);
}

static inline uint16_t fp16_of_float(float f)
{
	uint32_t bits = bits_of_float(f), sign = bits & 0x80000000u, size = bits ^ sign;
	uint32_t odd = size >> FP16_SHIFT & 1;
	uint32_t normal = (size - FP16_REBIAS + 0xfff + odd) >> FP16_SHIFT;
	uint32_t subnormal =
		bits_of_float(float_of_bits(size) + float_of_bits(FP16_ALIGN)) - FP16_ALIGN;
	uint32_t nan = 0x7e00u | (size >> FP16_SHIFT & 0x3ff);
	uint32_t out = pick(size < FP16_TINY, subnormal, normal);

	out = pick(size >= FP16_OVER, 0x7c00, out);
	return (uint16_t)(pick(size > FLOAT_INFINITY, nan, out) | sign >> 16);
}

static inline float bf16_to_float(uint16_t h)
{
	return float_of_bits((uint32_t)h << 16);
}

static inline uint16_t bf16_of_float(float f)
{
	uint32_t bits = bits_of_float(f);
	uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
	uint32_t nan = bits >> 16 | 0x40;

	return (uint16_t)pick((bits & 0x7fffffff) > FLOAT_INFINITY, nan, rounded);
}

#endif
