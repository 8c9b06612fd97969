/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares sets of byte ranges with an array of bytes, with and without memory for more ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/ranges.h"
#include "base/rng.h"

#define BYTES  64
#define ROUNDS 20000

static bool no_memory;

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_realloc(void *old, size_t bytes)
{
	return no_memory ? NULL : __real_realloc(old, bytes);
}

/* ranges_next must return the same. */
static bool next(const bool map[BYTES], uint64_t start, uint64_t end, struct range *out)
{
	while (start < end && !map[start])
		start++;
	if (start >= end)
		return false;
	*out = (struct range){start, start};
	while (out->end < end && map[out->end])
		out->end++;
	return true;
}

static void same(const struct ranges *r, const bool map[BYTES])
{
	struct range whole;
	uint64_t start = 0;
	uint32_t count = 0;

	for (; next(map, start, BYTES, &whole); start = whole.end) {
		/* neighbours must be merged */
		assert_true(count < r->count);
		assert_memory_equal(&r->at[count++], &whole, sizeof whole);
	}
	assert_int_equal(r->count, count);
}

static void ranges_query(const struct ranges *r, const bool map[BYTES], uint64_t start,
			 uint64_t end)
{
	struct range got = {7, 7}, want = {7, 7};
	bool some = next(map, start, end, &want);

	assert_int_equal(ranges_next(r, start, end, &got), some);
	assert_memory_equal(&got, &want, sizeof got);
	assert_int_equal(ranges_has(r, start, end),
			 start >= end || (some && want.start == start && want.end == end));
}

static void by_chance(struct rng *rng, uint64_t *start, uint64_t *end)
{
	*start = rng_next(rng) % BYTES;
	*end = *start + rng_next(rng) % 9;
	if (*end > BYTES)
		*end = BYTES;
}

static void ranges__as_a_map(void **state)
{
	struct rng rng = {5};
	struct ranges r = {0};
	bool map[BYTES] = {false};
	uint64_t start, end;

	for (int round = 0; round < ROUNDS; round++) {
		by_chance(&rng, &start, &end);
		bool add = rng_next(&rng) % 2;
		assert_true(add ? ranges_add(&r, start, end) : ranges_remove(&r, start, end));
		for (uint64_t i = start; i < end; i++)
			map[i] = add;
		same(&r, map);
		by_chance(&rng, &start, &end);
		ranges_query(&r, map, start, end);
		ranges_query(&r, map, end, start);
	}
	ranges_free(&r);
}

/* A failed change changes nothing; one that adds no range, or a reserved one, needs no memory. */
static void ranges__without_memory(void **state)
{
	struct rng rng = {6};
	struct ranges r = {0};
	bool map[BYTES] = {false};
	uint32_t refused = 0;
	uint64_t start, end;

	for (int round = 0; round < ROUNDS; round++) {
		by_chance(&rng, &start, &end);
		bool add = rng_next(&rng) % 2, reserved = rng_next(&rng) % 64 == 0;
		bool full = r.count == r.space;
		if (round % 256 == 0)
			ranges_free(&r), memset(map, 0, sizeof map), full = true;
		assert_true(!reserved || ranges_reserve(&r, 1));
		no_memory = true;
		bool done = add ? ranges_add(&r, start, end) : ranges_remove(&r, start, end);
		assert_true(done || (full && !reserved));
		refused += !done;
		for (uint64_t i = start; done && i < end; i++)
			map[i] = add;
		same(&r, map);
		no_memory = false;
	}
	assert_true(refused > 100);
	ranges_free(&r);
}

static void ranges__at_the_ends(void **state)
{
	struct ranges r = {0};
	struct range x;

	assert_true(ranges_add(&r, 0, UINT64_MAX));
	assert_true(ranges_has(&r, 0, UINT64_MAX));
	assert_true(ranges_remove(&r, 1, UINT64_MAX - 1));
	assert_true(ranges_next(&r, 1, UINT64_MAX, &x));
	assert_true(x.start == UINT64_MAX - 1 && x.end == UINT64_MAX);
	assert_false(ranges_next(&r, 1, UINT64_MAX - 1, &x));
	assert_true(ranges_next(&r, 0, UINT64_MAX, &x));
	assert_true(x.start == 0 && x.end == 1);
	ranges_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges__as_a_map),
		cmocka_unit_test(ranges__without_memory),
		cmocka_unit_test(ranges__at_the_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
