/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors of eight words. Only for execute*.c, after execute.h. */
#ifndef RV32_EXECUTE_VECTOR_H
#define RV32_EXECUTE_VECTOR_H

#include <string.h>

#include "rv32/execute.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the execution loop loads words of little-endian memory directly"
#endif

#define WIDTH   8
#define VECTORS (RV32_LANES / WIDTH)
#define INLINE  static inline __attribute__((always_inline, unused))

typedef uint32_t vec __attribute__((vector_size(4 * WIDTH)));
typedef int32_t ivec __attribute__((vector_size(4 * WIDTH)));
typedef float fvec __attribute__((vector_size(4 * WIDTH)));
/* A vec at any address, aligned or not. */
typedef uint32_t loose __attribute__((vector_size(4 * WIDTH), aligned(1)));

INLINE vec *row(struct warp *w, unsigned index)
{
	return (vec *)(void *)w->row[index];
}

INLINE vec splat(uint32_t v)
{
	return (vec){v, v, v, v, v, v, v, v};
}

/* Returns the lane numbers of vector k. */
INLINE vec lanes_of(unsigned k)
{
	return (vec){0, 1, 2, 3, 4, 5, 6, 7} + splat(WIDTH * k);
}

/* Returns x where m is all ones, else y. */
INLINE vec pick(vec m, vec x, vec y)
{
	return (m & x) | (~m & y);
}

/* Returns bit i for lane i; lanes must be all ones or 0. */
INLINE uint32_t bits_of(vec m)
{
#if defined(__AVX2__)
	return (uint32_t)_mm256_movemask_ps((__m256)m);
#elif defined(__SSE2__)
	__m128 half[2];

	memcpy(half, &m, sizeof(half));
	return (uint32_t)(_mm_movemask_ps(half[0]) | _mm_movemask_ps(half[1]) << 4);
#else
	uint32_t bits = 0;

	for (int i = 0; i < WIDTH; i++)
		bits |= (m[i] & 1) << i;
	return bits;
#endif
}

INLINE bool all_ones(vec m)
{
	return bits_of(m) == (1u << WIDTH) - 1;
}

/* Replaces NaNs by RISC-V's canonical NaN. */
INLINE vec canonical(fvec v)
{
	return pick((vec)(v != v), splat(0x7fc00000), (vec)v);
}

INLINE uint32_t float_bits(float v)
{
	uint32_t bits;

	memcpy(&bits, (const void *)&v, sizeof(bits));
	return bits;
}

INLINE float float_of(uint32_t bits)
{
	float v;

	memcpy((void *)&v, &bits, sizeof(v));
	return v;
}

INLINE vec vector_sqrt(vec x)
{
#if defined(__AVX2__)
	return canonical((fvec)_mm256_sqrt_ps((__m256)x));
#elif defined(__SSE2__)
	__m128 half[2];
	fvec root;

	memcpy(half, &x, sizeof(half));
	half[0] = _mm_sqrt_ps(half[0]);
	half[1] = _mm_sqrt_ps(half[1]);
	memcpy(&root, half, sizeof(root));
	return canonical(root);
#else
	fvec root;

	for (int i = 0; i < WIDTH; i++)
		root[i] = __builtin_sqrtf(float_of(x[i]));
	return canonical(root);
#endif
}

#if !defined(__FMA__) && !defined(__aarch64__)
/* Computes a * b + c with one rounding. The product is exact in double; rounding the sum to odd
 * keeps all bits that the conversion needs. */
INLINE float fused_in_double(float a, float b, float c)
{
	const double p = (double)a * (double)b, addend = (double)c, sum = p + addend;
	const double part = sum - p, error = (p - (sum - part)) + (addend - part);
	uint64_t bits;
	double odd;

	memcpy(&bits, (const void *)&sum, sizeof(bits));
	if ((error > 0 || error < 0) && !(bits & 1))
		bits += (error > 0) == (sum > 0) ? 1 : UINT64_MAX;
	memcpy((void *)&odd, &bits, sizeof(odd));
	return (float)odd;
}
#endif

/* Computes x * y + z with one rounding. */
INLINE vec vector_fused(vec x, vec y, vec z)
{
#if defined(__AVX2__) && defined(__FMA__)
	return canonical((fvec)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z));
#else
	fvec sum;

	for (int i = 0; i < WIDTH; i++)
#if defined(__aarch64__)
		sum[i] = __builtin_fmaf(float_of(x[i]), float_of(y[i]), float_of(z[i]));
#else
		sum[i] = fused_in_double(float_of(x[i]), float_of(y[i]), float_of(z[i]));
#endif
	return canonical(sum);
#endif
}

/* Does not read where m is 0. */
INLINE vec vector_gather(const uint8_t *host, vec offset, vec m)
{
#if defined(__AVX2__)
	/* Offsets are signed, so the base is in the middle of the 4 GiB. */
	const __m256i index = (__m256i)(offset ^ splat(0x80000000));
	const int *base = (const int *)(const void *)((uintptr_t)host + 0x80000000u);

	return (vec)_mm256_mask_i32gather_epi32(_mm256_setzero_si256(), base, index, (__m256i)m, 1);
#else
	vec v = splat(0);

	for (int i = 0; i < WIDTH; i++) {
		uint32_t word = 0;

		if (m[i])
			memcpy(&word, host + offset[i], sizeof(word));
		v[i] = word;
	}
	return v;
#endif
}

#endif
