/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests sessions between bare endpoints in virtual time: how they open, live and close, and with
 * which peers. DXP_SEED=n changes the network's faults. */
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
#include "wire/ids.h"

/* ---- BYE ---- */

static void session__close_notifies_the_peers(void **state)
{
	struct rig *r = rig_make(4, 1408);

	for (uint32_t i = 1; i < 4; i++)
		rig_open(r, 0, i);
	net_blackhole(r->net, 1, 2, true);
	/* without the answer of node 0 */
	net_blackhole(r->net, 0, 1, true);
	rig_post(r, 1, 0, 3000);
	rig_run(r, MS_NS);
	net_blackhole(r->net, 0, 1, false);
	rig_session(r, 1, 0)->awaited = 1; /* an awaited answer */
	rig_post(r, 0, 3, 3000);
	uint32_t closed = r->nodes[0].closed;
	rltp_endpoint_close(r->nodes[0].endpoint);
	assert_int_equal(r->nodes[0].closed, closed + 1);
	net_touch(r->net, 0);
	rig_run(r, 60 * US_NS);
	assert_int_equal(r->nodes[0].sent_type[WIRE_BYE], 3);
	for (uint32_t i = 1; i < 4; i++) {
		assert_int_equal(rig_session(r, i, 0)->state, RLTP_IDLE);
		assert_int_equal(rltp_endpoint_counters(r->nodes[i].endpoint)->byes_accepted, 1);
	}
	assert_true(rig_finish(r, 1, 0));
	uint64_t sent = r->sent;
	rig_run(r, 10 * S_NS);
	assert_true(r->sent == sent);
	rig_destroy(r);
}

/* Delivers to node `to` a control frame that claims to come from node `from`, on the session of
 * both. The frame's body already follows the space for the header. */
static void control_give(struct rig *r, uint32_t to, uint32_t from, uint8_t type, uint8_t *frame,
			 size_t bytes)
{
	struct wire_header h = {.type = type,
				.header_bytes = WIRE_COMMON_BYTES,
				.dst_session = rig_session(r, to, from)->local_id,
				.src_node = (uint16_t)(from + 1),
				.dst_node = (uint16_t)(to + 1)};
	struct datagram_arrival a = {.data = frame, .bytes = bytes};

	net_address(r->nodes[from].host_index, &a.from);
	wire_header_encode(&h, frame);
	wire_control_seal(frame, bytes);
	rltp_endpoint_receive(r->nodes[to].endpoint, &a, net_now(r->net));
}

static void bye_give(struct rig *r, uint32_t to, uint32_t from, uint64_t token)
{
	uint8_t frame[WIRE_COMMON_BYTES + WIRE_BYE_BYTES];

	wire_bye_encode(&(struct wire_bye){.token = token}, frame + WIRE_COMMON_BYTES);
	control_give(r, to, from, WIRE_BYE, frame, sizeof(frame));
}

static void session__bye_without_its_token(void **state)
{
	struct rig *r = rig_make(2, 1408);

	rig_open(r, 0, 1);
	bye_give(r, 1, 0, rig_session(r, 1, 0)->peer_token);
	assert_int_equal(rig_session(r, 1, 0)->state, RLTP_OPEN);
	assert_int_equal(rltp_endpoint_counters(r->nodes[1].endpoint)->byes_rejected, 1);
	/* right: as node 1 sent it to node 0 */
	bye_give(r, 1, 0, rig_session(r, 0, 1)->peer_token);
	assert_int_equal(rig_session(r, 1, 0)->state, RLTP_IDLE);
	rig_destroy(r);
}

/* ---- signs of life ---- */

