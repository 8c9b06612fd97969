/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/util.h"
#include "link/clock.h"

#define HOUR_NS (3600 * S_NS)

static void clock_now_ns__never_goes_back(void **state)
{
	uint64_t before = clock_now_ns();

	for (int i = 0; i < 1000; i++) {
		uint64_t now = clock_now_ns();
		assert_true(now >= before);
		before = now;
	}
}

static void clock_arrived_ns__keeps_the_age(void **state)
{
	struct clock_pair now = {.monotonic_ns = 10 * S_NS, .wall_ns = 1700000000 * S_NS};

	assert_int_equal(clock_arrived_ns(&now, now.wall_ns - 7 * US_NS), 10 * S_NS - 7 * US_NS);
	assert_int_equal(clock_arrived_ns(&now, now.wall_ns), 10 * S_NS);
	assert_int_equal(clock_arrived_ns(&now, now.wall_ns - DATAGRAM_AGE_NS),
			 10 * S_NS - DATAGRAM_AGE_NS);
}

static void clock_arrived_ns__survives_a_stepped_wall_clock(void **state)
{
	struct clock_pair now = {.monotonic_ns = 10 * S_NS, .wall_ns = 1700000000 * S_NS};

	/* the clock was set back after the stamp, which is in the future */
	assert_int_equal(clock_arrived_ns(&now, now.wall_ns + HOUR_NS), 10 * S_NS);
	/* the clock was set forward after the stamp; the age is bounded */
	assert_int_equal(clock_arrived_ns(&now, now.wall_ns - HOUR_NS),
			 10 * S_NS - DATAGRAM_AGE_NS);
	/* an arrival cannot precede time 0 */
	now.monotonic_ns = 5;
	assert_int_equal(clock_arrived_ns(&now, now.wall_ns - HOUR_NS), 0);
}

static void clock_read__agrees_with_clock_now_ns(void **state)
{
	uint64_t before = clock_now_ns();
	struct clock_pair pair = clock_read();

	assert_in_range(pair.monotonic_ns, before, clock_now_ns());
	assert_true(pair.wall_ns > 1700000000 * S_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clock_now_ns__never_goes_back),
		cmocka_unit_test(clock_arrived_ns__keeps_the_age),
		cmocka_unit_test(clock_arrived_ns__survives_a_stepped_wall_clock),
		cmocka_unit_test(clock_read__agrees_with_clock_now_ns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
