/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops for AVX2; fp16 by conversion instructions (F16C): 26 to 38 GB/s instead of 3. */
#include "switch/reduce_ways.h"

#ifdef __AVX2__

#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>

#include "switch/reduce_loops.h"

#define EIGHT      8
#define F16C_BIT   (1u << 29)
#define ROUND_EVEN (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define FP16_OF(v) _mm256_cvtps_ph(v, ROUND_EVEN)

/* All ones where the comparison is true. */
static inline __m128i halves_of(__m256 mask)
{
	__m256i wide = _mm256_castps_si256(mask);

	return _mm_packs_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
}

/* `result` from floats a and b, of fp16 vectors p and q. */
#define FP16_EIGHT(name, result)                                                                  \
	static void name##_eight(void *restrict into, const void *restrict from, size_t elements) \
	{                                                                                         \
		any_uint16 *restrict x = into;                                                    \
		const any_uint16 *restrict y = from;                                              \
                                                                                                  \
		for (; elements >= EIGHT; elements -= EIGHT, x += EIGHT, y += EIGHT) {            \
			__m128i p = _mm_loadu_si128((const __m128i *)(const void *)x);            \
			__m128i q = _mm_loadu_si128((const __m128i *)(const void *)y);            \
			__m256 a = _mm256_cvtph_ps(p), b = _mm256_cvtph_ps(q);                    \
                                                                                                  \
			_mm_storeu_si128((__m128i *)(void *)x, result);                           \
		}                                                                                 \
		name(x, y, elements);                                                             \
	}

FP16_EIGHT(sum_fp16, FP16_OF(_mm256_add_ps(a, b)))
FP16_EIGHT(prod_fp16, FP16_OF(_mm256_mul_ps(a, b)))
FP16_EIGHT(min_fp16, _mm_blendv_epi8(q, p, halves_of(_mm256_cmp_ps(a, b, _CMP_LT_OQ))))
FP16_EIGHT(max_fp16, _mm_blendv_epi8(q, p, halves_of(_mm256_cmp_ps(a, b, _CMP_GT_OQ))))

static const reduce_fn fp16_loops[DXP_INC_OPS] = {
	[DXP_INC_SUM] = sum_fp16_eight,
	[DXP_INC_PROD] = prod_fp16_eight,
	[DXP_INC_MIN] = min_fp16_eight,
	[DXP_INC_MAX] = max_fp16_eight,
};

/* Cached, because CPUID can take microseconds under a hypervisor; clang 14 has no name for F16C. */
static bool f16c_here(void)
{
	static _Atomic int known = -1;
	unsigned a, b, c, d;

	if (known < 0)
		known = __get_cpuid(1, &a, &b, &c, &d) && (c & F16C_BIT) != 0;
	return known;
}

reduce_fn reduce_avx2(enum dxp_inc_op op, enum dxp_inc_type type)
{
	if (!__builtin_cpu_supports("avx2") || !dxp_inc_defined(op, type))
		return NULL;
	return type == DXP_INC_FP16 && f16c_here() ? fp16_loops[op] : loops[op][type];
}

#else

reduce_fn reduce_avx2(enum dxp_inc_op op, enum dxp_inc_type type)
{
	return NULL;
}

#endif
