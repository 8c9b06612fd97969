/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of tests with hostile peers: a switch with one group, and contributions. */
#ifndef TEST_UNIT_SWITCH_HOSTILE_RIG_H
#define TEST_UNIT_SWITCH_HOSTILE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "switch/limits.h"
#include "test/support/switch_net.h"
#include "wire/limits.h"

#define SWITCH_IP    0x0a000001u
#define UNKNOWN_PEER 0x0b000001u

static struct switch_net net;
static struct swnet_group group;

UNUSED static void open_with(const struct sw_options *options)
{
	struct sw_options o = *options;

	o.ip = SWITCH_IP;
	swnet_open(&net);
	assert_non_null(swnet_switch(&net, &o));
	swnet_group_plan(&group, 2, NULL, 0, SWITCH_IP);
	assert_true(swnet_group_make(&net, &group));
}

UNUSED static void done(void)
{
	assert_string_equal(net.wrong, "");
	assert_int_equal(net.inbox.count, 0);
	swnet_close(&net);
}

UNUSED static struct sw_counters counters(void)
{
	struct sw_counters c;

	switch_counters(net.switches[0], &c);
	return c;
}

UNUSED static void works(uint32_t seq)
{
	struct inc_header h = swnet_call(seq, DXP_INC_SUM, DXP_INC_INT32, 1);

	for (uint32_t m = 0; m < group.count; m++)
		swnet_contribute(&net, &group, m, &h, "\1\0\0\0", 4);
	swnet_run(&net);
	for (uint32_t m = 0; m < group.count; m++) {
		struct swnet_packet *p = swnet_result(&net, &group, m);
		uint32_t sum = group.count;

		assert_non_null(p);
		assert_memory_equal(p->decoded.payload, &sum, 4);
		free(p);
	}
}

UNUSED static struct swnet_send contribution(uint32_t member, uint32_t seq)
{
	const struct swnet_member *m = &group.members[member];
	struct swnet_send what = {
		.path = {m->ip, SWITCH_IP, m->port, ROCE_PORT},
		.header = swnet_call(seq, DXP_INC_SUM, DXP_INC_INT32, 1),
		.qkey = group.qkey,
		.payload = "\5\0\0\0",
		.bytes = 4,
	};

	what.header.src_rank = member;
	what.header.comm_id = group.id;
	what.header.epoch = group.epoch;
	return what;
}

#endif
