/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the files in which a daemon, here this process, keeps its tenants' memory: seals, pages,
 * removal. Skipped without a clang for rv32. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/ranges.h"
#include "engine/rv32_clang.h"
#include "test/support/daemons.h"
#include "worker/limits.h"
#include "xpu/limits.h"

#define BYTES   (4u << 20)
#define WAIT_NS (120 * S_NS)

struct user {
	struct dxp_fabric *fabric;
	struct dxp_xpu *xpu;
	int fd; /* file with the host's memory */
};

static struct daemons w;
static struct test_daemon d;
static uint8_t buffer[BYTES];

static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

/* Counts this process' descriptors of files of this name; *last is the highest. */
static int files(const char *name, int *last)
{
	char path[300], target[128];
	struct dirent *e;
	DIR *fds = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(fds);
	while ((e = readdir(fds))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		ssize_t bytes = readlink(path, target, sizeof(target) - 1);
		if (bytes < 0)
			continue;
		target[bytes] = '\0';
		if (!strstr(target, name))
			continue;
		*last = atoi(e->d_name) > *last || count == 0 ? atoi(e->d_name) : *last;
		count++;
	}
	closedir(fds);
	return count;
}

/* Bytes of allocated pages. */
static uint64_t pages(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static void files_become(int count)
{
	int fd = -1;

	for (uint64_t until = clock_now_ns() + WAIT_NS; files("dxp-tenant", &fd) != count;) {
		assert_true(clock_now_ns() < until);
		usleep(1000);
	}
}

static struct user user_open(const char *name)
{
	struct user u = {.fd = -1};

	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = name},
			   &u.fabric));
	u.xpu = daemons_xpu(u.fabric, "xpu1");
	files("dxp-tenant", &u.fd);
	return u;
}

static void user_close(const struct user *u)
{
	dxp_xpu_close(u->xpu);
	dxp_fabric_close(u->fabric);
}

static uint64_t filled(const struct user *u)
{
	uint64_t address;

	ok(dxp_mem_alloc(u->xpu, BYTES, &address));
	memset(buffer, 0x77, BYTES);
	ok(dxp_mem_write(u->xpu, address, buffer, BYTES));
	return address;
}

static void zero(const struct user *u, uint64_t address)
{
	memset(buffer, 1, BYTES);
	ok(dxp_mem_read(u->xpu, buffer, address, BYTES));
	for (size_t i = 0; i < BYTES; i++)
		assert_int_equal(buffer[i], 0);
}

static void file__one_for_each_host(void **state)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	struct user a = user_open("a"), b = user_open("b");

	files_become(2);
	assert_int_equal(fcntl(a.fd, F_GET_SEALS), seals);
	assert_int_equal(fcntl(b.fd, F_GET_SEALS), seals);
	assert_int_not_equal(a.fd, b.fd);
	filled(&a);
	user_close(&a);
	files_become(1);
	user_close(&b);
	files_become(0);
}

/* A host gets the pages that it freed again, zeroed. At the same addresses, another host has its
 * own pages. */
static void pages__belong_to_one_host(void **state)
{
	struct user a = user_open("a");
	uint64_t first = filled(&a), second;

	assert_true(pages(a.fd) >= BYTES);
	ok(dxp_mem_free(a.xpu, first));
	ok(dxp_mem_alloc(a.xpu, BYTES, &second));
	assert_int_equal(second, first);
	zero(&a, second);
	assert_int_equal(pages(a.fd), BYTES);
	ok(dxp_mem_free(a.xpu, second));
	struct user b = user_open("b");
	ok(dxp_mem_alloc(b.xpu, BYTES, &second));
	assert_int_equal(second, first);
	assert_int_equal(pages(a.fd), 0);
	assert_int_equal(pages(b.fd), BYTES);
	zero(&b, second);
	ok(dxp_mem_free(b.xpu, second));
	ok(dxp_mem_alloc(a.xpu, BYTES, &second));
	assert_int_equal(pages(b.fd), 0);
	zero(&a, second);
	user_close(&a);
	user_close(&b);
	files_become(0);
}

static void pages__of_common_memory_go_when_it_is_allocated(void **state)
{
	struct user a = user_open("a"), b = user_open("b");
	uint64_t address;
	int arena = -1;

	assert_int_equal(files("dxp-arena", &arena), 1);
	memset(buffer, 0x33, BYTES);
	ok(dxp_mem_write(a.xpu, 0, buffer, BYTES));
	assert_true(pages(arena) >= BYTES);
	ok(dxp_mem_read(b.xpu, buffer, 64, 64));
	assert_int_equal(buffer[0], 0x33);
	assert_int_equal(pages(a.fd) + pages(b.fd), 0);
	ok(dxp_mem_alloc(b.xpu, BYTES, &address));
	assert_int_equal(address, 0);
	assert_true(pages(arena) < BYTES);
	zero(&b, address);
	assert_int_equal(dxp_mem_read(a.xpu, buffer, 0, 64), DXP_EACCESS);
	/* the memory behind the allocation is another file */
	assert_int_equal(dxp_mem_read(b.xpu, buffer, BYTES - 8, 16), DXP_EACCESS);
	ok(dxp_mem_free(b.xpu, address));
	zero(&a, 0);
	user_close(&a);
	user_close(&b);
	files_become(0);
}

