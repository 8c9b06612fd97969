/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of ranges beside a map of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "xpu/spans.h"

#define BYTES 64

static void same(const struct spans *s, const bool map[BYTES])
{
	uint32_t count = 0;

	for (uint64_t i = 0; i < BYTES; i++) {
		const struct span *span = spans_from(s, i);
		assert_int_equal(span && span->from <= i, map[i]);
		count += map[i] && (i == 0 || !map[i - 1]);
	}
	assert_int_equal(s->count, count); /* neighbours have become one */
}

static void spans__as_a_map(void **state)
{
	struct rng r = {5};
	struct spans s = {0};
	bool map[BYTES] = {false};

	for (int round = 0; round < 20000; round++) {
		uint64_t from = rng_next(&r) % BYTES, end = from + rng_next(&r) % 9;
		bool add = rng_next(&r) % 2;
		end = end > BYTES ? BYTES : end;
		assert_true(add ? spans_add(&s, from, end) : spans_remove(&s, from, end));
		for (uint64_t i = from; i < end; i++)
			map[i] = add;
		same(&s, map);
	}
	spans_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans__as_a_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
