/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the limit of a pipeline that follows from the times of its stages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/util.h"
#include "bench/bridge_limit.h"

static void limit__slowest_stage_as_fast_as_its_fastest_way(void **state)
{
	static const struct bridge_alone ways[] = {
		{STAGE_NONE, "pipelined", 0.5, 9000},   {STAGE_NETWORK, "pushed", 2, 600},
		{STAGE_NETWORK, "pulled", 3, 500},      {STAGE_DMA, "DMA out", 8, 125},
		{STAGE_DMA_SECOND, "DMA in", 2.5, 175},
	};
	struct bridge_limit l = bridge_limit_of(ways, ARRAY_COUNT(ways), 2);

	(void)state;
	assert_string_equal(l.name, "DMA in");
	assert_float_equal(l.gb_per_s, 2.5, 1e-9);
	/* 1 KB uses 500 + 125 + 175 ns of two processors */
	assert_float_equal(l.processors_gb_per_s, 2.5, 1e-9);
	l = bridge_limit_of(ways, ARRAY_COUNT(ways) - 1, 1);
	assert_string_equal(l.name, "pulled");
	assert_float_equal(l.gb_per_s, 3, 1e-9);
	assert_float_equal(l.processors_gb_per_s, 1.6, 1e-9);
}

static void limit__nothing_is_claimed_of_what_was_not_measured(void **state)
{
	static const struct bridge_alone ways[] = {
		{STAGE_NONE, "pipelined", 0.5, 900},
		{STAGE_NETWORK, "pushed", 0, 0}, /* this measurement failed */
		{STAGE_DMA, "DMA", 8, 125},
	};
	struct bridge_limit l = bridge_limit_of(ways, ARRAY_COUNT(ways), 2);

	(void)state;
	assert_string_equal(l.name, "DMA");
	assert_float_equal(l.processors_gb_per_s, 0, 0);
	l = bridge_limit_of(ways, 2, 2);
	assert_null(l.name);
	assert_float_equal(l.gb_per_s, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limit__slowest_stage_as_fast_as_its_fastest_way),
		cmocka_unit_test(limit__nothing_is_claimed_of_what_was_not_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
