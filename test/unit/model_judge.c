/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests judge files of measured values: names, values, rejections, and the table. */
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
	assert_int_equal(model_judge_unused(&j, false), DXP_OK);
	model_judge_destroy(&j);
	assert_false(model_name_same("knee", "", "knees", ""));
	assert_false(model_name_same("knees", "", "knee", ""));
}

/* Spellings of name, size and unit vary. */
static void judge__spellings(void **state)
{
	static const struct {
		const char *line, *quantity, *x, *unit;
		double value;
	} cases[] = {
		{"latency PUT 1024 1.9us", "latency PUT", "1024", "ns", 1900},
		{"Latency  put 1K 1.9 us", "latency PUT", "1024", "ns", 1900},
		{"latency_nap-imm 2KiB 2 us", "latency NAP-imm", "2048", "ns", 2000},
		{"latency NAP imm 64 B 1300 ns", "latency NAP-imm", "64", "ns", 1300},
		{"latency GET 64B 1300", "latency GET", "64", "ns", 1300},
		{"bandwidth PUT 1M 3.1GB/s", "bandwidth PUT", "1048576", "MB/s", 3100},
		{"bandwidth PUT 1 MiB 3.1 GB/s", "bandwidth PUT", "1048576", "MB/s", 3100},
		{"knee 4 x 2 62%", "knee", "4x2", "share", 0.62},
		{"KNEE 4X2 0.62", "knee", "4x2", "share", 0.62},
		{"allreduce host 9 x 32 x 64 17.2", "allreduce host", "9x32x64", "us", 17.2},
		{"allreduce-socket 9x32x64 17200ns", "allreduce socket", "9x32x64", "us", 17.2},
		{"level message 6e6 cycles", "level", "message", "cycles", 6e6},
		{"parts of PUT 1 B host store 38", "parts of PUT 1 B", "host store", "cycles", 38},
		{"parts of PUT 1 B\thost-store\t38", "parts of PUT 1 B", "host store", "cycles",
		 38},
		{"loss go-back-N NAK 1% 0.5", "loss go-back-N, NAK", "1%", "Gb/s", 0.5},
		{"GET below PUT 1", "GET below PUT", "", "", 1},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct model_judge j = read_text(cases[i].line);
		struct model_row row = {.quantity = cases[i].quantity, .unit = cases[i].unit};
		snprintf(row.x, sizeof(row.x), "%s", cases[i].x);
		double value = model_judge_find(&j, &row);
		if (!(fabs(value / cases[i].value - 1) < 1e-9))
			fail_msg("'%s' is %g", cases[i].line, value);
		assert_int_equal(model_judge_unused(&j, false), DXP_OK);
		model_judge_destroy(&j);
	}
}

/* The message names the right unit. */
static void judge__a_wrong_unit(void **state)
{
	const struct model_row row = {.quantity = "latency PUT", .x = "64", .unit = "ns"};
	struct model_judge j = read_text("\nlatency PUT 64 3 GB/s");

	assert_true(isnan(model_judge_find(&j, &row)));
	assert_int_equal(model_judge_unused(&j, true), DXP_EINVAL);
	assert_non_null(strstr(error_text(), "line 2: GB/s is no unit of 'latency PUT'; write the "
					     "value in ns"));
	model_judge_destroy(&j);
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
		{"latency PUT 64 5 parsecs\n", "line 1: the value"},
		{"latency PUT 64 5furlongs\n", "line 1: the value"},
		{"a 64 K 64\na 65536 1\n", "line 2: line 1 has the same name"},
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
	unsigned rows, with_value, calibrated_on;
};

