/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests judge files: names, values, every rejection; and the table that they fill in. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/check.h"
#include "model/net_rows.h"
#include "model/published.h"

static struct model_judge read_text(const char *text)
{
	struct model_judge j;

	if (model_judge_read(text, strlen(text), &j) != DXP_OK)
		fail_msg("%s", error_text());
	return j;
}

static void judge__reads_lines(void **state)
{
	struct model_judge j = read_text("# values\n\n"
					 "latency NAP-imm  64 \t 1300.5 # ns\r\n"
					 "knee 4x2 0.45\n"
					 "data - 1e3");

	assert_int_equal(j.count, 3);
	assert_string_equal(j.lines[0].quantity, "latency NAP-imm");
	assert_string_equal(j.lines[0].x, "64");
	assert_true(j.lines[0].value == 1300.5);
	assert_int_equal(j.lines[1].line, 4);
	assert_string_equal(j.lines[2].x, "");
	assert_true(j.lines[2].value == 1000);
	model_judge_destroy(&j);
}

static void judge__names_match_loosely(void **state)
{
	const struct model_row row = {.quantity = "latency NAP-imm", .x = "64"};
	struct model_judge j = read_text("Latency_nap_imm 64 5\n");

	assert_true(model_judge_find(&j, &row) == 5);
	assert_int_equal(model_judge_unused(&j), DXP_OK);
	model_judge_destroy(&j);
	assert_false(model_name_same("knee", "knees"));
	assert_false(model_name_same("knees", "knee"));
}

static void judge__rejects(void **state)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{"latency\n", "line 1: expected QUANTITY X VALUE"},
		{"\n64 5\n", "line 2: expected QUANTITY X VALUE"},
		{"latency PUT 64 fast\n", "line 1: the value"},
		{"latency PUT 64 -5\n", "line 1: the value"},
		{"latency PUT 64 0x10\n", "line 1: the value"},
		{"latency PUT 64 inf\n", "line 1: the value"},
		{"latency PUT 64 nan\n", "line 1: the value"},
		{"latency PUT 64 1e999\n", "line 1: the value"},
		{"latency PUT 64 1.2.3\n", "line 1: the value"},
		{"a 1 1\nb 1 1\nA 1 2\n", "line 3: line 1 has the same name"},
		{"", "no line has a value"},
		{"# latency PUT 64 5\n\n", "no line has a value"},
		{"a\001b 1 1\n", "line 1: has a byte"},
		{"a 12345678901234567890123456789012345678901234567890 1\n", "too long"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct model_judge j;
		assert_int_equal(model_judge_read(cases[i].text, strlen(cases[i].text), &j),
				 DXP_EINVAL);
		if (!strstr(error_text(), cases[i].reason))
			fail_msg("'%s': no '%s' in '%s'", cases[i].text, cases[i].reason,
				 error_text());
	}
}

static void judge__rejects_too_many_lines(void **state)
{
	static char text[(MODEL_JUDGE_LINES + 1) * 16];
	struct model_judge j;
	size_t at = 0;

	for (int i = 0; i <= MODEL_JUDGE_LINES; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "a %d 1\n", i);
	assert_int_equal(model_judge_read(text, at, &j), DXP_EINVAL);
	assert_non_null(strstr(error_text(), "more than"));
}

static void judge__cases_of_allreduce(void **state)
{
	struct model_judge j = read_text("allreduce host 9x32x64 12.5\nallreduce host 9x32 1\n"
					 "latency PUT 1 1\nallreduce node 4x8x4 0\n");
	struct model_allreduce of;
	double us;

	assert_int_equal(model_judged_case(&j.lines[0], &of, &us), DXP_OK);
	assert_int_equal(of.way, MODEL_WAY_HOST);
	assert_int_equal(of.hosts, 9);
	assert_int_equal(of.ranks, 32);
	assert_int_equal(of.bytes, 64);
	assert_true(us == 12.5);
	for (int i = 1; i < 4; i++)
		assert_int_equal(model_judged_case(&j.lines[i], &of, &us), DXP_EINVAL);
	model_judge_destroy(&j);
}

/* ---- the table ---- */

struct table {
	unsigned rows, with_value;
};

static void table_row(void *context, const struct model_row *row)
{
	struct table *t = context;

	t->rows++;
	t->with_value += !isnan(row->published);
}

static int tags_rows(const struct model_parameters *p, uint64_t seed, const struct model_sink *sink)
{
	return model_tags_rows(p, sink);
}

