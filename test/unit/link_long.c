/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests long frames on loopback: each arrives in one piece, between other datagrams too, and on a
 * quiet socket (link/receive.h). */
#include "base/bytes.h"
#include "base/clock.h"
#include "test/unit/link_pair.h"
#include "wire/frame.h"

#define SEGMENT   1472
#define SHORT     64
#define LONG_MOST (WIRE_DATA_BYTES + WIRE_LONG_PAYLOAD_MAX)

static const struct link_options framed = {.frame_bytes = wire_frame_bytes};
static uint8_t payload[DATAGRAM_BYTES_MAX];

static int payload_fill(void **state)
{
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 31 + i / 251);
	return 0;
}

/* A frame of `bytes` whose header states `stated`; a long one if they exceed a segment. */
static struct datagram frame_of(const struct udp_address *to, uint32_t number, size_t bytes,
				size_t stated)
{
	struct datagram d =
		datagram_of(to, 0, WIRE_COMMON_BYTES, payload, bytes - WIRE_COMMON_BYTES);

	d.header[WIRE_OFF_VERSION_HEADER] = WIRE_VERSION << 4 | WIRE_COMMON_BYTES / 8;
	put_be32(d.header + WIRE_OFF_PSN, number);
	put_be16(d.header + WIRE_OFF_LEN, (uint16_t)(stated - WIRE_COMMON_BYTES));
	d.segment_bytes = bytes > SEGMENT ? SEGMENT : 0;
	return d;
}

static void expect(const struct datagram_arrival *a, uint32_t number, size_t bytes)
{
	assert_int_equal(a->bytes, bytes);
	assert_int_equal(get_be32(a->data + WIRE_OFF_PSN), number);
	assert_memory_equal(a->data + WIRE_COMMON_BYTES, payload, bytes - WIRE_COMMON_BYTES);
}

/* Sends frames of these lengths in one call; each must arrive once, in order. */
static void exchange(struct link *from, struct link *to, const size_t *lengths, size_t count)
{
	struct datagram d[64];
	struct datagram_arrival arrivals[5];
	struct udp_address target;

	link_address(to, &target);
	for (size_t i = 0; i < count; i++)
		d[i] = frame_of(&target, (uint32_t)i, lengths[i], lengths[i]);
	send_all(from, d, count);
	for (size_t i = 0; i < count;) {
		size_t got = receive_some(to, arrivals, ARRAY_COUNT(arrivals));
		assert_true(got > 0);
		for (size_t k = 0; k < got; k++, i++)
			expect(&arrivals[k], (uint32_t)i, lengths[i]);
	}
}

static void long__arrives_in_one_piece(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", framed);
	const struct link_counters before = counters_of(p.a);

	assert_true(link_splits(p.a) && link_joins(p.b));
	for (size_t bytes = SEGMENT + 1; bytes <= LONG_MOST; bytes += 977)
		exchange(p.a, p.b, &bytes, 1);
	const size_t edges[] = {2 * SEGMENT, 2 * SEGMENT + 1, 44 * SEGMENT, LONG_MOST};
	for (size_t i = 0; i < ARRAY_COUNT(edges); i++)
		exchange(p.a, p.b, &edges[i], 1);
	assert_int_equal(counters_of(p.a).send_errors - before.send_errors, 0);
	pair_close(&p);
}

static void long__among_others(void **state)
{
	const size_t lengths[] = {SHORT, LONG_MOST, LONG_MOST, SEGMENT, SEGMENT,
				  700,   LONG_MOST, SHORT,     SHORT,   SHORT,
				  30000, 30000,     SEGMENT,   30000,   SHORT};
	struct link_pair p = pair_open("127.0.0.1", framed);

	for (int round = 0; round < 20; round++)
		exchange(p.a, p.b, lengths, ARRAY_COUNT(lengths));
	pair_close(&p);
}

static bool any_quiet(const struct link *l)
{
	for (unsigned i = 0; i < ARRAY_COUNT(l->sockets); i++)
		if (l->sockets[i].fd >= 0 && l->sockets[i].quiet)
			return true;
	return false;
}

/* A quiet socket reports no GRO lengths; headers of frames show where datagrams begin. */
static void long__to_a_quiet_socket(void **state)
{
	const size_t one[] = {SHORT}, batches[][4] = {{LONG_MOST, SHORT, SHORT, SHORT},
						      {SEGMENT, SEGMENT, SEGMENT, 700},
						      {SHORT, SHORT, SHORT, 40},
						      {SHORT, LONG_MOST, SEGMENT, SEGMENT}};
	struct link_pair p = pair_open("127.0.0.1", framed);

	for (size_t i = 0; i < ARRAY_COUNT(batches); i++) {
		for (uint32_t k = 0; !any_quiet(p.b); k++) {
			assert_true(k < 8 * (LINK_ALONE_MAX + LINK_QUIET_LOOKS));
			/* after an empty poll, so that this is no stream */
			struct datagram_arrival none;
			assert_int_equal(link_receive(p.b, &none, 1), 0);
			exchange(p.a, p.b, one, 1);
			exchange(p.b, p.a, one, 1);
		}
		exchange(p.a, p.b, batches[i], ARRAY_COUNT(batches[i]));
	}
	pair_close(&p);
}

/* The other segments of a part could look like frames, so none of them becomes an arrival. */
static void long__part_is_one_arrival(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", framed);
	struct datagram d[] = {frame_of(&p.to_b, 1, 10 * SEGMENT, 12 * SEGMENT),
			       frame_of(&p.to_b, 2, SHORT, SHORT)};
	struct datagram_arrival a;

	send_all(p.a, d, ARRAY_COUNT(d));
	assert_int_equal(receive_some(p.b, &a, 1), 1);
	expect(&a, 1, 10 * SEGMENT);
	assert_int_equal(receive_some(p.b, &a, 1), 1);
	expect(&a, 2, SHORT);
	pair_close(&p);
}

/* Without the option, nothing is interpreted. */
static void long__not_without_the_option(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	struct datagram d = frame_of(&p.to_b, 1, 2 * SEGMENT, 2 * SEGMENT);
	struct datagram_arrival a;

	assert_false(link_joins(p.b));
	send_all(p.a, &d, 1);
	assert_int_equal(receive_some(p.b, &a, 1), 1);
	assert_int_equal(a.bytes, SEGMENT);
	assert_int_equal(receive_some(p.b, &a, 1), 1);
	assert_int_equal(a.bytes, SEGMENT);
	pair_close(&p);
}

static void long__need_the_kernel(void **state)
{
	struct link_options o = framed;

	o.no_gso = o.no_gro = true;
	struct link *l = open_at("127.0.0.1", o);
	assert_false(link_splits(l) || link_joins(l));
	link_close(l);
}

/* A path into a veth interface is tested with two network namespaces (net/protect). */
static void path__virtual(void **state)
{
	static const char *const others[] = {"127.0.0.1", "[::1]", "203.0.113.9", "[2001:db8::9]",
					     "0.0.0.0"};

	for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
		struct udp_address to = address_of(others[i]);
		/* the test may run in a container, whose default route is a veth interface */
		bool loopback = i < 2;
		assert_true(!link_path_virtual(&to) || !loopback);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long__arrives_in_one_piece),
		cmocka_unit_test(long__among_others),
		cmocka_unit_test(long__to_a_quiet_socket),
		cmocka_unit_test(long__part_is_one_arrival),
		cmocka_unit_test(long__not_without_the_option),
		cmocka_unit_test(long__need_the_kernel),
		cmocka_unit_test(path__virtual),
	};

	return cmocka_run_group_tests_name("long frames", tests, payload_fill, NULL);
}
