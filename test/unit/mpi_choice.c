/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the choice between switches and ordinary MPI: order of timed calls, outliers, near ways,
 * intervals, size classes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugins/mpi/choice.h"

/* Each way takes a constant time. Returns the calls by ordinary MPI. */
static unsigned measure(struct choice *c, int64_t switches_ns, int64_t ordinary_ns, int64_t calls)
{
	unsigned ordinary = 0;

	for (unsigned i = 0; i < CHOICE_CALLS; i++) {
		struct choice_call call = choice_begin(c);

		assert_true(call.timed);
		ordinary += call.ordinary;
		assert_int_equal(choice_record(c, call.ordinary ? ordinary_ns : switches_ns),
				 i == CHOICE_CALLS - 1);
	}
	choice_decide(c, c->ns, calls);
	return ordinary;
}

/* Calls until the next measurement; all use the chosen way. */
static int64_t untimed(struct choice *c)
{
	int64_t count = 0;

	while (c->wait > 0) {
		struct choice_call call = choice_begin(c);

		assert_false(call.timed);
		assert_int_equal(call.ordinary, c->ordinary);
		count++;
	}
	return count;
}

static void choice__faster_way(void **state)
{
	struct choice c = {0};

	assert_int_equal(measure(&c, 100, 300, 50), CHOICE_ROUNDS);
	assert_true(c.known);
	assert_false(c.ordinary);
	assert_int_equal(untimed(&c), 50);
	measure(&c, 300, 100, 50);
	assert_true(c.ordinary);
	assert_int_equal(c.switches_ns, 300);
	assert_int_equal(c.ordinary_ns, 100);
	untimed(&c);
	measure(&c, 100, 300, 50);
	assert_false(c.ordinary);
}

/* Below a tenth, the choice stays. */
static void choice__near(void **state)
{
	struct choice c = {0};

	measure(&c, 1000, 901, 1);
	assert_false(c.ordinary);
	untimed(&c);
	measure(&c, 1000, 899, 1);
	assert_true(c.ordinary);
	untimed(&c);
	measure(&c, 901, 1000, 1);
	assert_true(c.ordinary);
	untimed(&c);
	measure(&c, 899, 1000, 1);
	assert_false(c.ordinary);
}

static void choice__interval(void **state)
{
	struct choice c = {0};
	int64_t expected = 10;

	for (int i = 0; i < 8; i++) {
		measure(&c, 100, 300, 10);
		assert_int_equal(untimed(&c), expected);
		expected = expected < 10 * CHOICE_INTERVALS ? 2 * expected : expected;
	}
	measure(&c, 300, 100, 10);
	assert_int_equal(untimed(&c), 10);
}

/* Any two very slow calls do not affect the choice. */
static void choice__outliers(void **state)
{
	for (unsigned first = 0; first < CHOICE_CALLS; first++)
		for (unsigned second = 0; second < CHOICE_CALLS; second++) {
			struct choice c = {0};

			for (unsigned i = 0; i < CHOICE_CALLS; i++) {
				int64_t ns = choice_begin(&c).ordinary ? 200 : 100;

				choice_record(&c, i == first || i == second ? 1000000 : ns);
			}
			choice_decide(&c, c.ns, 5);
			assert_false(c.ordinary);
			assert_int_equal(c.switches_ns, 100);
			assert_int_equal(c.ordinary_ns, 200);
		}
}

/* Each way is timed with both lengths, so they give no preference. */
static void choice__two_lengths(void **state)
{
	unsigned longer[2] = {0};
	struct choice c = {0};

	for (unsigned i = 0; i < CHOICE_CALLS; i++) {
		longer[choice_begin(&c).ordinary] += i % 2;
		choice_record(&c, 1);
	}
	assert_in_range(longer[0], 2, 3);
	assert_in_range(longer[1], 2, 3);
}

/* After a spoilt measurement, the choice stays and the shortest interval follows. */
static void choice__useless(void **state)
{
	struct choice c = {0};

	for (unsigned i = 0; i < CHOICE_CALLS; i++)
		choice_record(&c, choice_begin(&c).ordinary ? 1 : 1000);
	c.spoilt = true;
	choice_decide(&c, NULL, 30);
	assert_false(c.ordinary);
	assert_false(c.known);
	assert_false(c.spoilt);
	assert_int_equal(untimed(&c), 30);
	measure(&c, 1000, 1, 30);
	assert_true(c.ordinary);
}

static void choice__classes(void **state)
{
	assert_int_equal(choice_class(0), 0);
	assert_int_equal(choice_class(256), 0);
	assert_int_equal(choice_class(257), 1);
	assert_int_equal(choice_class(512), 1);
	assert_int_equal(choice_class(513), 2);
	assert_int_equal(choice_class(65536), 8);
	assert_int_equal(choice_class(1u << 31), CHOICE_CLASSES - 1);
	assert_int_equal(choice_class(SIZE_MAX), CHOICE_CLASSES - 1);
	for (unsigned class = 0; class < CHOICE_CLASSES; class ++)
		assert_int_equal(choice_class(choice_class_bytes(class)), class);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choice__faster_way),  cmocka_unit_test(choice__near),
		cmocka_unit_test(choice__interval),    cmocka_unit_test(choice__outliers),
		cmocka_unit_test(choice__two_lengths), cmocka_unit_test(choice__useless),
		cmocka_unit_test(choice__classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
