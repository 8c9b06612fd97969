/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests batches that the kernel accepts, rejects, or rejects in each datagram. */
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "test/unit/link_pair.h"

#define SKIPPED 77

static const uint8_t payload[4000];

/* false: another datagram arrives. */
static bool receive_numbered(struct link *l, uint32_t count, size_t bytes)
{
	struct datagram_arrival arrivals[16];

	for (uint32_t i = 0; i < count;) {
		size_t got = receive_some(l, arrivals, ARRAY_COUNT(arrivals));
		if (got == 0)
			return false;
		for (size_t k = 0; k < got; k++, i++)
			if (i >= count || arrivals[k].bytes != bytes ||
			    memcmp(arrivals[k].data, &i, sizeof(i)) != 0)
				return false;
	}
	return true;
}

static void numbers_make(struct datagram *d, uint32_t count, const struct udp_address *to,
			 size_t bytes)
{
	for (uint32_t i = 0; i < count; i++) {
		d[i] = datagram_of(to, 0, 4, payload, bytes - 4);
		memcpy(d[i].header, &i, 4);
	}
}

static void need_gso(const struct link *l)
{
	if (l->limits.segments == 1) {
		print_message("skipped: this kernel has no UDP segmentation offload\n");
		skip();
	}
}

static void link_send__uses_batches(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	struct datagram d[256];

	need_gso(p.a);
	assert_in_range(p.a->limits.segments, 64, LINK_SEGMENTS_PROBE);
	numbers_make(d, 256, &p.to_b, 64);
	assert_int_equal(link_send(p.a, d, 256), 256);
	assert_int_equal(counters_of(p.a).send_calls, 1);
	assert_true(receive_numbered(p.b, 256, 64));
	assert_true(counters_of(p.b).receive_calls < 20);
	pair_close(&p);
}

static void link_send__gives_gso_up_when_the_kernel_rejects(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	struct datagram d[700];

	need_gso(p.a);
	/* A batch longer than any kernel accepts gives EINVAL, as a broken GSO does. */
	p.a->limits.segments = 600;
	numbers_make(d, 700, &p.to_b, 5);
	send_all(p.a, d, 700);
	assert_true(receive_numbered(p.b, 700, 5));
	struct link_counters c = counters_of(p.a);
	assert_int_equal(c.gso_fallbacks, 1);
	assert_int_equal(c.send_errors, 0);
	assert_int_equal(p.a->limits.segments, 1);
	pair_close(&p);
}

static void link_send__blames_the_peer_not_gso(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	struct udp_address nowhere = p.to_b;
	unsigned segments = p.a->limits.segments;
	struct datagram d[12];

	/* The kernel rejects port 0, in a batch and alone; later datagrams are sent. */
	nowhere.port = 0;
	numbers_make(d, 12, &p.to_b, 50);
	for (uint32_t i = 0; i < 8; i++)
		d[i].to = nowhere;
	for (uint32_t i = 0; i < 4; i++)
		memcpy(d[8 + i].header, &i, 4);
	assert_int_equal(link_send(p.a, d, 12), 12);
	assert_true(receive_numbered(p.b, 4, 50));
	struct link_counters c = counters_of(p.a);
	assert_int_equal(c.send_errors, 8);
	assert_int_equal(c.sent_datagrams, 4);
	assert_int_equal(c.gso_fallbacks, 0);
	assert_int_equal(p.a->limits.segments, segments);
	pair_close(&p);
}

static void link_send__survives_what_cannot_be_sent(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	static const uint8_t big[DATAGRAM_BYTES_MAX];
	struct datagram d[3];

	numbers_make(d, 3, &p.to_b, 50);
	d[0] = datagram_of(&p.to_b, 0, 1, big, sizeof(big)); /* too long for UDP */
	d[1].to = address_of("[2001:db8::1]:9");             /* IPv6 from an IPv4 socket */
	assert_int_equal(link_send(p.a, d, 3), 3);
	assert_int_equal(counters_of(p.a).send_errors, 2);
	assert_int_equal(counters_of(p.a).sent_datagrams, 1);
	/* The first exceeds every limit and is reported once. */
	struct udp_address to;
	size_t bytes;
	assert_int_equal(counters_of(p.a).too_big, 1);
	assert_true(link_too_big(p.a, &to, &bytes));
	assert_true(address_equal(&to, &p.to_b));
	assert_int_equal(bytes, sizeof(big) + 1);
	assert_false(link_too_big(p.a, &to, &bytes));
	pair_close(&p);
}

