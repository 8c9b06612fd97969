/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the pool of NAP buffers (C-30): each number returns once, in any order, only from its
 * user. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "test/unit/local_rig.h"

#define LAPS 5

struct pool {
	struct rig rig;
	struct nic_user *user;
	struct dxp_window *window;
	uint16_t dequeued[NIC_EVENTS]; /* in use, oldest first */
	uint32_t count;
};

static void pool_make(struct pool *p)
{
	struct nic_options o = rig_options();

	memset(p, 0, sizeof(*p));
	rig_make(&p->rig, &o, 2);
	p->user = &p->rig.nic->users[1];
	p->window = p->rig.window[1];
}

static void pool_allocate(struct pool *p, uint32_t count)
{
	for (; count > 0; count--)
		assert_true(buffer_dequeue(p->user, &p->dequeued[p->count++]));
}

static void pool_check(const struct pool *p)
{
	bool seen[NIC_EVENTS] = {false};

	for (uint32_t i = 0; i < p->count; i++) {
		assert_in_range(p->dequeued[i], 0, NIC_EVENTS - 1);
		assert_false(seen[p->dequeued[i]]);
		seen[p->dequeued[i]] = true;
	}
	assert_int_equal(buffers_available(p->user), NIC_EVENTS - p->count);
	assert_false(p->user->stopped);
}

static void nap_send(struct pool *p)
{
	static const uint8_t data[100];
	const struct dxp_target to = rig_target(&p->rig, 1, 0);

	assert_int_equal(dxp_post_nap(p->rig.window[0], 0, &to, data, sizeof(data), 0, 0), DXP_OK);
	rig_poll(&p->rig);
}

/* ---- correct use ---- */

static void buffer__all_of_them(void **state)
{
	struct pool p;

	pool_make(&p);
	pool_check(&p);
	for (uint32_t i = 0; i < NIC_EVENTS; i++) {
		pool_allocate(&p, 1);
		pool_check(&p);
	}
	rig_end(&p.rig);
}

/* The NIC copies prefetched numbers, so the user may overwrite their entries. */
static void buffer__fetched_ahead(void **state)
{
	struct pool p;

	pool_make(&p);
	pool_allocate(&p, 1);
	assert_int_equal(p.user->buffer_count, NIC_BUFFERS_AHEAD - 1);
	for (uint32_t i = 0; i < NIC_BUFFERS_AHEAD; i++)
		p.window->buffers[i] = DXP_NO_BUFFER;
	pool_allocate(&p, NIC_BUFFERS_AHEAD - 1);
	pool_check(&p);
	assert_int_equal(p.user->buffers_fetched, NIC_BUFFERS_AHEAD);
	pool_allocate(&p, 1);
	assert_int_equal(p.user->buffers_fetched, 2 * NIC_BUFFERS_AHEAD);
	pool_check(&p);
	rig_end(&p.rig);
}

static void buffer__any_order(void **state)
{
	struct rng random = {11};
	struct pool p;

	pool_make(&p);
	for (uint32_t step = 0; step < LAPS * NIC_EVENTS; step++) {
		uint32_t space = NIC_EVENTS - p.count;
		if (p.count == 0 || (space > 0 && rng_below(&random, 2) == 0)) {
			pool_allocate(&p, 1 + (uint32_t)rng_below(&random, space));
		} else {
			uint32_t i = (uint32_t)rng_below(&random, p.count);
			dxp_buffer_return(p.window, p.dequeued[i]);
			p.dequeued[i] = p.dequeued[--p.count];
		}
		pool_check(&p);
	}
	assert_true(p.user->buffers_fetched > 2 * NIC_EVENTS);
	rig_end(&p.rig);
}

