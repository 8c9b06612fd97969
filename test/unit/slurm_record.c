/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the folders of steps: a lock lives as long as its process, and stale folders are found. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/util.h"
#include "plugins/slurm/record.h"

static char run[64], why[RECORD_WHY_BYTES];

static int folder_create(void **state)
{
	snprintf(run, sizeof(run), "/tmp/dxp-record-XXXXXX");
	return mkdtemp(run) ? 0 : -1;
}

static int folder_remove(void **state)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/.lock", run);
	unlink(path);
	return rmdir(run);
}

static void record_base__checks(void **state)
{
	char path[80];

	assert_true(record_base(run, why));
	assert_int_equal(chmod(run, 0777), 0);
	assert_false(record_base(run, why));
	assert_non_null(strstr(why, "other users can change"));
	assert_int_equal(chmod(run, 0711), 0);
	snprintf(path, sizeof(path), "%s/link", run);
	assert_int_equal(symlink("/tmp", path), 0);
	assert_false(record_base(path, why));
	unlink(path);
	snprintf(path, sizeof(path), "%s/none/none", run);
	assert_false(record_base(path, why));
	assert_non_null(strstr(why, "plugstack.conf"));
}

static void record_create__locks(void **state)
{
	struct record first, second;
	unsigned position = 0;

	assert_true(record_create(&first, run, "slurm-1-0-0", 0, why));
	assert_false(record_create(&second, run, "slurm-1-0-0", 0, why));
	assert_non_null(strstr(why, "another process has it"));
	assert_false(record_stale(&second, run, "slurm-", &position));
	assert_true(record_exists(run, "slurm-1-"));
	assert_false(record_exists(run, "slurm-2-"));
	record_close(&first, true);
	assert_false(record_exists(run, "slurm-"));
	assert_false(record_create(&first, run, "a-name-with-more-than-31-characters", 0, why));
}

/* A process that is killed leaves its folder, without lock. */
static void record_stale__after_a_kill(void **state)
{
	struct record r;
	unsigned position = 0;
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		bool good = record_create(&r, run, "slurm-7-0-0", 0, why) && record_count(&r, 3);
		if (write(ready[1], good ? "1" : "0", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, '1');
	assert_false(record_stale(&r, run, "slurm-", &position));
	assert_int_equal(record_xpus(run, "slurm-7-"), 3);
	assert_int_equal(record_xpus(run, "slurm-8-"), 0);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	position = 0;
	assert_true(record_stale(&r, run, "slurm-7-", &position));
	assert_string_equal(r.name, "slurm-7-0-0");
	record_close(&r, true);
	position = 0;
	assert_false(record_stale(&r, run, "slurm-", &position));
	close(ready[0]);
	close(ready[1]);
}

/* A folder that cannot be ended is not returned twice in one pass. */
static void record_stale__advances(void **state)
{
	static const char *const names[] = {"slurm-1-0-0", "slurm-1-1-0", "slurm-2-0-0"};
	struct record r;
	unsigned position = 0, count = 0;

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		assert_true(record_create(&r, run, names[i], 0, why));
		record_close(&r, false);
	}
	for (; record_stale(&r, run, "slurm-1-", &position); count++)
		record_close(&r, false);
	assert_int_equal(count, 2);
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		assert_true(record_create(&r, run, names[i], 0, why));
		record_close(&r, true);
	}
}

