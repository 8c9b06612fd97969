/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the path MTU of a session, and a move to another address, in virtual time. DXP_SEED=n
 * changes the network's faults. */
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

/* ---- path MTU ---- */

static void session_path__long_packets_after_a_probe(void **state)
{
	struct rig *r = rig_make(2, 8896);

	rig_post(r, 0, 1, 100);
	rig_run(r, 65 * US_NS); /* its path-MTU probe is outstanding */
	assert_int_equal(rig_session(r, 0, 1)->unit, 1408);
	assert_true(rig_finish(r, 0, S_NS));
	rig_run(r, MS_NS);
	assert_int_equal(rig_session(r, 0, 1)->unit, 8896);
	assert_int_equal(rig_session(r, 0, 1)->counters.probes_sent, 1);
	messages_work(r, 0, 1);
	rig_destroy(r);
}

static void session_path__no_probe_where_all_paths_carry_it(void **state)
{
	struct rig *r = rig_make(2, 1408);

	rig_open(r, 0, 1);
	messages_work(r, 0, 1);
	assert_int_equal(rig_session(r, 0, 1)->unit, 1408);
	assert_int_equal(r->nodes[0].sent_type[WIRE_PMTU_PROBE], 0);
	rig_destroy(r);
}

/* The path carries only `datagram` of the interfaces' 9000 bytes. Only probes are lost, and the
 * search comes close to the limit. */
static void narrow_check(uint32_t datagram)
{
	struct rig *r = rig_make(2, 8896);

	net_mtu(r->net, 0, 1, datagram);
	rig_post(r, 0, 1, 1 << 20);
	assert_true(rig_finish(r, 0, S_NS));
	assert_int_equal(r->nodes[0].ok, 1);
	assert_int_equal(rig_session(r, 0, 1)->counters.retransmitted_timeout, 0);
	rig_run(r, S_NS);
	uint32_t unit = rig_session(r, 0, 1)->unit;
	assert_true(unit + WIRE_DATA_BYTES <= datagram);
	assert_true(unit + WIRE_DATA_BYTES + 2 * RLTP_PMTU_STEP > datagram);
	messages_work(r, 0, 1);
	rig_destroy(r);
}

static void session_path__a_narrow_path_between_wide_interfaces(void **state)
{
	narrow_check(1472);
	narrow_check(4352);
	narrow_check(8900);
}

static void session_path__a_path_that_becomes_narrow(void **state)
{
	struct rig *r = rig_make(2, 8896);

	rig_open(r, 0, 1);
	rig_run(r, 10 * MS_NS);
	net_mtu(r->net, 0, 1, 1472);
	for (uint32_t i = 0; i < 20; i++)
		rig_post(r, 0, 1, 100000);
	assert_true(rig_finish(r, 0, 2 * S_NS));
	/* cut before the detection: DXP_EPATH, at most a window of them */
	assert_true(r->nodes[0].path_less > 0);
	assert_int_equal(r->nodes[0].ok + r->nodes[0].path_less, 21);
	assert_int_equal(rig_session(r, 0, 1)->counters.black_holes, 1);
	assert_int_equal(rig_session(r, 0, 1)->state, RLTP_OPEN);
	messages_work(r, 0, 1);
	rig_run(r, S_NS);
	assert_in_range(rig_session(r, 0, 1)->unit, 1152, 1408);
	/* wide again, detected after RLTP_PMTU_AGAIN_NS (ten minutes) of traffic */
	net_mtu(r->net, 0, 1, 0);
	rig_run(r, RLTP_PMTU_AGAIN_NS);
	messages_work(r, 0, 1);
	rig_run(r, SHORT_NS);
	assert_int_equal(rig_session(r, 0, 1)->unit, 8896);
	once_check(r);
	rig_destroy(r);
}

static void session_path__an_outage_is_no_black_hole(void **state)
{
	struct rig *r = rig_make(2, 8896);

	rig_open(r, 0, 1);
	rig_run(r, 10 * MS_NS);
	for (uint32_t i = 0; i < 20; i++)
		rig_post(r, 0, 1, 100000);
	rig_run(r, 100 * US_NS);
	net_blackhole(r->net, 0, 1, true);
	net_blackhole(r->net, 1, 0, true);
	rig_run(r, S_NS);
	net_blackhole(r->net, 0, 1, false);
	net_blackhole(r->net, 1, 0, false);
	assert_true(rig_finish(r, 0, 2 * S_NS));
	assert_int_equal(r->nodes[0].ok, 21);
	assert_int_equal(rig_session(r, 0, 1)->counters.black_holes, 0);
	assert_int_equal(rig_session(r, 0, 1)->unit, 8896);
	rig_destroy(r);
}

static void session_path__loss_is_no_black_hole(void **state)
{
	struct sim_faults bad = {.loss_ppm = 300000};

	for (uint64_t k = 0; k < 20; k++) {
		struct rig *r = rig_create(2, seed() + k, &bad, 8896);
		assert_non_null(r);
		for (uint32_t i = 0; i < 10; i++)
			rig_post(r, 0, 1, 300000);
		assert_true(rig_finish(r, 0, 10 * S_NS));
		assert_int_equal(r->nodes[0].ok, 10);
		assert_int_equal(rig_session(r, 0, 1)->counters.black_holes, 0);
		rig_destroy(r);
	}
}

