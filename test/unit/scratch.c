/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests temporary folders, which go with their owner, or at the next run if it was killed. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/scratch.h"

static char where[] = "/tmp/dxp-test-scratch-XXXXXX";

static bool is_there(const char *path)
{
	struct stat s;

	return lstat(path, &s) == 0;
}

static void file_make(const char *folder, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(file >= 0);
	close(file);
}

/* Sets the folder's times back by two minutes. */
static void make_old(const char *folder)
{
	const struct timespec times[2] = {{.tv_sec = time(NULL) - 120},
					  {.tv_sec = time(NULL) - 120}};

	assert_int_equal(utimensat(AT_FDCWD, folder, times, 0), 0);
}

static void a_folder_goes_with_all_that_is_in_it(void **state)
{
	char inner[256], link_path[300], kept[256], path[300];
	struct scratch *s;

	assert_int_equal(scratch_open(where, &s), DXP_OK);
	assert_true(is_there(scratch_path(s)));
	snprintf(kept, sizeof(kept), "%s/kept", where);
	assert_int_equal(mkdir(kept, 0700), 0);
	file_make(kept, "file");
	snprintf(inner, sizeof(inner), "%s/inner", scratch_path(s));
	assert_int_equal(mkdir(inner, 0700), 0);
	file_make(inner, "file");
	snprintf(link_path, sizeof(link_path), "%s/link", inner);
	assert_int_equal(symlink(kept, link_path), 0);
	snprintf(inner, sizeof(inner), "%s", scratch_path(s));
	scratch_close(s);
	assert_false(is_there(inner));
	snprintf(path, sizeof(path), "%s/file", kept);
	assert_true(is_there(path));
	scratch_folder_remove(kept);
	assert_false(is_there(kept));
}

static void what_was_left_goes_with_the_next(void **state)
{
	char left[256], young[256], other[256], owned[256];
	struct scratch *owner, *next;

	snprintf(left, sizeof(left), "%s/dxp-work-left00", where);
	snprintf(young, sizeof(young), "%s/dxp-work-young0", where);
	snprintf(other, sizeof(other), "%s/other", where);
	assert_int_equal(mkdir(left, 0700) | mkdir(young, 0700) | mkdir(other, 0700), 0);
	file_make(left, "file");
	assert_int_equal(scratch_open(where, &owner), DXP_OK);
	snprintf(owned, sizeof(owned), "%s", scratch_path(owner));
	make_old(left);
	make_old(other);
	make_old(owned);
	assert_int_equal(scratch_open(where, &next), DXP_OK);
	assert_false(is_there(left));
	assert_true(is_there(young));
	assert_true(is_there(other));
	assert_true(is_there(owned));
	scratch_close(next);
	scratch_close(owner);
	scratch_folder_remove(young);
	scratch_folder_remove(other);
}

static void without_a_folder_it_reports_so(void **state)
{
	struct scratch *s = NULL;

	assert_int_equal(scratch_open("/nowhere/at/all", &s), DXP_EIO);
	assert_null(s);
	scratch_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_goes_with_all_that_is_in_it),
		cmocka_unit_test(what_was_left_goes_with_the_next),
		cmocka_unit_test(without_a_folder_it_reports_so),
	};

	if (!mkdtemp(where))
		return 1;
	int status = cmocka_run_group_tests(tests, NULL, NULL);
	scratch_folder_remove(where);
	return status;
}
