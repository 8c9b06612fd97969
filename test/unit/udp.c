/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests links from outside: opening, errors, and datagrams of every size on loopback. */
#include <errno.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "test/unit/link_pair.h"

#define SIZES_MAX 64

static uint8_t payload[DATAGRAM_BYTES_MAX];

static int payload_fill(void **state)
{
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 31 + i / 251);
	return 0;
}

/* Up to 4 bytes of `index`, then two slices. */
static struct datagram numbered(const struct udp_address *to, uint32_t index, size_t bytes)
{
	size_t header_bytes = min_u64(bytes, 4), rest = bytes - header_bytes, half = rest / 3;
	struct datagram d = datagram_of(to, 0, header_bytes, payload, half);

	memcpy(d.header, &index, header_bytes);
	if (rest > 0) {
		d.slices[0] = (struct datagram_slice){payload, half};
		d.slices[1] = (struct datagram_slice){payload + half, rest - half};
		d.slice_count = 2;
	}
	return d;
}

static void assert_numbered(const struct datagram_arrival *a, uint32_t index, size_t bytes)
{
	assert_int_equal(a->bytes, bytes);
	if (bytes >= 4) {
		assert_memory_equal(a->data, &index, 4);
		assert_memory_equal(a->data + 4, payload, bytes - 4);
	}
}

/* Checks order, bytes, sender and stamp of each arrival. */
static void exchange(struct link_pair *p, const size_t *sizes, size_t count, size_t rounds)
{
	struct datagram d[SIZES_MAX];
	struct datagram_arrival arrivals[7]; /* odd, so that reads split batches */
	struct udp_address from;

	link_address(p->a, &from);
	for (uint32_t r = 0; r < rounds; r++) {
		uint64_t before = clock_now_ns();
		for (uint32_t i = 0; i < count; i++)
			d[i] = numbered(&p->to_b, r * (uint32_t)count + i, sizes[i]);
		send_all(p->a, d, count);
		for (uint32_t i = 0; i < count;) {
			size_t got = receive_some(p->b, arrivals, ARRAY_COUNT(arrivals));
			assert_true(got > 0);
			for (size_t k = 0; k < got; k++, i++) {
				assert_true(i < count);
				assert_numbered(&arrivals[k], r * (uint32_t)count + i, sizes[i]);
				assert_true(address_equal(&arrivals[k].from, &from));
				/* the wall clock may be adjusted in between */
				assert_in_range(arrivals[k].arrived_ns, before - 100 * US_NS,
						clock_now_ns());
			}
		}
	}
}

/* Usually 65536, but an administrator can change it. */
static size_t loopback_mtu(void)
{
	struct ifreq lo = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(ioctl(fd, SIOCGIFMTU, &lo), 0);
	close(fd);
	return (size_t)lo.ifr_mtu;
}

/* The interface would fragment a batch of these neighbours, so the kernel rejects it and the link
 * sends it without GSO. */
static bool batch_too_wide(const size_t *sizes, size_t count)
{
	/* beside IPv6 and UDP headers, the longest */
	const size_t widest = loopback_mtu() - 48;

	for (size_t i = 1; i < count; i++)
		if (sizes[i - 1] > widest && sizes[i] <= sizes[i - 1] &&
		    sizes[i - 1] + sizes[i] <= 65507)
			return true;
	return false;
}

static void exchange_counted(const char *at, struct link_options options, const size_t *sizes,
			     size_t count)
{
	struct link_pair p = pair_open(at, options);
	size_t rounds = 5, bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += sizes[i] * rounds;
	exchange(&p, sizes, count, rounds);
	struct link_counters sent = counters_of(p.a), received = counters_of(p.b);
	assert_int_equal(sent.sent_datagrams, count * rounds);
	assert_int_equal(received.received_datagrams, count * rounds);
	assert_int_equal(sent.sent_bytes, bytes);
	assert_int_equal(received.received_bytes, bytes);
	assert_true(received.receive_calls > 0);
	assert_int_equal(sent.send_errors + received.receive_drops, 0);
	if (batch_too_wide(sizes, count))
		assert_in_range(sent.gso_fallbacks, 0, 1);
	else
		assert_int_equal(sent.gso_fallbacks, 0);
	pair_close(&p);
}

static const size_t mixed[] = {0,    1,     3,    4,    5,     64,    64,   64,   64,
			       1408, 1472,  1472, 1472, 1000,  1472,  8896, 8960, 8960,
			       8960, 20000, 64,   64,   65507, 65507, 1};

static void link_send__carries_all_sizes(void **state)
{
	exchange_counted("127.0.0.1", (struct link_options){0}, mixed, ARRAY_COUNT(mixed));
}

static void link_send__carries_all_sizes_without_gso(void **state)
{
	exchange_counted("127.0.0.1", (struct link_options){.no_gso = true}, mixed,
			 ARRAY_COUNT(mixed));
}

static void link_send__carries_all_sizes_without_gro(void **state)
{
	exchange_counted("127.0.0.1", (struct link_options){.no_gro = true}, mixed,
			 ARRAY_COUNT(mixed));
	exchange_counted("127.0.0.1", (struct link_options){.no_gso = true, .no_gro = true}, mixed,
			 ARRAY_COUNT(mixed));
}