static void table_row(void *context, const struct model_row *row)
{
	struct table *t = context;

	t->rows++;
	t->with_value += !isnan(row->published);
	t->calibrated_on += row->kind == MODEL_CALIBRATED_ON;
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

/* All rows that depend on the wrong constant leave their tolerance. */
static void check__a_wrong_constant_is_found(void **state)
{
	struct table t = {0};
	struct model_check c = check(NULL, "C-07", 241, &t);

	assert_int_equal(c.out_of_tolerance, 25);
	assert_int_equal(t.rows, 25 + 2); /* 2 count links of the butterfly */
}

static int level_rows(double cycles, const struct model_sink *sink)
{
	const struct model_row row = {.item = "C-37",
				      .quantity = "level",
				      .x = "message",
				      .unit = "cycles",
				      .value = cycles,
				      .published = NAN,
				      .kind = MODEL_GIVEN,
				      .assumptions = ""};

	model_emit(sink, &row);
	return DXP_OK;
}

static int level_low(const struct model_parameters *p, uint64_t seed, const struct model_sink *sink)
{
	return level_rows(1500000 / 3.1, sink);
}

static int level_near(const struct model_parameters *p, uint64_t seed,
		      const struct model_sink *sink)
{
	return level_rows(1500000 / 2.9, sink);
}

/* A tolerance of 200 % is a factor of three in both directions. */
static void check__a_factor_has_a_lower_end(void **state)
{
	static const struct model_check_part both[] = {{"C-37", level_low}, {"C-37", level_near}};
	struct table t = {0};
	const struct model_sink sink = {table_row, &t};
	struct model_parameters p;

	model_parameters_default(&p);
	for (unsigned i = 0; i < 2; i++) {
		struct model_check c = {.sink = &sink, .only = "C-37"};
		assert_int_equal(model_check_run(&c, &both[i], 1, &p, 1), DXP_OK);
		assert_int_equal(c.given, 1);
		assert_int_equal(c.out_of_tolerance, i == 0);
	}
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
	assert_int_equal(c.tally.rows, 1);
	assert_true(fabs(c.tally.sum - 5) < 1e-9);
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

/* Calibrated rows are marked and do not count. */
static void check__calibrated_rows_prove_nothing(void **state)
{
	struct model_judge j = read_text("latency put 64 2000\n");
	struct model_judge used = read_text("latency put 64 2000\n");
	struct table t = {0};
	const struct model_sink sink = {table_row, &t};
	struct model_check c = {.sink = &sink, .judge = &j, .calibrated = &used};
	struct model_parameters p;

	model_parameters_default(&p);
	assert_int_equal(model_check_run(&c, parts, ARRAY_COUNT(parts), &p, 1), DXP_OK);
	assert_int_equal(c.judged, 1);
	assert_int_equal(c.tally.rows, 0);
	assert_int_equal(t.calibrated_on, 1);
	model_judge_destroy(&j);
	model_judge_destroy(&used);
}

/* With --only, the judge file must name a row of that item. */
static void check__a_judge_of_other_items_is_rejected(void **state)
{
	struct model_judge j = read_text("knee 4x2 0.5\n");
	struct table t = {0};
	const struct model_sink sink = {table_row, &t};
	struct model_check c = {.sink = &sink, .judge = &j, .only = "C-42"};
	struct model_parameters p;

	model_parameters_default(&p);
	assert_int_equal(model_check_run(&c, parts, ARRAY_COUNT(parts), &p, 1), DXP_EINVAL);
	assert_non_null(strstr(error_text(), "no line names a row of C-42"));
	model_judge_destroy(&j);
}

/* ---- errors by family ---- */

struct tallied {
	char quantity[8][64], x[8][MODEL_ROW_X];
	double value[8], least[8], most[8];
	unsigned count;
};

static void tallied_row(void *context, const struct model_row *row)
{
	struct tallied *t = context;

	assert_true(t->count < 8);
	snprintf(t->quantity[t->count], 64, "%s", row->quantity);
	snprintf(t->x[t->count], MODEL_ROW_X, "%s", row->x);
	t->value[t->count] = row->value;
	t->least[t->count] = row->low;
	t->most[t->count++] = row->high;
}

static void judged_add(struct model_tally *t, const char *quantity, const char *x, const char *unit,
		       double model, double judged)
{
	struct model_row row = model_row_plain("", quantity, unit, model);

	snprintf(row.x, sizeof(row.x), "%s", x);
	row.published = judged;
	model_tally_add(t, &row);
}

static void tally__by_family(void **state)
{
	struct model_tally t = {0};
	struct tallied out = {.count = 0};
	const struct model_sink sink = {tallied_row, &out};

	judged_add(&t, "latency PUT", "64", "ns", 102, 100);
	judged_add(&t, "latency GET", "64", "ns", 96, 100);
	judged_add(&t, "latency NAP-imm", "64", "ns", 110, 100);
	judged_add(&t, "knee", "4x2", "share", 0.6, 0.5);
	judged_add(&t, "knee", "4x4", "share", 0.7, 0.7);
	/* wrong order: 8x2 above 4x2 in the measured values only */
	judged_add(&t, "knee", "8x2", "share", 0.5, 0.6);
	judged_add(&t, "allreduce winner", "9x32x64", "way", 2, 2);
	judged_add(&t, "allreduce winner", "9x8x64", "way", 1, 2);
	model_tally_emit(&t, &sink);
	assert_int_equal(t.rows, 6);
	assert_int_equal(out.count, 5);
	assert_string_equal(out.quantity[0], "judged: error of latency of PUT and GET");
	assert_string_equal(out.x[0], "2 rows");
	assert_true(fabs(out.value[0] - 3) < 1e-9);
	assert_true(fabs(out.least[0] - 2) < 1e-9 && fabs(out.most[0] - 4) < 1e-9);
	assert_true(fabs(out.value[1] - 10) < 1e-9);
	assert_true(fabs(out.most[2] - 20) < 1e-9);
	assert_string_equal(out.quantity[3], "judged: order of knees");
	assert_string_equal(out.x[3], "2 of 3");
	assert_string_equal(out.quantity[4], "judged: winners of rows");
	assert_string_equal(out.x[4], "1 of 2");
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
					 "allreduce host 16x8x4 3\n"
					 "allreduce host 16x32x4 3\nallreduce node 16x32x4 1\n");
	unsigned cases, right;

	model_check_winners(&j, guess, NULL, &cases, &right);
	assert_int_equal(cases, 3);
	assert_int_equal(right, 2);
	model_judge_destroy(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judge__reads_lines),
		cmocka_unit_test(judge__names_match_loosely),
		cmocka_unit_test(judge__spellings),
		cmocka_unit_test(judge__a_wrong_unit),
		cmocka_unit_test(judge__rejects),
		cmocka_unit_test(judge__rejects_too_many_lines),
		cmocka_unit_test(judge__cases_of_allreduce),
		cmocka_unit_test(check__given_rows_are_exact),
		cmocka_unit_test(check__a_wrong_constant_is_found),
		cmocka_unit_test(check__a_factor_has_a_lower_end),
		cmocka_unit_test(check__a_judge_fills_in),
		cmocka_unit_test(check__calibrated_rows_prove_nothing),
		cmocka_unit_test(check__a_judge_of_other_items_is_rejected),
		cmocka_unit_test(tally__by_family),
		cmocka_unit_test(check__an_unknown_name_is_rejected),
		cmocka_unit_test(check__counts_winners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
