/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests long frames in virtual time: when sessions use them, and what happens on paths that do not
 * carry them. DXP_SEED=n changes the network's faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "test/sim/rig.h"

#define PATH     1408
#define DATAGRAM (PATH + WIRE_DATA_BYTES)
#define MACHINE  77

/* Restarts both nodes, on one machine, with a path that may carry long frames. */
static void rig_longs(struct rig *r)
{
	for (uint32_t i = 0; i < 2; i++) {
		r->nodes[i].machine = MACHINE;
		r->nodes[i].wireless = RLTP_PATH_INTACT | RLTP_PATH_LONG;
		r->nodes[i].long_frames = true;
		assert_int_equal(rig_restart(r, i, true), DXP_OK);
	}
}

static struct rig *rig_long(void)
{
	struct rig *r = rig_make(2, PATH);

	rig_longs(r);
	return r;
}

static void long_frames__carry_messages(void **state)
{
	struct rig *r = rig_long();
	struct rltp_view view;

	rig_open(r, 0, 1);
	rig_run(r, 10 * MS_NS);
	rltp_session_view(rig_session(r, 0, 1), &view);
	assert_int_equal(view.longest, WIRE_LONG_PAYLOAD_MAX);
	assert_int_equal(view.unit, PATH);
	assert_int_equal(view.agreed, PATH);
	assert_false(view.searching);
	uint64_t packets = view.counters.sent_packets;
	for (uint32_t i = 0; i < 10; i++)
		rig_post(r, 0, 1, 1000000);
	assert_true(rig_finish(r, 0, S_NS));
	rltp_session_view(rig_session(r, 0, 1), &view);
	/* The window of a new session has less space than a frame of full length, so its first
	 * message has shorter frames; others have 16. */
	packets = view.counters.sent_packets - packets;
	assert_in_range(packets, 10 * 16 + 1, 10 * 23);
	assert_int_equal(view.inflight, 0);
	assert_int_equal(rig_session(r, 0, 1)->io->inflight, 0);
	assert_int_equal(rig_session(r, 0, 1)->io->flows_active, 0);
	once_check(r);
	rig_destroy(r);
}

/* Frames of every length around the limits arrive with all of their bytes. */
static void long_frames__lengths(void **state)
{
	static const uint32_t lengths[] = {0,     1,      1407,   1408,   1409,   1472,
					   2816,  22528,  22529,  65344,  65408,  65409,
					   65472, 130816, 131072, 131073, 131136, 1000001};
	struct rig *r = rig_long();

	rig_open(r, 0, 1);
	rig_run(r, 10 * MS_NS);
	for (size_t i = 0; i < ARRAY_COUNT(lengths); i++) {
		uint64_t before = r->nodes[1].delivered_bytes;
		rig_post(r, 0, 1, lengths[i]);
		assert_true(rig_finish(r, 0, S_NS));
		assert_int_equal(r->nodes[1].delivered_bytes - before, lengths[i]);
	}
	rig_destroy(r);
}

/* The datagrams of a frame count in the window that the receiver grants. */
static void long_frames__fit_the_window(void **state)
{
	struct rig *r = rig_make(2, PATH);

	r->nodes[1].receive_packets = 40;
	rig_longs(r);
	rig_open(r, 0, 1);
	rig_run(r, 10 * MS_NS);
	struct rltp_session *s = rig_session(r, 0, 1);
	uint32_t most = s->peer_window + WIRE_LONG_PAYLOAD_MAX / PATH, seen = 0;
	for (uint32_t i = 0; i < 20; i++)
		rig_post(r, 0, 1, 1000000);
	while (r->nodes[0].ended < 21) {
		rig_run(r, 5 * US_NS);
		assert_true(!s->io || s->io->inflight <= most);
		if (s->io)
			seen = s->io->inflight > seen ? s->io->inflight : seen;
	}
	assert_true(seen > WIRE_LONG_PAYLOAD_MAX / PATH);
	rig_destroy(r);
}

static void plain_expect(struct rig *r, uint16_t longest, uint16_t probes)
{
	struct rltp_view view;

	rig_open(r, 0, 1);
	rig_run(r, 200 * MS_NS);
	messages_work(r, 0, 1);
	rltp_session_view(rig_session(r, 0, 1), &view);
	assert_int_equal(view.longest, longest);
	assert_int_equal(view.counters.probes_sent, probes);
	assert_int_equal(view.counters.black_holes, 0);
	rig_destroy(r);
}

