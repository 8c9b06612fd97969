/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the status of a switch, in memory and in packets: its row, groups by page, rejections by
 * reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "switch/limits.h"
#include "test/support/switch_net.h"

#define SWITCH_IP 0x0a000001u
#define PARENT    0x0a0000f0u
#define ASKER     0x0b000001u

static struct switch_net net;
static struct swnet_group group;
static bool list_any = true;
static uint32_t asker = ASKER;

static void open_with(uint8_t parents)
{
	struct sw_options options = {.name = "tor3",
				     .ip = SWITCH_IP,
				     .parents = {PARENT},
				     .parent_count = parents,
				     .list_any = list_any,
				     .groups_max = 48};

	swnet_open(&net);
	assert_non_null(swnet_switch(&net, &options));
	swnet_group_plan(&group, 3, NULL, 0, SWITCH_IP);
}

static void done(void)
{
	assert_string_equal(net.wrong, "");
	swnet_close(&net);
}

/* Queries the running switch, whose answer must have the rows of switch_answer. */
static struct inc_answer query(uint8_t section, uint32_t first)
{
	struct inc_inquiry q = {section, first};
	uint8_t payload[INC_INQUIRY_BYTES];
	struct swnet_send what = {
		.path = {asker, SWITCH_IP, 1234, ROCE_PORT},
		.header = {.kind = INC_INQUIRE, .comm_id = INC_COMM_CONTROL, .req_id = 55},
		.qkey = INC_CONTROL_QKEY,
		.payload = payload,
		.bytes = inc_inquiry_encode(&q, payload)};
	struct inc_answer a;
	struct swnet_packet *p;

	net.now_ns += S_NS;
	swnet_send(&net, &what);
	swnet_run(&net);
	p = swnet_dequeue(&net, asker, 1234, INC_ANSWER);
	assert_non_null(p);
	assert_int_equal(p->path.to_port, 1234);
	assert_int_equal(p->path.from_port, ROCE_PORT);
	assert_int_equal(p->decoded.header.req_id, 55);
	assert_int_equal(inc_answer_decode(p->decoded.payload, p->decoded.payload_bytes, &a),
			 DXP_OK);
	free(p);
	assert_int_equal(a.section, section);
	return a;
}

static void answer__own_row(void **state)
{
	struct inc_answer a;

	open_with(1);
	a = query(INC_SECTION_SWITCH, 9);
	assert_int_equal(a.total, 1);
	assert_int_equal(a.count, 1);
	assert_string_equal(a.self.name, "tor3");
	assert_int_equal(a.self.ip, SWITCH_IP);
	assert_int_equal(a.self.parent_count, 1);
	assert_int_equal(a.self.parents[0], PARENT);
	assert_int_equal(a.self.groups, 0);
	assert_int_equal(a.self.groups_max, 48);
	assert_int_equal(a.self.planes, INC_PLANE_USER);
	assert_int_equal(a.self.uptime_ms, 1000);
	assert_int_equal(a.self.memory_bytes, 0);
	assert_int_equal(a.self.memory_max, SWITCH_MEMORY_DEFAULT);
	assert_int_equal(a.self.received, 1);
	assert_int_equal(a.self.sent, 0);
	done();
}

static void answer__counts(void **state)
{
	struct inc_header h = swnet_call(0, DXP_INC_SUM, DXP_INC_INT32, 1);
	struct inc_answer a;

	open_with(0);
	assert_true(swnet_group_make(&net, &group));
	for (uint32_t m = 0; m < 3; m++)
		swnet_contribute(&net, &group, m, &h, "abcd", 4);
	swnet_contribute(&net, &group, 0, &h, "abcd", 4);
	h.req_id = 1;
	swnet_contribute(&net, &group, 0, &h, "abcd", 4);
	swnet_run(&net);
	a = query(INC_SECTION_SWITCH, 0);
	assert_int_equal(a.self.contributions, 4);
	assert_int_equal(a.self.results, 1);
	assert_int_equal(a.self.repeats, 1);
	assert_int_equal(a.self.duplicates, 1);
	assert_int_equal(a.self.received, 3 + 5 + 1);
	assert_int_equal(a.self.sent, 3 + 4);
	assert_int_equal(a.self.groups, 1);
	assert_true(a.self.memory_bytes >= 8 * 3 * 1408);
	a = query(INC_SECTION_GROUPS, 0);
	assert_int_equal(a.total, 1);
	assert_int_equal(a.groups[0].id, group.id);
	assert_int_equal(a.groups[0].members, 3);
	assert_int_equal(a.groups[0].children, 3);
	assert_int_equal(a.groups[0].children_here, 3);
	assert_int_equal(a.groups[0].epoch, group.epoch);
	assert_int_equal(a.groups[0].job_id, group.job_id);
	assert_int_equal(a.groups[0].slots, 8);
	assert_int_equal(a.groups[0].slots_busy, 1);
	assert_int_equal(a.groups[0].contributions, 4);
	assert_int_equal(a.groups[0].results, 1);
	assert_int_equal(a.groups[0].repeats, 1);
	assert_int_equal(a.groups[0].age_ms, 2000);
	assert_int_equal(a.groups[0].idle_ms, 2000);
	assert_int_equal(a.groups[0].lease_ms, SWITCH_LEASE_MS);
	done();
}