static void link_send__keeps_going_without_a_listener(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	struct datagram d[4];
	struct datagram_arrival arrival;

	link_close(p.b);
	numbers_make(d, 4, &p.to_b, 50);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(link_send(p.a, d, 4), 4);
		assert_int_equal(link_receive(p.a, &arrival, 1), 0);
	}
	struct link_counters c = counters_of(p.a);
	assert_int_equal(c.sent_datagrams + c.send_errors, 40);
	link_close(p.a);
}

static bool loopback_configure(int mtu)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	struct ifreq size = {.ifr_name = "lo", .ifr_mtu = mtu};
	bool done = ioctl(fd, SIOCSIFMTU, &size) == 0 && ioctl(fd, SIOCSIFFLAGS, &up) == 0;

	close(fd);
	return done;
}

/* Runs in its own network namespace, where loopback has an MTU of 1500. Batches of 2000-byte
 * datagrams fail with EMSGSIZE, but IP fragments single ones. Returns 0, or the number of the
 * failed step. */
static int small_mtu(void)
{
	struct datagram d[8];

	if (unshare(CLONE_NEWNET) < 0)
		return SKIPPED;
	if (!loopback_configure(1500))
		return 1;
	struct link_pair p = pair_open("127.0.0.1", (struct link_options){0});
	if (p.a->limits.segments == 1)
		return SKIPPED;
	if (link_path_payload(p.a, &p.to_b) != 1472)
		return 2;
	numbers_make(d, 8, &p.to_b, 2000);
	if (link_send(p.a, d, 8) != 8 || !receive_numbered(p.b, 8, 2000))
		return 3;
	if (counters_of(p.a).gso_fallbacks != 1 || counters_of(p.a).send_errors != 0)
		return 4;
	struct udp_address to;
	size_t bytes;
	if (!link_too_big(p.a, &to, &bytes) || !address_equal(&to, &p.to_b) || bytes != 2000)
		return 7;
	/* Later datagrams of this length are sent singly from the start. Shorter ones still form a
	 * batch. */
	uint64_t calls = counters_of(p.a).send_calls;
	if (link_send(p.a, d, 8) != 8 || counters_of(p.a).send_calls != calls + 1 ||
	    !receive_numbered(p.b, 8, 2000))
		return 5;
	numbers_make(d, 8, &p.to_b, 1472);
	if (link_send(p.a, d, 8) != 8 || !receive_numbered(p.b, 8, 1472) ||
	    p.a->batch.message_count != 1 || counters_of(p.a).gso_fallbacks != 1)
		return 6;
	pair_close(&p);
	return 0;
}

/* Loopback is down: EPERM or ENETUNREACH. */
static int no_network(void)
{
	struct datagram d[8];

	if (unshare(CLONE_NEWNET) < 0)
		return SKIPPED;
	struct link *l = open_at("0.0.0.0", (struct link_options){0});
	struct udp_address to = address_of("192.0.2.1:9");
	numbers_make(d, 8, &to, 100);
	if (link_send(l, d, 8) != 8 || counters_of(l).send_errors != 8)
		return 1;
	if (link_path_payload(l, &to) != 1472)
		return 2;
	link_close(l);
	return 0;
}

/* Makes a new namespace and limits its loopback to 100 Mb/s, so that the socket's send buffer fills
 * up. */
static bool loopback_shape(void)
{
	return unshare(CLONE_NEWNET) == 0 && loopback_configure(1500) &&
	       system("tc qdisc add dev lo root tbf rate 100mbit burst 10k latency 1s 2>&1") == 0;
}

