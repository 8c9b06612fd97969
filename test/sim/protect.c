/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests protected sessions: only current keys' tags count, no replayed handshake opens one, and no
 * RESET closes one without a proof. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/bytes.h"
#include "rltp/endpoint_internal.h"
#include "seal/internal.h"
#include "test/sim/rig.h"

static const struct rltp_endpoint_counters *counters(struct rig *r, uint32_t node)
{
	return rltp_endpoint_counters(r->nodes[node].endpoint);
}

static int encrypted(void **state)
{
	rig_protect = WIRE_PROTECT_ENCRYPT;
	return 0;
}

/* Flips one bit at offset `at`; 0: none. */
static void deliver_again(struct rig *r, uint32_t i, uint32_t at)
{
	uint8_t frame[2048];
	struct datagram_arrival a = {
		.data = frame, .bytes = r->kept_bytes[i], .arrived_ns = net_now(r->net)};
	uint32_t to = r->kept_to[i];

	memcpy(frame, r->kept[i], r->kept_bytes[i]);
	if (at)
		frame[at] ^= 1;
	net_address(r->nodes[r->kept_from[i]].host_index, &a.from);
	rltp_endpoint_receive(r->nodes[to].endpoint, &a, net_now(r->net));
	net_touch(r->net, r->nodes[to].host_index);
}

static void protect__all_but_handshakes_is_sealed(void **state)
{
	struct rig *r = rig_make(2, 1408);

	r->keep = true;
	rig_open(r, 0, 1);
	messages_work(r, 0, 1);
	uint32_t sealed = 0;
	for (uint32_t i = 0; i < r->kept_count; i++) {
		uint8_t type = r->kept[i][WIRE_OFF_TYPE];
		bool is = wire_is_sealed(r->kept[i], r->kept_bytes[i]);
		assert_int_equal(is, type != WIRE_HELLO && type != WIRE_HELLO_ACK);
		sealed += is;
	}
	assert_true(sealed > 4);
	rig_destroy(r);
}

/* A key lasts for RIG_UPDATE_PACKETS packets. A packet delayed beyond that fails the tag check and
 * is sent again. */
static void protect__keys_change_under_loss(void **state)
{
	const struct sim_faults faults = {
		.loss_ppm = 50000, .reorder_ppm = 50000, .duplicate_ppm = 20000};

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct rig *r = rig_create(2, seed, &faults, 1408);
		assert_non_null(r);
		for (int i = 0; i < 20; i++) {
			rig_post(r, 0, 1, 60000);
			rig_post(r, 1, 0, 20000);
		}
		assert_true(rig_finish(r, 0, 20 * S_NS) && rig_finish(r, 1, 20 * S_NS));
		assert_int_equal(r->nodes[0].ok + r->nodes[1].ok, 40);
		const struct rltp_seal *s = rig_session(r, 0, 1)->seal;
		assert_true(s->tx_start > 5 * RIG_UPDATE_PACKETS);
		once_check(r);
		rig_destroy(r);
	}
}

static void protect__copies_and_changes_are_counted(void **state)
{
	struct rig *r = rig_make(2, 1408);

	r->keep = true;
	rig_open(r, 0, 1);
	messages_work(r, 0, 1);
	r->keep = false;
	uint64_t bytes = r->nodes[1].delivered_bytes;
	uint64_t replayed = 0, wrong = 0;
	for (uint32_t i = 0; i < r->kept_count; i++) {
		if (!wire_is_sealed(r->kept[i], r->kept_bytes[i]) || r->kept_to[i] != 1)
			continue;
		deliver_again(r, i, 0);
		replayed++;
		/* the packet counter is then far ahead */
		deliver_again(r, i, WIRE_OFF_CRC);
		wrong++;
	}
	assert_true(replayed > 3);
	assert_int_equal(counters(r, 1)->seal_replayed, replayed);
	assert_int_equal(counters(r, 1)->seal_wrong, wrong);
	assert_int_equal(r->nodes[1].delivered_bytes, bytes);
	messages_work(r, 0, 1);
	messages_work(r, 1, 0);
	once_check(r);
	rig_destroy(r);
}

