/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the n-th allocation of endpoints, sessions and network fail, n = 1, 2, ...: DXP_ENOMEM
 * without leaks (sanitizers check) during creation, later a rejected or late message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "test/sim/memory.h"
#include "test/support/endpoints.h"

static void session_faults__while_nodes_are_made(void **state)
{
	struct rig *r = NULL;
	uint64_t n = 1;

	for (;; n++) {
		countdown = n;
		r = rig_create(3, 5, NULL, 8896);
		bool failed = countdown == 0;
		countdown = 0;
		if (!failed)
			break;
		assert_null(r);
	}
	rig_destroy(r);
	assert_true(n > 10);
	print_message("%llu allocations failed in turn\n", (unsigned long long)n - 1);
}

static void talk(struct rig *r, uint32_t a, uint32_t b, uint32_t messages)
{
	for (uint32_t i = 0; i < messages;) {
		uint32_t failed = r->nodes[a].failed;
		rig_post(r, a, b, 60000);
		i += r->nodes[a].failed == failed;
	}
	assert_true(rig_finish(r, a, 10 * S_NS));
}

static void lifetime(struct rig *r)
{
	talk(r, 0, 1, 10);
	talk(r, 1, 0, 10);
	/* idle, then active again */
	rig_run(r, 3 * S_NS);
	talk(r, 0, 1, 4);
	/* a path-MTU black hole: long packets vanish */
	net_mtu(r->net, 0, 1, 1472);
	talk(r, 0, 1, 4);
	net_mtu(r->net, 0, 1, 0);
	rig_move(r, 1, 4);
	rig_introduce(r, 0, 1);
	talk(r, 0, 1, 4);
	talk(r, 2, 0, 4);
	rltp_endpoint_close(r->nodes[0].endpoint);
	net_touch(r->net, r->nodes[0].host_index);
	rig_run(r, S_NS);
}

static void session_faults__while_sessions_live(void **state)
{
	bool failed = true;
	uint64_t n = 1;

	for (; failed; n++) {
		struct rig *r = rig_create(3, 5, NULL, 8896);
		assert_non_null(r);
		countdown = n;
		lifetime(r);
		failed = countdown == 0;
		countdown = 0;
		for (uint32_t i = 0; i < r->count; i++) {
			assert_int_equal(r->nodes[i].timed_out + r->nodes[i].reset, 0);
			assert_true(r->nodes[i].failed <= 1);
		}
		rig_destroy(r);
	}
	assert_true(n > 5);
	print_message("%llu allocations failed in turn\n", (unsigned long long)n - 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(session_faults__while_nodes_are_made),
		cmocka_unit_test(session_faults__while_sessions_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
