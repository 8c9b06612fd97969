/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the verdicts of `dxp paths` and of the page Paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "cmd/dxp/paths.h"

static const struct node_entry node = {.name = "a"};

/* A node with five paths: good, blocked, lossy, slow, short. */
static struct stats_path rows[] = {
	{.peer = "good", .state = STATS_PATH_OPEN, .sent = 64, .answered = 64},
	{.peer = "blocked",
	 .state = STATS_PATH_BLOCKED,
	 .sent = 64,
	 .answered = 60,
	 .age_ns = 9 * S_NS},
	{.peer = "lossy", .state = STATS_PATH_OPEN, .sent = 60, .answered = 56},
	{.peer = "slow", .state = STATS_PATH_OPEN, .sent = 64, .answered = 64},
	{.peer = "short", .state = STATS_PATH_OPEN, .sent = 64, .answered = 61},
};

static void paths_judge__verdicts(void **state)
{
	static const char *const expected[] = {NULL, "blocked", "lossy", "slow", "short"};
	static const char *const texts[] = {"", "9 s old", "4 of the last 60", "2000 us",
					    "1500 bytes"};
	struct stats_view view = {.paths = rows, .path_count = ARRAY_COUNT(rows)};
	struct paths p = {.nodes = &node, .count = 1, .list = {.count = 1, .views = &view}};
	char text[PATH_TEXT_BYTES];

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		rows[i].min_rtt_ns = (i == 3 ? 2000 : 100) * US_NS;
		rows[i].answered_bytes = rows[i].limit_bytes = 1472;
	}
	rows[4].limit_bytes = 8952;
	assert_true(paths_judge(&p));
	assert_int_equal(p.median_ns, 100 * US_NS);
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		const char *verdict = paths_verdict(&p, &rows[i]);
		paths_trouble(&p, &rows[i], text, sizeof(text));
		assert_non_null(strstr(text, texts[i]));
		if (expected[i])
			assert_string_equal(verdict, expected[i]);
		else
			assert_null(verdict);
	}
	json_t *json = paths_json(&p);
	const json_t *paths = json_object_get(json, "paths");
	assert_int_equal(json_array_size(paths), ARRAY_COUNT(rows));
	assert_null(json_object_get(json_array_get(paths, 0), "verdict"));
	assert_string_equal(json_string_value(json_object_get(json_array_get(paths, 3), "verdict")),
			    "slow");
	json_decref(json);
}

/* One of two paths is slow. The event log uses the same median. */
static void paths_judge__one_of_two(void **state)
{
	struct stats_path two[] = {rows[0], rows[3]};
	struct stats_view view = {.paths = two, .path_count = ARRAY_COUNT(two)};
	struct paths p = {.nodes = &node, .count = 1, .list = {.count = 1, .views = &view}};

	two[0].min_rtt_ns = 100 * US_NS;
	two[1].min_rtt_ns = 2000 * US_NS;
	assert_true(paths_judge(&p));
	assert_int_equal(p.median_ns, 100 * US_NS);
	assert_null(paths_verdict(&p, &two[0]));
	assert_string_equal(paths_verdict(&p, &two[1]), "slow");
	view.path_count = 0;
	assert_true(paths_judge(&p));
	assert_int_equal(p.median_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_judge__verdicts),
		cmocka_unit_test(paths_judge__one_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
