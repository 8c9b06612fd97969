/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32 by folding with carry-less products; crc32c_x86.c has the paper and the arithmetic. What
 * was read so far is held as 16 bytes with the same remainder (a lane), over all pieces, and is
 * reduced once, at the end. Long pieces shrink 64 bytes at a time. 1408 bytes behind the headers
 * take 37 ns so, 115 by libdeflate, which begins and ends anew for each piece (AMD EPYC, gcc 12).
 */
#include "base/crc32.h"

#ifdef __x86_64__

#include <immintrin.h>
#include <string.h>
#include <pthread.h>

#define POLYNOMIAL  0xedb88320u /* bit 31 is x^0 */
#define LANE        16
#define WIDE        256 /* bytes folded in one step: four accumulators hide the latency */
#define WIDE_MIN    128 /* below this lanes are as fast */
#define FOLD_TARGET __attribute__((target("avx512f,avx512vl,avx512dq,vpclmulqdq,pclmul,sse4.1")))

/* Factors that move the low and the high half of 16 bytes by a distance. */
struct fold_key {
	uint64_t low, high;
};

static struct fold_key by_256, by_192, by_128, by_64, by_16;
/* For the four quarters of 64 bytes, each to the place of the last one, which stays. */
static struct fold_key to_last[4];
static bool can;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* x^exponent modulo the polynomial. */
static uint32_t power_of_x(unsigned exponent)
{
	uint32_t power = 1u << 31;

	while (exponent-- > 0)
		power = power & 1 ? (power >> 1) ^ POLYNOMIAL : power >> 1;
	return power;
}

/* A carry-less product of reflected numbers comes out as x times itself, hence the "- 1". */
static struct fold_key fold_key(unsigned distance)
{
	return (struct fold_key){.low = (uint64_t)power_of_x(8 * distance + 64 - 1) << 32,
				 .high = (uint64_t)power_of_x(8 * distance - 1) << 32};
}

static void prepare(void)
{
	by_256 = fold_key(256);
	by_192 = fold_key(192);
	by_128 = fold_key(128);
	by_64 = fold_key(64);
	by_16 = fold_key(LANE);
	to_last[0] = fold_key(48);
	to_last[1] = fold_key(32);
	to_last[2] = fold_key(16);
	can = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
	      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("vpclmulqdq");
}

bool crc32_fold_can(void)
{
	pthread_once(&once, prepare);
	return can;
}