/* Two steps of a job request all of its xPUs: one is first, and the other follows it. */
static void record_acquire__one_after_the_other(void **state)
{
	struct record first, second, other;

	assert_true(record_create(&first, run, "slurm-1-0-0", 0, why));
	assert_true(record_create(&second, run, "slurm-1-1-0", 0, why));
	assert_true(record_create(&other, run, "slurm-2-0-0", 0, why));
	assert_true(record_acquire(&other, run, "slurm-2-", 2, 2));
	assert_false(record_acquire(&first, run, "slurm-1-", 3, 2));
	assert_int_equal(errno, 0);
	assert_int_equal(record_xpus(run, "slurm-1-"), 0); /* a step that waits has none */
	assert_true(record_acquire(&second, run, "slurm-1-", 2, 2));
	assert_false(record_acquire(&first, run, "slurm-1-", 1, 2));
	assert_true(record_acquire(&second, run, "slurm-1-", 1, 2)); /* again, with fewer */
	assert_true(record_acquire(&first, run, "slurm-1-", 1, 2));
	assert_int_equal(record_xpus(run, "slurm-1-"), 2);
	record_close(&second, true);
	assert_true(record_acquire(&first, run, "slurm-1-", 2, 2));
	assert_int_equal(unlinkat(first.fd, "xpus", 0), 0);
	assert_int_equal(mkdirat(first.fd, "xpus", 0700), 0); /* the number cannot be written */
	assert_false(record_acquire(&first, run, "slurm-1-", 1, 2));
	assert_int_equal(errno, EISDIR);
	assert_int_equal(unlinkat(first.fd, "xpus", AT_REMOVEDIR), 0);
	record_close(&first, true);
	record_close(&other, true);
}

/* Another user can lock a folder with mode 755, but not the file that is used. */
static void record_acquire__needs_no_lock_of_the_folder(void **state)
{
	struct record r;
	struct stat st;
	char path[80];
	const int folder = open(run, O_RDONLY | O_DIRECTORY);

	assert_int_equal(flock(folder, LOCK_EX | LOCK_NB), 0);
	assert_true(record_create(&r, run, "slurm-1-0-0", 0, why));
	assert_true(record_acquire(&r, run, "slurm-1-", 1, 1));
	snprintf(path, sizeof(path), "%s/.lock", run);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	const int file = open(path, O_RDWR);
	assert_int_equal(flock(file, LOCK_EX | LOCK_NB), 0);
	assert_false(record_acquire(&r, run, "slurm-1-", 1, 1));
	assert_int_equal(errno, 0);
	close(file);
	close(folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/tmp/x", path), 0);
	assert_false(record_acquire(&r, run, "slurm-1-", 1, 1));
	assert_int_equal(errno, ELOOP);
	assert_int_equal(unlink(path), 0);
	record_close(&r, true);
}

#define STEPS 12
#define GIVEN 3

/* Takes one xPU, waits until it may end, and returns it. */
static int step_process(unsigned number, int over)
{
	struct record r;
	char name[32], byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves no process */
	snprintf(name, sizeof(name), "slurm-5-%u-0", number);
	if (!record_create(&r, run, name, 0, why))
		return 1;
	while (!record_acquire(&r, run, "slurm-5-", 1, GIVEN)) {
		if (errno)
			return 2;
		nanosleep(&(struct timespec){.tv_nsec = MS_NS}, NULL);
	}
	if (record_xpus(run, "slurm-5-") > GIVEN)
		return 3;
	if (read(over, &byte, 1) != 1)
		return 4;
	record_close(&r, true);
	return 0;
}

/* Many processes: never more than are given, and each gets its own in the end. */
static void record_acquire__processes(void **state)
{
	pid_t children[STEPS];
	int over[2], status, failed = 0;

	assert_int_equal(pipe(over), 0);
	for (unsigned i = 0; i < STEPS; i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (children[i] == 0)
			_exit(step_process(i, over[0]));
	}
	const uint64_t until_ns = clock_now_ns() + 120 * S_NS;
	while (record_xpus(run, "slurm-5-") < GIVEN && clock_now_ns() < until_ns)
		nanosleep(&(struct timespec){.tv_nsec = MS_NS}, NULL);
	assert_int_equal(record_xpus(run, "slurm-5-"), GIVEN);
	for (unsigned i = 0; i < STEPS; i++)
		assert_int_equal(write(over[1], "x", 1), 1);
	for (unsigned i = 0; i < STEPS; i++) {
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		failed += status != 0;
	}
	assert_int_equal(failed, 0);
	close(over[0]);
	close(over[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_base__checks),
		cmocka_unit_test(record_create__locks),
		cmocka_unit_test(record_stale__after_a_kill),
		cmocka_unit_test(record_stale__advances),
		cmocka_unit_test(record_acquire__one_after_the_other),
		cmocka_unit_test(record_acquire__needs_no_lock_of_the_folder),
		cmocka_unit_test(record_acquire__processes),
	};
	return cmocka_run_group_tests(tests, folder_create, folder_remove);
}
