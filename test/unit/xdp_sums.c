/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the kernel's sums with the CPU's, bit for bit: operators, types, counts, children;
 * random bits and numbers that cancel. Over 750,000 are of double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/xdp_rig.h"

#include "base/rng.h"

#define CHILDREN_MAX 9
#define SEGMENTS                                                                             \
	3000 /* segments with 32 doubles from 9 children: 768,000 sums; other types add more \
	      */

static union {
	double d[32];
	float f[64];
	int32_t i[64];
	int64_t l[32];
	uint64_t bits[32];
} contributed[CHILDREN_MAX], expected;

#define FOLD(member, count, expression)                                      \
	for (uint32_t e = 0; e < (count); e++) {                             \
		__typeof__(expected.member[0]) a = contributed[0].member[e]; \
		for (uint32_t c = 1; c < children; c++) {                    \
			__typeof__(a) b = contributed[c].member[e];          \
			a = (expression);                                    \
		}                                                            \
		expected.member[e] = a;                                      \
	}

#define FOLD_OPS(member, count, sum)                                                \
	do {                                                                        \
		if (op == DXP_INC_SUM)                                              \
			FOLD(member, count, sum)                                    \
		else if (op == DXP_INC_MIN)                                         \
			FOLD(member, count, a < b ? a : b) /* NOLINT: of numbers */ \
		else                                                                \
			FOLD(member, count, a > b ? a : b)                          \
	} while (0)

static void expect(enum dxp_inc_op op, enum dxp_inc_type type, uint32_t children, uint32_t count)
{
	switch (type) {
	case DXP_INC_DOUBLE: FOLD_OPS(d, count, a + b); break;
	case DXP_INC_FLOAT: FOLD_OPS(f, count, a + b); break;
	case DXP_INC_INT32: FOLD_OPS(i, count, (int32_t)((uint32_t)a + (uint32_t)b)); break;
	default: FOLD_OPS(l, count, (int64_t)((uint64_t)a + (uint64_t)b)); break;
	}
}

/* Every fourth segment is random without NaN: of two NaNs the compiler chooses (softfloat.c tests
 * them). Others have close exponents. */
static void contribute(struct rng *rng, enum dxp_inc_type type, uint32_t children, bool wild)
{
	for (uint32_t c = 0; c < children; c++)
		for (uint32_t w = 0; w < 32; w++) {
			uint64_t bits = rng_next(rng);

			if (!wild && type == DXP_INC_DOUBLE)
				bits = (bits & 0x803fffffffffffffull) | 0x3f80000000000000ull;
			if (!wild && type == DXP_INC_FLOAT)
				bits = (bits & 0x83ffffff83ffffffull) | 0x3c0000003c000000ull;
			if (type == DXP_INC_DOUBLE && (bits >> 52 & 0x7ff) == 0x7ff)
				bits &= ~(1ull << 62);
			if (type == DXP_INC_FLOAT && (bits >> 23 & 0xff) == 0xff)
				bits &= ~(1ull << 30);
			if (type == DXP_INC_FLOAT && (bits >> 55 & 0xff) == 0xff)
				bits &= ~(1ull << 62);
			contributed[c].bits[w] = bits;
		}
}

static void segment(struct rig *r, struct rng *rng, uint32_t req_id, enum dxp_inc_op op,
		    enum dxp_inc_type type, uint32_t children, uint16_t count)
{
	size_t bytes = count * dxp_inc_type_bytes(type);
	uint32_t first = (uint32_t)rng_below(rng, children);
	struct xdp_frame out;
	struct inc_packet p;
	struct roce_path path;

	contribute(rng, type, children, req_id % 4 == 0);
	expect(op, type, children, count);
	for (uint32_t i = 0; i < children; i++) {
		uint32_t member = (first + i) % children;
		struct inc_header h = rig_header(member, req_id, op, type, count);
		int action = rig_send(r, &h, member, &contributed[member], bytes, &out);

		assert_int_equal(action, i + 1 < children ? ACT_DROP : ACT_TX);
	}
	rig_decode(&out, &p, &path);
	assert_int_equal(p.payload_bytes, bytes);
	assert_memory_equal(p.payload, &expected, bytes);
}

static const enum dxp_inc_op ops[] = {DXP_INC_SUM, DXP_INC_MIN, DXP_INC_MAX};
static const enum dxp_inc_type types[] = {DXP_INC_DOUBLE, DXP_INC_FLOAT, DXP_INC_INT32,
					  DXP_INC_INT64};

static void xdp_sums__every_operation_type_and_count(void **state)
{
	struct rng rng = {20261121};
	uint32_t req_id = 0;

	for (uint32_t children = 1; children <= 4; children++) {
		rig_group(*state, children, 0);
		for (size_t o = 0; o < ARRAY_COUNT(ops); o++)
			for (size_t t = 0; t < ARRAY_COUNT(types); t++)
				for (uint16_t n = 0; n <= 256 / dxp_inc_type_bytes(types[t]); n++)
					segment(*state, &rng, req_id++, ops[o], types[t], children,
						n);
	}
}

static void xdp_sums__a_million_doubles(void **state)
{
	struct rng rng = {4711};

	rig_group(*state, CHILDREN_MAX, 0);
	for (uint32_t i = 0; i < SEGMENTS; i++) {
		segment(*state, &rng, 2 * i, DXP_INC_SUM, DXP_INC_DOUBLE, CHILDREN_MAX, 32);
		segment(*state, &rng, 2 * i + 1, DXP_INC_SUM, DXP_INC_FLOAT, CHILDREN_MAX, 64);
	}
}

static void xdp_sums__sixty_four_children(void **state)
{
	struct xdp_frame out;
	struct inc_packet p;
	struct roce_path path;
	int64_t sum;

	rig_group(*state, SWITCH_KERNEL_CHILDREN, 0);
	for (uint32_t i = 0; i < SWITCH_KERNEL_CHILDREN; i++) {
		struct inc_header h = rig_header(i, 1, DXP_INC_SUM, DXP_INC_INT64, 1);
		int64_t value = 1ll << i % 32;

		assert_int_equal(rig_send(*state, &h, i, &value, 8, &out),
				 i + 1 < SWITCH_KERNEL_CHILDREN ? ACT_DROP : ACT_TX);
	}
	rig_decode(&out, &p, &path);
	memcpy(&sum, p.payload, 8);
	assert_int_equal(sum, 2 * ((1ll << 32) - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xdp_sums__every_operation_type_and_count),
		cmocka_unit_test(xdp_sums__a_million_doubles),
		cmocka_unit_test(xdp_sums__sixty_four_children),
	};

	return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
