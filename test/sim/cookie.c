/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests handshakes while a forger sends HELLOs in the peer's name and from its address. The forger
 * sees no packet and has no key. DXP_SEED=n changes the network's faults. */
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
#include "test/sim/forger.h"

#define SEEDS      1000
#define ONE_WAY_NS (20 * US_NS) /* of the rig's network */

/* HELLO, COOKIE, HELLO, HELLO_ACK and data take five one-way times. */
static void cookie__a_flood_costs_one_round_trip(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct forger f = forger_make(seed, &good);
		allowance_use_up(&f);
		const uint64_t begun_ns = net_now(f.r->net);
		rig_post(f.r, 0, 1, 100);
		assert_true(flooded_finish(&f, S_NS));
		assert_int_equal(f.r->nodes[0].ok, 1);
		/* the limits start anew with each second */
		if (counters(f.r, 0)->hellos_sent == 1)
			assert_true(begun_ns / S_NS != f.r->nodes[1].last_delivery_ns / S_NS);
		else
			assert_int_equal(counters(f.r, 0)->cookies_accepted, 1);
		assert_true(counters(f.r, 0)->hellos_sent <= 2);
		assert_in_range(f.r->nodes[1].last_delivery_ns - begun_ns, 3 * ONE_WAY_NS,
				6 * ONE_WAY_NS);
		rig_destroy(f.r);
	}
}

static void cookie__with_loss_too(void **state)
{
	uint32_t cookies = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct sim_faults faults = {.loss_ppm = 200000,
						  .reorder_ppm = 50000,
						  .duplicate_ppm = 20000,
						  .corrupt_ppm = 10000};
		struct forger f = forger_make(seed, &faults);
		allowance_use_up(&f);
		rig_post(f.r, 0, 1, 100);
		assert_true(flooded_finish(&f, 2 * S_NS));
		assert_int_equal(f.r->nodes[0].ok, 1);
		assert_true(counters(f.r, 0)->hellos_sent < 20);
		cookies += counters(f.r, 0)->cookies_accepted > 0;
		once_check(f.r);
		rig_destroy(f.r);
	}
	assert_true(cookies > SEEDS / 2);
}

/* The flood lasts all the time, at the highest rate at which each HELLO is answered. */
static void cookie__sustained_floods(void **state)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct forger f = forger_make(seed, &good);
		f.rate = 10000;
		for (uint32_t i = 0; i < 20000; i++) {
			forge(&f);
			rig_run(f.r, S_NS / f.rate);
		}
		const struct rltp_endpoint_counters *c = counters(f.r, 1);
		assert_true(c->unauthentic <= 3 * RLTP_HANDSHAKES_PEER_PER_S);
		assert_true(f.r->nodes[0].ok == 0 && c->hellos_received == 0);
		assert_null(rig_session(f.r, 1, 0)->io);
		assert_true(c->cookies_sent == c->flooded);
		assert_true(counters(f.r, 0)->cookies_refused == c->cookies_sent);
		rig_post(f.r, 0, 1, 100);
		assert_true(flooded_finish(&f, 10 * MS_NS));
		assert_int_equal(f.r->nodes[0].ok, 1);
		rig_destroy(f.r);
	}
}

/* Recorded HELLOs with right tags use up the limit of a restarted node. */
static void cookie__replays(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct forger f = forger_make(seed, &good);
		struct rig *r = f.r;
		r->keep = true;
		rig_open(r, 0, 1);
		r->keep = false;
		assert_int_equal(rig_restart(r, 1, false), DXP_OK);
		struct datagram_arrival a = {.data = r->kept[0], .bytes = r->kept_bytes[0]};
		assert_int_equal(r->kept[0][WIRE_OFF_TYPE], WIRE_HELLO);
		net_address(r->nodes[0].host_index, &a.from);
		for (int i = 0; i < 40; i++)
			rltp_endpoint_receive(r->nodes[1].endpoint, &a, net_now(r->net));
		assert_int_equal(counters(r, 1)->flooded, 40 - RLTP_HANDSHAKES_PEER_PER_S);
		/* a new process, so that its HELLO is not that of the record */
		r->nodes[0].incarnation++;
		assert_int_equal(rig_restart(r, 0, true), DXP_OK);
		rig_post(r, 0, 1, 100);
		assert_true(rig_finish(r, 0, RLTP_HELLO_FIRST_NS - MS_NS));
		assert_int_equal(counters(r, 0)->cookies_accepted, 1);
		assert_int_equal(counters(r, 1)->cookie_hellos, 1);
		rig_destroy(r);
	}
}

