/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of events: growth, its bound, order of freeing, counts that wrap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "host/limits.h"
#include "host/events.h"

static uint32_t add(struct events *e)
{
	struct host_event *slot;
	uint32_t count;

	assert_int_equal(events_add(e, &count, &slot), DXP_OK);
	assert_int_equal(slot->state, HOST_EVENT_PENDING);
	return count;
}

static void events__finish_then_free(void **state)
{
	struct events e;
	const struct dxp_event_times times = {1, 2, 3};

	events_init(&e, 1);
	assert_int_equal(add(&e), 1);
	assert_int_equal(add(&e), 2);
	assert_true(events_finish(&e, 1, DXP_EDEVICE, &times));
	assert_false(events_finish(&e, 1, DXP_OK, NULL));
	assert_int_equal(events_find(&e, 1)->status, DXP_EDEVICE);
	assert_int_equal(events_find(&e, 1)->times.ended_ns, 3);
	assert_int_equal(e.pending, 1);
	events_free(&e, 1);
	assert_null(events_find(&e, 1));
	assert_int_equal(e.oldest, 2);
	assert_null(events_find(&e, 3));
	events_destroy(&e);
}

static void events__oldest_waits_for_the_oldest(void **state)
{
	struct events e;

	events_init(&e, 1);
	for (int i = 0; i < 5; i++)
		add(&e);
	events_free(&e, 3);
	events_free(&e, 2);
	assert_int_equal(e.oldest, 1);
	events_free(&e, 1);
	assert_int_equal(e.oldest, 4);
	assert_int_equal(e.pending, 2);
	events_destroy(&e);
}

/* Some are kept for ever: they take no room of what comes after, and are found all the same. */
static void events__kept_ones_take_no_room(void **state)
{
	struct events e;

	events_init(&e, 0xffff0000u);
	for (uint32_t i = 0; i < 3u * HOST_EVENTS_MAX; i++) {
		uint32_t count = add(&e);
		assert_true(events_finish(&e, count, i % 2 ? DXP_OK : DXP_EDEVICE, NULL));
		if (i % 100)
			events_free(&e, count);
	}
	assert_true(e.capacity <= 256);
	assert_int_equal(events_oldest(&e), e.next);
	for (uint32_t i = 0; i < 3u * HOST_EVENTS_MAX; i++) {
		struct host_event *slot = events_find(&e, 0xffff0000u + i);
		if (i % 100) {
			assert_null(slot);
			continue;
		}
		assert_int_equal(slot->status, i % 2 ? DXP_OK : DXP_EDEVICE);
		events_free(&e, 0xffff0000u + i);
		assert_null(events_find(&e, 0xffff0000u + i));
	}
	events_destroy(&e);
}

/* A pending one at the old end is not forgotten by anybody. */
static void events__oldest_pending(void **state)
{
	struct events e;

	events_init(&e, 1);
	for (int i = 0; i < 5; i++)
		add(&e);
	assert_true(events_finish(&e, 1, DXP_OK, NULL));
	assert_true(events_finish(&e, 3, DXP_OK, NULL));
	assert_int_equal(events_oldest(&e), 2);
	assert_true(events_finish(&e, 2, DXP_OK, NULL));
	assert_int_equal(events_oldest(&e), 4);
	assert_int_equal(add(&e), 6);
	events_undo(&e);
	assert_int_equal(e.pending, 2);
	assert_int_equal(add(&e), 6);
	assert_true(events_finish(&e, 4, DXP_OK, NULL));
	assert_true(events_finish(&e, 5, DXP_OK, NULL));
	assert_int_equal(events_oldest(&e), 6);
	events_destroy(&e);
}

static void events__silent_ones_free_themselves(void **state)
{
	struct events e;
	struct host_event *slot;
	uint32_t count;

	events_init(&e, 1);
	assert_int_equal(events_add(&e, &count, &slot), DXP_OK);
	slot->silent = true;
	assert_true(events_finish(&e, count, DXP_OK, NULL));
	assert_null(events_find(&e, count));
	assert_int_equal(e.oldest, e.next);
	events_destroy(&e);
}

static void events__bounded(void **state)
{
	struct events e;
	struct host_event *slot;
	uint32_t count;

	events_init(&e, 7);
	for (uint32_t i = 0; i < HOST_EVENTS_MAX; i++)
		assert_int_equal(add(&e), 7 + i);
	assert_int_equal(events_add(&e, &count, &slot), DXP_EAGAIN);
	events_free(&e, 7);
	assert_int_equal(add(&e), 7 + HOST_EVENTS_MAX);
	assert_int_equal(events_fail(&e, DXP_EPEERLOST), HOST_EVENTS_MAX);
	assert_int_equal(e.pending, 0);
	assert_int_equal(events_find(&e, 8)->status, DXP_EPEERLOST);
	events_destroy(&e);
}

static void events__counts_wrap(void **state)
{
	struct events e;

	events_init(&e, UINT32_MAX - 1);
	for (int i = 0; i < 200; i++)
		add(&e);
	assert_non_null(events_find(&e, UINT32_MAX));
	assert_non_null(events_find(&e, 0));
	assert_non_null(events_find(&e, 197));
	assert_null(events_find(&e, 198));
	events_free(&e, UINT32_MAX - 1);
	assert_int_equal(e.oldest, UINT32_MAX);
	events_destroy(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events__finish_then_free),
		cmocka_unit_test(events__oldest_waits_for_the_oldest),
		cmocka_unit_test(events__kept_ones_take_no_room),
		cmocka_unit_test(events__oldest_pending),
		cmocka_unit_test(events__silent_ones_free_themselves),
		cmocka_unit_test(events__bounded),
		cmocka_unit_test(events__counts_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
