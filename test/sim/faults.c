/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the n-th allocation of NIC, transport and simulator fail, n = 1, 2, ...: DXP_ENOMEM without
 * leaks (sanitizers check) during creation, later a delay but never a wrong result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "test/sim/memory.h"
#include "test/support/workload.h"

static const struct sim_options options = {.seed = 5, .hosts = 2};

static void faults__while_nodes_are_made(void **state)
{
	struct sim *s = NULL;
	uint64_t n = 1;

	for (;; n++) {
		countdown = n;
		int status = sim_create(&options, &s);
		bool failed = countdown == 0;
		countdown = 0;
		if (!failed)
			break;
		assert_int_equal(status, DXP_ENOMEM);
	}
	sim_destroy(s);
	assert_true(n > 10);
	print_message("%llu allocations failed in turn\n", (unsigned long long)n - 1);
}

static void faults__while_they_work(void **state)
{
	const struct workload_options load = {.operations = 12, .bytes_max = 5000};
	bool failed = true;
	uint64_t n = 1;

	for (; failed; n++) {
		struct sim *s;
		assert_int_equal(sim_create(&options, &s), DXP_OK);
		struct workload *w = workload_create(s, 5, &load);
		assert_non_null(w);
		countdown = n;
		bool finished = sim_run(s, 10 * S_NS, workload_step, w);
		failed = countdown == 0;
		countdown = 0;
		const char *wrong = workload_verdict(w);
		if (wrong || !finished)
			fail_msg("allocation %llu fails: %s", (unsigned long long)n,
				 wrong ? wrong : "never ends");
		workload_destroy(w);
		sim_destroy(s);
	}
	assert_true(n > 20);
	print_message("%llu allocations failed in turn\n", (unsigned long long)n - 2);
}

static bool ended(void *context)
{
	struct dxp_nic_event event;

	return dxp_sent_dequeue(sim_window(context, 0), &event);
}

static bool received(void *context)
{
	const uint8_t *data;

	return nic_user_received_peek(sim_window(context, 1), &data) != NULL;
}

/* The record of a rejection finds no memory. It must not count as recorded, or all later messages
 * of the new stream would wait for ever. */
static void faults__the_first_message_is_rejected(void **state)
{
	bool failed = true;
	uint64_t n = 1;

	for (; failed; n++) {
		struct sim *s;
		assert_int_equal(sim_create(&options, &s), DXP_OK);
		struct dxp_target right = sim_target(s, 1, 0), wrong = right;
		wrong.magic ^= 1;
		dxp_post_nap(sim_window(s, 0), 0, &wrong, "a", 1, 0, 1);
		countdown = n;
		assert_true(sim_run(s, S_NS, ended, s));
		dxp_post_nap(sim_window(s, 0), 0, &right, "b", 1, 0, 2);
		bool came = sim_run(s, S_NS, received, s);
		failed = countdown == 0;
		countdown = 0;
		if (!came)
			fail_msg("allocation %llu fails: nothing comes", (unsigned long long)n);
		sim_destroy(s);
	}
	assert_true(n > 10);
	print_message("%llu allocations failed in turn\n", (unsigned long long)n - 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults__while_nodes_are_made),
		cmocka_unit_test(faults__while_they_work),
		cmocka_unit_test(faults__the_first_message_is_rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