/* ---- what a cookie is worth ---- */

/* Returns the cookie that the victim sends to node 0 for f->hello. */
static uint64_t cookie_get(struct forger *f)
{
	struct rig *r = f->r;
	struct wire_cookie c;

	r->keep = true;
	r->kept_count = 0;
	hello_give(f, 0, r->nodes[0].host_index, net_now(r->net));
	rig_run(r, MS_NS);
	r->keep = false;
	assert_int_equal(r->kept_count, 1);
	assert_int_equal(r->kept[0][WIRE_OFF_TYPE], WIRE_COOKIE);
	assert_int_equal(wire_cookie_decode(r->kept[0] + WIRE_COMMON_BYTES, WIRE_COOKIE_BYTES, &c),
			 DXP_OK);
	assert_int_equal(c.session, f->hello.session);
	assert_int_equal(c.psn, f->hello.psn);
	return c.value;
}

static struct forger with_cookie(uint64_t *cookie)
{
	struct forger f = {.rng = {seed()}};

	rig_protect = WIRE_PROTECT_NONE;
	f.r = rig_make(3, 1408);
	allowance_use_up(&f);
	rig_run(f.r, MS_NS);
	hello_draw(&f);
	*cookie = cookie_get(&f);
	return f;
}

static void counts_are(struct forger *f, uint64_t checked, uint64_t wrong)
{
	assert_int_equal(counters(f->r, 1)->cookie_hellos, checked);
	assert_int_equal(counters(f->r, 1)->cookie_wrong, wrong);
}

static void cookie__fits_one_hello_of_one_address(void **state)
{
	uint64_t cookie;
	struct forger f = with_cookie(&cookie);
	const struct wire_hello good_hello = f.hello;
	const uint64_t now_ns = net_now(f.r->net), wrong = counters(f.r, 1)->cookie_wrong;

	hello_give(&f, cookie, 0, now_ns);
	counts_are(&f, 1, wrong);
	assert_true(counters(f.r, 1)->unauthentic > 0);
	for (int i = 0; i < 5; i++) {
		f.hello = good_hello;
		f.hello.session ^= i == 0;
		f.hello.psn ^= i == 1;
		f.hello.epoch ^= (i == 2) << 8;
		f.hello.incarnation ^= (i == 3) << 8;
		hello_give(&f, cookie ^ (i == 4), 0, now_ns);
		counts_are(&f, 1, wrong + 1 + (uint64_t)i);
	}
	/* the host moved: the same HELLO from another address */
	struct rltp_peer_info peer = {.node = 1, .incarnation = 1000, .payload_bytes = 1408};
	net_address(5, &peer.address);
	assert_int_equal(rltp_endpoint_peer(f.r->nodes[1].endpoint, &peer, now_ns), DXP_OK);
	f.hello = good_hello;
	hello_give(&f, cookie, 5, now_ns);
	counts_are(&f, 1, wrong + 6);
	rig_destroy(f.r);
}

static void cookie__expires(void **state)
{
	uint64_t cookie;
	struct forger f = with_cookie(&cookie);
	const uint64_t begun_ns = net_now(f.r->net);
	const struct wire_hello hello = f.hello;
	uint64_t checked = 0;

	for (uint64_t at_ns = 0; at_ns <= 3 * RLTP_COOKIE_NS; at_ns += RLTP_COOKIE_NS / 4) {
		const uint64_t now_ns = begun_ns + at_ns;
		for (int i = 0; i < RLTP_HANDSHAKES_PEER_PER_S; i++) {
			hello_draw(&f);
			hello_give(&f, 0, 0, now_ns);
		}
		f.hello = hello;
		hello_give(&f, cookie, 0, now_ns);
		if (at_ns < RLTP_COOKIE_NS)
			checked++;
		else if (at_ns < 2 * RLTP_COOKIE_NS)
			checked = counters(f.r, 1)->cookie_hellos;
		assert_int_equal(counters(f.r, 1)->cookie_hellos, checked);
	}
	assert_true(checked >= 4 && checked <= 8);
	rig_destroy(f.r);
}

