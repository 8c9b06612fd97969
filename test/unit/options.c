/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests options: precedence, bounds, lists, flags, arguments. Configuration files are read once per
 * process, so all tests share them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "cmd/options/options.h"
#include "cmd/options/settings.h"

#define DONE        (-1 - 0)
#define WRONG_USAGE (-1 - 2)

struct values {
	bool fast;
	const char *name, *place;
	uint64_t count, size;
	struct option_list list;
	int level;
};

static struct values v;

static const char *level_parse(const char *text, void *to)
{
	*(int *)to = atoi(text);
	return *(int *)to > 0 ? NULL : "is 1 or more";
}

static const struct option_row rows[] = {
	{"fast", NULL, "", OPTION_FLAG, &v.fast, .letter = 'f'},
	{"name", "NAME", "", OPTION_TEXT, &v.name, .common = true},
	{"count", "N", "", OPTION_NUMBER, &v.count, 1, 10},
	{"size", "BYTES", "", OPTION_BYTES, &v.size, 4096, 1u << 20},
	{"list", "WORD", "", OPTION_LIST, &v.list},
	{"level", "N", "", OPTION_PARSED, &v.level, .parse = level_parse},
	{"place", "FOLDER", "", OPTION_TEXT, &v.place, .replaces = {"name"}},
};

static const struct usage command = {"work", "[FILE]", "", rows, ARRAY_COUNT(rows), 0, 1};
static const struct usage program = {"dxpd", "", "", rows, ARRAY_COUNT(rows), 0, 0, .version = "1"};

/* After a reset; the words end with NULL. */
#define PARSE(usage, ...) parse((usage), (const char *[]){"name", __VA_ARGS__})
static int parse(const struct usage *usage, const char **words)
{
	int argc = 0;

	v = (struct values){.count = 5, .size = 8192, .level = 1};
	while (words[argc])
		argc++;
	return options_parse(argc, (char **)words, usage);
}

static void options__precedence(void **state)
{
	assert_int_equal(PARSE(&command, NULL), 1);
	assert_int_equal(v.count, 7);             /* section [dxp work] */
	assert_string_equal(v.name, "of-common"); /* section [dxp] */
	assert_true(v.fast);
	assert_int_equal(v.size, 8192); /* default */
	setenv("DXP_WORK_COUNT", "8", 1);
	setenv("DXP_NAME", "of-variable", 1);
	setenv("DXP_WORK_FAST", "no", 1);
	assert_int_equal(PARSE(&command, NULL), 1);
	assert_int_equal(v.count, 8);
	assert_string_equal(v.name, "of-variable");
	assert_false(v.fast);
	assert_int_equal(PARSE(&command, "--count", "9", "-f", "--name=n", NULL), 5);
	assert_int_equal(v.count, 9);
	assert_true(v.fast);
	assert_string_equal(v.name, "n");
	unsetenv("DXP_WORK_COUNT");
	unsetenv("DXP_NAME");
	unsetenv("DXP_WORK_FAST");
	assert_int_equal(PARSE(&program, NULL), 1);
	assert_int_equal(v.count, 5); /* [dxp work] is for other programs */
	assert_int_equal(v.size, 16384);
}

/* The stronger source replaces the whole list. */
static void options__lists(void **state)
{
	assert_int_equal(PARSE(&command, NULL), 1);
	assert_int_equal(v.list.count, 2);
	assert_string_equal(v.list.values[1], "b");
	setenv("DXP_WORK_LIST", "c,d,e", 1);
	assert_int_equal(PARSE(&command, NULL), 1);
	assert_int_equal(v.list.count, 3);
	assert_string_equal(v.list.values[2], "e");
	assert_int_equal(PARSE(&command, "--list", "f", "--list", "g", NULL), 5);
	assert_int_equal(v.list.count, 2);
	assert_string_equal(v.list.values[0], "f");
	unsetenv("DXP_WORK_LIST");
}

/* Removes the other option's value, unless from the same or a stronger source. */
static void options__replaces(void **state)
{
	assert_int_equal(PARSE(&command, "--place", "x", NULL), 3);
	assert_string_equal(v.place, "x");
	assert_null(v.name);
	assert_int_equal(PARSE(&command, "--place", "x", "--name", "n", NULL), 5);
	assert_string_equal(v.name, "n");
	setenv("DXP_WORK_PLACE", "y", 1);
	assert_int_equal(PARSE(&command, NULL), 1);
	assert_null(v.name);
	setenv("DXP_NAME", "of-variable", 1);
	assert_int_equal(PARSE(&command, NULL), 1);
	assert_string_equal(v.name, "of-variable");
	unsetenv("DXP_NAME");
	unsetenv("DXP_WORK_PLACE");
}

