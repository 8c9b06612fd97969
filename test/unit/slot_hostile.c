/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that kernels with system calls in assembly harm neither the xPU nor other hosts. Skipped
 * without OpenCL, and except on x86-64. */
#include "test/unit/slot_calls_rig.h"

#include <errno.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "worker/zygote_internal.h"
#include "xpu/limits.h"

/* A full, blocking wakeup (an eventfd) delays neither the zygote nor other workers. */
static void wakeup__of_one_delays_no_other(void **state)
{
	struct guest good = guest_open("good"), bad = hostile_open("bad");
	struct call fill = {.number = SYS_write, .a = {ZYGOTE_WAKEUP, DATA, 8}, .offsets = 1 << 2};

	/* the counter reaches its maximum by all powers of 2 that still fit */
	for (int bit = 63; bit >= 0; bit--) {
		memcpy(fill.data, &(uint64_t){1ull << bit}, sizeof(uint64_t));
		call(&bad, fill);
	}
	call(&bad, (struct call){.number = SYS_fcntl, .a = {ZYGOTE_WAKEUP, F_SETFL, 0}});
	for (int i = 0; i < 20; i++) {
		usleep(5000); /* the node sleeps, so the worker must wake it */
		ok(end(&good, add(&good, 1, NULL)));
	}
	struct guest late = guest_open("late");
	ok(end(&late, add(&late, 1, NULL)));
	guest_close(&late);
	guest_close(&bad);
	guest_close(&good);
	workers_become(0);
}

/* If device memory could shrink, the daemon would die of SIGBUS. */
static void memory__cannot_shrink(void **state)
{
	struct guest g = hostile_open("shrinks");

	for (int fd = 0; fd < 64; fd++)
		assert_true(call(&g, (struct call){.number = SYS_ftruncate, .a = {fd, 0}}) < 0);
	ok(end(&g, start(&g, "raw", &(uint32_t){0}, sizeof(uint32_t), NULL)));
	guest_close(&g);
}

/* ---- memory of neighbours ---- */

#define SECRET 0x5ec4e7c0ffee1234 /* in another host's memory */

static void secret_write(const struct guest *g, uint64_t address)
{
	int64_t words[512];

	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		words[i] = SECRET;
	ok(dxp_mem_write(g->xpu, address, words, sizeof(words)));
}

static void secret_check(const struct guest *g)
{
	int64_t words[512];

	ok(dxp_mem_read(g->xpu, words, g->address, sizeof(words)));
	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		assert_true(words[i] == SECRET);
}

/* Runs a kernel with p[1] .. p[3] set. Returns its status, and p[8] in *result. */
static int kernel_run(const struct guest *g, const char *kernel, int64_t one, int64_t two,
		      int64_t three, int64_t *result)
{
	const struct call c = {.a = {one, two, three}};
	const uint32_t n = 0;

	ok(dxp_mem_write(g->xpu, g->address, &c, sizeof(c)));
	int status = end(g, start(g, kernel, &n, sizeof(n), NULL));
	ok(dxp_mem_read(g->xpu, result, g->address + offsetof(struct call, result),
			sizeof(*result)));
	return status;
}

/* Maps `bytes` of a descriptor from offset `at` in the worker. Returns the address, or a negative
 * errno. */
static int64_t file_map(const struct guest *g, int64_t fd, int64_t at, uint64_t bytes)
{
	return call(g, (struct call){.number = SYS_mmap,
				     .a = {0, (int64_t)bytes, 3, MAP_SHARED, fd, at}});
}

/* Bytes to search. Reading a mapped page allocates it, and reading more than XPU_FILES_SLACK
 * outside its allocations may evict the host. */
#define NEAR ((uint64_t)XPU_FILES_SLACK / 4)

/* Counts SECRETs near offset `at` of device memory mapped at `base`, and makes them 0. */
static int64_t secrets_near(const struct guest *g, int64_t base, uint64_t at)
{
	const uint64_t start = at > NEAR / 2 ? at - NEAR / 2 : 0;
	int64_t found;

	ok(kernel_run(g, "seek", ~SECRET, (int64_t)NEAR, base + (int64_t)start, &found));
	return found;
}

/* Neither its descriptors nor a larger mapping of device memory show a worker another host's
 * memory. */
