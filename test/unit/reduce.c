/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares each operator on each type, scalar and vector, with a model in wider types. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/util.h"
#include "switch/reduce_half.h"
#include "switch/reduce_ways.h"

#define ELEMENTS_MAX 300
#define BYTES_MAX    (ELEMENTS_MAX * 16)
#define GUARD        64

/* ---- the model ---- */

static double half_value(uint16_t h, int exponent_bits)
{
	int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
	int exponent = h >> fraction_bits & ((1 << exponent_bits) - 1);
	int fraction = h & ((1 << fraction_bits) - 1);
	double size;

	if (exponent == (1 << exponent_bits) - 1)
		size = fraction ? NAN : INFINITY;
	else if (exponent == 0)
		size = ldexp(fraction, 1 - bias - fraction_bits);
	else
		size = ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
	return h & 0x8000 ? -size : size;
}

/* Ties to even; NaN gives some NaN. */
static uint16_t half_nearest(double v, int exponent_bits)
{
	int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
	uint16_t infinity = (uint16_t)(((1 << exponent_bits) - 1) << fraction_bits);
	uint16_t sign = signbit(v) ? 0x8000 : 0;
	int exponent;

	if (isnan(v))
		return infinity | 1;
	if (isinf(v))
		return sign | infinity;
	if (v == 0)
		return sign;
	frexp(v, &exponent);
	exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
	double steps = nearbyint(ldexp(fabs(v), fraction_bits - exponent));
	/* rounding up to a power of two carries into the exponent */
	uint32_t bits = (uint32_t)(exponent + bias - 1) * (1u << fraction_bits) + (uint32_t)steps;
	return sign | (uint16_t)(bits > infinity ? infinity : bits);
}

enum form { SIGNED, UNSIGNED, HALF5, HALF8, FLOAT, DOUBLE };

struct shape {
	enum form form;
	size_t bytes;  /* without a padding */
	size_t stride; /* between elements */
};

static struct shape shape_of(enum dxp_inc_type type)
{
	size_t bytes = dxp_inc_type_bytes(type);

	switch (type) {
	case DXP_INC_INT8:
	case DXP_INC_INT16:
	case DXP_INC_INT32:
	case DXP_INC_INT64: return (struct shape){SIGNED, bytes, bytes};
	case DXP_INC_FP16: return (struct shape){HALF5, 2, 2};
	case DXP_INC_BF16: return (struct shape){HALF8, 2, 2};
	case DXP_INC_FLOAT: return (struct shape){FLOAT, 4, 4};
	case DXP_INC_DOUBLE: return (struct shape){DOUBLE, 8, 8};
	case DXP_INC_INT32_INT: return (struct shape){SIGNED, 4, 8};
	case DXP_INC_INT64_INT: return (struct shape){SIGNED, 8, 16};
	case DXP_INC_FLOAT_INT: return (struct shape){FLOAT, 4, 8};
	case DXP_INC_DOUBLE_INT: return (struct shape){DOUBLE, 8, 16};
	default: return (struct shape){UNSIGNED, bytes, bytes};
	}
}

static uint64_t raw_get(const uint8_t *p, size_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes);
	return v;
}

static double real_of(uint64_t raw, enum form form)
{
	float f;
	double d;

	switch (form) {
	case HALF5: return half_value((uint16_t)raw, 5);
	case HALF8: return half_value((uint16_t)raw, 8);
	case FLOAT: memcpy(&f, &raw, 4); return (double)f;
	default: memcpy(&d, &raw, 8); return d;
	}
}

static uint64_t real_raw(double v, enum form form)
{
	float f = (float)v;
	uint64_t raw = 0;

	switch (form) {
	case HALF5: return half_nearest(f, 5);
	case HALF8: return half_nearest(f, 8);
	case FLOAT: memcpy(&raw, &f, 4); return raw;
	default: memcpy(&raw, &v, 8); return raw;
	}
}

/* A float product is exact in double. A sum is rounded twice but right, as a double has more than
 * twice the digits. */