static void answer__pages(void **state)
{
	uint64_t seen = 0;
	struct inc_answer a;

	open_with(0);
	for (group.id = 0; group.id < 40; group.id++)
		assert_true(swnet_group_make(&net, &group));
	for (uint32_t first = 0; first < 40; first += a.count) {
		a = query(INC_SECTION_GROUPS, first);
		assert_int_equal(a.total, 40);
		assert_int_equal(a.first, first);
		assert_int_equal(a.count, min_u64(INC_ROWS_MAX, 40 - first));
		for (unsigned i = 0; i < a.count; i++)
			seen |= 1ull << a.groups[i].id;
	}
	assert_int_equal(seen, (1ull << 40) - 1);
	a = query(INC_SECTION_GROUPS, 40);
	assert_int_equal(a.count, 0);
	a = query(INC_SECTION_GROUPS, UINT32_MAX);
	assert_int_equal(a.count, 0);
	done();
}

static void answer__rejections(void **state)
{
	struct inc_header h = swnet_call(0, DXP_INC_SUM, DXP_INC_INT32, 1);
	struct inc_answer a;

	open_with(0);
	a = query(INC_SECTION_REFUSALS, 0);
	assert_int_equal(a.total, 0);
	switch_emit(net.switches[0], true);
	swnet_notify_all(&net, &group, INC_NOTIFY);
	for (uint32_t i = 0; i < 5; i++)
		swnet_contribute(&net, &group, 1, &h, "abcd", 4);
	swnet_run(&net);
	switch_emit(net.switches[0], false);
	assert_true(swnet_group_make(&net, &group));
	group.qkey++;
	swnet_contribute(&net, &group, 1, &h, "abcd", 4);
	swnet_notify(&net, &group, 1, INC_NOTIFY);
	swnet_run(&net);
	a = query(INC_SECTION_REFUSALS, 0);
	assert_int_equal(a.total, 4);
	assert_int_equal(a.count, 4);
	assert_int_equal(a.refusals[0].cause, INC_CAUSE_ID);
	assert_int_equal(a.refusals[0].count, 1);
	assert_int_equal(a.refusals[0].last_group, group.id);
	assert_int_equal(a.refusals[0].last_ip, group.members[0].ip);
	assert_int_equal(a.refusals[0].last_ms_ago, 1000);
	assert_int_equal(a.refusals[1].cause, INC_CAUSE_DRAINED);
	assert_int_equal(a.refusals[1].count, 3);
	assert_int_equal(a.refusals[2].cause, 128 - DXP_EACCESS);
	assert_int_equal(a.refusals[2].count, 1);
	assert_int_equal(a.refusals[3].cause, 128 - DXP_ENOENT);
	assert_int_equal(a.refusals[3].count, 5);
	assert_int_equal(a.refusals[3].last_ip, group.members[1].ip);
	a = query(INC_SECTION_REFUSALS, 3);
	assert_int_equal(a.total, 4);
	assert_int_equal(a.count, 1);
	assert_int_equal(a.refusals[0].cause, 128 - DXP_ENOENT);
	done();
}

/* Returns the number of rows that a machine gets. */
static uint32_t rows_of(uint32_t ip, uint8_t section)
{
	asker = ip;
	const struct inc_answer a = query(section, 0);
	assert_int_equal(a.count, min_u64(a.total, INC_ROWS_MAX));
	asker = ASKER;
	return a.total;
}

/* Returns the address in the first row of rejections that a machine gets; 0: hidden. */
static uint32_t rejected_by(uint32_t ip)
{
	asker = ip;
	const struct inc_answer a = query(INC_SECTION_REFUSALS, 0);
	asker = ASKER;
	assert_int_equal(a.total, 1);
	assert_int_equal(a.refusals[0].count, 1);
	assert_int_equal(a.refusals[0].last_group, a.refusals[0].last_ip ? group.id : 0);
	return a.refusals[0].last_ip;
}

static void answer__only_for_members(void **state)
{
	struct inc_header h = swnet_call(0, DXP_INC_SUM, DXP_INC_INT32, 1);

	list_any = false;
	open_with(0);
	assert_true(swnet_group_make(&net, &group));
	const uint32_t member = group.members[1].ip;
	h.epoch++;
	group.qkey++;
	swnet_contribute(&net, &group, 1, &h, "abcd", 4); /* refused */
	swnet_run(&net);
	assert_int_equal(rows_of(ASKER, INC_SECTION_SWITCH), 1);
	assert_int_equal(rows_of(ASKER, INC_SECTION_GROUPS), 0);
	assert_int_equal(rows_of(member, INC_SECTION_GROUPS), 1);
	assert_int_equal(rows_of(0x7f000001, INC_SECTION_GROUPS), 1);
	assert_int_equal(rejected_by(ASKER), 0);
	assert_int_equal(rejected_by(group.members[0].ip), 0);
	assert_int_equal(rejected_by(member), member);
	assert_int_equal(rejected_by(0x7f000001), member);
	list_any = true;
	done();
}

static void answer__malformed_inquiry(void **state)
{
	struct swnet_send what = {.path = {ASKER, SWITCH_IP, 1234, ROCE_PORT},
				  .header = {.kind = INC_INQUIRE, .comm_id = INC_COMM_CONTROL},
				  .qkey = INC_CONTROL_QKEY,
				  .payload = "\0\0\0\0\0\0\0\0"};
	struct sw_counters c;

	open_with(0);
	for (what.bytes = 0; what.bytes <= 8; what.bytes++)
		swnet_send(&net, &what);
	swnet_run(&net);
	switch_counters(net.switches[0], &c);
	assert_int_equal(c.malformed, 9);
	assert_int_equal(net.inbox.count, 0);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answer__own_row),
		cmocka_unit_test(answer__counts),
		cmocka_unit_test(answer__pages),
		cmocka_unit_test(answer__rejections),
		cmocka_unit_test(answer__only_for_members),
		cmocka_unit_test(answer__malformed_inquiry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