struct get_rig {
	struct sim *sim;
	struct dxp_nic_event event;
};

static bool sent_event(void *context)
{
	struct get_rig *g = context;

	return dxp_sent_dequeue(sim_window(g->sim, 0), &g->event);
}

/* Cut before the path became narrow, the answer is lost; the requester gets DXP_EPATH. */
static void session_path__an_answer_lost_to_a_narrow_path(void **state)
{
	static uint8_t here[1 << 20], there[1 << 20];
	struct sim_options o = {.seed = seed(), .hosts = 2};
	struct dxp_entry local = {.bytes = sizeof(here)}, remote = {.bytes = sizeof(there)};
	struct nic_lists lists = {&local, &remote, 1, 1};
	struct get_rig g;

	assert_int_equal(sim_create(&o, &g.sim), DXP_OK);
	nic_region_register(sim_nic(g.sim, 0), 0, here, sizeof(here), NIC_LOCAL, &local.key);
	nic_region_register(sim_nic(g.sim, 1), 0, there, sizeof(there), NIC_REMOTE_READ,
			    &remote.key);
	struct dxp_target to = sim_target(g.sim, 1, 0);
	for (uint32_t round = 0; round < 3; round++) {
		assert_int_equal(nic_user_get(sim_window(g.sim, 0), 0, &to, &lists, round), DXP_OK);
		if (round == 1)
			net_mtu(sim_net(g.sim), 1, 0, 1300);
		assert_true(sim_run(g.sim, 2 * S_NS, sent_event, &g));
		assert_int_equal(g.event.status, round == 1 ? DXP_EPATH : DXP_OK);
	}
	sim_destroy(g.sim);
}

/* ---- moves ---- */

static void session_path__a_node_moves_under_load(void **state)
{
	struct rig *r = rig_make(2, 8896);

	rig_open(r, 0, 1);
	rig_run(r, 10 * MS_NS);
	for (uint32_t i = 0; i < 40; i++) {
		rig_post(r, 0, 1, 300000);
		rig_post(r, 1, 0, 300000);
	}
	rig_run(r, 100 * US_NS);
	uint32_t epoch = rig_session(r, 0, 1)->epoch;
	rig_move(r, 1, 5);
	rig_run(r, 20 * MS_NS);
	assert_true(rltp_endpoint_counters(r->nodes[0].endpoint)->wrong_address > 0);
	uint32_t srtt_ns = rig_session(r, 0, 1)->srtt_ns;
	rig_introduce(r, 0, 1);
	assert_int_equal(rig_session(r, 0, 1)->unit, 1408);
	assert_int_equal(rig_session(r, 0, 1)->srtt_ns, srtt_ns);
	assert_true(rig_finish(r, 0, 2 * S_NS) && rig_finish(r, 1, 2 * S_NS));
	assert_int_equal(r->nodes[0].ok, 41);
	assert_int_equal(r->nodes[1].ok, 41);
	assert_int_equal(rig_session(r, 0, 1)->epoch, epoch);
	rig_run(r, SHORT_NS);
	messages_work(r, 0, 1);
	rig_run(r, SHORT_NS);
	assert_int_equal(rig_session(r, 0, 1)->unit, 8896);
	once_check(r);
	rig_destroy(r);
}

static void session_path__a_node_moves_at_rest(void **state)
{
	struct rig *r = rig_make(2, 8896);

	rig_open(r, 0, 1);
	rig_run(r, 3 * S_NS);
	rig_move(r, 1, 5);
	rig_introduce(r, 0, 1);
	messages_work(r, 0, 1);
	messages_work(r, 1, 0);
	assert_int_equal(r->nodes[0].reset + r->nodes[1].reset, 0);
	rig_destroy(r);
}

static void session_path__frames_from_elsewhere(void **state)
{
	struct rig *r = rig_make(3, 1408);
	const struct rltp_endpoint_counters *c;

	r->keep = true;
	rig_open(r, 0, 1);
	r->keep = false;
	/* node 3 replays node 1's datagrams */
	r->nodes[0].host_index = 2;
	replay(r, 1);
	r->nodes[0].host_index = 0;
	c = rltp_endpoint_counters(r->nodes[1].endpoint);
	assert_true(c->wrong_address > 0);
	assert_int_equal(rig_session(r, 1, 0)->counters.duplicates, 0);
	messages_work(r, 0, 1);
	rig_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(session_path__long_packets_after_a_probe),
		cmocka_unit_test(session_path__no_probe_where_all_paths_carry_it),
		cmocka_unit_test(session_path__a_narrow_path_between_wide_interfaces),
		cmocka_unit_test(session_path__a_path_that_becomes_narrow),
		cmocka_unit_test(session_path__an_outage_is_no_black_hole),
		cmocka_unit_test(session_path__loss_is_no_black_hole),
		cmocka_unit_test(session_path__an_answer_lost_to_a_narrow_path),
		cmocka_unit_test(session_path__a_node_moves_under_load),
		cmocka_unit_test(session_path__a_node_moves_at_rest),
		cmocka_unit_test(session_path__frames_from_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