static void long_frames__need_both_sides(void **state)
{
	for (uint32_t which = 0; which < 4; which++) {
		struct rig *r = rig_make(2, PATH);
		if (which == 2)
			r->nodes[0].protect = r->nodes[1].protect = WIRE_PROTECT_INTEGRITY;
		rig_longs(r);
		if (which == 0)
			r->nodes[1].long_frames = false; /* also peers of earlier versions */
		else if (which == 1)
			r->nodes[0].wireless = RLTP_PATH_INTACT;
		else if (which == 3)
			r->nodes[1].machine = MACHINE + 1;
		assert_int_equal(rig_restart(r, 0, true), DXP_OK);
		assert_int_equal(rig_restart(r, 1, true), DXP_OK);
		plain_expect(r, which == 2 ? PATH - WIRE_SEAL_BYTES : PATH, 0);
	}
}

static void long_frames__on_a_path_that_carries_none(void **state)
{
	struct rig *r = rig_long();

	net_mtu(r->net, 0, 1, DATAGRAM);
	plain_expect(r, PATH, RLTP_PMTU_TRIES);
}

/* 20 messages are under way, in long frames. */
static struct rig *rig_loaded(void)
{
	struct rig *r = rig_long();

	rig_open(r, 0, 1);
	rig_run(r, 10 * MS_NS);
	for (uint32_t i = 0; i < 20; i++)
		rig_post(r, 0, 1, 1000000);
	rig_run(r, 50 * US_NS);
	return r;
}

/* Messages already cut into long frames fail; the next ones work, in datagrams. */
static void long_frames__on_a_path_that_becomes_narrow(void **state)
{
	struct rig *r = rig_loaded();

	net_mtu(r->net, 0, 1, DATAGRAM);
	assert_true(rig_finish(r, 0, 3 * S_NS));
	assert_true(r->nodes[0].path_less > 0);
	assert_int_equal(r->nodes[0].path_less + r->nodes[0].ok, 21);
	struct rltp_session *s = rig_session(r, 0, 1);
	assert_int_equal(s->counters.black_holes, 1);
	assert_int_equal(s->agreed, PATH);
	rig_run(r, 200 * MS_NS);
	for (uint32_t i = 0; i < 20; i++)
		messages_work(r, 0, 1);
	assert_int_equal(s->unit, PATH);
	assert_int_equal(s->io->inflight, 0);
	once_check(r);
	rig_destroy(r);
}

/* Posts a message of one datagram that does not queue behind the others. */
static void short_post(struct rig *r)
{
	struct rig_node *n = &r->nodes[0];
	struct rig_message *m = &n->messages[n->posted];

	assert_true(n->posted < RIG_MESSAGES);
	*m = (struct rig_message){.id = n->posted++};
	m->rltp = (struct rltp_message){.type = WIRE_PUT, .flow = RLTP_FLOW(1, 0), .bytes = 1300};
	assert_int_equal(
		rltp_endpoint_post(n->endpoint, rig_session(r, 0, 1), &m->rltp, net_now(r->net)),
		DXP_OK);
	net_touch(r->net, n->host_index);
}

/* Acknowledged datagrams do not prove that the path carries long frames; an acknowledged long frame
 * does. */
static void long_frames__are_not_proved_by_datagrams(void **state)
{
	struct rig *r = rig_loaded();
	struct rltp_message long_one = {.bytes = 60000, .unit = 60032};
	struct rltp_message short_one = {.bytes = 1300, .unit = PATH};
	struct tx_entry long_entry = {.message = &long_one}, short_entry = {.message = &short_one};
	struct rltp_session *s = rig_session(r, 0, 1);

	for (uint32_t i = 0; i < RLTP_PMTU_SUSPECT; i++) {
		pmtu_acked(s, &short_entry, net_now(r->net));
		assert_int_equal(s->io->pmtu.state, PMTU_REST);
		pmtu_lost(s, &long_entry, net_now(r->net));
	}
	assert_int_equal(s->io->pmtu.state, PMTU_VERIFY);
	pmtu_acked(s, &short_entry, net_now(r->net));
	assert_int_equal(s->io->pmtu.state, PMTU_VERIFY);
	pmtu_acked(s, &long_entry, net_now(r->net));
	assert_int_equal(s->io->pmtu.state, PMTU_REST);
	rig_destroy(r);
}

