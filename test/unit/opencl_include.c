/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the search for included files, which exist only in a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/opencl/program/include.h"

struct entry {
	const char *path, *text;
};

static const struct entry *tree;
static size_t tree_size;

static char *tree_read(void *context, const char *path, size_t *bytes)
{
	for (size_t i = 0; i < tree_size; i++) {
		if (strcmp(tree[i].path, path) != 0)
			continue;
		*bytes = strlen(tree[i].text);
		/* a file ends without a zero */
		char *text = malloc(*bytes ? *bytes : 1);
		memcpy(text, tree[i].text, *bytes);
		return text;
	}
	return NULL;
}

#define PLANT(...)                                           \
	static const struct entry planted[] = {__VA_ARGS__}; \
	tree = planted;                                      \
	tree_size = sizeof(planted) / sizeof(planted[0])

static struct include_set begin(const char *const *folders, size_t count)
{
	struct include_set s = {
		.read = tree_read, .here = "/here", .folders = folders, .folder_count = count};

	assert_true(include_begin(&s));
	return s;
}

static bool found(const struct include_set *s, const char *path)
{
	for (size_t i = 0; i < s->file_count; i++)
		if (strcmp(s->files[i].path, path) == 0)
			return true;
	return false;
}

static void scan(struct include_set *s, const char *text)
{
	assert_true(include_scan(s, NULL, text, strlen(text)));
}