FOLD_TARGET static inline __m128i lane_at(const void *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

/* Moves a lane to where `onto` begins. */
FOLD_TARGET static inline __m128i lane_fold(__m128i lane, __m128i onto)
{
	__m128i by = lane_at(&by_16);
	__m128i moved = _mm_xor_si128(_mm_clmulepi64_si128(lane, by, 0x00),
				      _mm_clmulepi64_si128(lane, by, 0x11));

	return _mm_xor_si128(moved, onto);
}

FOLD_TARGET static inline __m512i wide_at(const uint8_t *p)
{
	return _mm512_loadu_si512(p);
}

/* Moves each 16 bytes of `wide` as the key says and adds them to those of `onto`. */
FOLD_TARGET static inline __m512i wide_fold(__m512i wide, const struct fold_key *key, __m512i onto)
{
	__m512i by = _mm512_broadcast_i64x2(lane_at(key));
	__m512i low = _mm512_clmulepi64_epi128(wide, by, 0x00);
	__m512i high = _mm512_clmulepi64_epi128(wide, by, 0x11);

	return _mm512_ternarylogic_epi64(onto, low, high, 0x96); /* exclusive or of three */
}

/* The lane that 64 bytes shrink to. */
FOLD_TARGET static inline __m128i wide_finish(__m512i wide)
{
	__m512i by = _mm512_loadu_si512(to_last);
	__m512i last = _mm512_maskz_mov_epi64(0xc0, wide);
	__m512i sum = _mm512_ternarylogic_epi64(last, _mm512_clmulepi64_epi128(wide, by, 0x00),
						_mm512_clmulepi64_epi128(wide, by, 0x11), 0x96);
	__m256i half =
		_mm256_xor_si256(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64(sum, 1));

	return _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/* `bytes` are a multiple of 64, and not 0. */
FOLD_TARGET static __m128i lane_wide(__m128i lane, const uint8_t *p, size_t bytes)
{
	__m512i start = _mm512_zextsi128_si512(lane_fold(lane, _mm_setzero_si128()));
	__m512i a = _mm512_xor_si512(wide_at(p), start);

	if (bytes >= WIDE) {
		__m512i b = wide_at(p + 64), c = wide_at(p + 128), d = wide_at(p + 192);

		for (p += WIDE, bytes -= WIDE; bytes >= WIDE; p += WIDE, bytes -= WIDE) {
			a = wide_fold(a, &by_256, wide_at(p));
			b = wide_fold(b, &by_256, wide_at(p + 64));
			c = wide_fold(c, &by_256, wide_at(p + 128));
			d = wide_fold(d, &by_256, wide_at(p + 192));
		}
		a = wide_fold(a, &by_192, wide_fold(b, &by_128, wide_fold(c, &by_64, d)));
	} else {
		p += 64;
		bytes -= 64;
	}
	for (; bytes > 0; p += 64, bytes -= 64)
		a = wide_fold(a, &by_64, wide_at(p));
	return wide_finish(a);
}

/* 1 .. 15 bytes more, the last ones of `tail`: of the lane's bytes the first ones fold onto the
 * others with these behind them. */
FOLD_TARGET static inline __m128i lane_tail(__m128i lane, __m128i tail, size_t bytes)
{
	/* bytes of a shuffle that moves up, then down; -1: a zero */
	static const int8_t shuffles[48] = {
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
		0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	};
	__m128i up = lane_at(shuffles + bytes), down = lane_at(shuffles + LANE + bytes);
	__m128i last = _mm_blendv_epi8(_mm_shuffle_epi8(lane, down), tail, down);

	return lane_fold(_mm_shuffle_epi8(lane, up), last);
}

FOLD_TARGET static __m128i lane_piece(__m128i lane, const uint8_t *p, size_t bytes)
{
	size_t wide = bytes >= WIDE_MIN ? bytes / 64 * 64 : 0, whole;
	uint8_t tail[LANE] = {0};

	if (wide)
		lane = lane_wide(lane, p, wide);
	for (whole = wide; whole + LANE <= bytes; whole += LANE)
		lane = lane_fold(lane, lane_at(p + whole));
	if (whole == bytes)
		return lane;
	if (whole > 0)
		return lane_tail(lane, lane_at(p + bytes - LANE), bytes - whole);
	memcpy(tail + LANE - bytes, p, bytes);
	return lane_tail(lane, lane_at(tail), bytes);
}

/* The remainder of a lane and 32 zero bits behind it: to 64 bits, to 32, then Barrett's reduction,
 * as in the paper, with its constants for this polynomial. */
FOLD_TARGET static inline uint32_t lane_reduce(__m128i lane)
{
	const __m128i words = _mm_setr_epi32(-1, 0, -1, 0);
	const __m128i by_8 = _mm_cvtsi64_si128(0xccaa009e), by_4 = _mm_cvtsi64_si128(0x163cd6124);
	const __m128i barrett = _mm_set_epi64x(0x1f7011641, 0x1db710641);
	__m128i x = _mm_xor_si128(_mm_clmulepi64_si128(lane, by_8, 0x00), _mm_srli_si128(lane, 8));
	__m128i quotient;

	x = _mm_xor_si128(_mm_clmulepi64_si128(_mm_and_si128(x, words), by_4, 0x00),
			  _mm_srli_si128(x, 4));
	quotient = _mm_clmulepi64_si128(_mm_and_si128(x, words), barrett, 0x10);
	x = _mm_xor_si128(x, _mm_clmulepi64_si128(_mm_and_si128(quotient, words), barrett, 0x00));
	return (uint32_t)_mm_extract_epi32(x, 1);
}

FOLD_TARGET uint32_t crc32_fold(const uint64_t head[CRC32_HEAD_WORDS],
				const struct crc32_piece *pieces, size_t count)
{
	__m128i lane = _mm_set_epi64x((int64_t)head[1], (int64_t)(head[0] ^ UINT32_MAX));

	lane = lane_fold(lane, _mm_set_epi64x((int64_t)head[3], (int64_t)head[2]));
	lane = lane_fold(lane, _mm_set_epi64x((int64_t)head[5], (int64_t)head[4]));
	for (size_t i = 0; i < count; i++)
		lane = lane_piece(lane, pieces[i].data, pieces[i].bytes);
	return ~lane_reduce(lane);
}

#else

bool crc32_fold_can(void)
{
	return false;
}

uint32_t crc32_fold(const uint64_t head[CRC32_HEAD_WORDS], const struct crc32_piece *pieces,
		    size_t count)
{
	return crc32_plain(head, pieces, count);
}

#endif
