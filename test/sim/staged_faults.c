/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes each allocation fail once during PUTs and GETs of staged memory: a delay, but no wrong byte
 * or leak. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/sim/memory.h"
#include "test/sim/staged.h"

static void staged_faults__each_allocation_fails(void **state)
{
	const struct staged_plan plan = {
		.sim = {.seed = 9},
		.device = {.buffers = 3, .buffer_bytes = 2 * STAGED_UNIT, .latency_ns = 20 * US_NS},
		.senders = 1,
		.puts = 10,
	};
	bool failed = true;
	uint64_t n = 1;

	for (; failed; n++) {
		static struct staged_scene s;
		staged_open(&s, &plan);
		s.blind = true;
		countdown = n;
		bool finished = staged_run(&s, 10 * S_NS);
		failed = countdown == 0;
		countdown = 0;
		if (!finished)
			staged_wrong(&s, "does not end", 0, 0);
		staged_close(&s);
		if (s.wrong[0])
			fail_msg("allocation %llu fails: %s", (unsigned long long)n, s.wrong);
	}
	assert_true(n > 30);
	print_message("%llu allocations failed in turn\n", (unsigned long long)n - 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(staged_faults__each_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