/* Version 1 has no tag; session id and checksum are valid. */
static void protect__plain_frames_are_dropped(void **state)
{
	struct rig *r = rig_make(2, 1408);
	uint8_t frame[64] = {0};
	struct datagram_arrival a = {.data = frame};

	rig_open(r, 0, 1);
	const struct rltp_session *s = rig_session(r, 0, 1);
	struct wire_header h = {.type = WIRE_BYE,
				.header_bytes = WIRE_COMMON_BYTES,
				.dst_session = s->local_id,
				.src_node = 2,
				.dst_node = 1};
	const struct wire_bye bye = {.code = WIRE_NACK_CLOSING};
	wire_header_encode(&h, frame);
	wire_bye_encode(&bye, frame + WIRE_COMMON_BYTES);
	wire_control_seal(frame, WIRE_COMMON_BYTES + WIRE_BYE_BYTES);
	a.bytes = WIRE_COMMON_BYTES + WIRE_BYE_BYTES;
	net_address(1, &a.from);
	assert_int_equal(rltp_endpoint_receive(r->nodes[0].endpoint, &a, net_now(r->net)), DXP_OK);
	assert_int_equal(counters(r, 0)->unsealed, 1);
	assert_int_equal(s->state, RLTP_OPEN);
	messages_work(r, 0, 1);
	rig_destroy(r);
}

/* Such a token would close a session without protection. */
static void protect__resets_need_a_proof(void **state)
{
	struct rig *r = rig_make(2, 1408);
	uint8_t frame[64] = {0};
	struct datagram_arrival a = {.data = frame};

	rig_open(r, 0, 1);
	const struct rltp_session *s = rig_session(r, 0, 1);
	struct wire_header h = {.type = WIRE_RESET,
				.header_bytes = WIRE_COMMON_BYTES,
				.src_node = 2,
				.dst_node = 1};
	const struct wire_reset reset = {s->peer_id, WIRE_NACK_SESSION, s->peer_token};
	wire_header_encode(&h, frame);
	wire_reset_encode(&reset, frame + WIRE_COMMON_BYTES);
	wire_control_seal(frame, WIRE_COMMON_BYTES + WIRE_RESET_BYTES);
	a.bytes = WIRE_COMMON_BYTES + WIRE_RESET_BYTES;
	net_address(1, &a.from);
	rltp_endpoint_receive(r->nodes[0].endpoint, &a, net_now(r->net));
	assert_int_equal(counters(r, 0)->resets_refused, 1);
	/* a guessed proof, for any of 20 sent frames */
	h.type = WIRE_REJECT;
	for (uint16_t echo = 0; echo < 20; echo++) {
		const struct wire_reject reject = {
			.session = s->peer_id, .code = WIRE_NACK_SESSION, .echo = echo};
		wire_header_encode(&h, frame);
		wire_reject_encode(&reject, frame + WIRE_COMMON_BYTES);
		wire_control_seal(frame, WIRE_COMMON_BYTES + WIRE_REJECT_BYTES);
		a.bytes = WIRE_COMMON_BYTES + WIRE_REJECT_BYTES;
		rltp_endpoint_receive(r->nodes[0].endpoint, &a, net_now(r->net));
	}
	assert_int_equal(counters(r, 0)->rejects_refused, 20);
	assert_int_equal(s->state, RLTP_OPEN);
	rig_destroy(r);
}

/* The REJECT is of an earlier session. */
static void protect__recorded_rejects_are_refused(void **state)
{
	struct rig *r = rig_make(2, 1408);

	rig_open(r, 0, 1);
	r->keep = true;
	assert_int_equal(rig_restart(r, 1, false), DXP_OK);
	rig_post(r, 0, 1, 100); /* the restarted node 1 answers with a REJECT */
	assert_true(rig_finish(r, 0, S_NS));
	r->keep = false;
	assert_int_equal(r->nodes[0].reset, 1);
	assert_int_equal(counters(r, 0)->rejects_accepted, 1);
	messages_work(r, 0, 1);
	uint32_t rejects = 0;
	for (uint32_t i = 0; i < r->kept_count; i++) {
		if (r->kept[i][WIRE_OFF_TYPE] != WIRE_REJECT)
			continue;
		deliver_again(r, i, 0);
		rejects++;
	}
	assert_true(rejects > 0);
	assert_int_equal(counters(r, 0)->rejects_accepted, 1);
	assert_int_equal(rig_session(r, 0, 1)->state, RLTP_OPEN);
	rig_destroy(r);
}