/* An observer on the path may repeat a HELLO with its cookie. */
static void cookie__has_a_limit_too(void **state)
{
	uint64_t cookie;
	struct forger f = with_cookie(&cookie);
	const uint64_t now_ns = net_now(f.r->net), sent = counters(f.r, 1)->cookies_sent;

	for (int i = 0; i < 1000; i++)
		hello_give(&f, cookie, 0, now_ns);
	assert_int_equal(counters(f.r, 1)->cookie_hellos, RLTP_HANDSHAKES_PEER_PER_S);
	rig_run(f.r, MS_NS);
	assert_int_equal(counters(f.r, 1)->cookies_sent, sent);
	rig_destroy(f.r);
}

/* ---- COOKIEs ---- */

/* Delivers a COOKIE to node 0, in the name of node 1. */
static void cookie_give(struct rig *r, const struct wire_cookie *c)
{
	uint8_t frame[WIRE_COMMON_BYTES + WIRE_COOKIE_BYTES];
	const struct wire_header h = {.type = WIRE_COOKIE,
				      .header_bytes = WIRE_COMMON_BYTES,
				      .src_node = 2,
				      .dst_node = 1};
	struct datagram_arrival a = {.data = frame, .bytes = sizeof(frame)};

	wire_header_encode(&h, frame);
	wire_cookie_encode(c, frame + WIRE_COMMON_BYTES);
	wire_control_seal(frame, sizeof(frame));
	net_address(r->nodes[1].host_index, &a.from);
	rltp_endpoint_receive(r->nodes[0].endpoint, &a, net_now(r->net));
	net_touch(r->net, r->nodes[0].host_index);
}

/* A forged COOKIE has no effect, also if it quotes the HELLO. */
static void cookie__forged_ones_are_refused(void **state)
{
	struct rig *r = rig_make(2, 1408);
	struct rng rng = {seed()};

	net_blackhole(r->net, 0, 1, true);
	rig_post(r, 0, 1, 100);
	rig_run(r, MS_NS);
	const struct rltp_session *s = rig_session(r, 0, 1);
	assert_int_equal(s->state, RLTP_HANDSHAKE);
	for (int i = 0; i < 1000; i++) {
		struct wire_cookie c = {.session = s->local_id, .psn = s->initial_psn, .value = 1};
		c.session ^= i % 4 == 1;
		c.psn ^= i % 4 == 2;
		put_be64(c.proof, rng_next(&rng));
		cookie_give(r, &c);
	}
	rig_run(r, MS_NS);
	assert_int_equal(counters(r, 0)->cookies_refused, 1000);
	assert_int_equal(counters(r, 0)->hellos_sent, 1);
	assert_true(s->io->cookie == 0);
	net_blackhole(r->net, 0, 1, false);
	assert_true(rig_finish(r, 0, S_NS));
	assert_int_equal(r->nodes[0].ok, 1);
	/* no handshake */
	cookie_give(r, &(struct wire_cookie){.session = s->local_id, .psn = 1, .value = 1});
	assert_int_equal(counters(r, 0)->cookies_refused, 1001);
	assert_int_equal(s->state, RLTP_OPEN);
	rig_destroy(r);
}

/* A COOKIE of an earlier handshake is refused, and so are copies of the right one. */
static void cookie__recorded_ones_are_refused(void **state)
{
	struct forger f = forger_make(1, &good);
	struct rig *r = f.r;
	struct datagram_arrival a = {0};

	allowance_use_up(&f);
	rig_run(r, MS_NS);
	r->keep = true;
	rig_post(r, 0, 1, 100);
	assert_true(rig_finish(r, 0, S_NS));
	r->keep = false;
	for (uint32_t i = 0; i < r->kept_count; i++)
		if (r->kept[i][WIRE_OFF_TYPE] == WIRE_COOKIE)
			a = (struct datagram_arrival){.data = r->kept[i],
						      .bytes = r->kept_bytes[i]};
	assert_non_null(a.data);
	net_address(r->nodes[1].host_index, &a.from);
	const uint64_t refused = counters(r, 0)->cookies_refused;
	rltp_endpoint_receive(r->nodes[0].endpoint, &a, net_now(r->net));
	assert_int_equal(counters(r, 0)->cookies_refused, refused + 1);
	assert_int_equal(rig_session(r, 0, 1)->state, RLTP_OPEN);
	rltp_endpoint_fail(r->nodes[0].endpoint, 2, DXP_ECLOSED);
	net_blackhole(r->net, 0, 1, true);
	rig_post(r, 0, 1, 100);
	rig_run(r, MS_NS);
	assert_int_equal(rig_session(r, 0, 1)->state, RLTP_HANDSHAKE);
	rltp_endpoint_receive(r->nodes[0].endpoint, &a, net_now(r->net));
	assert_int_equal(counters(r, 0)->cookies_refused, refused + 2);
	assert_int_equal(counters(r, 0)->cookies_accepted, 1);
	rig_destroy(r);
}

