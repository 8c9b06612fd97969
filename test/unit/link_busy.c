/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests connected sockets for busy peers: when they open, close and are quiet (link/receive.h),
 * without a lost or duplicated datagram. */
#include <sys/resource.h>

#include "base/clock.h"
#include "test/unit/link_pair.h"

#define CROWD (LINK_BUSY_PEERS + 2)

static unsigned connected_count(const struct link *l)
{
	unsigned count = 0;

	for (unsigned i = 1; i < ARRAY_COUNT(l->sockets); i++)
		count += l->sockets[i].fd >= 0;
	return count;
}

/* Sends one datagram, which must arrive unchanged and alone. */
static struct datagram_arrival pass(struct link *from, struct link *to, uint32_t number)
{
	struct udp_address target, source;
	struct datagram_arrival arrival;

	link_address(to, &target);
	link_address(from, &source);
	struct datagram d = datagram_of(&target, 0, 8, NULL, 0);
	memcpy(d.header, &number, sizeof(number));
	send_all(from, &d, 1);
	assert_int_equal(receive_some(to, &arrival, 1), 1);
	assert_int_equal(arrival.bytes, 8);
	assert_memory_equal(arrival.data, &number, sizeof(number));
	assert_true(address_equal(&arrival.from, &source));
	return arrival;
}

static void ping_pong(struct link *a, struct link *b, uint32_t rounds)
{
	for (uint32_t i = 0; i < rounds; i++) {
		pass(a, b, i);
		pass(b, a, ~i);
	}
}

static void busy__both_ends_connect(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	struct link *third = open_at("127.0.0.1", (struct link_options){0});

	ping_pong(p.a, p.b, 2 * LINK_BUSY_VOTES);
	assert_int_equal(connected_count(p.a), 1);
	assert_int_equal(connected_count(p.b), 1);
	/* A peer without a connected socket is still served. */
	for (uint32_t k = 0; k < 20; k++) {
		pass(third, p.b, k);
		pass(p.a, p.b, k);
		pass(p.b, third, k);
	}
	link_close(third);
	pair_close(&p);
}

static void busy__unconnected_stays_so(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){.unconnected = true});

	ping_pong(p.a, p.b, 2 * LINK_BUSY_VOTES);
	assert_int_equal(connected_count(p.a) + connected_count(p.b), 0);
	pair_close(&p);
}

/* If no file descriptor is free for another socket, the link continues with its main socket. */
static void busy__does_without(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	struct rlimit before, none;

	getrlimit(RLIMIT_NOFILE, &before);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	setrlimit(RLIMIT_NOFILE, &none);
	ping_pong(p.a, p.b, 2 * LINK_BUSY_VOTES);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(connected_count(p.a) + connected_count(p.b), 0);
	pair_close(&p);
}

static void busy__ipv4_peer_of_an_ipv6_socket(void **state)
{
	struct link_options options = {.bind = address_of("[::]")};
	struct link *both = NULL;

	log_level_set(LOG_LEVEL_ERROR);
	if (link_open(&options, &both) != DXP_OK) {
		print_message("skipped: no IPv6 on this machine\n");
		skip();
	}
	struct link *v4 = open_at("127.0.0.1", (struct link_options){0});
	struct udp_address v4_address, to;
	link_address(v4, &v4_address);
	link_address(both, &to);
	memcpy(to.ip, v4_address.ip, sizeof(to.ip));
	struct datagram d = datagram_of(&to, 1, 8, NULL, 0);
	struct datagram back = datagram_of(&v4_address, 2, 8, NULL, 0);
	for (uint32_t i = 0; i < 2 * LINK_BUSY_VOTES; i++) {
		struct datagram_arrival arrival;
		send_all(v4, &d, 1);
		assert_int_equal(receive_some(both, &arrival, 1), 1);
		assert_true(address_equal(&arrival.from, &v4_address));
		send_all(both, &back, 1);
		assert_int_equal(receive_some(v4, &arrival, 1), 1);
		assert_true(address_equal(&arrival.from, &to));
	}
	assert_int_equal(connected_count(both), 1);
	link_close(v4);
	link_close(both);
}

