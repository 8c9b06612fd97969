/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the replay window with a list of all counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "seal/replay.h"

static void replay__each_counter_once(void **state)
{
	struct replay r;

	replay_init(&r, 0);
	for (uint64_t i = 0; i < 3 * REPLAY_WINDOW; i++) {
		assert_false(replay_seen(&r, i));
		replay_mark(&r, i);
		assert_true(replay_seen(&r, i));
	}
}

static void replay__window_is_exact(void **state)
{
	struct replay r;
	const uint64_t high = 10 * REPLAY_WINDOW;

	replay_init(&r, 0);
	replay_mark(&r, high);
	assert_false(replay_seen(&r, high - (REPLAY_WINDOW - 1)));
	assert_true(replay_seen(&r, high - REPLAY_WINDOW));
	assert_true(replay_seen(&r, 0));
}

/* Only the highest counter is kept. */
static void replay__after_a_rest_all_older_are_seen(void **state)
{
	struct replay r;

	replay_init(&r, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(replay_seen(&r, i));
	assert_false(replay_seen(&r, 1000));
	replay_mark(&r, 1002);
	assert_true(replay_seen(&r, 999));
	assert_false(replay_seen(&r, 1001));
}

static void replay__random_order_against_a_list(void **state)
{
	enum { SPAN = 40 * REPLAY_WINDOW };
	static bool seen[SPAN];
	struct rng rng = {3};
	struct replay r;
	uint64_t base = 0;

	replay_init(&r, 0);
	memset(seen, 0, sizeof(seen));
	for (int i = 0; i < 400000; i++) {
		base += rng_below(&rng, 1000) ? rng_below(&rng, 2) : rng_below(&rng, 6000);
		uint64_t back = rng_below(&rng, 4) ? rng_below(&rng, 100)
						   : rng_below(&rng, 2 * REPLAY_WINDOW);
		uint64_t counter = base > back ? base - back : 0;
		if (counter >= SPAN)
			break;
		bool old = counter < r.next && r.next - counter > REPLAY_WINDOW;
		assert_int_equal(replay_seen(&r, counter), old || seen[counter]);
		if (old || seen[counter])
			continue;
		replay_mark(&r, counter);
		seen[counter] = true;
	}
}

static void replay__counter_from_its_low_half(void **state)
{
	const uint64_t wrap = 1ull << 32;

	assert_int_equal(replay_counter(0, 0), 0);
	assert_int_equal(replay_counter(0, 5), 5);
	assert_int_equal(replay_counter(10, 3), 3);
	assert_int_equal(replay_counter(wrap - 1, 4), wrap + 4);
	assert_int_equal(replay_counter(wrap + 4, UINT32_MAX), wrap - 1);
	assert_int_equal(replay_counter(7 * wrap + 9, 9), 7 * wrap + 9);
	/* never below 0 */
	assert_int_equal(replay_counter(0, UINT32_MAX), UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replay__each_counter_once),
		cmocka_unit_test(replay__window_is_exact),
		cmocka_unit_test(replay__after_a_rest_all_older_are_seen),
		cmocka_unit_test(replay__random_order_against_a_list),
		cmocka_unit_test(replay__counter_from_its_low_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