static void session__slow_answers_live_and_dead_peers_die(void **state)
{
	struct rig *r = rig_make(2, 1408);

	rig_open(r, 0, 1);
	/* the answer takes a minute */
	rig_session(r, 0, 1)->awaited = 1;
	rig_post(r, 0, 1, 100);
	rig_run(r, 60 * S_NS);
	assert_int_equal(rig_session(r, 0, 1)->state, RLTP_OPEN);
	assert_in_range(r->nodes[0].sent_type[WIRE_PING], 60 * S_NS / RLTP_PING_NS - 20,
			60 * S_NS / RLTP_PING_NS);
	assert_int_equal(r->nodes[1].sent_type[WIRE_PONG], r->nodes[0].sent_type[WIRE_PING]);
	net_blackhole(r->net, 1, 0, true);
	rig_run(r, RLTP_DEAD_NS - RLTP_PING_NS - 10 * MS_NS);
	assert_int_equal(rig_session(r, 0, 1)->state, RLTP_OPEN);
	rig_run(r, RLTP_PING_NS + 20 * MS_NS);
	assert_int_equal(rig_session(r, 0, 1)->state, RLTP_IDLE);
	rig_destroy(r);
}

static void session__keepalives_survive_loss(void **state)
{
	struct sim_faults bad = {.loss_ppm = 200000};
	struct rig *r = rig_create(2, seed(), &bad, 1408);

	assert_non_null(r);
	rig_post(r, 0, 1, 100);
	assert_true(rig_finish(r, 0, 3 * S_NS));
	rig_session(r, 0, 1)->awaited = 1;
	rig_post(r, 0, 1, 100);
	rig_run(r, 30 * S_NS);
	assert_int_equal(rig_session(r, 0, 1)->state, RLTP_OPEN);
	rig_destroy(r);
}

static void ping_give(struct rig *r, uint32_t to, uint32_t from)
{
	uint8_t frame[WIRE_COMMON_BYTES + WIRE_PING_BYTES];

	wire_ping_encode(net_now(r->net), frame + WIRE_COMMON_BYTES);
	control_give(r, to, from, WIRE_PING, frame, sizeof(frame));
	net_touch(r->net, r->nodes[to].host_index);
}

static void session__a_flood_of_pings_is_answered_ten_times_a_second(void **state)
{
	struct rig *r = rig_make(2, 1408);

	rig_open(r, 0, 1);
	for (uint32_t i = 0; i < 10000; i++) {
		ping_give(r, 1, 0);
		rig_run(r, 100 * US_NS);
	}
	assert_in_range(r->nodes[1].sent_type[WIRE_PONG], 9, 11);
	rig_destroy(r);
}

static void session__idle_sends_nothing(void **state)
{
	struct rig *r = rig_make(4, 8896);

	for (uint32_t i = 1; i < 4; i++)
		rig_open(r, 0, i);
	rig_run(r, 2 * S_NS);
	uint64_t sent = r->sent;
	rig_run(r, 60 * S_NS);
	assert_true(r->sent == sent);
	for (uint32_t i = 1; i < 4; i++) {
		assert_null(rig_session(r, 0, i)->io);
		assert_true(rltp_endpoint_deadline(r->nodes[i].endpoint) == UINT64_MAX);
	}
	messages_work(r, 2, 0);
	rig_destroy(r);
}

/* ---- identities ---- */

static void session__another_key_opens_nothing(void **state)
{
	struct rig *r = rig_make(3, 1408);
	const struct rltp_endpoint_counters *c = rltp_endpoint_counters(r->nodes[1].endpoint);

	/* at node 1's address, with another key and a very new incarnation */
	r->nodes[0].key = 9;
	r->nodes[0].incarnation = UINT64_MAX - 200;
	assert_int_equal(rig_restart(r, 0, false), DXP_OK);
	rig_post(r, 0, 1, 100);
	rig_run(r, 200 * MS_NS);
	assert_true(c->unauthentic > 0);
	assert_int_equal(c->hellos_received, 0);
	assert_int_equal(rig_session(r, 1, 0)->state, RLTP_IDLE);
	assert_null(rig_session(r, 1, 0)->io);
	assert_int_equal(r->nodes[1].sent_type[WIRE_HELLO_ACK], 0);
	r->nodes[0].key = 7;
	r->nodes[0].incarnation = 5000;
	assert_int_equal(rig_restart(r, 0, false), DXP_OK);
	messages_work(r, 0, 1);
	rig_destroy(r);
}