static int loggp_rows(const struct model_parameters *p, uint64_t seed,
		      const struct model_sink *sink)
{
	return model_loggp_rows(p, sink);
}

static int withheld_rows(const struct model_parameters *p, uint64_t seed,
			 const struct model_sink *sink)
{
	const struct model_row row = {.item = "C-42",
				      .quantity = "latency PUT",
				      .x = "64",
				      .unit = "ns",
				      .value = 1900,
				      .published = NAN,
				      .kind = MODEL_WITHHELD,
				      .assumptions = ""};

	model_emit(sink, &row);
	return DXP_OK;
}

static const struct model_check_part parts[] = {
	{"C-35", tags_rows}, {"C-06 C-07", loggp_rows}, {"C-42", withheld_rows}};

static struct model_check check(struct model_judge *j, const char *only, int64_t hop_ns,
				struct table *t)
{
	const struct model_sink sink = {table_row, t};
	struct model_check c = {.sink = &sink, .judge = j, .only = only};
	struct model_parameters p;

	model_parameters_default(&p);
	p.hop_ns = hop_ns;
	if (model_check_run(&c, parts, ARRAY_COUNT(parts), &p, 1) != DXP_OK)
		fail_msg("%s", error_text());
	return c;
}

static void check__given_rows_are_exact(void **state)
{
	struct table t = {0};
	struct model_check c = check(NULL, NULL, 240, &t);

	assert_int_equal(c.out_of_tolerance, 0);
	assert_int_equal(c.given, 4 + 25 + 1);
	assert_int_equal(c.shapes_failed, 0);
}

/* A cost that moves a row moves it out of tolerance. */
static void check__a_wrong_constant_is_found(void **state)
{
	struct table t = {0};
	struct model_check c = check(NULL, "C-07", 241, &t);

	assert_int_equal(c.out_of_tolerance, 25);
	assert_int_equal(t.rows, 25);
}

static void check__a_judge_fills_in(void **state)
{
	struct model_judge j = read_text("latency put 64 2000\n");
	struct table without = {0}, with = {0};

	check(NULL, NULL, 240, &without);
	struct model_check c = check(&j, NULL, 240, &with);
	assert_int_equal(with.rows, without.rows);
	assert_int_equal(with.with_value, without.with_value + 1);
	assert_int_equal(c.judged, 1);
	assert_true(fabs(c.judged_error - 5) < 1e-9);
	model_judge_destroy(&j);
}

static void check__an_unknown_name_is_rejected(void **state)
{
	struct model_judge j = read_text("latency put 65 2000\n");
	struct table t = {0};
	const struct model_sink sink = {table_row, &t};
	struct model_check c = {.sink = &sink, .judge = &j};
	struct model_parameters p;

	model_parameters_default(&p);
	assert_int_equal(model_check_run(&c, parts, ARRAY_COUNT(parts), &p, 1), DXP_EINVAL);
	assert_non_null(strstr(error_text(), "line 1: there is no row 'latency put' at x '65'"));
	model_judge_destroy(&j);
	c = (struct model_check){.sink = &sink, .only = "Q-99"};
	assert_int_equal(model_check_run(&c, parts, ARRAY_COUNT(parts), &p, 1), DXP_EINVAL);
}

static double guess(void *context, const struct model_allreduce *of)
{
	return of->way == MODEL_WAY_NODE ? 1 : 2;
}

static void check__counts_winners(void **state)
{
	struct model_judge j = read_text("allreduce host 4x8x4 3\nallreduce node 4x8x4 2\n"
					 "allreduce socket 4x8x4 4\nallreduce host 9x8x4 3\n"
					 "allreduce node 9x8x4 4\nallreduce socket 9x8x4 5\n"
					 "allreduce host 16x8x4 3\n");
	unsigned cases, right;

	model_check_winners(&j, guess, NULL, &cases, &right);
	assert_int_equal(cases, 2);
	assert_int_equal(right, 1);
	model_judge_destroy(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judge__reads_lines),
		cmocka_unit_test(judge__names_match_loosely),
		cmocka_unit_test(judge__rejects),
		cmocka_unit_test(judge__rejects_too_many_lines),
		cmocka_unit_test(judge__cases_of_allreduce),
		cmocka_unit_test(check__given_rows_are_exact),
		cmocka_unit_test(check__a_wrong_constant_is_found),
		cmocka_unit_test(check__a_judge_fills_in),
		cmocka_unit_test(check__an_unknown_name_is_rejected),
		cmocka_unit_test(check__counts_winners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