/* The send buffer is full. The link accepts fewer datagrams now and the others later. None is
 * lost. */
static int no_space_now(void)
{
	static struct datagram d[300];
	size_t accepted;

	if (!loopback_shape())
		return SKIPPED;
	struct link_pair p = pair_open(
		"127.0.0.1", (struct link_options){.buffer_bytes = 65536, .no_gso = true});
	numbers_make(d, 300, &p.to_b, 1400);
	accepted = link_send(p.a, d, 300);
	if (accepted == 0 || accepted == 300 || counters_of(p.a).send_again != 1)
		return 1;
	while (accepted < 300) {
		struct datagram_arrival arrivals[16];
		link_receive(p.b, arrivals, 16);
		accepted += link_send(p.a, d + accepted, 300 - accepted);
	}
	if (counters_of(p.a).send_errors != 0 || counters_of(p.a).sent_datagrams != 300)
		return 2;
	pair_close(&p);
	return 0;
}

/* The send buffer is full and fault injection is on. The injector decides once for each datagram,
 * and the kernel gets exactly the result. */
static int no_space_with_faults(void)
{
	static struct datagram d[300];
	size_t accepted = 0, received = 0;
	struct datagram_arrival arrivals[64];
	uint32_t next = 0;

	if (!loopback_shape())
		return SKIPPED;
	setenv("DXP_FAULT", "loss=10%,seed=3", 1);
	struct link *a =
		open_at("127.0.0.1", (struct link_options){.buffer_bytes = 65536, .no_gso = true});
	unsetenv("DXP_FAULT");
	struct link *b = open_at("127.0.0.1", (struct link_options){0});
	struct udp_address to;
	link_address(b, &to);
	numbers_make(d, 300, &to, 1400);
	uint64_t give_up = clock_now_ns() + PATIENCE_NS;
	while (clock_now_ns() < give_up && (accepted < 300 || fault_backlog(a->fault) ||
					    received < counters_of(a).sent_datagrams)) {
		accepted += link_send(a, d + accepted, 300 - accepted);
		link_wait(a, 0);
		size_t got = link_receive(b, arrivals, 64);
		for (size_t k = 0; k < got; k++, received++) {
			uint32_t number;
			memcpy(&number, arrivals[k].data, 4);
			if (number < next)
				return 1;
			next = number + 1;
		}
	}
	struct link_counters c = counters_of(a);
	if (accepted != 300 || c.send_again == 0 || c.faults == 0)
		return 2;
	if (received + c.faults != 300 || c.send_errors != 0)
		return 3;
	link_close(a);
	link_close(b);
	return 0;
}

/* The child's network namespace goes when it exits. */
static void in_child(int (*steps)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(steps());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED) {
		print_message("skipped: needs root for a network namespace, GSO and tc\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void link_send__cuts_batches_that_exceed_the_path(void **state)
{
	in_child(small_mtu);
}

static void link_send__goes_on_without_a_network(void **state)
{
	in_child(no_network);
}

static void link_send__accepts_fewer_when_the_kernel_is_full(void **state)
{
	in_child(no_space_now);
}

static void link_send__keeps_what_the_injector_let_through(void **state)
{
	in_child(no_space_with_faults);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(link_send__uses_batches),
		cmocka_unit_test(link_send__gives_gso_up_when_the_kernel_rejects),
		cmocka_unit_test(link_send__blames_the_peer_not_gso),
		cmocka_unit_test(link_send__survives_what_cannot_be_sent),
		cmocka_unit_test(link_send__keeps_going_without_a_listener),
		cmocka_unit_test(link_send__cuts_batches_that_exceed_the_path),
		cmocka_unit_test(link_send__goes_on_without_a_network),
		cmocka_unit_test(link_send__accepts_fewer_when_the_kernel_is_full),
		cmocka_unit_test(link_send__keeps_what_the_injector_let_through),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