static void memory__of_neighbours_has_no_descriptor(void **state)
{
	struct guest bad = hostile_open("bad"), good = guest_open("good");
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bytes = DAEMONS_MEMORY;
	const uint64_t after = good.address - bad.address;
	int64_t own;
	int mapped = 0;

	assert_true(good.address > bad.address && after + NEAR < bytes / 2);
	ok(end(&good, add(&good, 1, NULL)));
	secret_write(&good, good.address);
	for (int fd = 0; fd < 64; fd++) {
		int64_t at = file_map(&bad, fd, 0, bytes);
		if (at < 0)
			continue;
		mapped++;
		assert_int_equal(secrets_near(&bad, at, good.address), 0);
	}
	assert_int_equal(mapped, 1); /* its own device memory */
	/* beyond the end of its allocation */
	ok(kernel_run(&bad, "address", 0, 0, 0, &own));
	assert_int_equal(own % (int64_t)page, 0);
	int64_t longer = call(
		&bad, (struct call){.number = SYS_mremap, .a = {own, 0, (int64_t)bytes / 2, 1}});
	assert_true(longer > 0);
	assert_int_equal(secrets_near(&bad, longer, after), 0);
	secret_check(&good);
	guest_close(&bad);
	guest_close(&good);
}

/* A kernel that accesses another host's address kills its own process. */
static void memory__of_neighbours_has_no_address(void **state)
{
	struct guest good = guest_open("good"), bad = hostile_open("bad");
	int64_t own, found;

	secret_write(&good, good.address);
	ok(kernel_run(&bad, "address", 0, 0, 0, &own));
	const int64_t near = own + (int64_t)(good.address - bad.address);
	assert_int_not_equal(kernel_run(&bad, "seek", ~SECRET, 4096, near, &found), DXP_OK);
	secret_check(&good);
	/* the new process has the same few descriptors */
	ok(kernel_run(&bad, "address", 0, 0, 0, &own));
	assert_true(file_map(&bad, ZYGOTE_MEMORY, 0, DAEMONS_MEMORY) > 0);
	ok(end(&good, add(&good, 1, NULL)));
	guest_close(&bad);
	guest_close(&good);
}

/* The old content is not visible in a mapping of device memory. */
static void memory__of_an_earlier_host_is_gone(void **state)
{
	struct guest first = guest_open("first");
	uint64_t freed;

	ok(dxp_mem_alloc(first.xpu, 65536, &freed));
	secret_write(&first, freed + 32768);
	ok(dxp_mem_free(first.xpu, freed));
	struct guest bad = hostile_open("bad");
	int64_t at = file_map(&bad, ZYGOTE_MEMORY, 0, DAEMONS_MEMORY);
	assert_true(at > 0);
	assert_int_equal(secrets_near(&bad, at, freed + 32768), 0);
	guest_close(&bad);
	guest_close(&first);
}

/* The xPU evicts only the host that fills more memory than it has allocated. */
static void memory__filled_beyond_allocations_evicts(void **state)
{
	struct guest good = guest_open("good"), bad = hostile_open("bad");
	const struct call fill = {.number = SYS_fallocate,
				  .a = {ZYGOTE_MEMORY, 0, 0, DAEMONS_MEMORY / 2}};
	const uint64_t until_ns = clock_now_ns() + SOON_NS;
	uint32_t value;

	call_start(&bad, &fill);
	while (dxp_mem_read(bad.xpu, &value, bad.address, sizeof(value)) == DXP_OK) {
		assert_true(clock_now_ns() < until_ns);
		usleep(10000);
	}
	guest_close(&bad);
	secret_write(&good, good.address);
	secret_check(&good);
	ok(end(&good, add(&good, 1, NULL)));
	guest_close(&good);
	bad = hostile_open("bad");
	assert_int_equal(call(&bad, (struct call){.number = SYS_getppid}), zygote());
	guest_close(&bad);
}

/* A worker has only device memory, its wakeup, the pipe for printed text, and the standard
 * streams. */
static void descriptors__only_what_it_needs(void **state)
{
	struct guest g = guest_open("worker");
	char path[64], target[128];
	pid_t worker = 0;
	int count = 0;

	ok(end(&g, add(&g, 1, NULL)));
	assert_int_equal(children(zygote(), &worker), 1);
	for (int fd = 3; fd < 1024; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", worker, fd);
		ssize_t bytes = readlink(path, target, sizeof(target) - 1);
		if (bytes < 0)
			continue;
		target[bytes] = '\0';
		count++;
		if (fd == ZYGOTE_MEMORY)
			assert_non_null(strstr(target, "dxp-tenant"));
		else if (fd == ZYGOTE_WAKEUP)
			assert_non_null(strstr(target, "eventfd"));
		else
			assert_non_null(strstr(target, "pipe:"));
	}
	assert_int_equal(count, 3);
	guest_close(&g);
}

/* Returns the value of the line `name` in /proc/PID/status. */
static long status_line(pid_t pid, const char *name)
{
	char path[64], line[256];
	long value = -1;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
			value = strtol(line + strlen(name) + 1, NULL, 16);
	fclose(f);
	return value;
}