/* COOKIEs of the peer itself cause few HELLOs, whatever it sends. */
static void cookie__a_peer_cannot_drive_hellos(void **state)
{
	struct forger f = forger_make(1, &good);
	struct rig *r = f.r;

	net_blackhole(r->net, 0, 1, true);
	rig_post(r, 0, 1, 100);
	rig_run(r, MS_NS);
	const struct rltp_session *s = rig_session(r, 0, 1);
	const struct wire_header h = {.src_node = 2, .dst_node = 1};
	for (uint64_t i = 1; i <= 100; i++) {
		struct wire_cookie c = {.session = s->local_id, .psn = s->initial_psn, .value = i};
		uint8_t text[10 + 4 + 16], *at = text + 10;
		memcpy(text, "dxp COOKIE", 10);
		put_be16(at, h.src_node);
		put_be16(at + 2, h.dst_node);
		put_be32(at + 4, c.session);
		put_be32(at + 8, c.psn);
		put_be64(at + 12, c.value);
		endpoint_authenticate(r->nodes[0].endpoint, RLTP_KEY_SEND, text, sizeof(text),
				      c.proof);
		cookie_give(r, &c);
		rig_run(r, US_NS);
		assert_true(s->io->cookie == i);
	}
	assert_int_equal(counters(r, 0)->cookies_accepted, 100);
	assert_int_equal(counters(r, 0)->hellos_sent, 1 + RLTP_COOKIE_HELLOS);
	rig_destroy(r);
}

/* A node answers each HELLO with at most one COOKIE, which is never longer. It answers only peers
 * at their address, and the answers to all have a limit. */
static void cookie__amplifies_nothing(void **state)
{
	struct forger f = {.rng = {seed()}};

	rig_protect = WIRE_PROTECT_NONE;
	f.r = rig_make(2, 1408);
	const struct rltp_endpoint_counters *c = counters(f.r, 1);
	f.r->sent_bytes = 0;
	for (uint64_t i = 0; i < 50000; i++) {
		forge(&f);
		rig_run(f.r, 10 * US_NS);
	}
	assert_int_equal(c->cookies_sent, RLTP_COOKIES_PER_S);
	assert_true(c->flooded > RLTP_COOKIES_PER_S);
	assert_true(f.r->sent_bytes <= c->cookies_sent * f.bytes);
	/* an earlier version ignores COOKIEs */
	f.hello.features &= ~(uint32_t)WIRE_FEATURE_COOKIE;
	const uint64_t flooded = c->flooded;
	rig_run(f.r, S_NS);
	for (int i = 0; i < 100; i++)
		hello_give(&f, 0, 0, net_now(f.r->net));
	assert_true(c->flooded > flooded);
	f.hello.features = WIRE_FEATURES;
	hello_give(&f, 0, 6, net_now(f.r->net));
	assert_int_equal(c->cookies_sent, RLTP_COOKIES_PER_S);
	rig_destroy(f.r);
}

static bool outside_admits(void *user, const struct udp_address *from)
{
	return true;
}

static struct rltp_session *outside_add(void *user, const struct udp_address *from)
{
	fail_msg("a forged HELLO added a peer");
	return NULL;
}

static bool tag_fixed(void *context, enum rltp_key key, const uint8_t *frame, size_t bytes,
		      uint8_t tag[WIRE_TAG_BYTES])
{
	memset(tag, 0xa5, WIRE_TAG_BYTES);
	return key != RLTP_KEY_FORMER;
}

static struct rltp_endpoint *outside_open(struct forger *f)
{
	const struct rltp_endpoint_options options = {.node = 2,
						      .entropy = rng_entropy_rng,
						      .entropy_context = &f->rng,
						      .authenticate = tag_fixed,
						      .outside_admits = outside_admits,
						      .outside_add = outside_add};
	struct rltp_endpoint *e;

	assert_int_equal(rltp_endpoint_create(&options, &e), DXP_OK);
	return e;
}

