/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of workers: a daemon with an OpenCL xPU, and hosts (guests) with a worker
 * each. */
#ifndef TEST_UNIT_SLOT_WORKERS_RIG_H
#define TEST_UNIT_SLOT_WORKERS_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <dxp/async.h>

#include "base/clock.h"
#include "base/util.h"
#include "test/support/daemons.h"

#define SOON_NS    (20 * S_NS) /* ns; far below an endless kernel */
#define HOST_BYTES (4u << 20)

static const char source[] =
	"kernel void add(global uint *p, uint n) { p[get_global_id(0)] += n; }\n"
	"kernel void wild(global uint *p, ulong n) { *(global uint *)n = 7; }\n"
	"kernel void say(global uint *p, uint n) { printf(\"I am %u\", n); }\n"
	"kernel void escape(global uint *p, uint n) { printf(\"a\\tb\\n\\033[2J%c\", 27); }\n"
	"kernel void wild_near(global uint *p, ulong n) { p[n] = 7; }\n"
	"kernel void endless(global uint *p, uint n) { for (volatile uint i = 0; ; i++) p[0] = i; "
	"}\n";

struct guest {
	struct dxp_fabric *fabric;
	struct dxp_xpu *xpu;
	struct dxp_program *program;
	uint64_t address;
};

static struct daemons w;
static struct sandbox_options sandbox; /* for the next world_open */
/* built programs are common to hosts */
static bool cache_shared;
static struct guest opened[4]; /* without a fabric: a free entry */

UNUSED static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

/* NULL finds a free entry. */
UNUSED static struct guest *opened_find(const struct dxp_fabric *fabric)
{
	for (size_t i = 0; i < ARRAY_COUNT(opened); i++)
		if (opened[i].fabric == fabric)
			return &opened[i];
	fail_msg("the test opens too many guests");
	return NULL;
}

UNUSED static struct guest guest_open(const char *name)
{
	struct guest g;
	struct guest *entry = opened_find(NULL);

	ok(dxp_fabric_open(&(struct dxp_fabric_options){.directory = w.folder, .name = name},
			   &g.fabric));
	g.xpu = daemons_xpu(g.fabric, "xpu1");
	ok(dxp_program_build(g.xpu, source, NULL, &g.program));
	ok(dxp_mem_alloc(g.xpu, 4096, &g.address));
	*entry = g;
	return g;
}

UNUSED static void guest_close(const struct guest *g)
{
	*opened_find(g->fabric) = (struct guest){.fabric = NULL};
	dxp_program_release(g->program);
	dxp_xpu_close(g->xpu);
	dxp_fabric_close(g->fabric);
}

/* A failed test may leave guests, whose workers would make the next test fail. */
UNUSED static int guests_close(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(opened); i++) {
		const struct guest left = opened[i];
		if (left.fabric)
			guest_close(&left);
	}
	return 0;
}

UNUSED static dxp_event start(const struct guest *g, const char *kernel, const void *value,
			      uint32_t bytes, const dxp_event *wait)
{
	struct dxp_argument arguments[] = {{.kind = DXP_ARGUMENT_BUFFER, .address = g->address},
					   {.kind = DXP_ARGUMENT_BYTES, .bytes = bytes}};
	const struct dxp_launch launch = {.program = g->program,
					  .kernel = kernel,
					  .dimensions = 1,
					  .global = {1},
					  .arguments = arguments,
					  .argument_count = 2,
					  .wait = wait,
					  .wait_count = wait != NULL};
	dxp_event event;

	memcpy(arguments[1].value, value, bytes);
	ok(dxp_run(g->xpu, &launch, &event));
	return event;
}

UNUSED static dxp_event add(const struct guest *g, uint32_t n, const dxp_event *wait)
{
	return start(g, "add", &n, sizeof(n), wait);
}

UNUSED static dxp_event wild(const struct guest *g, const char *kernel, uint64_t at)
{
	return start(g, kernel, &at, sizeof(at), NULL);
}

UNUSED static int end(const struct guest *g, dxp_event event)
{
	return dxp_event_wait(g->fabric, event, DAEMONS_WAIT_NS, NULL);
}

UNUSED static uint32_t word(const struct guest *g)
{
	uint32_t value;

	ok(dxp_mem_read(g->xpu, &value, g->address, sizeof(value)));
	return value;
}

/* Returns the number; `list` gets the first `most`. */
UNUSED static int children_list(pid_t parent, pid_t *list, int most)
{
	char path[64], line[512];
	struct dirent *e;
	DIR *d = opendir("/proc");
	int count = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		int pid = atoi(e->d_name), ppid;
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		FILE *f = pid > 0 ? fopen(path, "r") : NULL;
		if (!f)
			continue;
		const char *behind = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
		if (behind && sscanf(behind, ") %*c %d", &ppid) == 1 && ppid == parent &&
		    count++ < most)
			list[count - 1] = pid;
		fclose(f);
	}
	closedir(d);
	return count;
}

UNUSED static int children(pid_t parent, pid_t *first)
{
	return children_list(parent, first, 1);
}

UNUSED static pid_t zygote(void)
{
	pid_t pid = 0;

	assert_int_equal(children(getpid(), &pid), 1);
	return pid;
}

/* Zombies included. */
UNUSED static int workers(void)
{
	pid_t pid;

	return children(zygote(), &pid);
}

UNUSED static void workers_become(int count)
{
	for (uint64_t until = clock_now_ns() + SOON_NS; workers() != count;) {
		assert_true(clock_now_ns() < until);
		usleep(1000);
	}
}

/* Copies dxpd, so that a test can remove the copy. */
UNUSED static int program_copy(void)
{
	char command[512];

	snprintf(command, sizeof(command), "cp bin/dxpd %s/dxpd", w.folder);
	return system(command);
}

/* Workers start by the copied program. */
UNUSED static int world_reopen(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/dxpd", w.folder);
	return test_daemon_open(&w, &w.ocl,
				&(struct daemon_options){.slots = 1,
							 .first = 1,
							 .engine = "ocl",
							 .worker_program = path,
							 .sandbox = sandbox,
							 .cache_shared = cache_shared,
							 .host_bytes = HOST_BYTES});
}

UNUSED static int world_open(void **state)
{
	daemons_begin(&w);
	return program_copy() == 0 ? world_reopen() : -1;
}

UNUSED static int world_close(void **state)
{
	pid_t pid;

	test_daemon_close(&w.ocl);
	assert_int_equal(children(getpid(), &pid), 0);
	return daemons_end(&w);
}

#define TEST(name) cmocka_unit_test_teardown(name, guests_close)

#endif
