/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the ring of a host's events: growth, overflow, order of freeing, counts that wrap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/limits.h"
#include "host/events.h"
#include "wire/command.h"

static uint32_t add(struct events *e)
{
	struct host_event *entry;
	uint32_t count;

	assert_int_equal(events_add(e, &count, &entry), DXP_OK);
	assert_int_equal(entry->state, HOST_EVENT_PENDING);
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

/* Events that are kept use no ring entries and are still found. */
static void events__kept_ones_use_no_space(void **state)
{
	struct events e;

	events_init(&e, 0xffff0000u);
	for (uint32_t i = 0; i < 3u * HOST_EVENTS_RING; i++) {
		uint32_t count = add(&e);
		assert_true(events_finish(&e, count, i % 2 ? DXP_OK : DXP_EDEVICE, NULL));
		if (i % 100)
			events_free(&e, count);
	}
	assert_true(e.capacity <= 256);
	assert_int_equal(events_oldest(&e), e.next);
	for (uint32_t i = 0; i < 3u * HOST_EVENTS_RING; i++) {
		struct host_event *entry = events_find(&e, 0xffff0000u + i);
		if (i % 100) {
			assert_null(entry);
			continue;
		}
		assert_int_equal(entry->status, i % 2 ? DXP_OK : DXP_EDEVICE);
		events_free(&e, 0xffff0000u + i);
		assert_null(events_find(&e, 0xffff0000u + i));
	}
	events_destroy(&e);
}

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
	struct host_event *entry;
	uint32_t count;

	events_init(&e, 1);
	assert_int_equal(events_add(&e, &count, &entry), DXP_OK);
	entry->silent = true;
	assert_true(events_finish(&e, count, DXP_OK, NULL));
	assert_null(events_find(&e, count));
	assert_int_equal(e.oldest, e.next);
	events_destroy(&e);
}

/* There are more pending events than ring entries. Old events move to a list and complete there
 * normally. */
static void events__pending_ones_have_no_bound(void **state)
{
	const uint32_t count = 3 * HOST_EVENTS_RING, first = 0xffffff00u;
	struct events e;

	events_init(&e, first);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(add(&e), first + i);
	assert_true(e.capacity <= HOST_EVENTS_RING);
	assert_int_equal(e.pending, count);
	assert_int_equal(events_oldest(&e), first);
	for (uint32_t i = 0; i < count; i += 2)
		assert_true(events_finish(&e, first + i, DXP_OK, NULL));
	assert_int_equal(events_oldest(&e), first + 1);
	for (uint32_t i = 0; i < count; i += 2)
		events_free(&e, first + i);
	assert_null(events_find(&e, first));
	events_free(&e, first + 1);
	assert_int_equal(events_oldest(&e), first + 3);
	assert_int_equal(events_fail(&e, DXP_EPEERLOST), count / 2 - 1);
	assert_int_equal(e.pending, 0);
	assert_int_equal(events_oldest(&e), e.next);
	for (uint32_t i = 3; i < count; i += 2) {
		assert_int_equal(events_find(&e, first + i)->status, DXP_EPEERLOST);
		events_free(&e, first + i);
	}
	assert_int_equal(e.kept_count, 0);
	assert_int_equal(e.oldest, e.next);
	events_destroy(&e);
}

/* New events can be added without bound. */
static void events__one_pending_for_ever(void **state)
{
	struct events e;

	events_init(&e, 1);
	add(&e);
	for (uint32_t i = 0; i < 20 * HOST_EVENTS_RING; i++) {
		uint32_t count = add(&e);
		assert_true(events_finish(&e, count, DXP_OK, NULL));
		events_free(&e, count);
	}
	assert_true(e.capacity <= HOST_EVENTS_RING);
	assert_true(e.kept_count <= 1);
	assert_int_equal(events_oldest(&e), 1);
	assert_true(events_finish(&e, 1, DXP_OK, NULL));
	events_destroy(&e);
}

static void events__bytes_of_those_pending(void **state)
{
	struct events e;
	struct host_event *entry;
	uint32_t count;

	events_init(&e, 1);
	assert_int_equal(events_add(&e, &count, &entry), DXP_OK);
	events_weigh(&e, 100);
	assert_int_equal(events_add(&e, &count, &entry), DXP_OK);
	events_weigh(&e, 2048);
	assert_int_equal(e.bytes, COMMAND_KEPT_BYTES(100) + COMMAND_KEPT_BYTES(2048));
	events_undo(&e);
	assert_int_equal(e.bytes, COMMAND_KEPT_BYTES(100));
	assert_true(events_finish(&e, 1, DXP_OK, NULL));
	assert_int_equal(e.bytes, 0);
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
		cmocka_unit_test(events__kept_ones_use_no_space),
		cmocka_unit_test(events__oldest_pending),
		cmocka_unit_test(events__silent_ones_free_themselves),
		cmocka_unit_test(events__pending_ones_have_no_bound),
		cmocka_unit_test(events__one_pending_for_ever),
		cmocka_unit_test(events__bytes_of_those_pending),
		cmocka_unit_test(events__counts_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
