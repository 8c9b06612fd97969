/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how the bridge chooses by measurement how to cut a transfer, with times that the test
 * sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/util.h"
#include "bridge/choice.h"
#include "bridge/cut.h"
#include "bridge/limits.h"

#define KIB 1024ull
#define MIB (1024 * KIB)
#define ALL ((1u << CHOICE_WAYS) - 1)

/* Way w takes ns[w] nanoseconds. */
struct machine {
	uint64_t ns[CHOICE_WAYS];
	uint32_t disturbed; /* one in this many takes ten times as long; 0: none */
	struct rng random;
};

static uint64_t transfer(struct choice *c, struct machine *m, uint64_t bytes, uint32_t ways,
			 uint32_t counts[CHOICE_WAYS])
{
	enum choice_way way = choice_next(c, BRIDGE_IN, bytes, ways);
	uint64_t ns = m->ns[way];

	assert_true(ways >> way & 1);
	counts[way]++;
	if (m->disturbed && rng_below(&m->random, m->disturbed) == 0)
		choice_note(c, BRIDGE_IN, bytes, way, 10 * ns);
	else
		choice_note(c, BRIDGE_IN, bytes, way, ns);
	return ns;
}

/* Returns the ratio of the time to that of the fastest way. */
static double times_best(struct choice *c, struct machine *m, uint64_t bytes, uint32_t count)
{
	uint32_t counts[CHOICE_WAYS] = {0};
	uint64_t sum = 0, best = UINT64_MAX;

	for (int w = 0; w < CHOICE_WAYS; w++)
		best = min_u64(best, m->ns[w]);
	for (uint32_t i = 0; i < count; i++)
		sum += transfer(c, m, bytes, ALL, counts);
	return (double)sum / (double)(count * best);
}

static void choice__first_by_the_formula(void **state)
{
	static struct choice c;

	for (uint64_t bytes = CHOICE_BYTES_MIN; choice_covers(bytes); bytes *= 2)
		assert_int_equal(choice_next(&c, BRIDGE_OUT, bytes, ALL), CHOICE_RAMP);
	assert_false(choice_covers(CHOICE_BYTES_MIN - 1));
	assert_true(choice_covers(128 * MIB - 1));
	assert_false(choice_covers(128 * MIB));
	assert_false(choice_covers(UINT64_MAX));
}

/* The search finds the fastest way of each machine, and costs little time. */
static void choice__finds_the_fastest(void **state)
{
	for (int best = 0; best < CHOICE_WAYS; best++) {
		struct choice c = {0};
		struct machine m = {.ns = {90000, 80000, 70000, 60000}};
		m.ns[best] = 40000;
		assert_true(times_best(&c, &m, 64 * KIB, 16) < 1.8);
		assert_true(times_best(&c, &m, 64 * KIB, 640) < 1.03);
	}
}

static void choice__despite_disturbances(void **state)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct choice c = {0};
		struct machine m = {
			.ns = {90000, 80000, 60000, 70000}, .disturbed = 5, .random = {seed}};
		times_best(&c, &m, MIB, 256);
		assert_true(times_best(&c, &m, MIB, 640) < 1.08);
	}
}

/* The choice follows a change of the fastest way, and the change back. */
static void choice__follows_changes(void **state)
{
	struct choice c = {0};
	struct machine idle = {.ns = {50000, 60000, 70000, 100000}};
	struct machine loaded = {.ns = {200000, 150000, 120000, 110000}};

	for (int i = 0; i < 3; i++) {
		times_best(&c, &idle, MIB, 2000);
		assert_true(times_best(&c, &idle, MIB, 640) < 1.03);
		times_best(&c, &loaded, MIB, 2000);
		assert_true(times_best(&c, &loaded, MIB, 640) < 1.12);
	}
}

/* Under load, times of a way vary by a factor of three, and ways differ by 8 %. */
static void choice__no_slower_than_sequential_under_load(void **state)
{
	static const uint32_t masks[] = {1u << CHOICE_RAMP | 1u << CHOICE_BUFFERS, ALL};
	uint64_t sum = 0, sequential = 0;

	for (uint64_t seed = 1; seed <= 50; seed++)
		for (size_t k = 0; k < ARRAY_COUNT(masks); k++) {
			const int last = masks[k] == ALL ? CHOICE_SEQUENTIAL : CHOICE_BUFFERS;
			struct rng random = {seed};
			struct choice c = {0};
			struct machine m = {0};
			uint32_t counts[CHOICE_WAYS] = {0};
			for (int i = 0; i < 2000; i++) {
				uint64_t load = rng_below(&random, 100);
				for (int w = 0; w < CHOICE_WAYS; w++)
					m.ns[w] = (w == last ? 10 : 11) * (10000 + 2 * load * load);
				sum += transfer(&c, &m, 64 * KIB, masks[k], counts);
				sequential += m.ns[last];
			}
		}
	print_message("%.2f %% more time\n", 100 * ((double)sum / (double)sequential - 1));
	assert_true((double)sum < 1.015 * (double)sequential);
}

/* Transfers too short to be timed are one piece. */
static void choice__several_pieces_are_timed(void **state)
{
	for (uint64_t bytes = 1; bytes < CHOICE_BYTES_MIN; bytes++) {
		struct cut cut;
		cut_chosen(&cut, bytes, BRIDGE_BUFFER_MAX);
		assert_int_equal(cut_next(&cut, 0), bytes);
	}
}

static void choice__by_class_and_path(void **state)
{
	struct choice c = {0};
	struct machine m = {.ns = {90000, 90000, 40000, 90000}};

	times_best(&c, &m, 64 * KIB, 100);
	assert_int_equal(choice_next(&c, BRIDGE_IN, 128 * KIB - 1, ALL), CHOICE_BUFFERS);
	assert_int_equal(choice_next(&c, BRIDGE_IN, 128 * KIB, ALL), CHOICE_RAMP);
	assert_int_equal(choice_next(&c, BRIDGE_IN, 64 * KIB - 1, ALL), CHOICE_RAMP);
	assert_int_equal(choice_next(&c, BRIDGE_OUT, 64 * KIB, ALL), CHOICE_RAMP);
}

/* A way that cuts exactly as another does is left out. */
static void choice__only_ways_that_differ(void **state)
{
	const uint32_t ways = 1u << CHOICE_RAMP | 1u << CHOICE_BUFFERS;
	struct choice c = {0};
	struct machine m = {.ns = {80000, 1, 95000, 1}};
	uint32_t counts[CHOICE_WAYS] = {0};

	for (int i = 0; i < 500; i++)
		transfer(&c, &m, MIB, ways, counts);
	assert_int_equal(counts[CHOICE_COARSE] + counts[CHOICE_SEQUENTIAL], 0);
	assert_in_range(counts[CHOICE_BUFFERS], 3, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choice__first_by_the_formula),
		cmocka_unit_test(choice__finds_the_fastest),
		cmocka_unit_test(choice__despite_disturbances),
		cmocka_unit_test(choice__follows_changes),
		cmocka_unit_test(choice__no_slower_than_sequential_under_load),
		cmocka_unit_test(choice__several_pieces_are_timed),
		cmocka_unit_test(choice__by_class_and_path),
		cmocka_unit_test(choice__only_ways_that_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
