/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the tests of switch trees: plans, and operations of whole groups. */
#ifndef TEST_UNIT_SWITCH_TREE_RIG_H
#define TEST_UNIT_SWITCH_TREE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "test/support/switch_net.h"

#define ROOT    0x0a0000f0u
#define LEAF(i) (0x0a000001u + (i))

static struct switch_net net;
static struct swnet_group group;

UNUSED static void add(uint32_t ip, uint32_t parent)
{
	struct sw_options options = {.ip = ip, .parents = {parent}, .parent_count = parent != 0};

	assert_non_null(swnet_switch(&net, &options));
}

/* `each` members below each of the leaf switches of a root. */
UNUSED static void open_plan(uint32_t leaves, uint32_t each, uint16_t window)
{
	uint32_t ips[NET_SWITCHES];

	swnet_open(&net);
	add(ROOT, 0);
	for (uint32_t i = 0; i < leaves; i++)
		add(ips[i] = LEAF(i), ROOT);
	swnet_group_plan(&group, leaves * each, ips, each, ROOT);
	group.window = window;
}

UNUSED static void open_tree(uint32_t leaves, uint32_t each, uint16_t window)
{
	open_plan(leaves, each, window);
	assert_true(swnet_group_make(&net, &group));
}

UNUSED static void done(void)
{
	assert_string_equal(net.wrong, "");
	assert_int_equal(net.inbox.count, 0);
	swnet_close(&net);
}

UNUSED static struct sw_counters counters(uint32_t ip)
{
	struct sw_counters c;

	switch_counters(swnet_switch_at(&net, ip), &c);
	return c;
}

UNUSED static int64_t value_of(uint32_t member, uint32_t seq)
{
	return (int64_t)seq * 1000 + member * member + 1;
}

UNUSED static void contribute(uint32_t member, uint32_t seq, bool again)
{
	int64_t values[3] = {value_of(member, seq), -value_of(member, seq), 1ll << member % 63};
	struct inc_header h = swnet_call(seq, DXP_INC_SUM, DXP_INC_INT64, 3);

	h.flags |= again ? INC_FLAG_REPEAT : 0;
	swnet_contribute(&net, &group, member, &h, values, sizeof(values));
}

/* Marks their segments in have[]. */
UNUSED static void results_dequeue(uint32_t member, uint32_t first, uint32_t count, bool *have)
{
	struct swnet_packet *p;

	while ((p = swnet_result(&net, &group, member)) != NULL) {
		uint32_t seq = p->decoded.header.req_id;
		int64_t sums[3] = {0, 0, 0};

		for (uint32_t m = 0; m < group.count; m++) {
			sums[0] += value_of(m, seq);
			sums[1] -= value_of(m, seq);
			sums[2] += 1ll << m % 63;
		}
		assert_true(seq - first < count);
		assert_int_equal(p->decoded.header.status, 0);
		assert_int_equal(p->decoded.payload_bytes, 24);
		assert_memory_equal(p->decoded.payload, sums, 24);
		have[seq - first] = true;
		free(p);
	}
}

#define SEGMENTS 10

/* Runs all members, each within the group's window, until every member has every result. Members
 * act as hosts do, but a round lasts 1 ms. Returns the number of rounds. */
UNUSED static unsigned calls_run(uint32_t first)
{
	static bool have[NET_MEMBERS][SEGMENTS], sent[NET_MEMBERS][SEGMENTS];
	unsigned rounds = 0, lacking = 1;

	memset(have, 0, sizeof(have));
	memset(sent, 0, sizeof(sent));
	for (; lacking > 0; rounds++) {
		assert_true(rounds < 40);
		lacking = 0;
		for (uint32_t m = 0; m < group.count; m++) {
			uint32_t done_below = 0;

			results_dequeue(m, first, SEGMENTS, have[m]);
			while (done_below < SEGMENTS && have[m][done_below])
				done_below++;
			lacking += SEGMENTS - done_below;
			for (uint32_t s = done_below; s < SEGMENTS && s < done_below + group.window;
			     s++)
				if (!have[m][s]) {
					contribute(m, first + s, sent[m][s]);
					sent[m][s] = true;
				}
		}
		swnet_run(&net);
		net.now_ns += MS_NS;
	}
	return rounds;
}

UNUSED static void status_expect(int status)
{
	for (uint32_t m = 0; m < group.count; m++) {
		struct swnet_packet *p = swnet_result(&net, &group, m);

		assert_non_null(p);
		assert_int_equal(-(int)p->decoded.header.status, status);
		assert_int_equal(p->decoded.payload_bytes, 0);
		free(p);
	}
}

#endif
