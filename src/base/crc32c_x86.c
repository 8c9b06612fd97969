/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32C with x86's instructions, in two ways.
 *
 * Lanes: crc32 takes 8 bytes but answers after three cycles, so three independent lanes run side by
 * side and are joined by carry-less products with powers of x. 8 bytes a cycle.
 *
 * Folding (Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
 * Instruction", Intel, 2009): 16 bytes are a polynomial of degree 127; multiplied by x^(8 d) modulo
 * P they may be added to the 16 bytes that stand d bytes later, and the remainder of the whole
 * stays what it was. So a block of any length shrinks to 16 bytes, and crc32 does those. AVX-512
 * folds 64 bytes at once; with registers of 128 bits folding is slower than the lanes (17 against
 * 27 GB/s on Zen 5).
 *
 * Bits are reflected: bit i of a factor of n bits is the coefficient of x^(n - 1 - i). A carry-less
 * product then comes out as x times itself, hence the "- 1" in the exponents below. */
#ifdef __x86_64__

#include <immintrin.h>
#include <string.h>
#include <pthread.h>

#include "base/crc32c_ways.h"

#define LONG_LANE  448 /* three of them are a payload of 1408 bytes but for 64 */
#define SHORT_LANE 64
#define WIDE       256 /* bytes folded in one step: four accumulators hide the latency */
#define FOLD_MIN   128 /* below this crc32 alone is as fast */

#define LANES_TARGET __attribute__((target("sse4.2,pclmul")))
#define FOLD_TARGET  __attribute__((target("sse4.2,pclmul,avx512f,avx512vl,vpclmulqdq")))

/* Factors that move the low and the high half of 16 bytes by a distance. */
struct fold_key {
	_Alignas(16) uint64_t low;
	uint64_t high;
};

static struct fold_key by_256, by_192, by_128, by_64;
/* For the four quarters of 64 bytes, each to the place of the last one, which stays. */
static _Alignas(64) struct fold_key to_last[4];
/* What moves a lane's remainder over one lane, and over two. */
static uint32_t over_long[2], over_short[2];
static pthread_once_t keys_once = PTHREAD_ONCE_INIT;

/* x^exponent modulo P. */
static uint32_t power_of_x(unsigned exponent)
{
	uint32_t power = 1u << 31;

	while (exponent-- > 0)
		power = power & 1 ? (power >> 1) ^ CRC32C_POLYNOMIAL : power >> 1;
	return power;
}

static struct fold_key fold_key(unsigned distance)
{
	return (struct fold_key){.low = (uint64_t)power_of_x(8 * distance + 64 - 1) << 32,
				 .high = (uint64_t)power_of_x(8 * distance - 1) << 32};
}

static void keys_make(void)
{
	by_256 = fold_key(256);
	by_192 = fold_key(192);
	by_128 = fold_key(128);
	by_64 = fold_key(64);
	to_last[0] = fold_key(48);
	to_last[1] = fold_key(32);
	to_last[2] = fold_key(16);
	for (unsigned i = 0; i < 2; i++) {
		/* 32 less, because the crc32 that reduces the product multiplies by x^32. */
		over_long[i] = power_of_x(8 * LONG_LANE * (i + 1) - 32 - 1);
		over_short[i] = power_of_x(8 * SHORT_LANE * (i + 1) - 32 - 1);
	}
}

static inline uint64_t word_at(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* Short pieces, and what is left of long ones. */
LANES_TARGET static inline uint32_t words_run(uint32_t crc, const uint8_t *p, size_t bytes)
{
	uint64_t wide = crc;
	uint32_t four;
	uint16_t two;

	for (; bytes >= 8; bytes -= 8, p += 8)
		wide = _mm_crc32_u64(wide, word_at(p));
	crc = (uint32_t)wide;
	if (bytes & 4) {
		memcpy(&four, p, sizeof(four));
		crc = _mm_crc32_u32(crc, four);
		p += 4;
	}
	if (bytes & 2) {
		memcpy(&two, p, sizeof(two));
		crc = _mm_crc32_u16(crc, two);
		p += 2;
	}
	return bytes & 1 ? _mm_crc32_u8(crc, *p) : crc;
}

LANES_TARGET static inline uint64_t product(uint32_t a, uint32_t b)
{
	return (uint64_t)_mm_cvtsi128_si64(
		_mm_clmulepi64_si128(_mm_cvtsi32_si128((int)a), _mm_cvtsi32_si128((int)b), 0x00));
}

/* Three lanes of `lane` bytes. */
LANES_TARGET static inline uint32_t lanes_step(uint32_t crc, const uint8_t *p, size_t lane,
					       const uint32_t over[2])
{
	uint64_t a = crc, b = 0, c = 0;

	for (size_t i = 0; i < lane; i += 8) {
		a = _mm_crc32_u64(a, word_at(p + i));
		b = _mm_crc32_u64(b, word_at(p + lane + i));
		c = _mm_crc32_u64(c, word_at(p + 2 * lane + i));
	}
	uint64_t moved = product((uint32_t)a, over[1]) ^ product((uint32_t)b, over[0]);
	return (uint32_t)(_mm_crc32_u64(0, moved) ^ c);
}

bool crc32c_lanes_prepare(void)
{
	pthread_once(&keys_once, keys_make);
	return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

LANES_TARGET uint32_t crc32c_lanes_run(uint32_t crc, const uint8_t *p, size_t bytes)
{
	for (; bytes >= 3 * LONG_LANE; bytes -= 3 * LONG_LANE, p += 3 * LONG_LANE)
		crc = lanes_step(crc, p, LONG_LANE, over_long);
	for (; bytes >= 3 * SHORT_LANE; bytes -= 3 * SHORT_LANE, p += 3 * SHORT_LANE)
		crc = lanes_step(crc, p, SHORT_LANE, over_short);
	return words_run(crc, p, bytes);
}

FOLD_TARGET static inline __m512i wide_at(const uint8_t *p)
{
	return _mm512_loadu_si512(p);
}

FOLD_TARGET static inline __m512i wide_key(const struct fold_key *key)
{
	return _mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)(const void *)key));
}

