/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer restarts at any moment: outstanding operations complete without a replay, and no old
 * packet reaches the new process. DXP_SEED=n changes the network's faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "base/util.h"
#include "rltp/endpoint_internal.h"
#include "sim/sim.h"
#include "test/sim/rig.h"

enum moment { NEVER_MET, HANDSHAKE, UNDER_WAY, AT_EASE, RESTING, MOMENTS };

static void moment_reach(struct rig *r, enum moment moment)
{
	switch (moment) {
	case NEVER_MET: break;
	case HANDSHAKE:
		net_blackhole(r->net, 0, 1, true);
		rig_post(r, 0, 1, 3000);
		rig_run(r, 30 * MS_NS);
		assert_int_equal(rig_session(r, 0, 1)->state, RLTP_HANDSHAKE);
		net_blackhole(r->net, 0, 1, false);
		break;
	case UNDER_WAY:
		rig_open(r, 0, 1);
		/* its acknowledgement is lost */
		net_blackhole(r->net, 1, 0, true);
		rig_post(r, 0, 1, 3000);
		rig_run(r, MS_NS);
		net_blackhole(r->net, 1, 0, false);
		break;
	case AT_EASE: rig_open(r, 0, 1); break;
	default:
		rig_open(r, 0, 1);
		rig_run(r, 3 * S_NS);
		assert_null(rig_session(r, 0, 1)->io);
	}
}

static void restart_check(enum moment moment, bool announce)
{
	struct rig *r = rig_make(2, 1408);

	moment_reach(r, moment);
	assert_int_equal(rig_restart(r, 1, announce), DXP_OK);
	assert_true(rig_finish(r, 0, 5 * S_NS));
	/* one in flight completes and is not replayed; others arrive */
	assert_int_equal(r->nodes[0].reset, moment == UNDER_WAY);
	assert_int_equal(r->nodes[0].timed_out + r->nodes[0].failed, 0);
	rig_post(r, 0, 1, 100);
	assert_true(rig_finish(r, 0, 5 * S_NS));
	/* unannounced: this message shows node 0 the restart by failing */
	if (announce || moment == NEVER_MET || moment == HANDSHAKE || moment == UNDER_WAY)
		assert_int_equal(r->nodes[0].reset, moment == UNDER_WAY);
	else
		assert_int_equal(r->nodes[0].reset, 1);
	messages_work(r, 0, 1);
	messages_work(r, 1, 0);
	once_check(r);
	rig_destroy(r);
}

static void session_restart__restart_in_each_state(void **state)
{
	for (int moment = 0; moment < MOMENTS; moment++) {
		restart_check((enum moment)moment, true);
		restart_check((enum moment)moment, false);
	}
}

static void session_restart__both_restart_at_once(void **state)
{
	struct rig *r = rig_make(2, 1408);

	moment_reach(r, UNDER_WAY);
	rig_post(r, 1, 0, 3000);
	assert_int_equal(rig_restart(r, 0, false), DXP_OK);
	assert_int_equal(rig_restart(r, 1, false), DXP_OK);
	rig_introduce(r, 0, 1);
	messages_work(r, 0, 1);
	messages_work(r, 1, 0);
	once_check(r);
	rig_destroy(r);
}

static void session_restart__restart_twice_quickly(void **state)
{
	struct rig *r = rig_make(2, 1408);

	moment_reach(r, UNDER_WAY);
	assert_int_equal(rig_restart(r, 1, true), DXP_OK);
	rig_post(r, 0, 1, 3000);
	rig_run(r, 30 * US_NS); /* at the second restart */
	assert_int_equal(rig_restart(r, 1, true), DXP_OK);
	assert_true(rig_finish(r, 0, 5 * S_NS));
	assert_int_equal(r->nodes[0].timed_out, 0);
	messages_work(r, 0, 1);
	messages_work(r, 1, 0);
	once_check(r);
	rig_destroy(r);
}

static void replay(struct rig *r, uint32_t to)
{
	uint32_t count = r->kept_count;

	for (uint32_t i = 0; i < count; i++) {
		struct datagram_arrival a = {.data = r->kept[i],
					     .bytes = r->kept_bytes[i],
					     .arrived_ns = net_now(r->net)};
		if (r->kept_to[i] != to)
			continue;
		net_address(r->nodes[r->kept_from[i]].host_index, &a.from);
		rltp_endpoint_receive(r->nodes[to].endpoint, &a, net_now(r->net));
	}
	net_touch(r->net, r->nodes[to].host_index);
}

static void session_restart__packets_of_an_earlier_incarnation(void **state)
{
	struct rig *r = rig_make(2, 1408);

	r->keep = true;
	moment_reach(r, UNDER_WAY);
	rig_run(r, SHORT_NS);
	r->keep = false;
	assert_int_equal(rig_restart(r, 1, true), DXP_OK);
	rig_open(r, 0, 1);
	uint64_t bytes = r->nodes[0].delivered_bytes + r->nodes[1].delivered_bytes;
	uint32_t epoch = rig_session(r, 0, 1)->epoch;
	for (uint32_t i = 0; i < 2; i++) {
		replay(r, 0);
		replay(r, 1);
		rig_run(r, SHORT_NS);
	}
	assert_true(r->nodes[0].delivered_bytes + r->nodes[1].delivered_bytes == bytes);
	assert_int_equal(rig_session(r, 0, 1)->state, RLTP_OPEN);
	assert_int_equal(rig_session(r, 0, 1)->epoch, epoch);
	assert_int_equal(rig_session(r, 1, 0)->state, RLTP_OPEN);
	messages_work(r, 0, 1);
	messages_work(r, 1, 0);
	once_check(r);
	rig_destroy(r);
}

/* No state of the old session is left, and the copy opens none. */
static void session_restart__late_handshake_of_a_session_that_ended(void **state)
{
	struct rig *r = rig_make(2, 1408);

	r->keep = true;
	rig_open(r, 0, 1);
	r->keep = false;
	rltp_session_fail(rig_session(r, 1, 0), DXP_ETIMEDOUT);
	uint64_t stale = rltp_endpoint_counters(r->nodes[1].endpoint)->stale;
	replay(r, 1);
	rig_run(r, SHORT_NS);
	assert_int_equal(rig_session(r, 1, 0)->state, RLTP_IDLE);
	assert_true(rltp_endpoint_counters(r->nodes[1].endpoint)->stale > stale);
	rig_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(session_restart__restart_in_each_state),
		cmocka_unit_test(session_restart__both_restart_at_once),
		cmocka_unit_test(session_restart__restart_twice_quickly),
		cmocka_unit_test(session_restart__packets_of_an_earlier_incarnation),
		cmocka_unit_test(session_restart__late_handshake_of_a_session_that_ended),
	};

	int failed = cmocka_run_group_tests_name("plain", tests, NULL, NULL);
	rig_protect = WIRE_PROTECT_ENCRYPT;
	return failed + cmocka_run_group_tests_name("encrypted", tests, NULL, NULL);
}