static void need_ipv6(void)
{
	union link_sockaddr name;
	struct udp_address self = address_of("[::1]");
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);
	bool there =
		fd >= 0 && bind(fd, &name.any, sockaddr_from_wire(&self, AF_INET6, &name)) == 0;

	if (fd >= 0)
		close(fd);
	if (!there) {
		print_message("skipped: no IPv6 loopback on this machine\n");
		skip();
	}
}

static void link_send__carries_all_sizes_over_ipv6(void **state)
{
	need_ipv6();
	exchange_counted("[::1]", (struct link_options){0}, mixed, ARRAY_COUNT(mixed));
}

static void link_open__binds_both_families(void **state)
{
	struct datagram_arrival arrival;

	need_ipv6();
	struct link *both = open_at("[::]", (struct link_options){0});
	struct link *v4 = open_at("127.0.0.1", (struct link_options){0});
	struct udp_address to, v4_address;
	link_address(both, &to);
	link_address(v4, &v4_address);
	assert_int_not_equal(to.port, 0);
	memcpy(to.ip, v4_address.ip, sizeof(to.ip));
	struct datagram d = numbered(&to, 1, 100);
	d.ecn = 2;
	send_all(v4, &d, 1);
	assert_int_equal(receive_some(both, &arrival, 1), 1);
	/* v4-mapped */
	assert_true(address_equal(&arrival.from, &v4_address));
	assert_int_equal(arrival.ecn, 2);
	/* back from IPv6 to an IPv4 peer, as a batch with ECN bits */
	struct datagram back[3];
	for (uint32_t i = 0; i < 3; i++) {
		back[i] = numbered(&v4_address, i, 50);
		back[i].ecn = 1;
	}
	send_all(both, back, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(receive_some(v4, &arrival, 1), 1);
		assert_numbered(&arrival, i, 50);
		assert_int_equal(arrival.ecn, 1);
	}
	link_close(both);
	link_close(v4);
}

static void link_send__carries_ecn(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	struct datagram_arrival arrival;
	struct datagram d[4];

	for (uint32_t i = 0; i < 4; i++) {
		d[i] = numbered(&p.to_b, i, 100);
		d[i].ecn = (uint8_t)i;
	}
	send_all(p.a, d, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(receive_some(p.b, &arrival, 1), 1);
		assert_int_equal(arrival.ecn, i);
	}
	pair_close(&p);
}

static void link_open__names_a_busy_port(void **state)
{
	struct link *first = open_at("127.0.0.1", (struct link_options){0}), *second = NULL;
	struct link_options options = {0};
	struct stderr_capture capture;
	char text[512], address[UDP_ADDRESS_TEXT_BYTES];

	link_address(first, &options.bind);
	stderr_capture_begin(&capture);
	int status = link_open(&options, &second);
	stderr_capture_end(&capture, text, sizeof(text));
	assert_int_equal(status, DXP_EBUSY);
	assert_null(second);
	assert_non_null(strstr(text, address_format(&options.bind, address)));
	assert_non_null(strstr(text, "choose another port"));
	link_close(first);
	/* the port is free again */
	assert_int_equal(link_open(&options, &second), DXP_OK);
	link_close(second);
}

static void link_open__names_a_foreign_address(void **state)
{
	struct link_options options = {.bind = address_of("203.0.113.7")};
	struct link *l = NULL;
	struct stderr_capture capture;
	char text[512];

	stderr_capture_begin(&capture);
	int status = link_open(&options, &l);
	stderr_capture_end(&capture, text, sizeof(text));
	assert_int_equal(status, DXP_EIO);
	assert_non_null(strstr(text, "203.0.113.7"));
	assert_non_null(strstr(text, "ip address"));
}

static void link_open__leaks_no_descriptor(void **state)
{
	struct link *l = open_at("127.0.0.1", (struct link_options){0}), *none = NULL;
	struct link_options options = {0};
	int before = dup(0), after;

	close(before);
	link_address(l, &options.bind);
	log_level_set(LOG_LEVEL_ERROR);
	assert_int_equal(link_open(&options, &none), DXP_EBUSY);
	link_close(open_at("127.0.0.1", (struct link_options){0}));
	after = dup(0);
	close(after);
	assert_int_equal(before, after);
	link_close(l);
}

static void link_receive_buffer__is_what_was_requested(void **state)
{
	struct link *l = open_at("127.0.0.1", (struct link_options){.buffer_bytes = 65536});

	/* the kernel doubles the size */
	assert_int_equal(link_receive_buffer(l), 2 * 65536);
	link_close(l);
}

/* The level rises while the buffer fills until a drop, and falls while it empties; also for a
 * connected socket. */
