/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the values of the event log in etcd: events come back, and damaged lines are left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "manager/etcd_events.h"
#include "manager/limits.h"

/* Names and texts with control characters, and the longest ones, stay one line. */
static void etcd_events__texts(void **state)
{
	struct event_journal a, b;
	char longest[EVENT_TEXT_BYTES + 50];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(event_journal_create(&a, 100), DXP_OK);
	assert_int_equal(event_journal_create(&b, 100), DXP_OK);
	for (unsigned i = 0; i < 2 * ETCD_EVENTS_PART; i++)
		event_journal_add(&a, INT64_MAX, EVENT_UNLOGGED, i % 2 ? longest : "a\tb\n", "%s",
				  i % 2 ? longest : "c\td\ne");
	for (uint64_t first = 1; first < a.next; first += ETCD_EVENTS_PART) {
		char *text = etcd_events_write(&a, first, first + ETCD_EVENTS_PART);
		assert_non_null(text);
		assert_int_equal(etcd_events_read(text, first, &b), 0);
		free(text);
	}
	assert_int_equal(b.next, a.next);
	assert_string_equal(event_journal_next(&b, 1)->subject, "a?b?");
	assert_string_equal(event_journal_next(&b, 1)->text, "c?d?e");
	assert_string_equal(event_journal_next(&b, 2)->text, event_journal_next(&a, 2)->text);
	event_journal_destroy(&a);
	event_journal_destroy(&b);
}

static void etcd_events_read__rejects(void **state)
{
	static const char *const bad[] = {"1",
					  "1 2",
					  "1 2 3",
					  "1 2 3 a",
					  "x 2 3 a\tb",
					  "1 x 3 a\tb",
					  "1 2 x a\tb",
					  "1 2 256 a\tb",
					  "1 2 0 a\tb",
					  "16 2 3 a\tb",
					  "-1 2 3 a\tb",
					  "99999999999999999999 2 3 a\tb",
					  "1 9999999999999999999 3 a\tb"};
	char text[64];

	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		struct event_journal l;
		assert_int_equal(event_journal_create(&l, 100), DXP_OK);
		snprintf(text, sizeof(text), "%s", bad[i]);
		assert_int_equal(etcd_events_read(text, 0, &l), 1);
		assert_null(event_journal_next(&l, 0));
		snprintf(text, sizeof(text), "%s\n1 2 3 a\tb\n", bad[i]); /* the next line counts */
		assert_int_equal(etcd_events_read(text, 0, &l), 1);
		assert_non_null(event_journal_next(&l, 0));
		event_journal_destroy(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(etcd_events__texts),
		cmocka_unit_test(etcd_events_read__rejects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