/* ---- faults ---- */

/* Operations on tenants' files that fail from now on. */
static _Atomic bool no_file, no_map, no_hole, no_list;

int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags)
{
	if (!no_file || strcmp(name, "dxp-tenant") != 0)
		return __real_memfd_create(name, flags);
	errno = EMFILE;
	return -1;
}

void *__real_mmap(void *at, size_t bytes, int rights, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int rights, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int rights, int flags, int fd, off_t offset)
{
	if (!no_map || bytes != DAEMONS_MEMORY + WORKER_TAIL_BYTES)
		return __real_mmap(at, bytes, rights, flags, fd, offset);
	errno = ENOMEM;
	return MAP_FAILED;
}

int __real_fallocate(int fd, int mode, off_t offset, off_t bytes);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t bytes);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t bytes)
{
	if (!no_hole)
		return __real_fallocate(fd, mode, offset, bytes);
	errno = EOPNOTSUPP;
	return -1;
}

bool __real_ranges_add(struct ranges *r, uint64_t start, uint64_t end);
bool __wrap_ranges_add(struct ranges *r, uint64_t start, uint64_t end);
bool __wrap_ranges_add(struct ranges *r, uint64_t start, uint64_t end)
{
	return !no_list && __real_ranges_add(r, start, end);
}

/* The new host is rejected, and the next one served. */
static void faults__no_file(void **state)
{
	_Atomic bool *const faults[] = {&no_file, &no_map};
	const int expected[] = {DXP_EBUSY, DXP_ENOMEM};
	struct dxp_fabric *fabric;
	struct dxp_xpu *xpu;

	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = "late"},
			   &fabric));
	for (size_t i = 0; i < ARRAY_COUNT(faults); i++) {
		*faults[i] = true;
		assert_int_equal(dxp_xpu_open(fabric, "xpu1", &xpu), expected[i]);
		*faults[i] = false;
	}
	dxp_fabric_close(fabric);
	struct user a = user_open("a");
	files_become(1);
	user_close(&a);
	files_become(0);
}

/* Pages that could not be freed evict no host at the next check of files. */
static void stay(const struct user *a, const struct user *b)
{
	const uint64_t end_ns = clock_now_ns() + 5 * XPU_FILES_NS / 4;
	struct dxp_xpu_caps caps;

	do {
		ok(dxp_xpu_caps(a->xpu, &caps));
		ok(dxp_xpu_caps(b->xpu, &caps));
	} while (clock_now_ns() < end_ns);
}

/* If freed pages can be neither freed nor listed, the next host still gets zeros. */
static void faults__zero_all_the_same(void **state)
{
	_Atomic bool *const faults[] = {&no_hole, &no_list};

	for (size_t i = 0; i < ARRAY_COUNT(faults); i++) {
		*faults[i] = true;
		struct user a = user_open("a"), b = user_open("b");
		memset(buffer, 0x33, BYTES);
		ok(dxp_mem_write(a.xpu, 0, buffer, BYTES));
		for (int round = 0; round < 2; round++) {
			uint64_t address = filled(&a);
			assert_int_equal(address, 0);
			ok(dxp_mem_free(a.xpu, address));
			zero(&b, 0);
			ok(dxp_mem_alloc(a.xpu, BYTES, &address));
			zero(&a, address);
			ok(dxp_mem_free(a.xpu, address));
			address = filled(&b);
			assert_int_equal(address, 0);
			ok(dxp_mem_free(b.xpu, address));
		}
		stay(&a, &b);
		user_close(&a);
		user_close(&b);
		*faults[i] = false;
		files_become(0);
	}
}

static int world_open(void **state)
{
	daemons_begin(&w);
	ok(test_daemon_open(
		&w, &d,
		&(struct daemon_options){
			.slots = 1, .first = 1, .engine = "rv32", .worker_program = "bin/dxpd"}));
	return 0;
}

static int world_close(void **state)
{
	int fd;

	test_daemon_close(&d);
	assert_int_equal(files("dxp-arena", &fd), 0);
	return daemons_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file__one_for_each_host),
		cmocka_unit_test(pages__belong_to_one_host),
		cmocka_unit_test(pages__of_common_memory_go_when_it_is_allocated),
		cmocka_unit_test(faults__no_file),
		cmocka_unit_test(faults__zero_all_the_same),
	};

	if (!rv32_clang_there()) {
		printf("skipped: engine rv32 finds no clang\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, world_open, world_close);
}
