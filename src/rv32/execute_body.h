/* SPDX-License-Identifier: BSD-3-Clause */
/* The execution loop and its handlers, for execute.c and execute_avx2.c. Define EXECUTE_NAME
 * first. */
#include "rv32/execute_vector.h"
#include "rv32/lane.h"

/* Divides as RISC-V does: x / 0 is -1, and -2^31 / -1 is -2^31. */
INLINE uint32_t divide(uint32_t x, uint32_t y)
{
	if (y == 0)
		return UINT32_MAX;
	return y == UINT32_MAX ? 0u - x : (uint32_t)((int32_t)x / (int32_t)y);
}

/* Returns the minimum, or the maximum where `maximum` is all ones. -0 is below +0; of NaN and
 * another operand, the other is returned. */
INLINE vec vector_minimum(vec x, vec y, vec maximum)
{
	/* Signed integers with the floats' order. */
	const ivec p = (ivec)(x ^ (vec)((ivec)x >> 31) >> 1);
	const ivec q = (ivec)(y ^ (vec)((ivec)y >> 31) >> 1);
	const vec x_nan = (vec)((fvec)x != (fvec)x), y_nan = (vec)((fvec)y != (fvec)y);
	vec r = pick((vec)(p < q) ^ maximum, x, y);

	r = pick(x_nan, y, r);
	r = pick(y_nan, x, r);
	return pick(x_nan & y_nan, splat(0x7fc00000), r);
}

/* Towards zero; out of range, the nearest limit; NaN: the largest integer. */
INLINE vec vector_to_signed(vec x)
{
	const fvec f = (fvec)x, least = (fvec)splat(0xcf000000); /* -2^31 */
	const vec fits = (vec)(f >= least) & (vec)(f < -least);
	const vec whole = (vec) __builtin_convertvector((fvec)(x & fits), ivec);

	return pick(fits, whole, pick((vec)(f < least), splat(0x80000000), splat(0x7fffffff)));
}

INLINE vec vector_to_unsigned(vec x)
{
	const fvec f = (fvec)x, half = (fvec)splat(0x4f000000); /* 2^31 */
	const vec small = (vec)(f < half) & (vec)(f > (fvec)splat(0xbf800000));
	const vec large = (vec)(f >= half) & (vec)(f < half + half);
	const vec low = (vec) __builtin_convertvector((fvec)(x & small), ivec);
	const vec high = (vec) __builtin_convertvector((fvec)((vec)(f - half) & large), ivec);
	const vec rest = ~(vec)(f <= half); /* too large, or NaN */

	return pick(small, low, pick(large, high ^ 0x80000000, rest));
}

/* A handler of straight-line code calls the next one by a jump (tail call), which saves the return
 * to run(). GCC does that with -foptimize-sibling-calls, if it optimizes and no sanitizer observes
 * the stack; clang does not for all handlers. Handlers with a buffer, jumps, and handlers of lane.h
 * return the next step. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && !defined(EXECUTE_SANITIZED)
#define CONTINUE s + 1 == w->stop ? s + 1 : s[1].fn(w, s + 1)
#else
#define CONTINUE s + 1
#endif

#define MASKED 0
#include "rv32/execute_steps.h"
#undef MASKED
#define MASKED 1
#include "rv32/execute_steps.h"
#undef MASKED
#undef CONTINUE

static void run(struct warp *w, struct step *s)
{
	w->stop = w->meet;
	do
		s = s->fn(w, s);
	while (s != w->meet);
	w->count += (uint64_t)(s - w->block);
	w->block = s;
}

static void set_mask(struct warp *w, uint32_t mask)
{
	vec *active = (vec *)(void *)w->active;

	w->mask = mask;
	for (unsigned k = 0; k < VECTORS; k++) {
		const vec bit = (vec){1, 2, 4, 8, 16, 32, 64, 128} << (int)(WIDTH * k);

		active[k] = (vec)((splat(mask) & bit) == bit);
	}
}

const struct execute EXECUTE_NAME = {
	.full = handlers_full,
	.masked = handlers_masked,
	.run = run,
	.set_mask = set_mask,
};
