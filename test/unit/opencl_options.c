/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/opencl/program/options.h"

static void splits(const char *text, const char *rest, size_t count, const char *const *folders)
{
	struct options_split s;

	assert_true(options_split(text, &s));
	assert_string_equal(s.rest, rest);
	assert_int_equal(s.folder_count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(s.folders[i], folders[i]);
	options_split_clear(&s);
}

#define SPLITS(text, rest, ...)                                                          \
	splits(text, rest, sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *), \
	       (const char *[]){__VA_ARGS__})

static void split__removes_folders(void **state)
{
	splits("", "", 0, NULL);
	splits("  ", "", 0, NULL);
	splits("-DX=1  -cl-mad-enable", "-DX=1 -cl-mad-enable", 0, NULL);
	SPLITS("-I a -DX -Ib", "-DX", "a", "b");
	SPLITS("-I\"a b\" -I \"c d\"/e", "", "a b", "c d/e");
	SPLITS("-Ia\\ b -DY", "-DY", "a b");
	/* other quotes stay */
	SPLITS("-D \"Q=1 2\" -DP=\"\\\"x\\\"\" -I.", "-D \"Q=1 2\" -DP=\"\\\"x\\\"\"", ".");
	/* -Ia is here the argument of -D */
	splits("-D -Ia", "-D -Ia", 0, NULL);
	/* a promise that the devices do not use is removed, but not as an argument of -D */
	splits("-w -cl-no-subgroup-ifp -DX", "-w -DX", 0, NULL);
	splits("-D -cl-no-subgroup-ifp", "-D -cl-no-subgroup-ifp", 0, NULL);
	/* a folder that looks like an option */
	SPLITS("-I -DX", "", "-DX");
	/* a quote without end */
	SPLITS("-I \"a b", "", "a b");
	SPLITS("\"-Ia\" -DX", "-DX", "a");
}

static void valid__rejects_what_no_compiler_accepts(void **state)
{
	static const char *const good[] = {"",           "  ",
					   "-DX",        "-D X=1 -D Y",
					   "-I a",       "-cl-std=CL1.2 -cl-nv-verbose",
					   "-w -Werror", "-D \"X=a b\"",
					   "-x spir"};
	static const char *const bad[] = {"foo", "-DX foo",       "-",      "-I",
					  "-D",  "-cl-std=CL9.9", "-DX -D", "-cl-std="};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!options_valid(good[i]))
			fail_msg("'%s' is refused", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (options_valid(bad[i]))
			fail_msg("'%s' is taken", bad[i]);
}

static void valid_link__accepts_the_linkers(void **state)
{
	assert_true(options_valid_link(""));
	assert_true(options_valid_link("-create-library -enable-link-options"));
	assert_true(options_valid_link("-cl-fast-relaxed-math -cl-denorms-are-zero"));
	assert_false(options_valid_link("-DX"));
	assert_false(options_valid_link("-create-libary"));
	assert_false(options_valid_link("x"));
}

static void have__finds_whole_words(void **state)
{
	assert_true(options_have("-g  -create-library", "-create-library"));
	assert_true(options_have("\"-create-library\"", "-create-library"));
	assert_false(options_have("-create-library2", "-create-library"));
	assert_false(options_have("", "-create-library"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(split__removes_folders),
		cmocka_unit_test(valid__rejects_what_no_compiler_accepts),
		cmocka_unit_test(valid_link__accepts_the_linkers),
		cmocka_unit_test(have__finds_whole_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
