/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how `dxp job` chooses the xPUs of a job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "cmd/dxp/job_choice.h"

static const struct node_entry nodes[] = {
	{.kind = MANAGE_XPU, .alive = true, .name = "a", .engine = "ocl", .memory_bytes = 100},
	{.kind = MANAGE_XPU, .alive = true, .name = "b", .engine = "ocl", .memory_bytes = 200},
	{.kind = MANAGE_XPU, .alive = false, .name = "dead", .engine = "ocl", .memory_bytes = 200},
	{.kind = MANAGE_HOST, .alive = true, .name = "host"},
	{.kind = MANAGE_XPU, .alive = true, .name = "c", .engine = "cuda", .memory_bytes = 200},
};

static void choose(const struct grants_row *grants, size_t count, const struct job_wish *wish,
		   uint64_t start, struct job_choice *out)
{
	const struct job_fabric f = {nodes, ARRAY_COUNT(nodes), grants, count};

	job_choose(&f, "own", wish, start, out);
}

static void job_choose__fits_the_wish(void **state)
{
	static const struct {
		struct job_wish wish;
		size_t fitting, count;
		const char *first;
	} rows[] = {
		{{.count = 1}, 3, 1, "a"},
		{{.count = 3}, 3, 3, "a"},
		{{.count = 4}, 3, 3, "a"},
		{{.count = 1, .engine = "cuda"}, 1, 1, "c"},
		{{.count = 1, .engine = "rv32"}, 0, 0, ""},
		{{.count = 2, .memory = 200}, 2, 2, "b"},
		{{.count = 1, .memory = 201}, 0, 0, ""},
		{{.count = 2, .engine = "ocl", .memory = 101}, 1, 1, "b"},
	};
	struct job_choice choice;

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		choose(NULL, 0, &rows[i].wish, 0, &choice);
		assert_int_equal(choice.fitting, rows[i].fitting);
		assert_int_equal(choice.vacant, rows[i].fitting);
		assert_int_equal(choice.count, rows[i].count);
		assert_string_equal(choice.names[0], rows[i].first);
	}
}

/* A grant that names an xPU holds it, also one for '*'. Own grants, and grants of '*', do not. */
static void job_choose__respects_holders(void **state)
{
	static const struct grants_row grants[] = {
		{"other", "a"}, {"operator", "*"}, {"own", "b"}, {"*", "c"}};
	const struct job_wish wish = {.count = 3};
	struct job_choice choice;

	choose(grants, ARRAY_COUNT(grants), &wish, 0, &choice);
	assert_int_equal(choice.fitting, 3);
	assert_int_equal(choice.vacant, 1);
	assert_int_equal(choice.count, 1);
	assert_string_equal(choice.names[0], "b");
	assert_string_equal(choice.holder, "*");
}

/* Each start yields different xPUs, and each xPU at most once. */
static void job_choose__starts_anywhere(void **state)
{
	const struct job_wish wish = {.count = 2};
	struct job_choice choice;

	choose(NULL, 0, &wish, 1, &choice);
	assert_string_equal(choice.names[0], "b");
	assert_string_equal(choice.names[1], "c");
	choose(NULL, 0, &wish, UINT64_MAX - UINT64_MAX % 5 - 1, &choice);
	assert_string_equal(choice.names[0], "c");
	assert_string_equal(choice.names[1], "a");
}

static void job_choose__without_nodes(void **state)
{
	const struct job_fabric f = {0};
	const struct job_wish wish = {.count = 1};
	struct job_choice choice;

	job_choose(&f, "own", &wish, 7, &choice);
	assert_int_equal(choice.fitting, 0);
	assert_int_equal(choice.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(job_choose__fits_the_wish),
		cmocka_unit_test(job_choose__respects_holders),
		cmocka_unit_test(job_choose__starts_anywhere),
		cmocka_unit_test(job_choose__without_nodes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
