/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which queues a crowd reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "sim/crowd.h"

/* Four leaves of two hosts. With as many spines as hosts, only the receiver's port is shared by
 * all flows. */
static struct crowd_result incast(enum net_topology topology)
{
	const struct crowd_options options = {
		.net = {.seed = 3,
			.hosts = 8,
			.rate_bps = 10000000000,
			.topology = topology,
			.leaf_hosts = 2,
			.spines = 8,
			.queue_bytes = 1 << 20},
		.pattern = CROWD_INCAST,
		.tuning = {.cc = CC_NONE, .no_pacing = true},
		.message_bytes = 65536,
		.outstanding = 2,
		.messages = 4,
		.limit_ns = S_NS,
	};
	struct crowd_result r;

	assert_int_equal(crowd_run(&options, &r), DXP_OK);
	return r;
}

static void queues__of_the_receivers_port(void **state)
{
	const struct crowd_result star = incast(NET_STAR), leaves = incast(NET_LEAF_SPINE);

	assert_true(star.queue_mean_bytes > 100000);
	assert_true(leaves.queue_mean_bytes > star.queue_mean_bytes / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues__of_the_receivers_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
