/* SPDX-License-Identifier: BSD-3-Clause */
/* Reflected 32-bit CRCs by folding with AVX-512 (Gopal et al., "Fast CRC Computation for Generic
 * Polynomials Using PCLMULQDQ Instruction", Intel, 2009). The CRC is the remainder of the data, as
 * a polynomial, divided by the CRC's polynomial P of degree 32. 16 bytes, multiplied by x^(8 d)
 * modulo P, can be added to the 16 bytes d bytes behind them without a change of the remainder. So
 * a block shrinks to 16 bytes, which the caller reduces.
 *
 * Bits are reflected: bit i of an n-bit factor is the coefficient of x^(n - 1 - i). A carry-less
 * product then has one factor x too many, hence the "- 1" in the exponents. */
#ifndef BASE_CRC_FOLD_H
#define BASE_CRC_FOLD_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLD_WIDE  256 /* per step: four accumulators hide the latency */
#define FOLD_BLOCK 64  /* shortest foldable block */

#define FOLD_TARGET __attribute__((target("sse4.2,pclmul,avx512f,avx512vl,vpclmulqdq")))

/* Factors for the halves of 16 bytes, over one distance. */
struct fold_key {
	_Alignas(16) uint64_t low;
	uint64_t high;
};

struct fold_keys {
	struct fold_key by_256, by_192, by_128, by_64, by_16;
	/* Factors that move each 16 bytes of a block of 64 to the last 16 bytes. */
	_Alignas(64) struct fold_key to_last[4];
};

/* x^exponent modulo `polynomial`; bit 31 is x^0. */
static inline uint32_t fold_power(uint32_t polynomial, unsigned exponent)
{
	uint32_t power = 1u << 31;

	while (exponent-- > 0)
		power = power & 1 ? (power >> 1) ^ polynomial : power >> 1;
	return power;
}

static inline struct fold_key fold_key(uint32_t polynomial, unsigned distance)
{
	return (struct fold_key){.low = (uint64_t)fold_power(polynomial, 8 * distance + 64 - 1)
					<< 32,
				 .high = (uint64_t)fold_power(polynomial, 8 * distance - 1) << 32};
}

static inline void fold_keys_make(uint32_t polynomial, struct fold_keys *out)
{
	out->by_256 = fold_key(polynomial, 256);
	out->by_192 = fold_key(polynomial, 192);
	out->by_128 = fold_key(polynomial, 128);
	out->by_64 = fold_key(polynomial, 64);
	out->by_16 = fold_key(polynomial, 16);
	out->to_last[0] = fold_key(polynomial, 48);
	out->to_last[1] = fold_key(polynomial, 32);
	out->to_last[2] = fold_key(polynomial, 16);
}

static inline bool fold_can(void)
{
	return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") &&
	       __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("vpclmulqdq");
}

FOLD_TARGET static inline __m512i wide_at(const uint8_t *p)
{
	return _mm512_loadu_si512(p);
}

FOLD_TARGET static inline __m512i wide_key(const struct fold_key *key)
{
	return _mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)(const void *)key));
}

/* Moves each 16 bytes by its key, and adds them to `onto`. */
FOLD_TARGET static inline __m512i wide_fold(__m512i wide, __m512i keys, __m512i onto)
{
	__m512i low = _mm512_clmulepi64_epi128(wide, keys, 0x00);
	__m512i high = _mm512_clmulepi64_epi128(wide, keys, 0x11);

	return _mm512_ternarylogic_epi64(onto, low, high, 0x96); /* three-way exclusive or */
}

FOLD_TARGET static inline __m128i wide_finish(const struct fold_keys *keys, __m512i wide)
{
	__m512i last = _mm512_maskz_mov_epi64(0xc0, wide);
	__m512i sum = wide_fold(wide, _mm512_load_si512(keys->to_last), last);
	__m256i half =
		_mm256_xor_si256(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64(sum, 1));

	return _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/* Returns 16 bytes with the remainder of `bytes` & ~63, at least FOLD_BLOCK. `start`, a remainder
 * or 16 moved bytes, is added to the first 16. */
FOLD_TARGET static inline __m128i fold_run(const struct fold_keys *keys, __m128i start,
					   const uint8_t *p, size_t bytes)
{
	__m512i a = _mm512_xor_si512(wide_at(p), _mm512_zextsi128_si512(start));

	if (bytes < FOLD_WIDE) {
		p += FOLD_BLOCK;
		bytes -= FOLD_BLOCK;
	} else {
		__m512i key = wide_key(&keys->by_256);
		__m512i b = wide_at(p + 64), c = wide_at(p + 128), d = wide_at(p + 192);
		for (p += FOLD_WIDE, bytes -= FOLD_WIDE; bytes >= FOLD_WIDE;
		     p += FOLD_WIDE, bytes -= FOLD_WIDE) {
			a = wide_fold(a, key, wide_at(p));
			b = wide_fold(b, key, wide_at(p + 64));
			c = wide_fold(c, key, wide_at(p + 128));
			d = wide_fold(d, key, wide_at(p + 192));
		}
		a = wide_fold(a, wide_key(&keys->by_192),
			      wide_fold(b, wide_key(&keys->by_128),
					wide_fold(c, wide_key(&keys->by_64), d)));
	}
	for (; bytes >= FOLD_BLOCK; p += FOLD_BLOCK, bytes -= FOLD_BLOCK)
		a = wide_fold(a, wide_key(&keys->by_64), wide_at(p));
	return wide_finish(keys, a);
}

#endif
