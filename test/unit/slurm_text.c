/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what the plugin for Slurm parses: --xpus, its line of plugstack.conf, a list of GRES. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "plugins/slurm/gres.h"
#include "plugins/slurm/settings.h"
#include "plugins/slurm/xpus.h"

static void xpus_parse__table(void **state)
{
	static const struct {
		const char *text;
		unsigned count;
		const char *engine, *memory;
	} rows[] = {
		{"1", 1, "", ""},
		{"256", 256, "", ""},
		{"2:engine=ocl", 2, "ocl", ""},
		{"2:mem=4G", 2, "", "4G"},
		{"002:mem=9999999999K:engine=a.b_c-D", 2, "a.b_c-D", "9999999999K"},
		{"2:engine=ocl:mem=1", 2, "ocl", "1"},
	};
	char why[XPUS_WHY_BYTES];
	struct xpus x;

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		assert_int_equal(xpus_parse(rows[i].text, &x, why), 0);
		assert_int_equal(x.count, rows[i].count);
		assert_string_equal(x.engine, rows[i].engine);
		assert_string_equal(x.memory, rows[i].memory);
	}
}

/* A wrong value changes nothing, and the sentence has the form of a right one. */
static void xpus_parse__wrong(void **state)
{
	static const char *const rows[] = {NULL,
					   "",
					   "0",
					   "257",
					   "4294967298",
					   "99999999999999999999",
					   "-1",
					   "+1",
					   " 1",
					   "1 ",
					   "x",
					   "2x",
					   "2:",
					   "2::",
					   "2:engine",
					   "2:engine=",
					   "2:engine=:mem=1",
					   "2:engine=a/b",
					   "2:engine=a b",
					   "2:engine=a:engine=b",
					   "2:mem=",
					   "2:mem=0",
					   "2:mem=01G",
					   "2:mem=1T",
					   "2:mem=1GB",
					   "2:mem=G",
					   "2:mem=-1",
					   "2:mem=1:mem=2",
					   "2:mem=12345678901",
					   "2:engine=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
					   "2:a=b",
					   "2;mem=1",
					   "2,mem=1"};
	char why[XPUS_WHY_BYTES];

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct xpus x = {.count = 77};
		assert_int_equal(xpus_parse(rows[i], &x, why), -1);
		assert_int_equal(x.count, 77);
		assert_non_null(strstr(why, "write --xpus=N[:engine=NAME][:mem=BYTES]"));
		assert_non_null(strstr(why, "mem=4G")); /* the sentence is complete */
	}
}

static void settings_parse__table(void **state)
{
	char *const arguments[] = {(char[]){"dir=/d"},         (char[]){"run=/r"},
				   (char[]){"dxp=/p"},         (char[]){"driver=/o"},
				   (char[]){"switch=1.2.3.4"}, (char[]){"gres=xpu"},
				   (char[]){"timeout=300"}};
	char why[SETTINGS_WHY_BYTES];
	struct settings s;

	assert_int_equal(settings_parse(0, NULL, &s, why), 0);
	assert_string_equal(s.directory, "/etc/dxp/slurm");
	assert_string_equal(s.run, "/run/dxp-slurm");
	assert_null(s.gres);
	assert_null(s.switches);
	assert_int_equal(s.timeout_s, 20);
	assert_int_equal(settings_parse(ARRAY_COUNT(arguments), arguments, &s, why), 0);
	assert_string_equal(s.directory, "/d");
	assert_string_equal(s.run, "/r");
	assert_string_equal(s.program, "/p");
	assert_string_equal(s.driver, "/o");
	assert_string_equal(s.switches, "1.2.3.4");
	assert_string_equal(s.gres, "xpu");
	assert_int_equal(s.timeout_s, 300);
}

static void settings_parse__wrong(void **state)
{
	static const char *const rows[] = {"",           "dir",      "dir=",        "dir=relative",
					   "x=/y",       "gres=",    "timeout=0",   "timeout=301",
					   "timeout=1s", "timeout=", "timeout=9999"};
	char why[SETTINGS_WHY_BYTES], argument[32];
	struct settings s;

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		char *const arguments[] = {argument};
		snprintf(argument, sizeof(argument), "%s", rows[i]);
		assert_int_equal(settings_parse(1, arguments, &s, why), -1);
		assert_non_null(strstr(why, "plugstack.conf"));
	}
}

static void gres_count__table(void **state)
{
	static const struct {
		const char *list;
		unsigned count;
	} rows[] = {
		{NULL, 0},
		{"", 0},
		{"gres:xpu:2", 2},
		{"gres:xpu", 1},
		{"xpu:3", 3},
		{"gres:gpu:4", 0},
		{"gres:gpu:4,gres:xpu:2", 2},
		{"gres:xpu:2;gres:gpu:4", 2},
		{"gres:xpu:fast:2,gres:xpu:slow:1", 3},
		{"gres:xpu:fast", 1},
		{"gres:xpus:5", 0},
		{"gres:xp:5", 0},
		{",;,", 0},
		{"gres:", 0},
		{"xpu:0", 0},
		{"xpu:99999999999999999999", 1000000},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		assert_int_equal(gres_count(rows[i].list, "xpu"), rows[i].count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xpus_parse__table),     cmocka_unit_test(xpus_parse__wrong),
		cmocka_unit_test(settings_parse__table), cmocka_unit_test(settings_parse__wrong),
		cmocka_unit_test(gres_count__table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
