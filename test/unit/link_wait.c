/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests link_wait: deadlines, arrivals and wakeups, with and without spinning. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include "base/clock.h"
#include "test/unit/link_pair.h"

#define ROUNDS 2000

static const struct link_options sleeping = {.spin_ns = 0};
static const struct link_options spinning = {.spin_ns = WAIT_SPIN_NS};

static bool readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static void link_wait__returns_at_its_deadline(void **state)
{
	const struct link_options both[] = {sleeping, spinning};

	for (size_t i = 0; i < ARRAY_COUNT(both); i++) {
		struct link *l = open_at("127.0.0.1", both[i]);
		uint64_t start = clock_now_ns();
		assert_false(link_wait(l, 0)); /* one poll */
		assert_false(link_wait(l, start + 3 * MS_NS));
		assert_true(clock_now_ns() >= start + 3 * MS_NS);
		link_close(l);
	}
}

static void link_wait__sees_what_arrived(void **state)
{
	const struct link_options both[] = {sleeping, spinning};

	for (size_t i = 0; i < ARRAY_COUNT(both); i++) {
		struct link_pair p = pair_open("127.0.0.1", both[i]);
		struct datagram d = datagram_of(&p.to_b, 7, 10, NULL, 0);
		struct datagram_arrival arrival;
		send_all(p.a, &d, 1);
		assert_true(link_wait(p.b, UINT64_MAX));
		/* the datagram is unread */
		assert_true(link_wait(p.b, UINT64_MAX));
		assert_int_equal(link_receive(p.b, &arrival, 1), 1);
		assert_memory_equal(arrival.data, d.header, 10);
		assert_false(link_wait(p.b, 0));
		pair_close(&p);
	}
}

static void link_wait__sees_the_rest_of_a_batch(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", sleeping);
	struct datagram d[3];
	struct datagram_arrival arrival;

	for (uint8_t i = 0; i < 3; i++)
		d[i] = datagram_of(&p.to_b, i, 10, NULL, 0);
	send_all(p.a, d, 3);
	for (uint8_t i = 0; i < 3; i++) {
		assert_true(link_wait(p.b, clock_now_ns() + PATIENCE_NS));
		assert_int_equal(link_receive(p.b, &arrival, 1), 1);
		assert_memory_equal(arrival.data, d[i].header, 10);
	}
	pair_close(&p);
}

static void link_wake__ends_the_next_wait(void **state)
{
	struct link *l = open_at("127.0.0.1", sleeping);

	link_wake(l);
	link_wake(l);
	assert_true(readable(link_fd(l)));
	assert_false(link_wait(l, UINT64_MAX)); /* would hang without the wakeup */
	assert_false(readable(link_fd(l)));     /* one wait consumes both */
	link_close(l);
}

static void link_fd__is_readable_when_something_arrived(void **state)
{
	struct link_pair p = pair_open("127.0.0.1", sleeping);
	struct datagram d = datagram_of(&p.to_b, 7, 10, NULL, 0);
	struct datagram_arrival arrival;

	assert_false(readable(link_fd(p.b)));
	send_all(p.a, &d, 1);
	assert_true(readable(link_fd(p.b)));
	assert_int_equal(receive_some(p.b, &arrival, 1), 1);
	assert_false(readable(link_fd(p.b)));
	pair_close(&p);
}

/* Waits for its wakeup, then wakes the other side; a lost one hangs. */
struct relay {
	struct link *own, *other;
	_Atomic int *own_due, *other_due;
};

static void *relay_run(void *argument)
{
	struct relay *r = argument;

	for (int i = 0; i < ROUNDS; i++) {
		while (atomic_load_explicit(r->own_due, memory_order_relaxed) <= i)
			link_wait(r->own, UINT64_MAX);
		atomic_fetch_add_explicit(r->other_due, 1, memory_order_relaxed);
		link_wake(r->other);
	}
	return NULL;
}

static void link_wake__is_never_lost_between_threads(void **state)
{
	const struct link_options both[] = {sleeping, spinning};

	for (size_t i = 0; i < ARRAY_COUNT(both); i++) {
		struct link_pair p = pair_open("127.0.0.1", both[i]);
		_Atomic int due_a = 1, due_b = 0; /* `a` starts */
		struct relay a = {p.a, p.b, &due_a, &due_b}, b = {p.b, p.a, &due_b, &due_a};
		pthread_t thread;
		assert_int_equal(pthread_create(&thread, NULL, relay_run, &b), 0);
		relay_run(&a);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(due_a, ROUNDS + 1);
		assert_int_equal(due_b, ROUNDS);
		pair_close(&p);
	}
}

static struct link *woken_by_signal;

static void on_signal(int number)
{
	link_wake(woken_by_signal);
}

static void link_wake__works_in_a_signal_handler(void **state)
{
	struct sigaction action = {.sa_handler = on_signal}, before;

	woken_by_signal = open_at("127.0.0.1", sleeping);
	sigaction(SIGUSR1, &action, &before);
	raise(SIGUSR1);
	assert_false(link_wait(woken_by_signal, UINT64_MAX));
	sigaction(SIGUSR1, &before, NULL);
	link_close(woken_by_signal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(link_wait__returns_at_its_deadline),
		cmocka_unit_test(link_wait__sees_what_arrived),
		cmocka_unit_test(link_wait__sees_the_rest_of_a_batch),
		cmocka_unit_test(link_wake__ends_the_next_wait),
		cmocka_unit_test(link_fd__is_readable_when_something_arrived),
		cmocka_unit_test(link_wake__is_never_lost_between_threads),
		cmocka_unit_test(link_wake__works_in_a_signal_handler),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