static void session__handshake_changed_on_the_way(void **state)
{
	struct rig *r = rig_make(2, 1408);
	const struct rltp_endpoint_counters *c = rltp_endpoint_counters(r->nodes[1].endpoint);
	uint8_t frame[WIRE_COMMON_BYTES + WIRE_HELLO_BYTES];
	struct datagram_arrival a = {.data = frame, .bytes = sizeof(frame)};

	r->keep = true;
	net_blackhole(r->net, 0, 1, true);
	rig_post(r, 0, 1, 100);
	rig_run(r, MS_NS);
	assert_int_equal(r->kept_count, 1);
	net_address(0, &a.from);
	/* each bit under the tag; another check may fail first */
	for (uint32_t bit = 0; bit < 8 * sizeof(frame); bit++) {
		memcpy(frame, r->kept[0], sizeof(frame));
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		uint32_t at = bit / 8;
		if ((at >= WIRE_OFF_TX_TS && at < WIRE_OFF_LEN) || at >= WIRE_OFF_CE_COUNT)
			if (at < WIRE_COMMON_BYTES)
				continue;
		if (at >= WIRE_OFF_HELLO_COOKIE && at < WIRE_OFF_HELLO_COOKIE + 8)
			continue;
		wire_control_seal(frame, sizeof(frame));
		rltp_endpoint_receive(r->nodes[1].endpoint, &a, net_now(r->net) + bit * S_NS);
		/* wire_control_seal undoes a flip in length or flags */
		if (memcmp(frame, r->kept[0], sizeof(frame)) != 0)
			assert_int_equal(c->hellos_received, 0);
		else
			break;
	}
	assert_true(c->unauthentic > 0);
	rig_destroy(r);
}

struct hello_flood {
	struct rig *r;
	struct rng rng;
	uint8_t frame[WIRE_COMMON_BYTES + WIRE_HELLO_BYTES];
};

static void flood_frame(struct hello_flood *f, uint16_t node, uint64_t incarnation)
{
	struct wire_header h = {.type = WIRE_HELLO,
				.header_bytes = WIRE_COMMON_BYTES,
				.src_node = node,
				.dst_node = 2};
	struct wire_hello hello = {.incarnation = incarnation,
				   .epoch = (uint32_t)rng_next(&f->rng),
				   .session = (uint32_t)rng_next(&f->rng),
				   .rwnd = 100,
				   .payload_bytes = 1408};

	memset(hello.tag, (int)rng_below(&f->rng, 256), sizeof(hello.tag));
	wire_header_encode(&h, f->frame);
	wire_hello_encode(&hello, f->frame + WIRE_COMMON_BYTES);
	wire_control_seal(f->frame, sizeof(f->frame));
}

/* Sends HELLOs from unknown nodes, and from known nodes at wrong addresses. Also sends HELLOs with
 * the id and address of a known node but a guessed tag. */
static void session__a_hundred_thousand_hostile_handshakes(void **state)
{
	struct rig *r = rig_make(3, 1408);
	struct rig_node *victim = &r->nodes[1];
	const struct rltp_endpoint_counters *c = rltp_endpoint_counters(victim->endpoint);
	struct hello_flood f = {.r = r, .rng = {seed()}};
	uint64_t sent = r->sent;
	uint32_t seconds = 2;

	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t kind = (uint32_t)rng_below(&f.rng, 3);
		uint16_t node = kind == 0 ? (uint16_t)(10 + rng_below(&f.rng, 60000)) : 1;
		struct datagram_arrival a = {.data = f.frame, .bytes = sizeof(f.frame)};
		uint64_t now_ns = 10 * S_NS + i * (seconds * S_NS / 100000);
		flood_frame(&f, node, rng_next(&f.rng));
		net_address(kind == 1 ? 2 : 0, &a.from);
		rltp_endpoint_receive(victim->endpoint, &a, now_ns);
		struct datagram out[4];
		assert_int_equal(rltp_endpoint_send(victim->endpoint, out, 4, now_ns), 0);
	}
	assert_int_equal(c->hellos_received, 0);
	assert_int_equal(victim->endpoint->shared.active, 0);
	assert_int_equal(victim->endpoint->schedule.count, 0);
	assert_true(victim->tags <= seconds * RLTP_HANDSHAKES_PEER_PER_S);
	assert_true(c->unknown_peer > 60000 && c->flooded > 30000);
	assert_true(r->sent == sent);
	/* node 2's session is not affected */
	messages_work(r, 2, 1);
	rig_destroy(r);
}

