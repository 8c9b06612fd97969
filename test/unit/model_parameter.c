/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the model's parameters: units, ranges, texts, presets, combinations, lists, grids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/error.h"
#include "base/util.h"
#include "model/sweep.h"

static const struct {
	const char *text;
	int status;
	const char *error; /* part of the message; NULL: accepted */
} cases[] = {
	{"clock_mhz=300", DXP_OK, NULL},
	{" clock_mhz = 300MHz ", DXP_OK, NULL},
	{"clock=0.3 GHz", DXP_OK, NULL},
	{"clock=300", DXP_EINVAL, "has no unit"},
	{"clock_mhz=300ns", DXP_EINVAL, "its units: MHz GHz"},
	{"clock_mhz=", DXP_EINVAL, "has no value"},
	{"clock_mhz", DXP_EINVAL, "is not NAME=VALUE"},
	{"=300", DXP_EINVAL, "is not NAME=VALUE"},
	{"clock_mhz=-300", DXP_EINVAL, "needs a number from 10 to 5000"},
	{"clock_mhz=1e3", DXP_EINVAL, "is not a unit"},
	{"clock_mhz=5001", DXP_EINVAL, "allowed: 10 to 5000"},
	{"clock_mhz=99999999999999999999", DXP_EINVAL, NULL},
	{"clock_mhz=250.5", DXP_EINVAL, "not a whole number of MHz"},
	{"clok_mhz=300", DXP_ENOENT, "there is no parameter 'clok_mhz'"},
	{"clok=300MHz", DXP_ENOENT, "the nearest name is clock_mhz;"},
	{"tgas=3", DXP_ENOENT, "the nearest name is tags;"},
	{"hop=0.24us", DXP_OK, NULL},
	{"mtu=1KiB", DXP_OK, NULL},
	{"tags=32 tags", DXP_EINVAL, "its units: none"},
	{"load_permille=0.05", DXP_OK, NULL},
	{"load=0.05", DXP_OK, NULL},
	{"load=2", DXP_EINVAL, "has no unit"},
	{"load_permille=5%", DXP_OK, NULL},
	{"allocator=islip", DXP_OK, NULL},
	{"allocator=best", DXP_EINVAL, "outputs|islip|maximal"},
	{"pcie=4x16", DXP_OK, NULL},
	{"pcie=4", DXP_EINVAL, "such as 4x16"},
	{"pcie=9x16", DXP_EINVAL, "allowed: 1 to 5"},
};

static void parameter__parses_values(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct model_parameters p;
		model_parameters_default(&p);
		int status = model_parameters_set(&p, cases[i].text);
		if (status != cases[i].status)
			print_message("%s: %s\n", cases[i].text, error_text());
		assert_int_equal(status, cases[i].status);
		if (cases[i].error && !strstr(error_text(), cases[i].error))
			fail_msg("%s: %s", cases[i].text, error_text());
	}
}

static void parameter__converts_units(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	assert_int_equal(model_parameters_set(&p, "clock=0.3 GHz"), DXP_OK);
	assert_int_equal(p.clock_mhz, 300);
	assert_int_equal(model_parameters_set(&p, "hop=0.24us"), DXP_OK);
	assert_int_equal(p.hop_ns, 240);
	assert_int_equal(model_parameters_set(&p, "load_permille=0.05"), DXP_OK);
	assert_int_equal(p.load_permille, 50);
	assert_int_equal(model_parameters_set(&p, "allocator=maximal"), DXP_OK);
	assert_int_equal(p.allocator, MODEL_ALLOCATE_MAXIMAL);
	assert_int_equal(model_parameters_set(&p, "pcie=4x16"), DXP_OK);
	assert_int_equal(p.pcie_generation, 4);
	assert_int_equal(p.pcie_lanes, 16);
}

static void parameter__names_the_line(void **state)
{
	struct model_parameters p;

	model_parameters_default(&p);
	assert_int_equal(model_parameters_config(&p, "# a NIC\n\ntags = 64 # more\nhops=2"),
			 DXP_OK);
	assert_int_equal(p.tags, 64);
	assert_int_equal(p.hops, 2);
	assert_int_equal(model_parameters_config(&p, "# nothing\n\n"), DXP_EINVAL);
	assert_non_null(strstr(error_text(), "no line has a value"));
	assert_int_equal(model_parameters_config(&p, "tags = 64\n\nhops = far\n"), DXP_EINVAL);
	assert_non_null(strstr(error_text(), "line 3: hops"));
}

/* Printed text parses to the same value; defaults are in range. */
static void parameter__prints_what_it_reads(void **state)
{
	struct model_parameters p;
	char value[40], text[120];

	for (unsigned i = 0; model_parameter_at(i); i++) {
		const struct model_parameter *row = model_parameter_at(i);
		model_parameters_default(&p);
		model_parameter_print(row, row->value, value, sizeof(value));
		snprintf(text, sizeof(text), "%s=%s", row->name, value);
		assert_int_equal(model_parameters_set(&p, text), DXP_OK);
		assert_int_equal(model_parameter_get(&p, row), row->value);
		assert_true(strchr("TDAF", row->mark) != NULL && row->mark);
		assert_true(row->item[0] && row->text[0]);
	}
}