static void protect__both_start_at_once(void **state)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		const struct sim_faults faults = {.loss_ppm = 200000, .reorder_ppm = 100000};
		struct rig *r = rig_create(2, seed, seed % 2 ? &faults : &good, 1408);
		assert_non_null(r);
		rig_post(r, 0, 1, 5000);
		rig_post(r, 1, 0, 5000);
		assert_true(rig_finish(r, 0, 5 * S_NS) && rig_finish(r, 1, 5 * S_NS));
		assert_int_equal(r->nodes[0].ok + r->nodes[1].ok, 2);
		messages_work(r, 0, 1);
		messages_work(r, 1, 0);
		once_check(r);
		rig_destroy(r);
	}
}

static void mismatch_check(uint8_t a, uint8_t b)
{
	rig_protect = a;
	struct rig *r = rig_make(2, 1408);
	struct rltp_mismatch m;

	r->nodes[1].protect = b;
	/* node 1 now has the protection `b` */
	assert_int_equal(rig_restart(r, 1, true), DXP_OK);
	assert_false(rltp_endpoint_mismatch(r->nodes[0].endpoint, &m));
	uint64_t begun_ns = net_now(r->net);
	rig_post(r, 0, 1, 100);
	assert_true(rig_finish(r, 0, 5 * S_NS));
	assert_int_equal(r->nodes[0].failed, 1);
	assert_int_equal(r->nodes[0].messages[0].status, DXP_EPROTECT);
	assert_true(net_now(r->net) - begun_ns < RLTP_HELLO_FIRST_NS);
	assert_int_equal(r->nodes[1].delivered_bytes, 0);
	assert_true(rltp_endpoint_mismatch(r->nodes[0].endpoint, &m));
	assert_int_equal(m.node, 2);
	assert_int_equal(m.own, a);
	assert_int_equal(m.peer, b);
	assert_true(rltp_endpoint_mismatch(r->nodes[1].endpoint, &m));
	assert_int_equal(m.own, b);
	assert_int_equal(m.peer, a);
	assert_true(counters(r, 1)->other_protection > 0);
	rig_destroy(r);
}

static void protect__another_protection_is_refused(void **state)
{
	for (uint8_t a = 0; a <= WIRE_PROTECT_LAST; a++)
		for (uint8_t b = 0; b <= WIRE_PROTECT_LAST; b++)
			if (a != b)
				mismatch_check(a, b);
}

/* While node 0's policy requires protection for this address, the plain session neither sends nor
 * accepts. */
static void protect__none_does_not_follow_an_address(void **state)
{
	rig_protect = WIRE_PROTECT_NONE;
	struct rig *r = rig_make(2, 1408);

	rig_open(r, 0, 1);
	messages_work(r, 0, 1);
	const uint64_t bytes = r->nodes[0].delivered_bytes;
	r->nodes[0].protect = WIRE_PROTECT_ENCRYPT;
	r->keep = true;
	rig_post(r, 0, 1, 100);
	rig_post(r, 1, 0, 100);
	rig_run(r, RLTP_DEAD_NS / 4);
	for (uint32_t i = 0; i < r->kept_count; i++)
		assert_int_equal(r->kept_to[i], 0);
	assert_int_equal(r->nodes[0].delivered_bytes, bytes);
	assert_true(counters(r, 0)->unsealed > 0);
	r->nodes[0].protect = WIRE_PROTECT_NONE;
	assert_true(rig_finish(r, 0, 5 * S_NS) && rig_finish(r, 1, 5 * S_NS));
	assert_int_equal(r->nodes[1].failed + r->nodes[0].failed, 0);
	rig_destroy(r);
}

/* Opens a session, restarts node 1, and delivers the recorded HELLOs to node 1 again. */
static struct rig *hellos_replay(void)
{
	struct rig *r = rig_make(2, 1408);

	r->keep = true;
	rig_open(r, 0, 1);
	r->keep = false;
	assert_int_equal(rig_restart(r, 1, false), DXP_OK);
	for (uint32_t i = 0; i < r->kept_count; i++)
		if (r->kept[i][WIRE_OFF_TYPE] == WIRE_HELLO && r->kept_to[i] == 1)
			deliver_again(r, i, 0);
	return r;
}

/* The replayed HELLO opens a session that the peer never confirms. A message opens a new one after
 * RLTP_CONFIRM_NS, so it is only delayed. */