static void options__errors(void **state)
{
	assert_int_equal(PARSE(&command, "--count", "0", NULL), WRONG_USAGE);
	assert_int_equal(PARSE(&command, "--count", "11", NULL), WRONG_USAGE);
	assert_int_equal(PARSE(&command, "--count", "-1", NULL), WRONG_USAGE);
	assert_int_equal(PARSE(&command, "--count", NULL), WRONG_USAGE);
	assert_int_equal(PARSE(&command, "--size", "2M", NULL), WRONG_USAGE);
	assert_int_equal(PARSE(&command, "--size", "1K", NULL), WRONG_USAGE);
	assert_int_equal(PARSE(&command, "--size", "4KK", NULL), WRONG_USAGE);
	assert_int_equal(PARSE(&command, "--level", "0", NULL), WRONG_USAGE);
	assert_int_equal(PARSE(&command, "--frob", NULL), WRONG_USAGE);
	assert_int_equal(PARSE(&command, "--version", NULL), WRONG_USAGE);
	assert_int_equal(PARSE(&command, "one", "two", NULL), WRONG_USAGE);
	assert_int_equal(PARSE(&program, "one", NULL), WRONG_USAGE);
	assert_int_equal(PARSE(&command, "--help", NULL), DONE);
	assert_int_equal(PARSE(&program, "--version", NULL), DONE);
	assert_int_equal(PARSE(&program, "-h", NULL), DONE);
	setenv("DXP_WORK_SIZE", "lots", 1);
	assert_int_equal(PARSE(&command, "--size", "4K", NULL), WRONG_USAGE);
	assert_int_equal(PARSE(&command, "--help", NULL), DONE);
	setenv("DXP_WORK_SIZE", "", 1); /* empty: no effect */
	assert_int_equal(PARSE(&command, "--size", "4K", "file", NULL), 3);
	assert_int_equal(v.size, 4096);
	unsetenv("DXP_WORK_SIZE");
}

static void options__bytes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} cases[] = {{"0", 0},
		     {"1023", 1023},
		     {"1K", 1024},
		     {"1025", 1025},
		     {"256M", 256u << 20},
		     {"1536K", 1536u << 10},
		     {"1024G", 1ull << 40}};
	uint64_t bytes;
	char text[24];

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		assert_string_equal(option_bytes_format(cases[i].bytes, text), cases[i].text);
		assert_true(option_bytes_parse(cases[i].text, &bytes));
		assert_int_equal(bytes, cases[i].bytes);
	}
}

/* options_read() moves the arguments behind the options, and returns the exit status of errors. */
static void options__arguments(void **state)
{
	const char *words[] = {"work", "file", "--count", "3", NULL};
	const char *wrong[] = {"work", "--none", NULL};
	struct arguments args;

	v = (struct values){.count = 5};
	assert_true(options_read(4, (char **)words, &command, &args));
	assert_int_equal(v.count, 3);
	assert_int_equal(args.count, 1);
	assert_string_equal(args.at[0], "file");
	assert_null(args.at[1]);
	assert_false(options_read(2, (char **)wrong, &command, &args));
	assert_int_equal(args.status, 2);
}

static int file_write(void **state)
{
	static char path[] = "/tmp/dxp-options-XXXXXX";
	static const char text[] = "[dxp]\nname = of-common\nmanager = 10.0.0.1 ; another's\n"
				   "[dxp work]\ncount = 6\ncount = 7\nfast = yes\n"
				   "list = a\nlist = b\n[dxpd]\nsize = 16K\n";
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	setenv("DXP_CONFIG", path, 1);
	*state = path;
	const struct settings *s = settings_load(NULL);
	assert_string_equal(s->error, "");
	assert_int_equal(s->count, 8);
	assert_int_equal(s->all[7].line, 11);
	return 0;
}

static int file_remove(void **state)
{
	return unlink(*state);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(options__precedence), cmocka_unit_test(options__lists),
		cmocka_unit_test(options__replaces),   cmocka_unit_test(options__errors),
		cmocka_unit_test(options__bytes),      cmocka_unit_test(options__arguments),
	};

	return cmocka_run_group_tests(tests, file_write, file_remove);
}