static void link_receive_level__follows_the_buffer(void **state)
{
	struct link_pair p = pair_open(
		"127.0.0.1", (struct link_options){.buffer_bytes = 65536, .no_gso = true});
	struct datagram_arrival arrival;
	struct datagram d = numbered(&p.to_b, 0, 1400);

	for (int connected = 0; connected < 2; connected++) {
		unsigned level = 0;
		assert_int_equal(link_receive_level(p.b), 0);
		for (int i = 0; i < 200; i++) {
			send_all(p.a, &d, 1);
			assert_true(link_receive_level(p.b) >= level);
			level = link_receive_level(p.b);
		}
		assert_true(level >= 25);
		while (link_wait(p.b, 0))
			link_receive(p.b, &arrival, 1);
		for (int i = 0; i < 2 * LINK_BUSY_VOTES; i++) {
			send_all(p.a, &d, 1);
			assert_int_equal(receive_some(p.b, &arrival, 1), 1);
		}
	}
	link_address(p.a, &d.to);
	assert_true(busy_socket(p.b, &d.to) > 0);
	pair_close(&p);
}

static void link_path_payload__knows_loopback(void **state)
{
	struct link *l = open_at("127.0.0.1", (struct link_options){0});
	struct udp_address v4 = address_of("127.0.0.1:9"), v6 = address_of("[::1]:9");

	/* at most 65507 over IPv4 */
	assert_int_equal(link_path_payload(l, &v4), min_u64(loopback_mtu() - 28, 65507));
	/* unreachable from this socket: the default */
	assert_int_equal(link_path_payload(l, &v6), 1472);
	link_close(l);
	need_ipv6();
	l = open_at("[::1]", (struct link_options){0});
	assert_int_equal(link_path_payload(l, &v6), min_u64(loopback_mtu(), 65536) - 48);
	link_close(l);
}

static void link_counters__see_what_the_kernel_drops(void **state)
{
	/* without GSO, as a dropped batch would count once */
	struct link_pair p =
		pair_open("127.0.0.1", (struct link_options){.buffer_bytes = 8192, .no_gso = true});
	struct datagram_arrival arrivals[64];
	struct datagram d[64];
	size_t received = 0;

	for (uint32_t i = 0; i < 64; i++)
		d[i] = numbered(&p.to_b, i, 1400);
	send_all(p.a, d, 64);
	for (size_t got; (got = link_receive(p.b, arrivals, 64)) > 0;)
		received += got;
	/* an arrival reports earlier drops */
	send_all(p.a, d, 1);
	assert_int_equal(receive_some(p.b, arrivals, 1), 1);
	assert_true(received < 64);
	assert_int_equal(counters_of(p.b).receive_drops, 64 - received);
	pair_close(&p);
}

static void link_move__uses_the_other_address(void **state)
{
	struct link_options o = {0};
	struct udp_address other, now, before;
	struct datagram_arrival a;
	struct link *here, *there;

	address_parse("127.0.0.1", 0, &o.bind);
	assert_int_equal(link_open(&o, &here), DXP_OK);
	assert_int_equal(link_open(&o, &there), DXP_OK);
	int fd = link_fd(here);
	link_address(here, &before);
	address_parse("127.0.0.2", 0, &other);
	assert_int_equal(link_move(here, &other), DXP_OK);
	link_address(here, &now);
	assert_int_equal(now.port, before.port);
	assert_memory_equal(now.ip, other.ip, sizeof(now.ip));
	assert_int_equal(link_fd(here), fd);
	struct datagram d = {.to = now, .header_bytes = 3, .header = "abc"};
	assert_int_equal(link_send(there, &d, 1), 1);
	while (link_receive(here, &a, 1) == 0)
		link_wait(here, clock_now_ns() + S_NS);
	assert_int_equal(a.bytes, 3);
	/* port in use; another host's address */
	struct link *holder;
	o.bind = before;
	assert_int_equal(link_open(&o, &holder), DXP_OK);
	address_parse("127.0.0.1", 0, &other);
	assert_int_equal(link_move(here, &other), DXP_OK);
	link_address(here, &now);
	assert_int_not_equal(now.port, before.port);
	address_parse("192.0.2.1", 0, &other);
	assert_int_equal(link_move(here, &other), DXP_EIO);
	link_address(here, &before);
	assert_true(address_equal(&now, &before));
	link_close(holder);
	link_close(here);
	link_close(there);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(link_send__carries_all_sizes),
		cmocka_unit_test(link_send__carries_all_sizes_without_gso),
		cmocka_unit_test(link_send__carries_all_sizes_without_gro),
		cmocka_unit_test(link_send__carries_all_sizes_over_ipv6),
		cmocka_unit_test(link_open__binds_both_families),
		cmocka_unit_test(link_send__carries_ecn),
		cmocka_unit_test(link_open__names_a_busy_port),
		cmocka_unit_test(link_open__names_a_foreign_address),
		cmocka_unit_test(link_open__leaks_no_descriptor),
		cmocka_unit_test(link_receive_buffer__is_what_was_requested),
		cmocka_unit_test(link_receive_level__follows_the_buffer),
		cmocka_unit_test(link_path_payload__knows_loopback),
		cmocka_unit_test(link_counters__see_what_the_kernel_drops),
		cmocka_unit_test(link_move__uses_the_other_address),
	};
	return cmocka_run_group_tests(tests, payload_fill, NULL);
}
