/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the bridge's tests: a bridge, and functions that dequeue, complete and check its
 * actions. */
#ifndef TEST_UNIT_BRIDGE_RIG_H
#define TEST_UNIT_BRIDGE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "bridge/bridge.h"
#include "bridge/limits.h"

#define BUFFER_BYTES 16384u
#define BUFFERS      4

static uint8_t ring_to[BRIDGE_BUFFERS_MAX * BUFFER_BYTES];
static uint8_t ring_from[BRIDGE_BUFFERS_MAX * BUFFER_BYTES];
static struct bridge *b;
static uint64_t now_ns;

UNUSED static void bridge_with(uint32_t buffers, uint32_t fills, uint32_t dmas)
{
	struct bridge_options o = {
		.buffers = buffers,
		.buffer_bytes = BUFFER_BYTES,
		.to_device = ring_to,
		.from_device = ring_from,
		.fills = fills,
		.dmas = dmas,
		.stall_ns = MS_NS,
	};

	bridge_destroy(b);
	assert_int_equal(bridge_create(&o, &b), DXP_OK);
}

UNUSED static int bridge_setup(void **state)
{
	now_ns = 1;
	bridge_with(BUFFERS, 0, 0);
	return 0;
}

UNUSED static int bridge_teardown(void **state)
{
	uint32_t to, from;

	bridge_buffers_used(b, &to, &from);
	assert_int_equal(to, 0);
	assert_int_equal(from, 0);
	bridge_destroy(b);
	b = NULL;
	return 0;
}

UNUSED static struct bridge_transfer *begin_order(struct bridge_order order)
{
	struct bridge_transfer *t = NULL;

	assert_int_equal(bridge_begin(b, &order, now_ns, &t), DXP_OK);
	return t;
}

UNUSED static struct bridge_transfer *begin(enum bridge_path path, uint64_t bytes)
{
	return begin_order((struct bridge_order){
		.path = (uint8_t)path, .bytes = bytes, .piece_bytes = BUFFER_BYTES});
}

UNUSED static struct bridge_action next(enum bridge_step step)
{
	struct bridge_action a = {0};

	assert_true(bridge_next(b, now_ns, &a));
	assert_int_equal(a.step, step);
	return a;
}

UNUSED static void nothing(void)
{
	struct bridge_action a;

	assert_false(bridge_next(b, now_ns, &a));
}

UNUSED static void done(struct bridge_action a, int status)
{
	uint64_t stale = bridge_counters(b)->stale;

	bridge_done(b, a.id, status, now_ns);
	assert_int_equal(bridge_counters(b)->stale, stale);
}

UNUSED static struct bridge_end ended(const struct bridge_transfer *t)
{
	struct bridge_end end = {0};

	assert_true(bridge_ended(b, &end));
	assert_ptr_equal(end.transfer, t);
	return end;
}

UNUSED static void none_ended(void)
{
	struct bridge_end end;

	assert_false(bridge_ended(b, &end));
}

#endif