/* No other process can bind the port that the sockets share. */
static void busy__port_stays_in_use(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	struct link_options options = {0};
	struct link *second = NULL;

	ping_pong(p.a, p.b, 2 * LINK_BUSY_VOTES);
	options.bind = p.to_b;
	log_level_set(LOG_LEVEL_ERROR + 1);
	assert_int_equal(link_open(&options, &second), DXP_EBUSY);
	log_level_set(LOG_LEVEL_ERROR);
	pair_close(&p);
}

/* A new busy peer replaces the peer silent longest. */
static void busy__silent_peers_make_space(void **state)
{
	struct link *l = open_at("127.0.0.1", (struct link_options){0}), *peers[CROWD];

	for (uint32_t i = 0; i < CROWD; i++)
		peers[i] = open_at("127.0.0.1", (struct link_options){0});
	for (uint32_t i = 0; i < CROWD; i++) {
		struct udp_address address;
		ping_pong(peers[i], l, 2 * LINK_BUSY_VOTES);
		link_address(peers[i], &address);
		assert_true(busy_socket(l, &address) > 0);
		assert_int_equal(connected_count(l), min_u64(i + 1, LINK_BUSY_PEERS));
	}
	/* No peer is silent or busiest. */
	for (uint32_t round = 0; round < 2 * LINK_BUSY_VOTES; round++)
		for (uint32_t i = 0; i < CROWD; i++) {
			pass(peers[i], l, round);
			pass(l, peers[i], round);
		}
	for (uint32_t i = 0; i < CROWD; i++)
		link_close(peers[i]);
	link_close(l);
}

/* Only datagrams between the exit and the restart are lost. */
static void busy__peer_restarts(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	struct link_options options = {.bind = p.to_b};
	struct datagram d = datagram_of(&p.to_b, 1, 8, NULL, 0);

	ping_pong(p.a, p.b, 2 * LINK_BUSY_VOTES);
	link_close(p.b);
	send_all(p.a, &d, 1);
	send_all(p.a, &d, 1);
	assert_int_equal(link_open(&options, &p.b), DXP_OK);
	ping_pong(p.a, p.b, 2 * LINK_BUSY_VOTES);
	assert_int_equal(connected_count(p.a), 1);
	assert_int_equal(counters_of(p.a).send_errors, 0);
	pair_close(&p);
}

static const uint8_t quiet_payload[2 * LINK_SHORT_BYTES];

static bool quiet(const struct link *l, const struct udp_address *peer)
{
	return l->sockets[busy_socket(l, peer)].quiet;
}

/* Runs a ping-pong with empty polls in between, as a reader that waits makes them. */
static void waiting_ping_pong(struct link *a, struct link *b, uint32_t rounds)
{
	struct datagram_arrival arrival;

	for (uint32_t i = 0; i < rounds; i++) {
		for (unsigned k = 0; k < 2 * LINK_OTHERS_EVERY; k++)
			assert_int_equal(link_receive(b, &arrival, 1), 0);
		pass(a, b, i);
		pass(b, a, ~i);
	}
}

static void quiet__single_datagrams_lead_to_it_and_batches_out(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	struct datagram d[40];
	struct datagram_arrival arrival;
	struct udp_address to_a;

	link_address(p.a, &to_a);
	waiting_ping_pong(p.a, p.b, LINK_BUSY_VOTES + LINK_ALONE_MAX + 10);
	assert_true(quiet(p.b, &to_a));
	assert_false(pass(p.a, p.b, 1).stamped);
	for (int batch = 0; batch < 3; batch++) {
		for (uint8_t i = 0; i < ARRAY_COUNT(d); i++)
			d[i] = datagram_of(&p.to_b, i, 100, NULL, 0);
		send_all(p.a, d, ARRAY_COUNT(d));
		for (uint8_t i = 0; i < ARRAY_COUNT(d); i++) {
			assert_int_equal(receive_some(p.b, &arrival, 1), 1);
			assert_int_equal(arrival.bytes, 100);
			assert_memory_equal(arrival.data, d[i].header, 100);
		}
	}
	assert_false(quiet(p.b, &to_a));
	assert_true(pass(p.a, p.b, 1).stamped);
	pair_close(&p);
}