static uint64_t real_model(enum dxp_inc_op op, enum form form, uint64_t a, uint64_t b)
{
	double x = real_of(a, form), y = real_of(b, form);

	switch (op) {
	case DXP_INC_SUM: return real_raw(x + y, form);
	case DXP_INC_PROD: return real_raw(x * y, form);
	case DXP_INC_MIN: return x < y ? a : b;
	default: return x > y ? a : b;
	}
}

static int64_t widen(uint64_t raw, size_t bytes)
{
	unsigned shift = (unsigned)(64 - 8 * bytes);

	return (int64_t)(raw << shift) >> shift;
}

static bool before(enum form form, size_t bytes, uint64_t a, uint64_t b)
{
	if (form == SIGNED)
		return widen(a, bytes) < widen(b, bytes);
	if (form == UNSIGNED)
		return a < b;
	return real_of(a, form) < real_of(b, form);
}

static uint64_t integer_model(enum dxp_inc_op op, struct shape s, uint64_t a, uint64_t b)
{
	switch (op) {
	case DXP_INC_SUM: return a + b;
	case DXP_INC_PROD: return a * b;
	case DXP_INC_MIN: return before(s.form, s.bytes, b, a) ? b : a;
	case DXP_INC_MAX: return before(s.form, s.bytes, a, b) ? b : a;
	case DXP_INC_LAND: return a && b;
	case DXP_INC_LOR: return a || b;
	case DXP_INC_LXOR: return !a != !b;
	case DXP_INC_BAND: return a & b;
	case DXP_INC_BOR: return a | b;
	default: return a ^ b;
	}
}

static void pair_model(enum dxp_inc_op op, struct shape s, uint8_t *into, const uint8_t *from)
{
	uint64_t a = raw_get(into, s.bytes), b = raw_get(from, s.bytes);
	int32_t i = (int32_t)raw_get(into + s.bytes, 4), j = (int32_t)raw_get(from + s.bytes, 4);
	bool better = op == DXP_INC_MINLOC ? before(s.form, s.bytes, b, a)
					   : before(s.form, s.bytes, a, b);
	bool equal = s.form == SIGNED ? a == b : real_of(a, s.form) == real_of(b, s.form);

	if (better)
		memcpy(into, from, s.bytes + 4);
	else if (equal && j < i)
		memcpy(into + s.bytes, from + s.bytes, 4);
	memset(into + s.bytes + 4, 0, s.stride - s.bytes - 4);
}

static void model(enum dxp_inc_op op, struct shape s, uint8_t *into, const uint8_t *from)
{
	uint64_t a = raw_get(into, s.bytes), b = raw_get(from, s.bytes), out;

	if (s.stride > s.bytes) {
		pair_model(op, s, into, from);
		return;
	}
	out = s.form <= UNSIGNED ? integer_model(op, s, a, b) : real_model(op, s.form, a, b);
	memcpy(into, &out, s.bytes);
}

/* ---- comparison ---- */

static const struct {
	const char *name;
	reduce_fn (*of)(enum dxp_inc_op op, enum dxp_inc_type type);
} ways[] = {{"plain", reduce_plain}, {"avx2", reduce_avx2}, {"chosen", reduce_function}};

static bool same(struct shape s, const uint8_t *have, const uint8_t *want)
{
	if (memcmp(have, want, s.stride) == 0)
		return true;
	/* which NaN a sum gives is unspecified */
	return s.form >= HALF5 && s.stride == s.bytes &&
	       isnan(real_of(raw_get(have, s.bytes), s.form)) &&
	       isnan(real_of(raw_get(want, s.bytes), s.form));
}

/* Runs all implementations on `count` elements at odd addresses. Checks that the bytes around the
 * elements are unchanged. */
