/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the table of a host's programs: thousands of ids in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/util.h"
#include "xpu/programs.h"

enum { COUNT = 20000 };

static struct program_entry entries[COUNT];

/* Forwards and backwards, in the order of adding. */
static void order_is_kept(const struct programs *p)
{
	uint32_t count = 0, last = 0;

	for (const struct program_entry *e = p->oldest; e; e = e->newer) {
		assert_true(e->id > last);
		assert_ptr_equal(e->newer ? e->newer->older : p->newest, e->newer ? e : p->newest);
		last = e->id;
		count++;
	}
	assert_int_equal(count, p->count);
	assert_true(!p->newest || p->newest->id == last);
}

static void fill(struct programs *p)
{
	for (uint32_t i = 0; i < COUNT; i++) {
		entries[i] = (struct program_entry){.id = i + 1};
		programs_add(p, &entries[i]);
	}
}

static void programs__thousands_are_found(void **state)
{
	struct programs p = {0};

	assert_null(programs_find(&p, 1));
	fill(&p);
	assert_int_equal(p.count, COUNT);
	for (uint32_t i = 0; i < COUNT; i++)
		assert_ptr_equal(programs_find(&p, i + 1), &entries[i]);
	assert_null(programs_find(&p, 0));
	assert_null(programs_find(&p, COUNT + 1));
	order_is_kept(&p);
	programs_clear(&p);
}

/* Chains stay short, so other programs do not slow down a launch. */
static void programs__chains_stay_short(void **state)
{
	struct programs p = {0};
	uint32_t longest = 0;

	fill(&p);
	for (uint32_t i = 0; i < p.bucket_count; i++) {
		uint32_t length = 0;
		for (const struct program_entry *e = p.buckets[i]; e; e = e->chain)
			length++;
		longest = length > longest ? length : longest;
	}
	assert_in_range(longest, 1, 2);
	programs_clear(&p);
}

static void programs__removed_in_any_order(void **state)
{
	struct programs p = {0};
	struct rng rng = {7};
	uint32_t left = COUNT;

	fill(&p);
	while (left > 0) {
		uint32_t i = (uint32_t)rng_below(&rng, COUNT);
		while (!programs_find(&p, i + 1))
			i = (i + 1) % COUNT;
		programs_remove(&p, &entries[i]);
		assert_null(programs_find(&p, i + 1));
		left--;
		if (left % 4096 == 0 || left < 8)
			order_is_kept(&p);
	}
	assert_null(p.newest);
	assert_null(p.oldest);
	programs_clear(&p);
}

static void programs__few_need_no_memory(void **state)
{
	struct programs p = {0};

	for (uint32_t i = 0; i < 2 * PROGRAMS_FEW; i++) {
		entries[i] = (struct program_entry){.id = i + 1};
		programs_add(&p, &entries[i]);
	}
	assert_null(p.buckets);
	for (uint32_t i = 0; i < 2 * PROGRAMS_FEW; i++)
		programs_remove(&p, &entries[i]);
	order_is_kept(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs__thousands_are_found),
		cmocka_unit_test(programs__chains_stay_short),
		cmocka_unit_test(programs__removed_in_any_order),
		cmocka_unit_test(programs__few_need_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