static void privileges__none_new(void **state)
{
	struct guest g = guest_open("worker");
	pid_t worker = 0;

	ok(end(&g, add(&g, 1, NULL)));
	assert_int_equal(children(zygote(), &worker), 1);
	assert_int_equal(status_line(worker, "NoNewPrivs"), 1);
	guest_close(&g);
}

static void files__of_the_system_only(void **state)
{
	struct guest g = hostile_open("reader");
	char path[256];

	assert_int_equal(file_open(&g, "/etc/passwd", O_RDONLY), -EACCES);
	assert_int_equal(file_open(&g, "/tmp", O_RDONLY), -EACCES);
	snprintf(path, sizeof(path), "%s/fabric.key", w.folder);
	assert_int_equal(access(path, R_OK), 0);
	assert_int_equal(file_open(&g, path, O_RDONLY), -EACCES);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)getpid());
	assert_int_equal(file_open(&g, path, O_RDONLY), -EACCES);
	/* the compiler needs it */
	assert_true(file_open(&g, "/usr", O_RDONLY) >= 0);
	guest_close(&g);
}

static void include__of_a_file_fails(void **state)
{
	static const char text[] = "#include \"/etc/passwd\"\nkernel void none(void) { }\n";
	struct guest g = guest_open("includes");
	struct dxp_program *p = NULL;

	assert_int_equal(dxp_program_build(g.xpu, text, NULL, &p), DXP_EBUILD);
	const char *log = dxp_program_log(p);
	assert_non_null(log);
	assert_non_null(strstr(log, "/etc/passwd"));
	assert_non_null(strstr(log, "Permission denied"));
	assert_null(strstr(log, "root:"));
	dxp_program_release(p);
	ok(end(&g, add(&g, 1, NULL)));
	guest_close(&g);
}

static void calls__outside_the_list_fail(void **state)
{
	const int64_t daemon = getpid(), parent = zygote();
	const struct call calls_refused[] = {
		{.number = SYS_socket, .a = {1, 1, 0}}, /* AF_UNIX */
		{.number = SYS_socket, .a = {2, 2, 0}}, /* AF_INET */
		{.number = 0x40000000 | SYS_socket, .a = {2, 2, 0}},
		{.number = SYS_ptrace, .a = {16, daemon}}, /* PTRACE_ATTACH to the daemon */
		{.number = SYS_kill, .a = {daemon, 0}},
		{.number = SYS_kill, .a = {parent, 0}},
		{.number = SYS_kill, .a = {-1, 0}},
		{.number = SYS_tgkill, .a = {daemon, daemon, 0}},
		{.number = SYS_tkill, .a = {daemon, 0}},
		{.number = SYS_pidfd_open, .a = {daemon, 0}},
		{.number = SYS_process_vm_readv, .a = {daemon, DATA, 1, DATA, 1, 0}},
		/* CLONE_NEWUSER */
		{.number = SYS_unshare, .a = {0x10000000}},
		{.number = SYS_clone, .a = {0x10000000 | 17}},
		{.number = SYS_setpriority, .a = {0, daemon, 19}},
		{.number = SYS_prlimit64, .a = {daemon, 0, 0, 0}},
		{.number = SYS_fcntl, .a = {ZYGOTE_WAKEUP, F_SETOWN, daemon}},
		{.number = SYS_bpf, .a = {0}},
		{.number = SYS_io_uring_setup, .a = {1, DATA}},
		{.number = SYS_mount, .a = {0}},
		{.number = SYS_keyctl, .a = {0}},
		{.number = SYS_userfaultfd, .a = {0}},
		{.number = SYS_perf_event_open, .a = {0}},
	};
	struct guest good = guest_open("good"), bad = hostile_open("bad");

	for (size_t i = 0; i < ARRAY_COUNT(calls_refused); i++)
		if (call(&bad, calls_refused[i]) != -EPERM)
			fail_msg("call %lld of row %zu", (long long)calls_refused[i].number, i);
	assert_int_equal(call(&bad, (struct call){.number = SYS_getppid}), parent);
	ok(end(&good, add(&good, 1, NULL)));
	guest_close(&bad);
	guest_close(&good);
}

static void privileges__no_capabilities(void **state)
{
	struct guest g = guest_open("worker");
	pid_t worker = 0;

	ok(end(&g, add(&g, 1, NULL)));
	assert_int_equal(children(zygote(), &worker), 1);
	assert_int_equal(status_line(worker, "CapPrm"), 0);
	assert_int_equal(status_line(worker, "CapEff"), 0);
	assert_int_equal(status_line(worker, "Seccomp"), 2);
	guest_close(&g);
}