/* Node 2 gets a packet of an unknown session in the name of a node. Returns how many datagrams it
 * sends then; out[0] is the first. */
static size_t unknown_send(struct rig *r, uint16_t node, uint32_t host, struct datagram out[4])
{
	uint8_t frame[WIRE_COMMON_BYTES + WIRE_ACK_BODY_BYTES] = {0};
	struct datagram_arrival a = {.data = frame, .bytes = sizeof(frame)};
	struct wire_header h = {.type = WIRE_ACK,
				.header_bytes = WIRE_COMMON_BYTES,
				.dst_session = 77,
				.src_node = node,
				.dst_node = 2};

	wire_header_encode(&h, frame);
	wire_control_seal(frame, sizeof(frame));
	net_address(host, &a.from);
	rltp_endpoint_receive(r->nodes[1].endpoint, &a, S_NS);
	const size_t sent = rltp_endpoint_send(r->nodes[1].endpoint, out, 4, S_NS);
	assert_true(sent == 0 || out[0].header_bytes <= sizeof(frame));
	return sent;
}

static void session__unknown_peers_get_no_answer(void **state)
{
	struct rig *r = rig_make(2, 1408);
	struct datagram out[4];

	assert_int_equal(unknown_send(r, 1, 5, out), 0); /* known, but at a wrong address */
	assert_int_equal(unknown_send(r, 3, 5, out), 0);
	/* known, at its own address: a RESET */
	assert_int_equal(unknown_send(r, 1, 0, out), 1);
	assert_int_equal(out[0].header[WIRE_OFF_TYPE], WIRE_RESET);
	rig_destroy(r);
}

/* Packets that are faked in the name of some peers do not suppress the RESET of another. */
static void session__resets_are_shared_among_peers(void **state)
{
	struct rig *r = rig_make(4, 1408);
	struct datagram out[4];
	uint32_t resets[5] = {0};

	for (uint32_t i = 0; i < 2 * RLTP_RESETS_PER_S; i++)
		for (uint16_t node = 1; node < 4; node += 2)
			resets[node] += unknown_send(r, node, node - 1u, out) > 0;
	assert_int_equal(resets[1], RLTP_RESETS_SHARE_PER_S);
	assert_int_equal(resets[3], RLTP_RESETS_SHARE_PER_S);
	assert_int_equal(unknown_send(r, 4, 3, out), 1);
	assert_int_equal(out[0].header[WIRE_OFF_TYPE], WIRE_RESET);
	rig_destroy(r);
}

/* One address outside of the node table has one share, whatever ids it names. */
static void session__resets_of_an_outside_address_are_one_share(void **state)
{
	enum { HOST = 5 };
	struct rig *r = rig_make(2, 1408);
	struct rltp_peer_info peer = {
		.node = WIRE_NODE_OUTSIDE, .payload_bytes = 1408, .outside = true};
	struct datagram out[4];
	uint32_t resets = 0;

	net_address(HOST, &peer.address);
	assert_int_equal(rltp_endpoint_peer(r->nodes[1].endpoint, &peer, 0), DXP_OK);
	for (uint16_t i = 0; i < RLTP_RESETS_SHARES; i++)
		resets += unknown_send(r, (uint16_t)(100 + i), HOST, out) > 0;
	assert_int_equal(resets, RLTP_RESETS_SHARE_PER_S);
	assert_int_equal(unknown_send(r, 1, 0, out), 1);
	rig_destroy(r);
}