static void check(enum dxp_inc_op op, enum dxp_inc_type type, const uint8_t *a, const uint8_t *b,
		  size_t count)
{
	static uint8_t into[BYTES_MAX + 2 * GUARD], from[BYTES_MAX + GUARD], want[16];
	struct shape s = shape_of(type);
	size_t skew = count % 7;

	for (size_t w = 0; w < ARRAY_COUNT(ways); w++) {
		reduce_fn fn = ways[w].of(op, type);

		if (!fn)
			continue; /* no AVX2 variant */
		memset(into, 0xa5, sizeof(into));
		memcpy(into + GUARD + skew, a, count * s.stride);
		memcpy(from + 1, b, count * s.stride);
		fn(into + GUARD + skew, from + 1, count);
		for (size_t i = 0; i < count; i++) {
			memcpy(want, a + i * s.stride, s.stride);
			model(op, s, want, b + i * s.stride);
			if (!same(s, into + GUARD + skew + i * s.stride, want))
				fail_msg("%s: op %d type %d: element %zu of %zu", ways[w].name, op,
					 type, i, count);
		}
		for (size_t i = 0; i < GUARD + skew; i++)
			assert_int_equal(into[i], 0xa5);
		for (size_t i = GUARD + skew + count * s.stride; i < sizeof(into); i++)
			assert_int_equal(into[i], 0xa5);
		assert_memory_equal(from + 1, b, count * s.stride);
	}
}

/* Edge cases, or random bits. */
static uint64_t value_draw(enum form form, struct rng *rng)
{
	static const uint64_t integers[] = {
		0,      1,          2,          0x7f,      0x80,       0xff,      0x7fff,
		0x8000, 0x7fffffff, 0x80000000, INT64_MAX, 1ull << 63, UINT64_MAX};
	static const uint64_t halves[] = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,
					  0x3c00, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x7c01,
					  0x7f80, 0xff80, 0x7f7f, 0x7fc0};
	static const uint64_t floats[] = {0,          1u << 31,   1,          0x800000,
					  0x7fffff,   0x3f800000, 0x7f7fffff, 0x7f800000,
					  0xff800000, 0x7fc00000, 0x7f800001};
	static const uint64_t doubles[] = {0,
					   1ull << 63,
					   1,
					   1ull << 52,
					   0x3ff0000000000000,
					   0x7fefffffffffffff,
					   0x7ff0000000000000,
					   0xfff0000000000000,
					   0x7ff8000000000000};
	uint64_t draw = rng_next(rng), index = draw >> 8;

	if (draw & 1)
		return rng_next(rng);
	switch (form) {
	case HALF5:
	case HALF8: return halves[index % ARRAY_COUNT(halves)];
	case FLOAT: return floats[index % ARRAY_COUNT(floats)];
	case DOUBLE: return doubles[index % ARRAY_COUNT(doubles)];
	default: return integers[index % ARRAY_COUNT(integers)];
	}
}

static void elements_draw(struct shape s, uint8_t *out, size_t count, struct rng *rng)
{
	memset(out, 0, count * s.stride);
	for (size_t i = 0; i < count; i++) {
		uint64_t v = value_draw(s.form, rng), index = rng_next(rng) % 3;

		memcpy(out + i * s.stride, &v, s.bytes);
		if (s.stride > s.bytes)
			memcpy(out + i * s.stride + s.bytes, &index, 4);
	}
}

static void reduce__like_the_model(void **state)
{
	static uint8_t a[BYTES_MAX], b[BYTES_MAX];
	struct rng rng = {5};

	for (enum dxp_inc_op op = 0; op < DXP_INC_OPS; op++)
		for (enum dxp_inc_type type = 0; type < DXP_INC_TYPES; type++) {
			bool defined = dxp_inc_defined(op, type);

			assert_int_equal(reduce_function(op, type) != NULL, defined);
			assert_int_equal(reduce_plain(op, type) != NULL, defined);
			for (size_t count = 0; defined && count <= ELEMENTS_MAX;
			     count += count < 70 ? 1 : 23) {
				elements_draw(shape_of(type), a, count, &rng);
				elements_draw(shape_of(type), b, count, &rng);
				check(op, type, a, b, count);
			}
		}
}

static void reduce__eight_bits(void **state)
{
	static const enum dxp_inc_type types[] = {DXP_INC_BYTES, DXP_INC_INT8, DXP_INC_UINT8};
	uint8_t a[256], b[256];

	for (unsigned i = 0; i < 256; i++)
		a[i] = (uint8_t)i;
	for (size_t t = 0; t < ARRAY_COUNT(types); t++)
		for (enum dxp_inc_op op = 0; op < DXP_INC_OPS; op++)
			for (unsigned v = 0; v < 256 && dxp_inc_defined(op, types[t]); v++) {
				memset(b, (int)v, sizeof(b));
				check(op, types[t], a, b, 256);
			}
}