/* Short messages go on while long frames fail. */
static void long_frames__fail_beside_short_messages(void **state)
{
	struct rig *r = rig_loaded();

	/* Now the window has space for datagrams beside a long frame. */
	assert_true(rig_finish(r, 0, S_NS));
	net_mtu(r->net, 0, 1, DATAGRAM);
	rig_post(r, 0, 1, 64000);
	for (uint32_t i = 0; i < 3000 && r->nodes[0].path_less == 0; i++) {
		short_post(r);
		rig_run(r, 200 * US_NS);
	}
	assert_true(r->nodes[0].path_less > 0);
	assert_true(rig_finish(r, 0, 5 * S_NS));
	struct rltp_session *s = rig_session(r, 0, 1);
	assert_int_equal(s->agreed, PATH);
	assert_int_equal(s->unit, PATH);
	once_check(r);
	rig_destroy(r);
}

/* Messages cut before the address changes fail if the new path does not carry their frames. */
static void long_frames__fail_after_a_move(void **state)
{
	struct rig *r = rig_loaded();

	net_mtu(r->net, 0, 5, DATAGRAM);
	rig_move(r, 1, 5);
	rig_introduce(r, 0, 1);
	assert_true(rig_finish(r, 0, 5 * S_NS));
	assert_int_equal(r->nodes[0].path_less + r->nodes[0].ok, 21);
	for (uint32_t i = 0; i < 5; i++)
		messages_work(r, 0, 1);
	assert_int_equal(rig_session(r, 0, 1)->agreed, PATH);
	once_check(r);
	rig_destroy(r);
}

static void long_frames__end_with_the_path(void **state)
{
	struct rig *r = rig_long();

	rig_open(r, 0, 1);
	rig_run(r, 10 * MS_NS);
	assert_int_equal(rig_session(r, 0, 1)->unit, WIRE_LONG_PAYLOAD_MAX);
	r->nodes[0].wireless = 0;
	rig_move(r, 1, 5);
	rig_introduce(r, 0, 1);
	for (uint32_t i = 0; i < 5; i++)
		messages_work(r, 0, 1);
	rig_run(r, 200 * MS_NS);
	assert_int_equal(rig_session(r, 0, 1)->unit, PATH);
	assert_int_equal(rig_session(r, 0, 1)->agreed, PATH);
	rig_destroy(r);
}

static void long_frames__survive_loss(void **state)
{
	struct sim_faults bad = {.loss_ppm = 100000, .duplicate_ppm = 20000, .reorder_ppm = 50000};

	for (uint64_t k = 0; k < 20; k++) {
		struct rig *r = rig_create(2, seed() + k, &bad, PATH);
		assert_non_null(r);
		rig_longs(r);
		for (uint32_t i = 0; i < 20; i++) {
			rig_post(r, 0, 1, 100 + i * 60000);
			rig_post(r, 1, 0, 300000);
		}
		assert_true(rig_finish(r, 0, 20 * S_NS) && rig_finish(r, 1, 20 * S_NS));
		assert_int_equal(r->nodes[0].ok + r->nodes[0].path_less, 20);
		assert_int_equal(r->nodes[1].ok + r->nodes[1].path_less, 20);
		assert_int_equal(rig_session(r, 0, 1)->counters.black_holes, 0);
		once_check(r);
		rig_destroy(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_frames__carry_messages),
		cmocka_unit_test(long_frames__lengths),
		cmocka_unit_test(long_frames__fit_the_window),
		cmocka_unit_test(long_frames__need_both_sides),
		cmocka_unit_test(long_frames__on_a_path_that_carries_none),
		cmocka_unit_test(long_frames__on_a_path_that_becomes_narrow),
		cmocka_unit_test(long_frames__are_not_proved_by_datagrams),
		cmocka_unit_test(long_frames__fail_beside_short_messages),
		cmocka_unit_test(long_frames__fail_after_a_move),
		cmocka_unit_test(long_frames__end_with_the_path),
		cmocka_unit_test(long_frames__survive_loss),
	};

	return cmocka_run_group_tests_name("long frames", tests, NULL, NULL);
}
