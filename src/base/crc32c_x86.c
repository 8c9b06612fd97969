/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32C by x86 instructions.
 *
 * Lanes: crc32 takes 8 bytes with a latency of three cycles, so three lanes run in parallel, joined
 * by carry-less products.
 *
 * Folding: crc_fold.h, where crc32 reduces the last 16 bytes. With 128-bit registers, lanes are
 * faster (27 against 17 GB/s on Zen 5).
 *
 * crc_fold.h explains "- 1" in exponents. */
#ifdef __x86_64__

#include <immintrin.h>
#include <string.h>
#include <pthread.h>

#include "base/crc32c_ways.h"
#include "base/crc_fold.h"

#define LONG_LANE  448 /* three lanes cover 1344 of 1408 bytes */
#define SHORT_LANE 64
#define FOLD_MIN   128 /* for shorter input crc32 alone is as fast */

#define LANES_TARGET __attribute__((target("sse4.2,pclmul")))

static struct fold_keys fold_keys;
/* Move a remainder over one lane, and two. */
static uint32_t over_long[2], over_short[2];
static pthread_once_t keys_once = PTHREAD_ONCE_INIT;

static void keys_make(void)
{
	fold_keys_make(CRC32C_POLYNOMIAL, &fold_keys);
	for (unsigned i = 0; i < 2; i++) {
		/* The reducing crc32 multiplies by x^32, hence "- 32". */
		over_long[i] = fold_power(CRC32C_POLYNOMIAL, 8 * LONG_LANE * (i + 1) - 32 - 1);
		over_short[i] = fold_power(CRC32C_POLYNOMIAL, 8 * SHORT_LANE * (i + 1) - 32 - 1);
	}
}

static inline uint64_t word_at(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* Processes short pieces, and the rest of long ones. */
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

/* Processes three consecutive lanes of `lane` bytes. */
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

bool crc32c_fold_prepare(void)
{
	return crc32c_lanes_prepare() && fold_can();
}

FOLD_TARGET uint32_t crc32c_fold_run(uint32_t crc, const uint8_t *p, size_t bytes)
{
	if (bytes < FOLD_MIN)
		return words_run(crc, p, bytes);

	__m128i last = fold_run(&fold_keys, _mm_cvtsi32_si128((int)crc), p, bytes);
	uint64_t folded = _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(last));
	size_t done = bytes & ~(size_t)(FOLD_BLOCK - 1);

	folded = _mm_crc32_u64(folded, (uint64_t)_mm_extract_epi64(last, 1));
	return words_run((uint32_t)folded, p + done, bytes - done);
}

#endif
