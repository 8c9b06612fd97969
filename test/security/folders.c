/* SPDX-License-Identifier: BSD-3-Clause */
/* Attacks by files: a kernel that writes files must not place native code that another host or the
 * node runs. Skipped without OpenCL, and except on x86-64. */
#include "test/unit/slot_calls_rig.h"

#include <errno.h>

#include "worker/folders.h"

/* Writes the current folder of the only running worker to `out`. */
static void worker_folder(char out[PATH_MAX])
{
	char path[64];
	pid_t worker = 0;

	assert_int_equal(children(zygote(), &worker), 1);
	snprintf(path, sizeof(path), "/proc/%d/cwd", worker);
	ssize_t bytes = readlink(path, out, PATH_MAX - 1);
	assert_true(bytes > 0);
	out[bytes] = '\0';
}

static void parent_of(char *path)
{
	*strrchr(path, '/') = '\0';
}

static void gone(const char *folder)
{
	for (uint64_t until = clock_now_ns() + SOON_NS; access(folder, F_OK) == 0;) {
		assert_true(clock_now_ns() < until);
		usleep(1000);
	}
}

/* The worker of `bad` can neither create nor change file `name` here. */
static void write_refused(const struct guest *bad, const char *folder, const char *name)
{
	char path[PATH_MAX];

	assert_true(snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path));
	const int64_t result = file_open(bad, path, O_WRONLY | O_CREAT);
	if (result != -EACCES)
		fail_msg("%s: %lld, not EACCES", path, (long long)result);
}

static void write_accepted(const struct guest *g, const char *folder)
{
	char path[PATH_MAX];

	assert_true(snprintf(path, sizeof(path), "%s/mine", folder) < (int)sizeof(path));
	assert_true(file_open(g, path, O_WRONLY | O_CREAT) >= 0);
}

static void kept_folder(const char *name, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s/kernels/%s", w.folder, name);
}

/* Returns the number of programs, and the name of one that is not empty. */
static int programs_in(const char *folder, char name[256])
{
	struct dirent *e;
	DIR *d = opendir(folder);
	int count = 0;
	struct stat s;

	name[0] = '\0';
	while (d && (e = readdir(d))) {
		if (!strstr(e->d_name, ".program"))
			continue;
		count++;
		if (fstatat(dirfd(d), e->d_name, &s, 0) == 0 && s.st_size > 0)
			snprintf(name, 256, "%s", e->d_name);
	}
	if (d)
		closedir(d);
	return count;
}

/* Runs a host's program in two workers; the node keeps it after its second use. */
static void program_keep(const char *name)
{
	for (int i = 0; i < 2; i++) {
		char run[FABRIC_NAME_BYTES];
		/* another host name for each run, like processes of one program */
		snprintf(run, sizeof(run), "%s-%d", name, i);
		struct guest g = guest_open(run);
		ok(end(&g, add(&g, 1, NULL)));
		guest_close(&g);
	}
}

/* A kernel cannot create or change programs kept for another host or the node. */
static void kept__programs_of_others_cannot_be_replaced(void **state)
{
	char victim[PATH_MAX], folder[PATH_MAX], name[256];

	program_keep("victim");
	kept_folder("hosts/host-victim@127.0.0.1/programs", victim);
	assert_true(programs_in(victim, name) > 0);
	assert_true(name[0] != '\0');
	struct guest bad = hostile_open("bad");
	write_refused(&bad, victim, name);
	write_refused(&bad, victim, "new.program");
	kept_folder("hosts/host-victim@127.0.0.1", folder);
	write_refused(&bad, folder, "new");
	kept_folder("hosts", folder);
	write_refused(&bad, folder, "host-later");
	kept_folder("node", folder);
	write_refused(&bad, folder, "tried");
	kept_folder("node/programs", folder);
	write_refused(&bad, folder, "new.program");
	/* earlier versions kept all hosts' programs here */
	kept_folder("programs", folder);
	mkdir(folder, 0700);
	write_refused(&bad, folder, "new.program");
	write_refused(&bad, w.folder, "binaries.key");
	kept_folder("hosts/host-bad@127.0.0.1/programs", folder);
	write_accepted(&bad, folder);
	guest_close(&bad);
}

