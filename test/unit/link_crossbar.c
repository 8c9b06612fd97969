/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the crossbar: datagrams between ports stay unchanged and in order, others leave by the
 * socket, a full queue drops, and sockets do not starve. */
#include "test/unit/link_pair.h"

#include "link/crossbar.h"

#define MANY 64

static struct crossbar *crossbar;
static uint8_t payload[9000];

static int setup(void **state)
{
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 31 + i / 251);
	return crossbar_create(&crossbar);
}

static int teardown(void **state)
{
	crossbar_destroy(crossbar);
	return 0;
}

static struct link_pair ports_open(void)
{
	return pair_open("127.0.0.1", (struct link_options){.crossbar = crossbar});
}

static void assert_kernel_unused(const struct link *l)
{
	assert_int_equal(counters_of(l).send_calls, 0);
	assert_int_equal(counters_of(l).crossed_datagrams, counters_of(l).sent_datagrams);
}

static void crossbar__carries_all_sizes(void **state)
{
	static const size_t sizes[] = {0, 1, 63, 64, 65, 1408, 8896, 2};
	struct link_pair p = ports_open();
	struct datagram_arrival a[3];
	struct udp_address from;
	uint64_t bytes = 0;

	link_address(p.a, &from);
	/* the queue wraps several times */
	for (uint32_t round = 0; round < 3000; round++) {
		struct datagram d[ARRAY_COUNT(sizes)];
		for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
			d[i] = datagram_of(&p.to_b, (uint8_t)i, 7, payload + i, sizes[i]);
			d[i].ecn = i % 3;
			bytes += 7 + sizes[i];
		}
		assert_int_equal(link_send(p.a, d, ARRAY_COUNT(sizes)), ARRAY_COUNT(sizes));
		assert_true(link_pending(p.b));
		for (size_t i = 0; i < ARRAY_COUNT(sizes);) {
			size_t got = link_receive(p.b, a, ARRAY_COUNT(a));
			assert_true(got > 0);
			for (size_t k = 0; k < got; k++, i++) {
				assert_int_equal(a[k].bytes, 7 + sizes[i]);
				assert_int_equal(a[k].data[6], i);
				assert_memory_equal(a[k].data + 7, payload + i, sizes[i]);
				assert_int_equal(a[k].ecn, i % 3);
				assert_true(address_equal(&a[k].from, &from));
				assert_true(a[k].arrived_ns <= clock_now_ns());
			}
		}
		assert_false(link_pending(p.b));
	}
	assert_kernel_unused(p.a);
	assert_true(counters_of(p.b).received_bytes == bytes);
	pair_close(&p);
}

/* The queue is never empty, so records wrap at its end. */
static void crossbar__wraps(void **state)
{
	struct link_pair p = ports_open();
	struct datagram_arrival a[1];
	uint32_t sent = 0, received = 0;

	while (received < 20000) {
		while (sent < received + 40) {
			struct datagram d =
				datagram_of(&p.to_b, 0, 4, payload, sent * 37 % sizeof(payload));
			memcpy(d.header, &sent, 4);
			assert_int_equal(link_send(p.a, &d, 1), 1);
			sent++;
		}
		assert_int_equal(link_receive(p.b, a, 1), 1);
		assert_memory_equal(a->data, &received, 4);
		assert_int_equal(a->bytes, 4 + received * 37 % sizeof(payload));
		assert_memory_equal(a->data + 4, payload, a->bytes - 4);
		received++;
	}
	assert_int_equal(counters_of(p.b).receive_drops, 0);
	pair_close(&p);
}

/* A full queue drops new datagrams, never one that the receiver uses. */
static void crossbar__full_queue_drops(void **state)
{
	struct link_pair p = ports_open();
	struct datagram d = datagram_of(&p.to_b, 1, 4, payload, sizeof(payload));
	struct datagram_arrival a[DATAGRAM_BATCH];
	uint64_t sent = 1, received = 1;

	assert_int_equal(link_send(p.a, &d, 1), 1);
	assert_int_equal(link_receive(p.b, a, 1), 1);
	memset(d.header, 2, 4);
	while (counters_of(p.b).receive_drops < 10) {
		assert_int_equal(link_send(p.a, &d, 1), 1);
		sent++;
	}
	/* in 1/31: full, except for less than a datagram */
	assert_in_range(link_receive_level(p.b), 25, 31);
	assert_int_equal(a->data[0], 1);
	assert_memory_equal(a->data + 4, payload, sizeof(payload));
	for (size_t got; (got = link_receive(p.b, a, DATAGRAM_BATCH)) > 0;)
		received += got;
	assert_int_equal(received + 10, sent);
	assert_int_equal(link_receive_level(p.b), 0);
	assert_int_equal(link_send(p.a, &d, 1), 1);
	assert_int_equal(link_receive(p.b, a, DATAGRAM_BATCH), 1);
	pair_close(&p);
}

