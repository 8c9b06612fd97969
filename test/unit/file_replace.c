/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the replacement of files: whole contents with many writers, nothing left after failures. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file_replace.h"

#define WRITERS 8
#define ROUNDS  100
#define LENGTH  200

static char folder[64], path[96];
static int fsyncs_fail, renames_fail;

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

int __wrap_fsync(int fd)
{
	if (fsyncs_fail) {
		errno = EIO;
		return -1;
	}
	return __real_fsync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
	if (renames_fail) {
		errno = ENOSPC;
		return -1;
	}
	return __real_rename(from, to);
}

static int folder_make(void **state)
{
	snprintf(folder, sizeof(folder), "file-replace-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/file", folder);
	return 0;
}

static int folder_remove(void **state)
{
	unlink(path);
	return rmdir(folder); /* fails if a temporary file is left */
}

static void content_read(char out[LENGTH + 2])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	const ssize_t bytes = read(fd, out, LENGTH + 1);
	assert_true(bytes >= 0);
	out[bytes] = '\0';
	close(fd);
}

/* Writes the same letter LENGTH times, over and over. */
static int writer(char letter)
{
	char text[LENGTH + 1];

	memset(text, letter, LENGTH);
	text[LENGTH] = '\0';
	for (int i = 0; i < ROUNDS; i++)
		if (!file_replace(path, text, 0600))
			return 1;
	return 0;
}

static void file_replace__many_writers(void **state)
{
	pid_t children[WRITERS];
	char text[LENGTH + 2];
	int status, failed = 0;

	for (int i = 0; i < WRITERS; i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (children[i] == 0)
			_exit(writer((char)('a' + i)));
	}
	for (int i = 0; i < WRITERS; i++) {
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		failed += status != 0;
	}
	assert_int_equal(failed, 0);
	content_read(text);
	assert_int_equal(strlen(text), LENGTH);
	for (int i = 0; i < LENGTH; i++)
		assert_int_equal(text[i], text[0]);
}

static void file_replace__mode(void **state)
{
	struct stat s;

	assert_true(file_replace(path, "a", 0644));
	assert_int_equal(stat(path, &s), 0);
	assert_int_equal(s.st_mode & 0777, 0644);
	assert_true(file_replace(path, "b", 0600));
	assert_int_equal(stat(path, &s), 0);
	assert_int_equal(s.st_mode & 0777, 0600);
}

static void file_replace__failures_keep_the_old_file(void **state)
{
	char text[LENGTH + 2], longest[PATH_MAX + 8];

	assert_true(file_replace(path, "old", 0600));
	fsyncs_fail = 1;
	assert_false(file_replace(path, "new", 0600));
	assert_int_equal(errno, EIO);
	fsyncs_fail = 0;
	renames_fail = 1;
	assert_false(file_replace(path, "new", 0600));
	assert_int_equal(errno, ENOSPC);
	renames_fail = 0;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_false(file_replace(longest, "new", 0600));
	assert_int_equal(errno, ENAMETOOLONG);
	assert_false(file_replace("no-such-folder/file", "new", 0600));
	assert_int_equal(errno, ENOENT);
	content_read(text);
	assert_string_equal(text, "old");
}

static void file_write_hint__names_the_next_step(void **state)
{
	assert_non_null(strstr(file_write_hint(ENOSPC), "free space"));
	assert_non_null(strstr(file_write_hint(EDQUOT), "free space"));
	assert_non_null(strstr(file_write_hint(EROFS), "may write"));
	assert_non_null(strstr(file_write_hint(EACCES), "may write"));
	assert_string_equal(file_write_hint(EIO), "");
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(file_replace__many_writers),
		IN_FOLDER(file_replace__mode),
		IN_FOLDER(file_replace__failures_keep_the_old_file),
		cmocka_unit_test(file_write_hint__names_the_next_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