/* Moves each 16 bytes of `wide` as the keys say and adds them to those of `onto`. */
FOLD_TARGET static inline __m512i wide_fold(__m512i wide, __m512i keys, __m512i onto)
{
	__m512i low = _mm512_clmulepi64_epi128(wide, keys, 0x00);
	__m512i high = _mm512_clmulepi64_epi128(wide, keys, 0x11);

	return _mm512_ternarylogic_epi64(onto, low, high, 0x96); /* exclusive or of three */
}

FOLD_TARGET static inline uint32_t wide_finish(__m512i wide)
{
	__m512i last = _mm512_maskz_mov_epi64(0xc0, wide);
	__m512i sum = wide_fold(wide, _mm512_load_si512(to_last), last);
	__m256i half =
		_mm256_xor_si256(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64(sum, 1));
	__m128i lane =
		_mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
	uint64_t crc = _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(lane));

	return (uint32_t)_mm_crc32_u64(crc, (uint64_t)_mm_extract_epi64(lane, 1));
}

bool crc32c_fold_prepare(void)
{
	return crc32c_lanes_prepare() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("vpclmulqdq");
}

FOLD_TARGET uint32_t crc32c_fold_run(uint32_t crc, const uint8_t *p, size_t bytes)
{
	if (bytes < FOLD_MIN)
		return words_run(crc, p, bytes);
	__m512i start = _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc));
	__m512i a = _mm512_xor_si512(wide_at(p), start);
	if (bytes < WIDE) {
		p += 64;
		bytes -= 64;
	} else {
		__m512i key = wide_key(&by_256);
		__m512i b = wide_at(p + 64), c = wide_at(p + 128), d = wide_at(p + 192);
		for (p += WIDE, bytes -= WIDE; bytes >= WIDE; p += WIDE, bytes -= WIDE) {
			a = wide_fold(a, key, wide_at(p));
			b = wide_fold(b, key, wide_at(p + 64));
			c = wide_fold(c, key, wide_at(p + 128));
			d = wide_fold(d, key, wide_at(p + 192));
		}
		a = wide_fold(a, wide_key(&by_192),
			      wide_fold(b, wide_key(&by_128), wide_fold(c, wide_key(&by_64), d)));
	}
	for (; bytes >= 64; p += 64, bytes -= 64)
		a = wide_fold(a, wide_key(&by_64), wide_at(p));
	return words_run(wide_finish(a), p, bytes);
}

#endif
