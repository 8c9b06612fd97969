/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the loss of a worker, and of the zygote, which starts workers: running commands fail, later
 * ones succeed. Skipped without OpenCL. */
#include "test/unit/slot_workers_rig.h"

/* A worker is killed from outside, as by the kernel when memory is short. Only its own command
 * fails. */
static void killed__from_outside(void **state)
{
	struct guest g = guest_open("victim");
	const uint32_t n = 0;
	pid_t worker = 0;

	dxp_event event = start(&g, "endless", &n, sizeof(n), NULL);
	workers_become(1);
	children(zygote(), &worker);
	assert_int_equal(kill(worker, SIGKILL), 0);
	assert_int_equal(end(&g, event), DXP_EDEVICE);
	ok(end(&g, add(&g, 1, NULL)));
	guest_close(&g);
}

/* All kernels exit with a killed zygote; a command that needs one starts a new zygote. */
static void zygote__killed(void **state)
{
	struct guest g = guest_open("orphan");
	const uint32_t n = 0;
	pid_t before = zygote(), after = 0;

	usleep(1100000); /* restarts are at least a second apart */
	dxp_event event = start(&g, "endless", &n, sizeof(n), NULL);
	workers_become(1);
	assert_int_equal(kill(before, SIGKILL), 0);
	assert_int_equal(end(&g, event), DXP_EDEVICE);
	ok(end(&g, add(&g, 1, NULL)));
	assert_int_equal(children(getpid(), &after), 1);
	assert_int_not_equal(after, before);
	guest_close(&g);
}

static void zygote_gone(pid_t before)
{
	pid_t pid = before;

	for (uint64_t until = clock_now_ns() + SOON_NS;
	     children(getpid(), &pid) > 0 && pid == before;) {
		assert_true(clock_now_ns() < until);
		usleep(1000);
	}
}

/* Commands wait until a restart is allowed, even if a new host arrives before the exit is
 * detected. */
static void zygote__killed_young(void **state)
{
	struct guest g = guest_open("patient");

	for (int i = 0; i < 2; i++) {
		ok(end(&g, add(&g, 1, NULL)));
		pid_t before = zygote();
		assert_int_equal(kill(before, SIGKILL), 0);
		zygote_gone(before);
		ok(end(&g, add(&g, 1, NULL)));
	}
	assert_int_equal(word(&g), 4);
	assert_int_equal(kill(zygote(), SIGKILL), 0);
	struct guest late = guest_open("late");
	ok(end(&late, add(&late, 1, NULL)));
	guest_close(&late);
	guest_close(&g);
}

/* Commands fail until the program that starts workers is back. */
static void zygote__cannot_start(void **state)
{
	struct guest g = guest_open("unlucky");
	char path[128], away[140];

	snprintf(path, sizeof(path), "%s/dxpd", w.folder);
	snprintf(away, sizeof(away), "%s.away", path);
	ok(end(&g, add(&g, 1, NULL)));
	usleep(1100000);
	assert_int_equal(rename(path, away), 0);
	assert_int_equal(kill(zygote(), SIGKILL), 0);
	usleep(200000); /* the exit is detected within this time */
	assert_int_equal(end(&g, add(&g, 1, NULL)), DXP_EDEVICE);
	assert_int_equal(end(&g, add(&g, 1, NULL)), DXP_EDEVICE);
	assert_int_equal(rename(away, path), 0);
	usleep(1100000);
	ok(end(&g, add(&g, 1, NULL)));
	guest_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(killed__from_outside),
		TEST(zygote__killed),
		TEST(zygote__killed_young),
		TEST(zygote__cannot_start),
	};

	if (!daemons_opencl()) {
		printf("skipped: no OpenCL device that works in host memory\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, world_open, world_close);
}