/* Datagrams of one list go to a port and to another address. Those to no port, or to a closed one,
 * leave by the socket. */
static void crossbar__others_leave_by_the_socket(void **state)
{
	struct link_pair p = ports_open();
	struct link *other_link = open_at("127.0.0.1", (struct link_options){0});
	struct datagram_arrival a[MANY];
	struct datagram d[MANY];
	struct udp_address out;
	uint8_t next[2] = {0, 1};

	link_address(other_link, &out);
	for (uint8_t i = 0; i < MANY; i++)
		d[i] = datagram_of(i % 2 ? &out : &p.to_b, i, 4, payload, 10);
	send_all(p.a, d, MANY);
	assert_int_equal(counters_of(p.a).crossed_datagrams, MANY / 2);
	for (int which = 0; which < 2; which++)
		while (next[which] < MANY) {
			size_t got = receive_some(which ? other_link : p.b, a, MANY);
			assert_true(got > 0);
			for (size_t k = 0; k < got; k++, next[which] += 2)
				assert_int_equal(a[k].data[0], next[which]);
		}
	link_close(p.b);
	send_all(p.a, d, 1);
	assert_int_equal(counters_of(p.a).crossed_datagrams, MANY / 2);
	link_close(p.a);
	link_close(other_link);
}

/* The port's queue is never empty. */
static void crossbar__sockets_do_not_starve(void **state)
{
	struct link_pair p = ports_open();
	struct link *other_link = open_at("127.0.0.1", (struct link_options){0});
	struct datagram crossing = datagram_of(&p.to_b, 1, 4, payload, 10),
			by_socket = datagram_of(&p.to_b, 2, 4, payload, 10);
	struct datagram_arrival a[1];
	uint64_t give_up = clock_now_ns() + PATIENCE_NS;

	send_all(other_link, &by_socket, 1);
	do {
		assert_int_equal(link_send(p.a, &crossing, 1), 1);
		assert_int_equal(link_receive(p.b, a, 1), 1);
		assert_true(clock_now_ns() < give_up);
	} while (a->data[0] != 2);
	assert_true(link_pending(p.b));
	pair_close(&p);
	link_close(other_link);
}

static void crossbar__follows_a_moved_port(void **state)
{
	struct link_pair p = ports_open();
	struct datagram_arrival a[1];

	struct udp_address other = address_of("127.0.0.2");
	assert_int_equal(link_move(p.b, &other), DXP_OK);
	link_address(p.b, &other);
	struct datagram d = datagram_of(&other, 5, 4, payload, 10);
	assert_int_equal(link_send(p.a, &d, 1), 1);
	assert_int_equal(link_receive(p.b, a, 1), 1);
	assert_kernel_unused(p.a);
	pair_close(&p);
}

static void crossbar__bounds_its_ports(void **state)
{
	struct link *links[LINK_CROSSBAR_PORTS], *more = NULL;
	struct link_options o = {.crossbar = crossbar, .bind = address_of("127.0.0.1")};

	for (size_t i = 0; i < LINK_CROSSBAR_PORTS; i++)
		assert_int_equal(link_open(&o, &links[i]), DXP_OK);
	assert_int_equal(link_open(&o, &more), DXP_EBUSY);
	link_close(links[3]);
	assert_int_equal(link_open(&o, &links[3]), DXP_OK);
	for (size_t i = 0; i < LINK_CROSSBAR_PORTS; i++)
		link_close(links[i]);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(crossbar__carries_all_sizes),     CASE(crossbar__wraps),
		CASE(crossbar__full_queue_drops),      CASE(crossbar__others_leave_by_the_socket),
		CASE(crossbar__sockets_do_not_starve), CASE(crossbar__follows_a_moved_port),
		CASE(crossbar__bounds_its_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
