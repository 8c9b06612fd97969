/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the folders of workers: which are made, kept and removed. */
#include "worker/folders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/scratch.h"

static char scratch[64], cache[64], start[PATH_MAX];

static int folders_begin(void **state)
{
	snprintf(scratch, sizeof(scratch), "/tmp/dxp-test-scratch-XXXXXX");
	snprintf(cache, sizeof(cache), "/tmp/dxp-test-cache-XXXXXX");
	return mkdtemp(scratch) && mkdtemp(cache) && getcwd(start, sizeof(start)) ? 0 : -1;
}

static int folders_end(void **state)
{
	scratch_folder_remove(scratch);
	scratch_folder_remove(cache);
	return chdir(start);
}

static bool there(const char *where, const char *name)
{
	char path[PATH_MAX];
	struct stat s;

	snprintf(path, sizeof(path), "%s/%s", where, name);
	return stat(path, &s) == 0 && S_ISDIR(s.st_mode) && (s.st_mode & 07777) == 0700;
}

static void folders__of_a_zygote_and_workers(void **state)
{
	static struct folders f;
	static struct worker_folders a, b;
	char here[PATH_MAX];

	assert_int_equal(folders_open(&f, scratch, cache, false), DXP_OK);
	assert_non_null(getcwd(here, sizeof(here)));
	assert_string_equal(here, f.zygote);
	assert_true(there(cache, "node"));
	assert_true(folders_make(&f, 1, "one", &a));
	assert_true(folders_make(&f, 2, "two", &b));
	assert_true(there(scratch, "work-1") && there(scratch, "work-2"));
	assert_true(there(cache, "hosts/host-one") && there(cache, "hosts/host-two"));
	assert_string_not_equal(a.work, b.work);
	assert_string_not_equal(a.cache, b.cache);
	folders_remove(scratch, 1);
	assert_false(there(scratch, "work-1"));
	assert_true(there(scratch, "work-2") && there(cache, "hosts/host-one"));
}

/* A host named ".." gets a folder inside `hosts`; one without a name gets none. */
static void folders__of_odd_names(void **state)
{
	static struct folders f;
	static struct worker_folders a;

	assert_int_equal(folders_open(&f, scratch, cache, false), DXP_OK);
	assert_true(folders_make(&f, 1, "..", &a));
	assert_true(there(cache, "hosts/host-.."));
	assert_true(folders_make(&f, 2, "", &a));
	assert_string_equal(a.cache, "");
}

static void folders__without_a_cache(void **state)
{
	static struct folders f;
	static struct worker_folders a;

	assert_int_equal(folders_open(&f, scratch, NULL, false), DXP_OK);
	assert_true(folders_make(&f, 1, "one", &a));
	assert_string_equal(a.cache, "");
	assert_true(there(scratch, "work-1"));
}

static void folders__shared(void **state)
{
	static struct folders f;
	static struct worker_folders a, b;

	assert_int_equal(folders_open(&f, scratch, cache, true), DXP_OK);
	assert_true(folders_make(&f, 1, "one", &a));
	assert_true(folders_make(&f, 2, "two", &b));
	assert_string_not_equal(a.work, b.work);
	assert_string_equal(a.cache, b.cache);
	assert_true(there(cache, "shared") && !there(cache, "hosts"));
}

static void folders__of_recent_hosts_are_kept(void **state)
{
	static struct folders f;
	static struct worker_folders a;
	char name[32];

	assert_int_equal(folders_open(&f, scratch, cache, false), DXP_OK);
	for (int i = 0; i < FOLDERS_HOSTS_MAX + 5; i++) {
		snprintf(name, sizeof(name), "h%d", i);
		assert_true(folders_make(&f, (uint32_t)i, name, &a));
		/* h0 is the most recently used */
		assert_true(folders_make(&f, (uint32_t)i, "h0", &a));
	}
	assert_true(there(cache, "hosts/host-h0"));
	for (int i = 1; i < FOLDERS_HOSTS_MAX + 5; i++) {
		snprintf(name, sizeof(name), "hosts/host-h%d", i);
		assert_int_equal(there(cache, name), i > 5);
	}
}

static void folders__that_cannot_be_made(void **state)
{
	static struct folders f;
	static struct worker_folders a;

	assert_int_equal(folders_open(&f, "/proc/nothing", cache, false), DXP_EIO);
	assert_int_equal(folders_open(&f, scratch, "/proc/nothing", false), DXP_EIO);
	assert_int_equal(folders_open(&f, scratch, cache, false), DXP_OK);
	strcpy(f.scratch, "/proc/nothing");
	assert_false(folders_make(&f, 1, "one", &a));
}

/* Kernels may nest folders to any depth; removal still returns. */
static void folders__too_deep_are_left(void **state)
{
	static struct folders f;
	static struct worker_folders a;

	assert_int_equal(folders_open(&f, scratch, NULL, false), DXP_OK);
	assert_true(folders_make(&f, 1, "one", &a));
	assert_int_equal(chdir(a.work), 0);
	for (int i = 0; i < 1000; i++)
		assert_true(mkdir("d", 0700) == 0 && chdir("d") == 0);
	assert_int_equal(chdir(start), 0);
	folders_remove(scratch, 1);
	/* A shell removes what is beyond the depth limit. */
	assert_true(there(scratch, "work-1"));
	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s/work-1", scratch);
	assert_int_equal(system(command), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folders_begin, folders_end)
	const struct CMUnitTest tests[] = {
		TEST(folders__of_a_zygote_and_workers),  TEST(folders__of_odd_names),
		TEST(folders__without_a_cache),          TEST(folders__shared),
		TEST(folders__of_recent_hosts_are_kept), TEST(folders__that_cannot_be_made),
		TEST(folders__too_deep_are_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
