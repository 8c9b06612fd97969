/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the edit distance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/distance.h"

static size_t between(const char *a, const char *b)
{
	const size_t there = distance_between(a, strlen(a), b, strlen(b));

	assert_int_equal(there, distance_between(b, strlen(b), a, strlen(a)));
	return there;
}

static void distance__edits(void **state)
{
	assert_int_equal(between("", ""), 0);
	assert_int_equal(between("", "abc"), 3);
	assert_int_equal(between("memory", "memory"), 0);
	assert_int_equal(between("memroy", "memory"), 2);
	assert_int_equal(between("parnt", "parent"), 1);
	assert_int_equal(between("kitten", "sitting"), 3);
}

/* Only the first DISTANCE_BYTES_MAX bytes count; no access leaves the row. */
static void distance__long(void **state)
{
	char a[4 * DISTANCE_BYTES_MAX], b[4 * DISTANCE_BYTES_MAX];

	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	assert_int_equal(distance_between(a, sizeof(a), b, sizeof(b)), DISTANCE_BYTES_MAX);
	assert_int_equal(distance_between(a, sizeof(a), a, DISTANCE_BYTES_MAX), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(distance__edits),
		cmocka_unit_test(distance__long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
