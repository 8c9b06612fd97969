/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares integer arithmetic of the XDP plane with the floating-point unit (FPU), bit for bit: all
 * pairs of special numbers, then millions of random and of close ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/util.h"
#include "switch/xdp/softfloat.h"

#define RANDOM_PAIRS 4000000u

/* volatile: the FPU adds at run time, in this order. */
static uint64_t fpu_add_double(uint64_t a, uint64_t b)
{
	volatile double x, y, sum;
	uint64_t bits;

	memcpy((void *)&x, &a, sizeof(x));
	memcpy((void *)&y, &b, sizeof(y));
	sum = x;
#ifdef __x86_64__
	{
		double into = sum;
		__asm__("addsd %1, %0" : "+x"(into) : "m"(y));
		sum = into;
	}
#else
	sum = x + y;
#endif
	memcpy(&bits, (const void *)&sum, sizeof(bits));
	return bits;
}

static uint32_t fpu_add_float(uint32_t a, uint32_t b)
{
	volatile float x, y, sum;
	uint32_t bits;

	memcpy((void *)&x, &a, sizeof(x));
	memcpy((void *)&y, &b, sizeof(y));
	sum = x;
#ifdef __x86_64__
	{
		float into = sum;
		__asm__("addss %1, %0" : "+x"(into) : "m"(y));
		sum = into;
	}
#else
	sum = x + y;
#endif
	memcpy(&bits, (const void *)&sum, sizeof(bits));
	return bits;
}

static int fpu_less_double(uint64_t a, uint64_t b)
{
	double x, y;

	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &b, sizeof(y));
	return x < y;
}

static int fpu_less_float(uint32_t a, uint32_t b)
{
	float x, y;

	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &b, sizeof(y));
	return x < y;
}

static void check_double(uint64_t a, uint64_t b)
{
	if (sf_add_double(a, b) != fpu_add_double(a, b))
		fail_msg("%016jx + %016jx is %016jx, not %016jx", (uintmax_t)a, (uintmax_t)b,
			 (uintmax_t)fpu_add_double(a, b), (uintmax_t)sf_add_double(a, b));
	if (sf_less_double(a, b) != fpu_less_double(a, b))
		fail_msg("%016jx < %016jx", (uintmax_t)a, (uintmax_t)b);
}

static void check_float(uint32_t a, uint32_t b)
{
	if (sf_add_float(a, b) != fpu_add_float(a, b))
		fail_msg("%08x + %08x is %08x, not %08x", a, b, fpu_add_float(a, b),
			 sf_add_float(a, b));
	if (sf_less_float(a, b) != fpu_less_float(a, b))
		fail_msg("%08x < %08x", a, b);
}

/* Edge cases of the fraction with every relevant exponent. */
static void softfloat__special_doubles(void **state)
{
	static const uint64_t fractions[] = {0,
					     1,
					     2,
					     3,
					     0x7ffffffffffffull,
					     0x8000000000000ull,
					     0x8000000000001ull,
					     0xffffffffffffeull,
					     0xfffffffffffffull};
	static const uint64_t exponents[] = {0,    1,    2,    3,    52,   53,   54,
					     55,   56,   1022, 1023, 1024, 1075, 1076,
					     1077, 1078, 2044, 2045, 2046, 2047};
	static uint64_t all[ARRAY_COUNT(fractions) * ARRAY_COUNT(exponents) * 2];
	size_t count = 0;

	for (size_t e = 0; e < ARRAY_COUNT(exponents); e++)
		for (size_t f = 0; f < ARRAY_COUNT(fractions); f++)
			for (uint64_t sign = 0; sign < 2; sign++)
				all[count++] = sign << 63 | exponents[e] << 52 | fractions[f];
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			check_double(all[i], all[j]);
}

static void softfloat__special_floats(void **state)
{
	static const uint32_t fractions[] = {0,        1,        2,        3,       0x3fffff,
					     0x400000, 0x400001, 0x7ffffe, 0x7fffff};
	static const uint32_t exponents[] = {0,   1,   2,   3,   23,  24,  25,  26,  126,
					     127, 128, 150, 151, 152, 252, 253, 254, 255};
	static uint32_t all[ARRAY_COUNT(fractions) * ARRAY_COUNT(exponents) * 2];
	size_t count = 0;

	for (size_t e = 0; e < ARRAY_COUNT(exponents); e++)
		for (size_t f = 0; f < ARRAY_COUNT(fractions); f++)
			for (uint32_t sign = 0; sign < 2; sign++)
				all[count++] = sign << 31 | exponents[e] << 23 | fractions[f];
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			check_float(all[i], all[j]);
}

static void softfloat__random_doubles(void **state)
{
	struct rng rng = {20261121};

	for (uint32_t i = 0; i < RANDOM_PAIRS; i++) {
		uint64_t a = rng_next(&rng), b = rng_next(&rng);

		if (i % 2) {
			uint64_t exponent = (a >> 52 & 0x7ff) + rng_next(&rng) % 128;

			b = (b & 0x800fffffffffffffull) | (exponent % 2048) << 52;
		}
		if (i % 4 == 3)
			b &= ~(~0ull >> 12 >> rng_next(&rng) % 52);
		check_double(a, b);
	}
}

static void softfloat__random_floats(void **state)
{
	struct rng rng = {20261122};

	for (uint32_t i = 0; i < RANDOM_PAIRS; i++) {
		uint64_t r = rng_next(&rng);
		uint32_t a = (uint32_t)r, b = (uint32_t)(r >> 32);

		if (i % 2) {
			uint32_t exponent = (a >> 23 & 0xff) + rng_next(&rng) % 64;

			b = (b & 0x807fffffu) | (exponent % 256) << 23;
		}
		check_float(a, b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(softfloat__special_doubles),
		cmocka_unit_test(softfloat__special_floats),
		cmocka_unit_test(softfloat__random_doubles),
		cmocka_unit_test(softfloat__random_floats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