static void protect__replayed_handshakes_delay_a_message_only(void **state)
{
	struct rig *r = hellos_replay();
	const struct rltp_session *s = rig_session(r, 1, 0);
	assert_true(session_unconfirmed(s));
	uint64_t bytes = r->nodes[0].delivered_bytes;
	rig_post(r, 1, 0, 100);
	rig_run(r, RLTP_CONFIRM_NS / 2);
	assert_true(session_unconfirmed(s) && r->nodes[0].delivered_bytes == bytes);
	assert_true(rig_finish(r, 1, 2 * RLTP_CONFIRM_NS));
	assert_int_equal(r->nodes[1].messages[r->nodes[1].posted - 1].status, DXP_OK);
	messages_work(r, 0, 1);
	rig_destroy(r);
}

/* A replayed HELLO has opened a session. If the node sends no message, it forgets this session
 * after a time. */
static void protect__replayed_handshakes_leave_nothing(void **state)
{
	struct rig *r = hellos_replay();

	rig_run(r, 2 * RLTP_CONFIRM_NS);
	const struct rltp_session *s = rig_session(r, 1, 0);
	assert_int_equal(s->state, RLTP_IDLE);
	assert_null(s->io);
	assert_null(s->seal);
	assert_int_equal(s->end, DXP_OK);
	rig_destroy(r);
}

static void protect__a_rest_keeps_the_keys(void **state)
{
	struct rig *r = rig_make(2, 1408);

	for (int i = 0; i < 5; i++) {
		messages_work(r, 0, 1);
		messages_work(r, 1, 0);
		rig_run(r, 3 * S_NS);
		assert_null(rig_session(r, 0, 1)->io);
		assert_null(rig_session(r, 0, 1)->seal->active);
	}
	assert_int_equal(counters(r, 0)->hellos_sent + counters(r, 1)->hellos_sent, 1);
	rig_destroy(r);
}

/* The BYE of a node that exits has a tag, and the peer accepts it. */
static void protect__bye_is_sealed(void **state)
{
	struct rig *r = rig_make(2, 1408);

	rig_open(r, 0, 1);
	r->keep = true;
	rltp_endpoint_close(r->nodes[1].endpoint);
	net_touch(r->net, r->nodes[1].host_index);
	rig_run(r, SHORT_NS);
	assert_int_equal(r->kept_count, 1);
	assert_int_equal(r->kept[0][WIRE_OFF_TYPE], WIRE_BYE);
	assert_true(wire_is_sealed(r->kept[0], r->kept_bytes[0]));
	assert_int_equal(counters(r, 0)->byes_accepted, 1);
	assert_null(rig_session(r, 1, 0)->seal);
	rig_destroy(r);
}

/* The tag is part of the longest datagram, not added to it. */
static void protect__datagrams_are_not_longer(void **state)
{
	size_t longest[2] = {0};

	for (int i = 0; i < 2; i++) {
		rig_protect = i ? WIRE_PROTECT_ENCRYPT : WIRE_PROTECT_NONE;
		struct rig *r = rig_make(2, 1408);
		r->keep = true;
		rig_post(r, 0, 1, 100000);
		assert_true(rig_finish(r, 0, S_NS));
		for (uint32_t k = 0; k < r->kept_count; k++)
			longest[i] = longest[i] < r->kept_bytes[k] ? r->kept_bytes[k] : longest[i];
		rig_destroy(r);
	}
	assert_int_equal(longest[0], 1408 + WIRE_DATA_BYTES);
	assert_int_equal(longest[1], longest[0]);
}

#define CASE(test) cmocka_unit_test_setup(test, encrypted)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(protect__all_but_handshakes_is_sealed),
		CASE(protect__keys_change_under_loss),
		CASE(protect__copies_and_changes_are_counted),
		CASE(protect__plain_frames_are_dropped),
		CASE(protect__resets_need_a_proof),
		CASE(protect__recorded_rejects_are_refused),
		CASE(protect__both_start_at_once),
		CASE(protect__another_protection_is_refused),
		CASE(protect__none_does_not_follow_an_address),
		CASE(protect__replayed_handshakes_delay_a_message_only),
		CASE(protect__replayed_handshakes_leave_nothing),
		CASE(protect__a_rest_keeps_the_keys),
		CASE(protect__bye_is_sealed),
		CASE(protect__datagrams_are_not_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
