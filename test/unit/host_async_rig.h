/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of dxp/async.h: an xPU with bridged memory and one with direct memory. */
#ifndef TEST_UNIT_HOST_ASYNC_RIG_H
#define TEST_UNIT_HOST_ASYNC_RIG_H

#include <dxp/async.h>

#include "host/limits.h"
#include "test/unit/host_rig.h"

static int world_open(void **state)
{
	struct fake_fabric *fake = fake_fabric_open(2);

	fake_xpu_direct(fake, 1);
	struct world *w = world_of(fake);
	ok(dxp_program_build(w->one, "k", NULL, &w->program));
	ok(dxp_program_build(w->two, "k", NULL, &w->program_two));
	world_data(w);
	*state = w;
	return 0;
}

UNUSED static struct dxp_waits after(const dxp_event *events, uint32_t count)
{
	return (struct dxp_waits){.events = events, .count = count};
}

UNUSED static int ended(struct world *w, dxp_event event)
{
	return dxp_event_wait(w->fabric, event, WAIT_NS, NULL);
}

UNUSED static dxp_event run_after(struct world *w, struct dxp_xpu *x, const char *kernel,
				  const dxp_event *waits, uint32_t count)
{
	const struct dxp_launch launch = {.program = x == w->one ? w->program : w->program_two,
					  .kernel = kernel,
					  .dimensions = 1,
					  .global = {1},
					  .wait = waits,
					  .wait_count = count};
	dxp_event event = 0;

	ok(dxp_run(x, &launch, &event));
	assert_true(event != 0);
	return event;
}

UNUSED static uint8_t *memory_of(struct world *w, const struct dxp_xpu *x)
{
	return fake_xpu_memory(w->fake, x == w->two);
}

UNUSED static void there_and_back(struct world *w, struct dxp_xpu *x, uint64_t bytes,
				  const dxp_event *before, uint32_t count)
{
	const struct dxp_waits waits = after(before, count);
	dxp_event written, read;

	memset(w->to, 0xa5, DATA_BYTES + 8);
	ok(dxp_write(x, 12345, w->from + 3, bytes, &waits, &written));
	const struct dxp_waits then = after(&written, 1);
	ok(dxp_read(x, w->to + 1, 12345, bytes, &then, &read));
	ok(ended(w, read));
	ok(ended(w, written));
	assert_memory_equal(memory_of(w, x) + 12345, w->from + 3, bytes);
	assert_memory_equal(w->to + 1, w->from + 3, bytes);
	assert_int_equal(w->to[0], 0xa5);
	assert_int_equal(w->to[bytes + 1], 0xa5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)

#endif
