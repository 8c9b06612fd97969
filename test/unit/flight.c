/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the bookkeeping of outstanding DMAs: detection of completions, resets, and a lost device.
 * The driver is an array of commands. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "engine/flight.h"

#define COMMANDS 64

struct driver_command {
	_Atomic int status; /* DXP_EAGAIN: outstanding */
	atomic_bool dropped;
};

static struct driver_command commands[COMMANDS];
static atomic_uint interrupts, looks;

static void pause_ms(unsigned ms)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)(ms * MS_NS)}, NULL);
}

static int look(void *driver, void *command)
{
	atomic_fetch_add(&looks, 1);
	return atomic_load(&((struct driver_command *)command)->status);
}

static int wait(void *driver, void *command)
{
	int status;

	while ((status = look(driver, command)) == DXP_EAGAIN)
		pause_ms(1);
	return status;
}

static void drop(void *driver, void *command)
{
	assert_false(atomic_exchange(&((struct driver_command *)command)->dropped, true));
}

static void interrupt(void *context)
{
	atomic_fetch_add(&interrupts, 1);
}

static struct flights *begin(bool waits, uint64_t lost_ns)
{
	const struct flights_options options = {.interrupt = interrupt,
						.look = look,
						.wait = waits ? wait : NULL,
						.drop = drop,
						.queue_flights = 4,
						.lost_ns = lost_ns};
	struct flights *all;

	for (unsigned i = 0; i < COMMANDS; i++) {
		commands[i].status = DXP_EAGAIN;
		commands[i].dropped = false;
	}
	atomic_store(&interrupts, 0);
	atomic_store(&looks, 0);
	assert_int_equal(flights_create(&options, &all), DXP_OK);
	return all;
}

static struct flight *launch(struct flights *all, uint32_t queue, unsigned i, bool callback)
{
	struct flight *f;

	assert_int_equal(flight_begin(all, queue, i, &f), DXP_OK);
	flight_launch(f, &commands[i], false, callback);
	return f;
}

/* within 20 s */
static void collect(struct flights *all, struct engine_dma_end *ends, uint32_t count)
{
	uint64_t until_ns = clock_now_ns() + 120 * S_NS;
	uint32_t got = 0;

	while (got < count) {
		got += flights_dequeue(all, ends + got, count - got);
		assert_true(clock_now_ns() < until_ns);
		pause_ms(1);
	}
}

static void flight__callback(void **state)
{
	struct flights *all = begin(false, 0);
	struct engine_dma_end e;
	struct flight *f = launch(all, 0, 0, true);

	assert_int_equal(flights_dequeue(all, &e, 1), 0);
	flight_land(f, DXP_OK);
	assert_int_equal(atomic_load(&interrupts), 1);
	assert_int_equal(flights_dequeue(all, &e, 1), 1);
	assert_int_equal(e.id, 0);
	assert_int_equal(e.status, DXP_OK);
	assert_true(commands[0].dropped);
	assert_int_equal(flights_dequeue(all, &e, 1), 0);
	f = launch(all, 1, 1, true);
	flight_land(f, DXP_EDEVICE);
	assert_int_equal(flights_dequeue(all, &e, 1), 1);
	assert_int_equal(e.status, DXP_EDEVICE);
	assert_true(flights_destroy(all));
}

/* The completion that a poll detects counts once; the command is freed only after the late
 * callback. */
static void flight__late_callback(void **state)
{
	struct flights *all = begin(false, 0);
	struct engine_dma_end e;
	struct flight *f = launch(all, 0, 0, true);

	commands[0].status = DXP_OK;
	collect(all, &e, 1);
	assert_int_equal(e.status, DXP_OK);
	assert_false(commands[0].dropped);
	flight_land(f, DXP_OK);
	assert_true(commands[0].dropped);
	assert_int_equal(flights_dequeue(all, &e, 1), 0);
	assert_int_equal(atomic_load(&interrupts), 1);
	assert_true(flights_destroy(all));
}

static void flight__callback_rejected(void **state)
{
	struct flights *all = begin(false, 0);
	struct engine_dma_end e;

	flight_no_callback(launch(all, 0, 0, true));
	commands[0].status = DXP_OK;
	collect(all, &e, 1);
	assert_int_equal(e.status, DXP_OK);
	assert_true(flights_destroy(all));
}

