/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that each failed call for memory, files, mappings or threads of a function gives its reason
 * and leaks nothing: the n-th call fails, n = 1, 2, ... until none does. */
#include "test/unit/host_function.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "test/sim/memory.h"

#define RUNS_MAX 1000

/* If the countdown reaches this call of `name`, it fails. */
#define FALLIBLE(type, name, parameters, arguments, error, result) \
	type __real_##name parameters;                             \
	type __wrap_##name parameters;                             \
	type __wrap_##name parameters                              \
	{                                                          \
		if (!fails_now())                                  \
			return __real_##name arguments;            \
		errno = error;                                     \
		return result;                                     \
	}

FALLIBLE(void *, aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes), ENOMEM, NULL)
FALLIBLE(int, eventfd, (unsigned value, int flags), (value, flags), EMFILE, -1)
FALLIBLE(int, epoll_create1, (int flags), (flags), EMFILE, -1)
FALLIBLE(int, memfd_create, (const char *name, unsigned flags), (name, flags), ENFILE, -1)
FALLIBLE(int, ftruncate, (int fd, off_t bytes), (fd, bytes), ENOMEM, -1)
FALLIBLE(void *, mmap, (void *at, size_t bytes, int rights, int flags, int fd, off_t offset),
	 (at, bytes, rights, flags, fd, offset), ENOMEM, MAP_FAILED)
FALLIBLE(int, pthread_create,
	 (pthread_t * thread, const pthread_attr_t *a, void *(*run)(void *), void *context),
	 (thread, a, run, context), EAGAIN, EAGAIN)

static unsigned files_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* A failure must have a plausible status. */
static bool reported(int status)
{
	if (status == DXP_OK)
		return true;
	if (status != DXP_ENOMEM && status != DXP_EIO && status != DXP_EBUSY &&
	    status != DXP_ECLOSED)
		fail_msg("%s: %s", dxp_status_name(status), dxp_function_error());
	assert_string_not_equal(dxp_function_error(), "");
	return false;
}

static bool function_use(struct dxp_function *f)
{
	struct dxp_memory one, two;
	uint32_t key;
	bool well = reported(dxp_memory_create(f, 4096, DXP_REMOTE_WRITE, &one));

	if (!well)
		return false;
	well = reported(dxp_memory_create(f, 4096, DXP_REMOTE_READ, &two)) &&
	       reported(dxp_memory_register(f, two.fd, 0, 4096, DXP_LOCAL, &key)) &&
	       reported(dxp_function_arm(f)) &&
	       /* the wait needs no memory */
	       dxp_function_wait(f, 1000) == DXP_ETIMEDOUT;
	dxp_memory_destroy(f, &one);
	return well;
}

static bool nic_use(const struct dxp_nic_options *options)
{
	struct dxp_function *f, *g;
	struct dxp_nic *nic;

	if (!reported(dxp_nic_open(options, &nic)))
		return false;
	bool well = reported(dxp_nic_function(nic, "one", &f));
	if (well) {
		well = reported(dxp_nic_function(nic, NULL, &g));
		if (well) {
			well = function_use(g);
			dxp_function_close(g);
		}
		dxp_function_close(f);
	}
	dxp_nic_close(nic);
	return well;
}

static bool attached_use(const struct dxp_nic_options *options)
{
	const struct dxp_function_options o = {.nic = options->name, .timeout_ms = 500};
	struct dxp_function *f;

	if (!reported(dxp_function_attach(&o, &f)))
		return false;
	bool well = function_use(f);
	dxp_function_close(f);
	return well;
}

/* A peer may close its side a little later. */
static void files_settle(unsigned wanted, uint64_t n)
{
	uint64_t begin_ns = clock_now_ns();

	while (files_open() != wanted && clock_now_ns() - begin_ns < 120 * S_NS)
		usleep(100);
	if (files_open() != wanted)
		fail_msg("failure %d left files open", (int)n);
}

static void each_fails_once(bool (*use)(const struct dxp_nic_options *options),
			    const struct dxp_nic_options *options)
{
	unsigned files = files_open();
	uint64_t n = 0;
	bool well;

	/* Some objects live until exit, such as logs, and are no leaks. */
	assert_true(use(options));
	files_settle(files, 0);
	do {
		countdown = ++n;
		well = use(options);
		bool over = countdown > 0;
		countdown = 0;
		files_settle(files, n);
		if (over) {
			assert_true(well);
			break;
		}
	} while (n < RUNS_MAX);
	assert_in_range(n, 10, RUNS_MAX - 1);
}

static void nic__survives_each_failure(void **state)
{
	const struct dxp_nic_options options = {.name = "alone"};

	each_fails_once(nic_use, &options);
}

static void nic__survives_each_failure_of_its_thread(void **state)
{
	const struct dxp_nic_options options = {.name = "alone", .thread = true};

	each_fails_once(nic_use, &options);
}

/* The failure hits the NIC or the program; the NIC's thread makes calls too, so runs differ. */
static void attached__survives_each_failure(void **state)
{
	char folder[] = "/tmp/dxp-host-faults-XXXXXX";
	const struct dxp_nic_options options = {.name = "served", .thread = true};
	struct dxp_nic *nic;

	assert_non_null(mkdtemp(folder));
	setenv("DXP_RUN", folder, 1);
	ok(dxp_nic_open(&options, &nic));
	ok(dxp_nic_serve(nic, NULL));
	each_fails_once(attached_use, &options);
	dxp_nic_close(nic);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nic__survives_each_failure),
		cmocka_unit_test(nic__survives_each_failure_of_its_thread),
		cmocka_unit_test(attached__survives_each_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