/* If the user keeps all buffers, the next NAP waits for a return. */
static void buffer__kept_is_no_space(void **state)
{
	uint16_t kept[NIC_EVENTS];
	uint32_t count = 0, entries;
	struct pool p;

	pool_make(&p);
	entries = event_received_entries(p.user);
	for (; count < entries; count++) {
		assert_true(event_received_space(p.user, true));
		nap_send(&p);
		assert_non_null(dxp_received_peek(p.window));
		kept[count] = dxp_received_peek(p.window)->buffer;
		dxp_received_keep(p.window);
		rig_sent(&p.rig, 0, 0, DXP_OK);
	}
	assert_int_equal(event_received_unread(p.user), entries);
	assert_false(event_received_space(p.user, true));
	nap_send(&p);
	assert_null(dxp_received_peek(p.window));
	dxp_buffer_return(p.window, kept[7]);
	p.rig.now_ns += NIC_SPACE_CHECK_MAX_NS;
	rig_run(&p.rig);
	assert_non_null(dxp_received_peek(p.window));
	assert_int_equal(dxp_received_peek(p.window)->buffer, kept[7]);
	assert_int_equal(dxp_error(p.window), DXP_OK);
	rig_end(&p.rig);
}

/* ---- misuse: the NIC stops the user; the next user gets all buffers ---- */

static void stopped_check(struct pool *p)
{
	uint16_t unused;

	buffers_fetch(p->user);
	assert_true(p->user->stopped);
	assert_false(p->user->buffer_count == 0 && buffer_dequeue(p->user, &unused));
	rig_poll(&p->rig);
	assert_int_equal(dxp_error(p->window), DXP_EINVAL);
	assert_int_equal(dxp_error(p->rig.window[0]), DXP_OK);

	assert_int_equal(nic_user_close(p->rig.nic, 1, DXP_ECLOSED, 1), DXP_OK);
	memset(p->window, 0, sizeof(*p->window));
	assert_int_equal(nic_function_open(p->rig.nic, 1, p->window), DXP_OK);
	p->count = 0;
	pool_allocate(p, NIC_EVENTS);
	pool_check(p);
	rig_end(&p->rig);
}

static void buffer__returned_twice(void **state)
{
	struct pool p;

	pool_make(&p);
	pool_allocate(&p, NIC_EVENTS);
	dxp_buffer_return(p.window, p.dequeued[3]);
	dxp_buffer_return(p.window, p.dequeued[3]);
	stopped_check(&p);
}

/* The second return comes after the NIC has fetched the first. */
static void buffer__returned_twice_apart(void **state)
{
	struct pool p;

	pool_make(&p);
	pool_allocate(&p, NIC_EVENTS);
	dxp_buffer_return(p.window, p.dequeued[3]);
	buffers_fetch(p.user);
	assert_false(p.user->stopped);
	dxp_buffer_return(p.window, p.dequeued[3]);
	stopped_check(&p);
}

static void buffer__out_of_range(void **state)
{
	static const uint16_t numbers[] = {NIC_EVENTS, NIC_EVENTS + 3, 0x8000, DXP_NO_BUFFER};

	for (uint32_t i = 0; i < ARRAY_COUNT(numbers); i++) {
		struct pool p;
		pool_make(&p);
		pool_allocate(&p, NIC_EVENTS);
		dxp_buffer_return(p.window, numbers[i]);
		stopped_check(&p);
	}
}

static void buffer__more_than_there_are(void **state)
{
	struct pool p;

	pool_make(&p);
	pool_allocate(&p, 1);
	dxp_buffer_return(p.window, p.dequeued[0]);
	dxp_buffer_return(p.window, p.dequeued[0]);
	assert_int_equal(buffers_available(p.user), NIC_EVENTS);
	stopped_check(&p);
}

/* An impossible count adds no buffer. */
static void buffer__count_is_nonsense(void **state)
{
	struct pool p;

	pool_make(&p);
	pool_allocate(&p, 1);
	p.window->buffers_returned += NIC_EVENTS;
	assert_int_equal(buffers_available(p.user), p.user->buffer_count);
	stopped_check(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffer__all_of_them),
		cmocka_unit_test(buffer__fetched_ahead),
		cmocka_unit_test(buffer__any_order),
		cmocka_unit_test(buffer__kept_is_no_space),
		cmocka_unit_test(buffer__returned_twice),
		cmocka_unit_test(buffer__returned_twice_apart),
		cmocka_unit_test(buffer__out_of_range),
		cmocka_unit_test(buffer__more_than_there_are),
		cmocka_unit_test(buffer__count_is_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