static void flight__waiting_threads(void **state)
{
	struct flights *all = begin(true, 0);
	struct engine_dma_end e[3];

	launch(all, 0, 0, false);
	launch(all, 0, 1, false);
	launch(all, 1, 2, false);
	commands[2].status = DXP_EDEVICE;
	collect(all, e, 1); /* queues are independent */
	assert_int_equal(e[0].id, 2);
	assert_int_equal(e[0].status, DXP_EDEVICE);
	commands[1].status = DXP_OK;
	commands[0].status = DXP_OK;
	collect(all, e, 2);
	assert_int_equal(e[0].id, 0);
	assert_int_equal(e[1].id, 1);
	assert_int_equal(atomic_load(&interrupts), 3);
	assert_true(flights_destroy(all));
}

static void flight__queue_is_full(void **state)
{
	struct flights *all = begin(false, 0);
	struct engine_dma_end e[5];
	struct flight *f[5];

	for (unsigned i = 0; i < 4; i++)
		f[i] = launch(all, 0, i, true);
	assert_int_equal(flight_begin(all, 0, 9, &f[4]), DXP_EAGAIN);
	f[4] = launch(all, 1, 4, true); /* queue 1 is not full */
	for (unsigned i = 0; i < 5; i++)
		flight_land(f[i], DXP_OK);
	assert_int_equal(flights_dequeue(all, e, 5), 5);
	assert_int_equal(flight_begin(all, 0, 9, &f[0]), DXP_OK);
	flight_abandon(f[0]);
	assert_int_equal(flights_dequeue(all, e, 5), 1);
	assert_int_equal(e[0].id, 9);
	assert_int_equal(e[0].status, DXP_EDEVICE);
	assert_true(flights_destroy(all));
}

/* A reset fails only the DMAs that are outstanding. Each is reported as failed when the driver
 * completes it. */
static void flights_reset__marks_what_is_outstanding(void **state)
{
	struct flights *all = begin(false, 0);
	struct engine_dma_end e[4];
	struct flight *before = launch(all, 0, 0, true), *during = launch(all, 0, 1, true);

	flight_land(before, DXP_OK);
	flights_reset(all);
	struct flight *after = launch(all, 0, 2, true);
	assert_int_equal(flights_dequeue(all, e, 4), 1);
	assert_int_equal(e[0].status, DXP_OK);
	flight_land(during, DXP_OK);
	flight_land(after, DXP_OK);
	assert_int_equal(flights_dequeue(all, e, 4), 2);
	assert_int_equal(e[0].id, 1);
	assert_int_equal(e[0].status, DXP_EDEVICE);
	assert_int_equal(e[1].id, 2);
	assert_int_equal(e[1].status, DXP_OK);
	assert_true(flights_destroy(all));
}

/* All cancelled DMAs complete in time, so the device is not lost, while newer ones run. */
static void flights_reset__device_comes_back(void **state)
{
	struct flights *all = begin(false, 300 * MS_NS);
	struct engine_dma_end e[3];
	struct flight *f = launch(all, 0, 0, true), *other = launch(all, 1, 1, true);

	flight_land(other, DXP_OK);
	flights_reset(all);
	other = launch(all, 1, 2, true);
	flight_land(f, DXP_OK);
	pause_ms(600);
	assert_false(flights_lost(all));
	flight_land(other, DXP_OK);
	assert_int_equal(flights_dequeue(all, e, 3), 3);
	assert_int_equal(e[2].id, 2);
	assert_int_equal(e[2].status, DXP_OK);
	assert_true(flights_destroy(all));
}

static void lost(bool waits)
{
	struct flights *all = begin(waits, 20 * MS_NS);
	struct engine_dma_end e[2];
	struct flight *f = launch(all, 0, 0, !waits), *refused;

	launch(all, 1, 1, false);
	flights_reset(all);
	collect(all, e, 2);
	assert_int_equal(e[0].status, DXP_EDEVICE);
	assert_int_equal(e[1].status, DXP_EDEVICE);
	assert_true(flights_lost(all));
	assert_int_equal(flight_begin(all, 0, 5, &refused), DXP_EDEVICE);
	assert_false(flights_destroy(all)); /* the device may still write */
	commands[0].status = commands[1].status = DXP_OK;
	if (!waits)
		flight_land(f, DXP_OK);
	while (!flights_destroy(all))
		pause_ms(1);
	assert_true(commands[0].dropped && commands[1].dropped);
}