/* ---- many sessions ---- */

static void session__window_is_shared_by_active_sessions(void **state)
{
	struct rig *r = rig_make(4, 8896);

	r->nodes[0].receive_packets = 300;
	assert_int_equal(rig_restart(r, 0, true), DXP_OK);
	rig_open(r, 1, 0);
	assert_int_equal(rig_session(r, 1, 0)->peer_window, 240);
	rig_open(r, 2, 0);
	rig_open(r, 3, 0);
	for (uint32_t i = 1; i < 4; i++) {
		messages_work(r, i, 0);
		assert_int_equal(rig_session(r, i, 0)->peer_window, 80);
	}
	/* all are idle after 3 s, so the next gets the whole receive window */
	rig_run(r, 3 * S_NS);
	messages_work(r, 2, 0);
	assert_int_equal(rig_session(r, 2, 0)->peer_window, 240);
	rig_destroy(r);
}

static void session__level_is_reported(void **state)
{
	struct rig *r = rig_make(2, 1408);

	rltp_endpoint_level(r->nodes[1].endpoint, 200);
	assert_int_equal(r->nodes[1].endpoint->shared.rx_level, 31);
	rltp_endpoint_level(r->nodes[1].endpoint, 3);
	assert_int_equal(r->nodes[1].endpoint->shared.rx_level, 3);
	rig_destroy(r);
}

/* No session waits until another has sent all its data. */
static void session__every_session_is_served(void **state)
{
	struct rig *r = rig_make(4, 1408);
	struct datagram out[DATAGRAM_BATCH];
	uint32_t share[RIG_NODES + 1] = {0}, total = 0;

	for (uint32_t i = 1; i < 4; i++)
		rig_open(r, 0, i);
	for (uint32_t i = 1; i < 4; i++)
		for (uint32_t k = 0; k < 5; k++)
			rig_post(r, 0, i, 100000);
	for (uint32_t i = 1; i < 4; i++) {
		struct rltp_session *s = rig_session(r, 0, i);
		cc_init(&s->io->cc, CC_NONE, 1000, net_now(r->net));
		pace_init(&s->io->pace);
		s->peer_window = 1000;
	}
	while (total < 9 * RLTP_SHARE) {
		size_t n = rltp_endpoint_send(r->nodes[0].endpoint, out, DATAGRAM_BATCH,
					      net_now(r->net));
		assert_true(n > 0);
		for (size_t i = 0; i < n; i++)
			share[get_be16(out[i].header + WIRE_OFF_DST_NODE)]++;
		total += (uint32_t)n;
	}
	for (uint32_t i = 2; i <= 4; i++)
		assert_in_range(share[i], 2 * RLTP_SHARE, 4 * RLTP_SHARE);
	rig_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(session__close_notifies_the_peers),
		cmocka_unit_test(session__bye_without_its_token),
		cmocka_unit_test(session__slow_answers_live_and_dead_peers_die),
		cmocka_unit_test(session__keepalives_survive_loss),
		cmocka_unit_test(session__a_flood_of_pings_is_answered_ten_times_a_second),
		cmocka_unit_test(session__idle_sends_nothing),
		cmocka_unit_test(session__another_key_opens_nothing),
		cmocka_unit_test(session__handshake_changed_on_the_way),
		cmocka_unit_test(session__a_hundred_thousand_hostile_handshakes),
		cmocka_unit_test(session__unknown_peers_get_no_answer),
		cmocka_unit_test(session__resets_are_shared_among_peers),
		cmocka_unit_test(session__resets_of_an_outside_address_are_one_share),
		cmocka_unit_test(session__window_is_shared_by_active_sessions),
		cmocka_unit_test(session__level_is_reported),
		cmocka_unit_test(session__every_session_is_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
