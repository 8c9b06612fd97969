/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the receiver's bitmap with tables, and against a simple set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "rltp/rx_map.h"

#define T(psn, verdict, cum_after)                               \
	do {                                                     \
		assert_int_equal(rx_map_test(&m, psn), verdict); \
		if (rx_map_test(&m, psn) == RX_NEW)              \
			rx_map_set(&m, psn);                     \
		assert_int_equal(m.cum, (uint32_t)(cum_after));  \
	} while (0)

static void rx_map__order_gaps_and_wrap(void **state)
{
	struct rx_map m;

	rx_map_init(&m, 0xfffffffe);
	/* in order, across the 32-bit wrap */
	T(0xfffffffe, RX_NEW, 0xffffffff);
	T(0xffffffff, RX_NEW, 0);
	/* 0 is lost, 1 and 2 wait, then 0 arrives and releases them */
	T(1, RX_NEW, 0);
	T(2, RX_NEW, 0);
	T(1, RX_DUPLICATE, 0);
	T(0, RX_NEW, 3);
	T(0, RX_DUPLICATE, 3);
	T(2, RX_DUPLICATE, 3);
	T(3 + WIRE_WINDOW_MAX, RX_BEYOND, 3);
	T(2 + WIRE_WINDOW_MAX, RX_NEW, 3);
	T(3, RX_NEW, 4);
	T(3 + WIRE_WINDOW_MAX, RX_NEW, 4);
}

static void rx_map__gap_is_reported_once(void **state)
{
	struct rx_map m;

	rx_map_init(&m, 10);
	assert_false(rx_map_set(&m, 10));
	assert_true(rx_map_set(&m, 12));
	assert_false(rx_map_set(&m, 13));
	assert_true(rx_map_set(&m, 20));
	assert_false(rx_map_set(&m, 11));
}

/* Sets that fit into the report, and wider ones. */
static void rx_map__report(void **state)
{
	struct rng r = {3};

	for (uint32_t span = 1; span < WIRE_WINDOW_MAX; span += 1 + span / 7) {
		struct rx_map m;
		uint8_t has[WIRE_WINDOW_MAX] = {0}, words[WIRE_SACK_WORDS_MAX * 8];
		uint32_t first = (uint32_t)rng_next(&r);
		uint16_t offset;
		rx_map_init(&m, first);
		for (uint32_t i = 1; i <= span; i++)
			if ((i == span || rng_below(&r, 2)) &&
			    rx_map_test(&m, first + i) == RX_NEW) {
				rx_map_set(&m, first + i);
				has[i] = 1;
			}
		uint32_t count = rx_map_report(&m, words, WIRE_SACK_WORDS_MAX, &offset);
		assert_true(count <= WIRE_SACK_WORDS_MAX && (offset + 64 * count) > span);
		for (uint32_t i = 0; i < 64 * count; i++) {
			uint64_t word = get_be64(words + i / 64 * 8);
			uint32_t distance = offset + i;
			assert_int_equal(word >> (i % 64) & 1,
					 distance < WIRE_WINDOW_MAX && has[distance]);
		}
	}
}

static void rx_map__like_a_naive_set(void **state)
{
	static uint8_t seen[20000];
	struct rng r = {9};
	struct rx_map m;
	uint32_t base = 0xfffff000, cum = 0;

	memset(seen, 0, sizeof(seen));
	rx_map_init(&m, base);
	for (int i = 0; i < 60000; i++) {
		uint32_t back = cum > 50 ? 50 : cum;
		uint32_t psn = cum - back + (uint32_t)rng_below(&r, 300);
		if (psn >= sizeof(seen))
			break;
		enum rx_verdict expected = seen[psn] ? RX_DUPLICATE : RX_NEW;
		assert_int_equal(rx_map_test(&m, base + psn), expected);
		if (expected == RX_NEW)
			rx_map_set(&m, base + psn);
		seen[psn] = 1;
		while (seen[cum])
			cum++;
		assert_int_equal(m.cum, base + cum);
		uint32_t missing = 0, to = cum + (uint32_t)rng_below(&r, 400);
		for (uint32_t k = cum; k < to && k < sizeof(seen); k++)
			missing += !seen[k];
		if (to < sizeof(seen))
			assert_int_equal(rx_map_missing(&m, base + to), missing);
	}
	assert_true(cum > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rx_map__order_gaps_and_wrap),
		cmocka_unit_test(rx_map__gap_is_reported_once),
		cmocka_unit_test(rx_map__report),
		cmocka_unit_test(rx_map__like_a_naive_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