static void flights_reset__device_is_lost(void **state)
{
	lost(false);
	lost(true);
}

/* an interrupt handler that blocks until the test lets it return */
static atomic_bool inside, leave, left;

static void slow_interrupt(void *context)
{
	atomic_store(&inside, true);
	while (!atomic_load(&leave))
		pause_ms(1);
	atomic_store(&left, true);
}

static void *land(void *flight)
{
	flight_land(flight, DXP_OK);
	return NULL;
}

static void *let_leave(void *argument)
{
	pause_ms(30);
	atomic_store(&leave, true);
	return NULL;
}

/* Destruction waits for the handler, whose target must exist until it returns. */
static void flights_destroy__waits_for_an_interrupt(void **state)
{
	const struct flights_options options = {
		.interrupt = slow_interrupt, .look = look, .drop = drop};
	struct engine_dma_end e;
	struct flights *all;
	pthread_t threads[2];

	atomic_store(&inside, false);
	atomic_store(&leave, false);
	atomic_store(&left, false);
	commands[0].dropped = false;
	assert_int_equal(flights_create(&options, &all), DXP_OK);
	struct flight *f = launch(all, 0, 0, true);
	assert_int_equal(pthread_create(&threads[0], NULL, land, f), 0);
	while (!atomic_load(&inside))
		pause_ms(1);
	collect(all, &e, 1);
	assert_int_equal(pthread_create(&threads[1], NULL, let_leave, NULL), 0);
	assert_true(flights_destroy(all));
	assert_true(atomic_load(&left));
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

/* No interrupt is raised after destruction, as its target may be gone. */
static void flights_destroy__late_ends_notify_none(void **state)
{
	struct flights *all = begin(false, 20 * MS_NS);
	struct flight *f = launch(all, 0, 0, true);

	launch(all, 1, 1, false);
	assert_false(flights_destroy(all));
	assert_true(flights_lost(all));
	flight_land(f, DXP_OK);
	commands[1].status = DXP_OK;
	/* ms; enough for a polling thread, if one still ran */
	pause_ms(30);
	assert_int_equal(atomic_load(&interrupts), 0);
	while (!flights_destroy(all))
		pause_ms(1);
}

/* One thread runs callbacks, another polls; each id is dequeued once. */
static struct flight *in_air[COMMANDS];
static atomic_uint launched;

static void *callbacks_run(void *argument)
{
	for (unsigned i = 0; i < COMMANDS; i++) {
		while (atomic_load(&launched) <= i)
			;
		commands[i].status = DXP_OK;
		flight_land(in_air[i], DXP_OK);
	}
	return NULL;
}

static void flight__two_threads(void **state)
{
	struct flights *all = begin(false, 0);
	struct engine_dma_end e[4];
	pthread_t thread;
	uint32_t got = 0;

	atomic_store(&launched, 0);
	assert_int_equal(pthread_create(&thread, NULL, callbacks_run, NULL), 0);
	for (unsigned i = 0; i < COMMANDS; i++) {
		struct flight *f;
		while (flight_begin(all, 0, i, &f) == DXP_EAGAIN) {
			uint32_t n = flights_dequeue(all, e, 4);
			for (uint32_t k = 0; k < n; k++)
				assert_int_equal(e[k].id, got++);
		}
		in_air[i] = f;
		flight_launch(f, &commands[i], false, true);
		atomic_store(&launched, i + 1);
	}
	pthread_join(thread, NULL);
	for (uint32_t n; (n = flights_dequeue(all, e, 4)) > 0;)
		for (uint32_t k = 0; k < n; k++)
			assert_int_equal(e[k].id, got++);
	assert_int_equal(got, COMMANDS);
	assert_true(flights_destroy(all));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flight__callback),
		cmocka_unit_test(flight__late_callback),
		cmocka_unit_test(flight__callback_rejected),
		cmocka_unit_test(flight__waiting_threads),
		cmocka_unit_test(flight__queue_is_full),
		cmocka_unit_test(flights_reset__marks_what_is_outstanding),
		cmocka_unit_test(flights_reset__device_comes_back),
		cmocka_unit_test(flights_reset__device_is_lost),
		cmocka_unit_test(flights_destroy__waits_for_an_interrupt),
		cmocka_unit_test(flights_destroy__late_ends_notify_none),
		cmocka_unit_test(flight__two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