/* Addresses outside of the node table share a limit; a cookie lets one of them pass it. */
static void cookie__outside_of_the_node_table(void **state)
{
	struct forger f = {.rng = {seed()}};
	struct rltp_endpoint *e = outside_open(&f);
	struct datagram out[COOKIES_PENDING];

	const struct rltp_endpoint_counters *c = rltp_endpoint_counters(e);
	hello_draw(&f);
	memset(f.hello.tag, 0, sizeof(f.hello.tag));
	for (uint32_t i = 0; i < RLTP_HANDSHAKES_OUTSIDE_PER_S; i++)
		endpoint_give(&f, e, 0, 100 + i, S_NS);
	assert_int_equal(c->unauthentic, RLTP_HANDSHAKES_OUTSIDE_PER_S);
	assert_int_equal(rltp_endpoint_send(e, out, COOKIES_PENDING, S_NS), 0);
	endpoint_give(&f, e, 0, 5, S_NS);
	assert_int_equal(c->flooded, 1);
	assert_true(rltp_endpoint_deadline(e) == 0);
	assert_int_equal(rltp_endpoint_send(e, out, COOKIES_PENDING, S_NS), 1);
	assert_int_equal(out[0].header[WIRE_OFF_TYPE], WIRE_COOKIE);
	const uint64_t cookie = get_be64(out[0].header + WIRE_OFF_COOKIE_VALUE);
	endpoint_give(&f, e, cookie, 6, S_NS);
	assert_int_equal(c->cookie_wrong, 1);
	endpoint_give(&f, e, cookie, 5, S_NS);
	assert_int_equal(c->cookie_hellos, 1);
	assert_int_equal(c->unauthentic, RLTP_HANDSHAKES_OUTSIDE_PER_S + 1);
	rltp_endpoint_destroy(e);
}

/* A call writes as many as it has space for. At most one batch waits for a call. */
static void cookie__batches(void **state)
{
	struct forger f = {.rng = {seed()}};
	struct rltp_endpoint *e = outside_open(&f);
	struct datagram out[COOKIES_PENDING];

	hello_draw(&f);
	for (uint32_t i = 0; i < RLTP_HANDSHAKES_OUTSIDE_PER_S + 2 * COOKIES_PENDING; i++)
		endpoint_give(&f, e, 0, 100 + i, S_NS);
	assert_int_equal(rltp_endpoint_send(e, out, 10, S_NS), 10);
	assert_int_equal(rltp_endpoint_send(e, out, COOKIES_PENDING, S_NS), COOKIES_PENDING - 10);
	assert_int_equal(rltp_endpoint_send(e, out, COOKIES_PENDING, S_NS), 0);
	assert_int_equal(rltp_endpoint_counters(e)->cookies_sent, COOKIES_PENDING);
	assert_int_equal(rltp_endpoint_counters(e)->flooded, 2 * COOKIES_PENDING);
	rltp_endpoint_destroy(e);
}

/* A node of an earlier version sends no COOKIE and reads no cookie. */
static void cookie__none_without_load(void **state)
{
	for (uint8_t protect = 0; protect <= WIRE_PROTECT_LAST; protect++) {
		rig_protect = protect;
		struct rig *r = rig_make(2, 1408);
		r->keep = true;
		rig_open(r, 0, 1);
		assert_int_equal(r->kept[0][WIRE_OFF_TYPE], WIRE_HELLO);
		assert_true(get_be64(r->kept[0] + WIRE_OFF_HELLO_COOKIE) == 0);
		assert_int_equal(r->nodes[0].sent_type[WIRE_COOKIE], 0);
		assert_int_equal(r->nodes[1].sent_type[WIRE_COOKIE], 0);
		assert_false(r->nodes[1].endpoint->cookies.drawn);
		rig_destroy(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cookie__a_flood_costs_one_round_trip),
		cmocka_unit_test(cookie__with_loss_too),
		cmocka_unit_test(cookie__sustained_floods),
		cmocka_unit_test(cookie__replays),
		cmocka_unit_test(cookie__fits_one_hello_of_one_address),
		cmocka_unit_test(cookie__expires),
		cmocka_unit_test(cookie__has_a_limit_too),
		cmocka_unit_test(cookie__forged_ones_are_refused),
		cmocka_unit_test(cookie__recorded_ones_are_refused),
		cmocka_unit_test(cookie__a_peer_cannot_drive_hellos),
		cmocka_unit_test(cookie__amplifies_nothing),
		cmocka_unit_test(cookie__outside_of_the_node_table),
		cmocka_unit_test(cookie__batches),
		cmocka_unit_test(cookie__none_without_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