/* A kernel of a host with another label can neither list nor read a host's folder of programs. */
static void kept__programs_cannot_be_read_by_others(void **state)
{
	char victim[PATH_MAX], path[PATH_MAX], name[256];

	program_keep("private");
	kept_folder("hosts/host-private@127.0.0.1/programs", victim);
	assert_true(programs_in(victim, name) > 0);
	struct guest bad = hostile_open("bad");
	assert_int_equal(file_open(&bad, victim, O_RDONLY | O_DIRECTORY), -EACCES);
	assert_true(snprintf(path, sizeof(path), "%s/%s", victim, name) < (int)sizeof(path));
	assert_int_equal(file_open(&bad, path, O_RDONLY), -EACCES);
	guest_close(&bad);
}

/* PoCL loads kernel code from files: a kernel cannot write into this folder of another worker or
 * the zygote, or the one above. */
static void compiler__files_of_others_cannot_be_replaced(void **state)
{
	char own[PATH_MAX], first[PATH_MAX], scratch[PATH_MAX];
	struct guest good = guest_open("good");

	ok(end(&good, add(&good, 1, NULL)));
	worker_folder(first);
	struct guest bad = hostile_open("bad");
	write_refused(&bad, first, "planted.so");
	snprintf(scratch, sizeof(scratch), "%s", first);
	parent_of(scratch);
	write_refused(&bad, scratch, "planted.so");
	assert_true(snprintf(own, sizeof(own), "%s/zygote", scratch) < (int)sizeof(own));
	write_refused(&bad, own, "planted.so");
	guest_close(&good);
	worker_folder(own);
	assert_string_not_equal(own, first);
	write_accepted(&bad, own);
	guest_close(&bad);
}

/* Processes of one program, such as a job's ranks, share a folder for compiled files: at once, in
 * turn, and after a crash. */
static void compiler__files_are_shared_by_label(void **state)
{
	char first[PATH_MAX], later[PATH_MAX];
	struct guest one = guest_open("rank-1");

	ok(end(&one, add(&one, 1, NULL)));
	worker_folder(first);
	struct guest two = guest_open("rank-2");
	ok(end(&two, add(&two, 1, NULL)));
	guest_close(&one);
	worker_folder(later);
	assert_string_equal(first, later);
	assert_int_equal(end(&two, wild(&two, "wild", 0x10)), DXP_EDEVICE);
	ok(end(&two, add(&two, 1, NULL)));
	guest_close(&two);
	struct guest three = guest_open("rank-3");
	ok(end(&three, add(&three, 1, NULL)));
	worker_folder(later);
	assert_string_equal(first, later);
	guest_close(&three);
}

/* A program's compiled files are removed after FOLDERS_IDLE_MAX later programs have exited. */
static void compiler__files_of_the_past_are_removed(void **state)
{
	char first[PATH_MAX], name[FABRIC_NAME_BYTES];
	struct guest g = guest_open("past");

	ok(end(&g, add(&g, 1, NULL)));
	worker_folder(first);
	guest_close(&g);
	assert_int_equal(access(first, F_OK), 0);
	for (int i = 0; i < FOLDERS_IDLE_MAX; i++) {
		snprintf(name, sizeof(name), "later%d", i);
		g = guest_open(name);
		guest_close(&g);
	}
	gone(first);
}

/* The option lets all hosts write the shared programs. The seal key and the node's own stay
 * protected. */
static void shared__by_an_option(void **state)
{
	char folder[PATH_MAX], name[256];

	program_keep("first");
	kept_folder("shared/programs", folder);
	assert_true(programs_in(folder, name) > 0);
	struct guest other = hostile_open("other");
	write_accepted(&other, folder);
	write_refused(&other, w.folder, "binaries.key");
	kept_folder("node/programs", folder);
	write_refused(&other, folder, "new.program");
	guest_close(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(kept__programs_of_others_cannot_be_replaced),
		TEST(kept__programs_cannot_be_read_by_others),
		TEST(compiler__files_of_others_cannot_be_replaced),
		TEST(compiler__files_are_shared_by_label),
		TEST(compiler__files_of_the_past_are_removed),
	};
	const struct CMUnitTest sharing[] = {
		TEST(shared__by_an_option),
	};

	if (calls_skip())
		return 77;
	int failed = cmocka_run_group_tests(tests, world_open, world_close);
	cache_shared = true;
	return failed + cmocka_run_group_tests(sharing, world_open, world_close);
}