/* Receives datagrams after empty polls; every hundredth has the bits `ecn`. Returns whether b's
 * socket is quiet. */
static bool quiet_after(size_t bytes, uint8_t ecn, uint32_t count)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	struct datagram_arrival arrival;
	struct udp_address to_a;

	link_address(p.a, &to_a);
	for (uint32_t i = 0; i < count; i++) {
		struct datagram d = datagram_of(&p.to_b, 1, 64, &to_a, 0);
		d.slices[0] = (struct datagram_slice){quiet_payload, bytes - 64};
		d.slice_count = 1;
		d.ecn = i % 100 == 0 ? ecn : 0;
		for (unsigned k = 0; k < 2 * LINK_OTHERS_EVERY; k++)
			assert_int_equal(link_receive(p.b, &arrival, 1), 0);
		send_all(p.a, &d, 1);
		assert_int_equal(receive_some(p.b, &arrival, 1), 1);
		assert_int_equal(arrival.bytes, bytes);
		if (arrival.stamped)
			assert_int_equal(arrival.ecn, d.ecn);
	}
	bool result = quiet(p.b, &to_a);
	pair_close(&p);
	return result;
}

static void quiet__not_with_marks_nor_long_datagrams(void **state)
{
	const uint32_t count = LINK_BUSY_VOTES + LINK_ALONE_MAX + 10;

	assert_true(quiet_after(64, 0, count));
	/* ECN bits 2: ECN-capable, no congestion. */
	assert_true(quiet_after(64, 2, count));
	assert_false(quiet_after(64, 3, count));
	assert_true(quiet_after(LINK_SHORT_BYTES, 0, count));
	assert_false(quiet_after(LINK_SHORT_BYTES + 1, 0, count));
}

static void quiet__ends_now_and_then(void **state)
{
	assert_false(quiet_after(64, 0, LINK_BUSY_VOTES + LINK_ALONE_MAX + LINK_QUIET_LOOKS + 10));
}

/* Datagrams to a connected peer arrive with their ECN bits, in any order of bits. */
static void ecn__is_carried_by_connected_sockets(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	struct datagram_arrival arrival;

	ping_pong(p.a, p.b, 2 * LINK_BUSY_VOTES);
	assert_true(busy_socket(p.a, &p.to_b) > 0);
	for (uint32_t i = 0; i < 400; i++) {
		struct datagram d = datagram_of(&p.to_b, 1, 64, NULL, 0);
		d.ecn = i < 100 ? 2 : i < 200 ? 0 : i < 300 ? i % 4 : 1;
		send_all(p.a, &d, 1);
		assert_int_equal(receive_some(p.b, &arrival, 1), 1);
		assert_int_equal(arrival.ecn, d.ecn);
	}
	assert_int_equal(p.a->sockets[busy_socket(p.a, &p.to_b)].ecn, 1);
	pair_close(&p);
}

static void quiet__ends_before_a_sleep(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	struct udp_address to_a;

	link_address(p.a, &to_a);
	waiting_ping_pong(p.a, p.b, LINK_BUSY_VOTES + LINK_ALONE_MAX + 10);
	assert_true(quiet(p.b, &to_a));
	assert_false(link_wait(p.b, clock_now_ns() + MS_NS));
	assert_false(quiet(p.b, &to_a));
	assert_true(pass(p.a, p.b, 1).stamped);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(busy__both_ends_connect),
		cmocka_unit_test(busy__unconnected_stays_so),
		cmocka_unit_test(busy__does_without),
		cmocka_unit_test(busy__ipv4_peer_of_an_ipv6_socket),
		cmocka_unit_test(busy__port_stays_in_use),
		cmocka_unit_test(busy__silent_peers_make_space),
		cmocka_unit_test(busy__peer_restarts),
		cmocka_unit_test(quiet__single_datagrams_lead_to_it_and_batches_out),
		cmocka_unit_test(quiet__not_with_marks_nor_long_datagrams),
		cmocka_unit_test(quiet__ends_now_and_then),
		cmocka_unit_test(ecn__is_carried_by_connected_sockets),
		cmocka_unit_test(quiet__ends_before_a_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