static bool namespaces_permitted(void)
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWIPC) != 0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void namespaces__of_its_own(void **state)
{
	static const char *const kinds[] = {"user", "ipc"};
	char path[64], own[64] = "", its[64] = "";
	pid_t worker = 0;

	if (!namespaces_permitted()) {
		print_message("skipped: this user may not make user namespaces\n");
		skip();
	}
	struct guest g = guest_open("worker");
	ok(end(&g, add(&g, 1, NULL)));
	assert_int_equal(children(zygote(), &worker), 1);
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
		snprintf(path, sizeof(path), "/proc/self/ns/%s", kinds[i]);
		assert_true(readlink(path, own, sizeof(own) - 1) > 0);
		snprintf(path, sizeof(path), "/proc/%d/ns/%s", worker, kinds[i]);
		assert_true(readlink(path, its, sizeof(its) - 1) > 0);
		assert_string_not_equal(own, its);
	}
	guest_close(&g);
}

/* The forked process is killed when the worker exits. */
static void processes__leave_none_behind(void **state)
{
	struct guest g = hostile_open("leaver");
	const uint32_t n = 0;
	int64_t child;
	pid_t worker = 0, first = 0;

	ok(end(&g, start(&g, "leave", &n, sizeof(n), NULL)));
	ok(dxp_mem_read(g.xpu, &child, g.address + offsetof(struct call, result), sizeof(child)));
	assert_true(child > 0);
	assert_int_equal(children(zygote(), &worker), 1);
	assert_int_equal(children(worker, &first), 1);
	guest_close(&g);
	workers_become(0);
	for (uint64_t until = clock_now_ns() + SOON_NS; kill(first, 0) == 0;) {
		assert_true(clock_now_ns() < until);
		usleep(1000);
	}
}

/* ---- options ---- */

static int limited_open(void **state)
{
	sandbox = (struct sandbox_options){.mode = SANDBOX_STRICT,
					   .memory_bytes = WORKER_MEMORY_MIN,
					   .reads = "/nowhere:/etc/passwd:"};
	return world_open(state);
}

static void options__limit_memory_and_permit_files(void **state)
{
	const uint64_t half = WORKER_MEMORY_MIN / 2;
	struct guest g = hostile_open("limited");
	/* private memory */
	struct call map = {.number = SYS_mmap, .a = {0, 0, 3, 0x22, -1, 0}};

	map.a[1] = (int64_t)half / 2;
	assert_true(call(&g, map) > 0);
	map.a[1] = (int64_t)WORKER_MEMORY_MIN;
	assert_int_equal(call(&g, map), -ENOMEM);
	assert_true(file_open(&g, "/etc/passwd", O_RDONLY) >= 0);
	assert_int_equal(file_open(&g, "/etc/group", O_RDONLY), -EACCES);
	guest_close(&g);
}

static int open_open(void **state)
{
	sandbox = (struct sandbox_options){.mode = SANDBOX_OFF};
	return world_open(state);
}

static void options__off(void **state)
{
	struct guest g = hostile_open("free");

	assert_true(file_open(&g, "/etc/passwd", O_RDONLY) >= 0);
	assert_true(call(&g, (struct call){.number = SYS_socket, .a = {1, 1, 0}}) >= 0);
	guest_close(&g);
}

/* `ocl+bridged` runs kernels in a thread of the daemon, so it does not start in a strict
 * sandbox. */
static void options__strict_refuses_a_thread(void **state)
{
	struct test_daemon d = {0};
	const struct daemon_options options = {.slots = 1,
					       .first = 5,
					       .engine = "ocl+bridged",
					       .sandbox = {.mode = SANDBOX_STRICT}};

	assert_int_equal(test_daemon_open(&w, &d, &options), DXP_EUNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(wakeup__of_one_delays_no_other),
		TEST(memory__cannot_shrink),
		TEST(memory__of_neighbours_has_no_descriptor),
		TEST(memory__of_neighbours_has_no_address),
		TEST(memory__of_an_earlier_host_is_gone),
		TEST(memory__filled_beyond_allocations_evicts),
		TEST(descriptors__only_what_it_needs),
		TEST(privileges__none_new),
		TEST(privileges__no_capabilities),
		TEST(files__of_the_system_only),
		TEST(include__of_a_file_fails),
		TEST(calls__outside_the_list_fail),
		TEST(namespaces__of_its_own),
		TEST(processes__leave_none_behind),
	};
	const struct CMUnitTest limited[] = {
		TEST(options__limit_memory_and_permit_files),
	};
	const struct CMUnitTest off[] = {
		TEST(options__off),
		TEST(options__strict_refuses_a_thread),
	};

	if (calls_skip())
		return 77;
	int failed = cmocka_run_group_tests(tests, world_open, world_close);
	failed += cmocka_run_group_tests(limited, limited_open, world_close);
	return failed + cmocka_run_group_tests(off, open_open, world_close);
}