static void refused(const char *first, const char *second, const char *why)
{
	struct model_parameters p;

	model_parameters_default(&p);
	assert_int_equal(model_parameters_set(&p, first), DXP_OK);
	assert_int_equal(model_parameters_set(&p, second), DXP_OK);
	assert_int_equal(model_parameters_check(&p), DXP_EINVAL);
	if (!strstr(error_text(), why) || !strstr(error_text(), first))
		fail_msg("%s: %s", first, error_text());
}

static void parameter__rejects_combinations(void **state)
{
	refused("datapath_bytes=16", "pcie=4x16", "below the link's");
	refused("tags=257", "clock_mhz=250", "allowed: 1 to 256");
	refused("tags=769", "pcie=4x2", "allowed: 1 to 768");
	refused("ports=1", "channels=1", "has no destination");
	refused("channels=8", "ports=4", "allowed: 1 to 4");
	refused("mtu_bytes=100", "clock_mhz=250", "not a power of two");
	refused("extract_bytes=32", "clock_mhz=250", "allowed: 1 to 16");
	refused("immediate_offset_bytes=64", "clock_mhz=250", "allowed: 0 to 63");
}

static void parameter__presets_hold(void **state)
{
	static const char *const names[] = {"source", "gen3", "gen4-512", "gen5-1024"};
	int64_t rate = 0;
	struct model_parameters p;

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		assert_int_equal(model_parameters_preset(&p, names[i]), DXP_OK);
		assert_int_equal(model_parameters_check(&p), DXP_OK);
		assert_true(model_pcie_rate(&p) > rate);
		rate = model_pcie_rate(&p);
	}
	assert_int_equal(model_parameters_preset(&p, "gen6"), DXP_ENOENT);
	assert_non_null(strstr(error_text(), "gen4-512"));
}

static void parameter__lists_assumptions(void **state)
{
	char text[200];

	model_assumptions("share", text, sizeof(text));
	assert_non_null(strstr(text, "largest_bytes"));
	assert_null(strstr(text, "functions")); /* not printed: mark T */
	assert_null(strstr(text, "depth"));     /* not printed: another group */
}

static void list(const char *text, unsigned count, int64_t last)
{
	struct model_grid g = {.count = 0};

	if (model_grid_add(&g, text))
		fail_msg("%s: %s", text, error_text());
	assert_int_equal(g.lists[0].count, count);
	assert_int_equal(g.lists[0].values[count - 1], last);
}

static void sweep__lists(void **state)
{
	list("tags=32", 1, 32);
	list("tags=1,2,4..16,100", 6, 100);
	list("tags=4..64*4", 3, 64);
	list("tags=10..50+20", 3, 50);
	list("load_permille=0.05..0.95+0.1", 10, 950);
	list("mtu_bytes=64B..1KiB", 5, 1024);
	list("allocator=outputs,maximal", 2, MODEL_ALLOCATE_MAXIMAL);
}

static void sweep__rejects(void **state)
{
	static const char *const texts[][2] = {
		{"host_see_ns=1..100000+1", "at most 1024 in one list"},
		{"tags=1..2000", "allowed: 1 to 1024"},
		{"tags=8..4", "is empty"},
		{"tags=1..8*1", "is no step"},
		{"tags=1..8+0", "is no step"},
		{"tags=1..8*", "is no step"},
		{"tags=1,,2", "needs a number"},
		{"tags", "is not NAME=VALUES"},
		{"tag=1", "there is no parameter"},
		{"hops=0..8", "starts below 1"},
	};
	for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
		struct model_grid g = {.count = 0};
		assert_true(model_grid_add(&g, texts[i][0]) < 0);
		if (!strstr(error_text(), texts[i][1]))
			fail_msg("%s: %s", texts[i][0], error_text());
	}
}

static void sweep__grid(void **state)
{
	struct model_grid g = {.count = 0};
	struct model_parameters p;

	model_parameters_default(&p);
	assert_int_equal(model_grid_points(&g), 1);
	assert_int_equal(model_grid_add(&g, "tags=8,16,32"), DXP_OK);
	assert_int_equal(model_grid_add(&g, "ports=4,8"), DXP_OK);
	assert_int_equal(model_grid_points(&g), 6);
	assert_int_equal(model_grid_apply(&g, 3, &p), DXP_OK);
	assert_int_equal(p.tags, 16);
	assert_int_equal(p.ports, 8);
	assert_int_equal(model_grid_add(&g, "hop_ns=1..1000+1"), DXP_OK);
	assert_int_equal(model_grid_add(&g, "doorbell_ns=1..1000+1"), DXP_EINVAL);
	assert_non_null(strstr(error_text(), "6000000 points; at most 100000"));
	assert_int_equal(model_grid_points(&g), 6000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameter__parses_values),
		cmocka_unit_test(parameter__converts_units),
		cmocka_unit_test(parameter__names_the_line),
		cmocka_unit_test(parameter__prints_what_it_reads),
		cmocka_unit_test(parameter__rejects_combinations),
		cmocka_unit_test(parameter__presets_hold),
		cmocka_unit_test(parameter__lists_assumptions),
		cmocka_unit_test(sweep__lists),
		cmocka_unit_test(sweep__rejects),
		cmocka_unit_test(sweep__grid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
