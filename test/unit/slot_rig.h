/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of tests of xPUs in this process: two OpenCL xPUs `one` and `two`, each with a program.
 */
#ifndef TEST_UNIT_SLOT_RIG_H
#define TEST_UNIT_SLOT_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/mmd.h>

#include "base/util.h"
#include "test/support/daemons.h"

#define WAIT_NS DAEMONS_WAIT_NS

static const char source[] =
	"kernel void add(global uint *p, uint n) { p[get_global_id(0)] += n; }\n"
	"kernel void hold(volatile global uint *p, uint n) { while (p[0] != n) ; }\n"
	"kernel void slow(global uint *p, uint n) { for (volatile uint i = 0; i < n; i++) p[0] = "
	"i; }\n";

static struct daemons w;
static struct dxp_program *program_one, *program_two;

UNUSED static void ok(int status)
{
	if (status != DXP_OK)
		fail_msg("%s: %s", dxp_status_name(status), dxp_fabric_error(NULL));
}

UNUSED static uint64_t allocate(struct dxp_xpu *x, uint64_t bytes)
{
	uint64_t address;

	ok(dxp_mem_alloc(x, bytes, &address));
	return address;
}

UNUSED static uint64_t free_bytes(struct dxp_xpu *x)
{
	struct dxp_xpu_caps caps;

	ok(dxp_xpu_caps(x, &caps));
	return caps.free_bytes;
}

UNUSED static uint32_t word(struct dxp_xpu *x, uint64_t address)
{
	uint32_t value;

	ok(dxp_mem_read(x, &value, address, sizeof(value)));
	return value;
}

UNUSED static dxp_event run_notified(struct dxp_xpu *x, const char *kernel, uint64_t address,
				     uint32_t n, const dxp_event *wait, bool lazy)
{
	struct dxp_argument arguments[2] = {{.kind = DXP_ARGUMENT_BUFFER, .address = address},
					    {.kind = DXP_ARGUMENT_BYTES, .bytes = 4}};
	struct dxp_launch launch = {
		.program = x == w.two ? program_two : program_one,
		.kernel = kernel,
		.dimensions = 1,
		.global = {1},
		.arguments = arguments,
		.argument_count = 2,
		.wait = wait,
		.wait_count = wait != NULL,
		.lazy = lazy,
	};
	dxp_event event;

	memcpy(arguments[1].value, &n, sizeof(n));
	ok(dxp_run(x, &launch, &event));
	return event;
}

UNUSED static dxp_event run(struct dxp_xpu *x, const char *kernel, uint64_t address, uint32_t n,
			    const dxp_event *wait)
{
	return run_notified(x, kernel, address, n, wait, false);
}

UNUSED static dxp_event transfer(struct dxp_xpu *from, struct dxp_xpu *to, uint64_t source_address,
				 uint64_t address, uint64_t bytes, const dxp_event *wait)
{
	const struct dxp_transfer t = {source_address, address, bytes, wait, wait != NULL};
	dxp_event event;

	ok(dxp_send(from, to, &t, &event));
	return event;
}

UNUSED static int wait_for(dxp_event event)
{
	return dxp_event_wait(w.fabric, event, WAIT_NS, NULL);
}

UNUSED static int world_open(void **state)
{
	if (daemons_open(&w) != DXP_OK)
		return -1;
	ok(dxp_program_build(w.one, source, NULL, &program_one));
	ok(dxp_program_build(w.two, source, NULL, &program_two));
	return 0;
}

UNUSED static int world_close(void **state)
{
	dxp_program_release(program_one);
	dxp_program_release(program_two);
	return daemons_close(&w);
}

/* Prints why these tests are skipped, with status 77, if there is no device for their xPUs. */
UNUSED static bool world_missing(void)
{
	if (daemons_opencl())
		return false;
	printf("skipped: no OpenCL device that works in host memory\n");
	return true;
}

#endif