static void reduce__half_values(void **state)
{
	for (uint32_t h = 0; h < 65536; h++) {
		double five = half_value((uint16_t)h, 5), eight = half_value((uint16_t)h, 8);
		float fp16 = fp16_to_float((uint16_t)h), bf16 = bf16_to_float((uint16_t)h);

		assert_int_equal(isnan(fp16), isnan(five));
		assert_int_equal(isnan(bf16), isnan(eight));
		assert_true(isnan(five) || (fp16 == five && !signbit(fp16) == !signbit(five)));
		assert_true(isnan(eight) || (bf16 == eight && !signbit(bf16) == !signbit(eight)));
		/* NaNs become quiet, with their other bits kept */
		assert_int_equal(fp16_of_float(fp16), isnan(five) ? h | 0x200 : h);
		assert_int_equal(bf16_of_float(bf16), isnan(eight) ? h | 0x40 : h);
	}
}

static void nearest_check(uint32_t bits)
{
	float f = float_of_bits(bits);
	uint16_t fp16 = fp16_of_float(f), bf16 = bf16_of_float(f);

	if (isnan(f)) {
		assert_true(isnan(half_value(fp16, 5)) && isnan(half_value(bf16, 8)));
		return;
	}
	if (fp16 != half_nearest(f, 5) || bf16 != half_nearest(f, 8))
		fail_msg("%a: fp16 0x%04x, not 0x%04x; bf16 0x%04x, not 0x%04x", (double)f, fp16,
			 half_nearest(f, 5), bf16, half_nearest(f, 8));
}

/* Halves between neighbours, values next to them, and random ones. */
static void reduce__half_rounding(void **state)
{
	struct rng rng = {7};

	for (uint32_t h = 0; h < 65536; h++)
		for (uint32_t off = 0; off < 5; off++) {
			uint32_t fp16 = bits_of_float(fp16_to_float((uint16_t)h));
			float middle =
				(fp16_to_float((uint16_t)h) + fp16_to_float((uint16_t)(h + 1))) / 2;

			nearest_check(fp16 + off - 2);
			nearest_check(bits_of_float(middle) + off - 2);
			nearest_check((h << 16) + 0x8000 + off - 2);
			nearest_check((h << 16) + off - 2);
		}
	for (size_t i = 0; i < 300000; i++)
		nearest_check((uint32_t)rng_next(&rng));
	nearest_check(bits_of_float(65519.99f));
	nearest_check(bits_of_float(65520.f));
}

/* MPI leaves NaN and zeros of both signs open; include/dxp has the rules. */
static void reduce__not_a_number(void **state)
{
	double nan_first[] = {NAN, 1, -0.0, 0.0}, second[] = {1, NAN, 0.0, -0.0}, x[4];

	for (enum dxp_inc_op op = DXP_INC_MIN; op <= DXP_INC_MAX; op++) {
		memcpy(x, nan_first, sizeof(x));
		reduce_function(op, DXP_INC_DOUBLE)(x, second, 4);
		assert_memory_equal(x, second, sizeof(x));
	}
}

/* The comparisons above skip variants that do not exist. */
static void reduce__vector_ways_are_among_them(void **state)
{
	uint32_t found = 0;

	for (enum dxp_inc_op op = 0; op < DXP_INC_OPS; op++)
		for (int type = 0; type < DXP_INC_TYPES; type++)
			found += reduce_avx2(op, (enum dxp_inc_type)type) != NULL;
	if (found == 0) {
		print_message("skipped: this CPU has no AVX2\n");
		skip();
	}
	assert_true(found > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reduce__like_the_model),
		cmocka_unit_test(reduce__eight_bits),
		cmocka_unit_test(reduce__half_values),
		cmocka_unit_test(reduce__half_rounding),
		cmocka_unit_test(reduce__not_a_number),
		cmocka_unit_test(reduce__vector_ways_are_among_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