static void path__is_made_plain(void **state)
{
	static const struct {
		const char *folder, *path, *plain;
	} table[] = {
		{"/a", "b", "/a/b"},
		{"/a", "./b/../c", "/a/c"},
		{"/a", "../../../b", "/b"},
		{"/a", "/x//y/", "/x/y"},
		{"/a/b", ".", "/a/b"},
		{"", "..", ""},
		{"/a", "b/.../c", "/a/b/.../c"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char *path = include_path(table[i].folder, table[i].path);
		assert_string_equal(path, table[i].plain);
		free(path);
	}
	char *longer = calloc(1, INCLUDE_PATH_MAX + 2);
	memset(longer, 'a', INCLUDE_PATH_MAX + 1);
	assert_null(include_path("/", longer));
	free(longer);
}

static void line__knows_includes(void **state)
{
	static const struct {
		const char *text;
		int kind; /* -1: no include line */
		const char *name;
	} table[] = {
		{"#include \"a.h\"", INCLUDE_LINE, "a.h"},
		{"  #  include<a/b.h>\r", INCLUDE_LINE, "a/b.h"},
		{"#import \"a\"", INCLUDE_LINE, "a"},
		{"/* x */ # /* y */ include /* z */ \"a\"", INCLUDE_LINE, "a"},
		{"int a; /*\n ends */ #include \"a\"", INCLUDE_LINE, "a"},
		{"#include_next <a>", INCLUDE_NEXT, "a"},
		{"#include NAME", INCLUDE_COMPUTED, NULL},
		{"#define NAME \"a\"", INCLUDE_DEFINED, "a"},
		{"#define NAME 1", -1, NULL},
		{"#included \"a\"", -1, NULL},
		{"#include \"a", -1, NULL},
		{"#include \"\"", -1, NULL},
		{"#include", -1, NULL},
		{"#", -1, NULL},
		{"", -1, NULL},
		{"a #include \"a\"", -1, NULL},
		{"#include \"a\nb\"", -1, NULL},
		{"/*", -1, NULL},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct include_line l;
		size_t bytes = strlen(table[i].text);
		char *exact = malloc(bytes ? bytes : 1);
		const char *at = memcpy(exact, table[i].text, bytes);
		bool is = include_line_next(&at, exact + bytes, &l);
		if (is != (table[i].kind >= 0) || (is && (int)l.kind != table[i].kind))
			fail_msg("'%s'", table[i].text);
		if (is && table[i].name) {
			assert_int_equal(l.bytes, strlen(table[i].name));
			assert_memory_equal(l.at, table[i].name, l.bytes);
		}
		free(exact);
	}
}

static void scan__goes_on_in_what_it_finds(void **state)
{
	PLANT({"/here/a.h", "#include \"sub/b.h\""}, {"/here/sub/b.h", "#include \"c.h\"\n"},
	      {"/here/sub/c.h", "#pragma once\n#include \"../a.h\"\n#include <d.h>"},
	      {"/here/c.h", ""}, {"/here/d.h", ""});
	struct include_set s = begin(NULL, 0);

	scan(&s, "#include \"a.h\"\n#include \"missing.h\"\nkernel void f() {}\n");
	assert_int_equal(s.file_count, 4);
	assert_true(found(&s, "/here/a.h"));
	assert_true(found(&s, "/here/sub/b.h"));
	/* beside the including file, before the folders of -I */
	assert_true(found(&s, "/here/sub/c.h"));
	assert_true(found(&s, "/here/d.h"));
	assert_string_equal(s.used[0], "/here");
	char *root = include_root(&s);
	assert_string_equal(root, "/here");
	free(root);
	include_clear(&s);
}

static void scan__looks_through_folders_in_order(void **state)
{
	static const char *const folders[] = {"one", "/two", "empty"};

	PLANT({"/here/one/a.h", ""}, {"/two/a.h", ""}, {"/two/b.h", ""}, {"/here/b.h", ""});
	struct include_set s = begin(folders, 3);

	scan(&s, "#include <a.h>\n#include <b.h>\n");
	assert_int_equal(s.file_count, 2);
	assert_true(found(&s, "/here/one/a.h"));
	assert_true(found(&s, "/two/b.h"));
	assert_string_equal(s.used[0], "/here/one");
	assert_string_equal(s.used[1], "/two");
	assert_null(s.used[2]);
	assert_null(s.used[3]);
	char *root = include_root(&s);
	assert_string_equal(root, "");
	free(root);
	include_clear(&s);
}

static void scan__adds_all_that_a_next_may_mean(void **state)
{
	static const char *const folders[] = {"one", "two"};

	PLANT({"/here/one/a.h", "#include_next <a.h>"}, {"/here/two/a.h", ""});
	struct include_set s = begin(folders, 2);

	scan(&s, "#include <a.h>");
	assert_int_equal(s.file_count, 2);
	include_clear(&s);
}

static void scan__adds_what_a_name_may_mean(void **state)
{
	PLANT({"/here/a.h", "#define LATE \"b.h\"\n"}, {"/here/b.h", ""}, {"/here/c.h", ""},
	      {"/here/d.h", ""});
	struct include_set s = begin(NULL, 0);

	/* defined before its first use; after it */
	scan(&s, "#define EARLY <c.h>\n#include \"a.h\"\n#include EARLY\n#include LATE\n");
	assert_true(s.computed);
	assert_int_equal(s.file_count, 3);
	assert_true(include_name(&s, "d.h"));
	assert_true(found(&s, "/here/d.h"));
	include_clear(&s);

	/* a macro's string that no include uses is no file name */
	s = begin(NULL, 0);
	scan(&s, "#define TEXT \"c.h\"\n");
	assert_int_equal(s.file_count, 0);
	include_clear(&s);
}

/* as hashcat includes its files */
static void scan__follows_macros_that_are_paths(void **state)
{
	PLANT({"/lib/a.h", "#include T(AT/sub/b.h)\n"}, {"/lib/sub/b.h", "#include T( AT/c.h )\n"},
	      {"/lib/c.h", ""}, {"/other/d.h", ""});
	char names[][3] = {"AT", "A"}, values[][8] = {"/lib/./", "/other"};
	struct include_macro macros[] = {{names[0], values[0], NULL}, {names[1], values[1], NULL}};
	struct include_set s = begin(NULL, 0);

	s.macros = macros;
	s.macro_count = 2;
	scan(&s, "#include T(AT/a.h)\n#include T(AT/none.h)\n#include T(B/d.h)\n#include T(\n");
	assert_int_equal(s.file_count, 3);
	assert_true(found(&s, "/lib/a.h") && found(&s, "/lib/sub/b.h") && found(&s, "/lib/c.h"));
	assert_string_equal(macros[0].folder, "/lib");
	assert_null(macros[1].folder);
	char *root = include_root(&s);
	assert_string_equal(root, "/lib");
	free(root);
	free(macros[0].folder);
	include_clear(&s);
}

static void scan__ends_in_circles(void **state)
{
	PLANT({"/here/a.h", "#include \"b.h\"\n#include \"a.h\""},
	      {"/here/b.h", "#include \"./x/../a.h\""});
	struct include_set s = begin(NULL, 0);

	scan(&s, "#include \"a.h\"");
	assert_int_equal(s.file_count, 2);
	include_clear(&s);
}

static void root__is_above_folders_that_are_used(void **state)
{
	static const char *const folders[] = {"/p/q/inc"};

	PLANT({"/p/q/common/x.h", ""}, {"/p/qq/y.h", ""});
	struct include_set s = begin(folders, 1);

	/* the path passes through /p/q/inc, which itself has no file */
	scan(&s, "#include \"../common/x.h\"");
	char *root = include_root(&s);
	assert_string_equal(root, "/p/q");
	free(root);
	scan(&s, "#include \"/p/qq/y.h\"");
	root = include_root(&s);
	assert_string_equal(root, "/p");
	free(root);
	include_clear(&s);
}

static void rename__changes_absolute_names_alone(void **state)
{
	PLANT({"/p/a.h", ""}, {"/p/q/b.h", ""});
	struct include_set s = begin(NULL, 0);
	const char *text = "#include \"/p/a.h\"\nint x;\n#include </p/q/./b.h>\n#include "
			   "\"/p/none.h\"\n#include \"a.h\"\n";

	scan(&s, text);
	size_t bytes = strlen(text);
	char *out = include_rename(&s, "/p", "host/", text, &bytes);
	assert_string_equal(out, "#include \"host/a.h\"\nint x;\n#include <host/q/b.h>\n#include "
				 "\"/p/none.h\"\n#include \"a.h\"\n");
	assert_int_equal(bytes, strlen(out));
	free(out);
	include_clear(&s);
}

/* Each file includes two new files, without end. The search stops before memory is exhausted. */
static char *endless_read(void *context, const char *path, size_t *bytes)
{
	char *text = malloc(64);
	uint32_t *count = context;

	*bytes = (size_t)snprintf(text, 64, "#include \"f%u.h\"\n#include \"f%u.h\"", *count + 1,
				  *count + 2);
	*count += 2;
	return text;
}

static void scan__has_a_bound(void **state)
{
	uint32_t count = 0;
	struct include_set s = {.read = endless_read, .context = &count, .here = "/here"};

	assert_true(include_begin(&s));
	scan(&s, "#include \"a.h\"");
	assert_int_equal(s.file_count, INCLUDE_FILES_MAX);
	include_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path__is_made_plain),
		cmocka_unit_test(line__knows_includes),
		cmocka_unit_test(scan__goes_on_in_what_it_finds),
		cmocka_unit_test(scan__looks_through_folders_in_order),
		cmocka_unit_test(scan__adds_all_that_a_next_may_mean),
		cmocka_unit_test(scan__adds_what_a_name_may_mean),
		cmocka_unit_test(scan__follows_macros_that_are_paths),
		cmocka_unit_test(scan__ends_in_circles),
		cmocka_unit_test(root__is_above_folders_that_are_used),
		cmocka_unit_test(rename__changes_absolute_names_alone),
		cmocka_unit_test(scan__has_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
