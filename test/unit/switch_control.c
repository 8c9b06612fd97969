/* SPDX-License-Identifier: BSD-3-Clause */
/* How groups come: queries through several trees, notifies, and every reason to refuse one. */
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

#define SPINE(i) (0x0a0000f0u + (i))
#define LEAF(i)  (0x0a000001u + (i))

static struct switch_net net;
static struct swnet_group group;

static void done(void)
{
	assert_string_equal(net.wrong, "");
	swnet_close(&net);
}

static struct sw_counters counters(uint32_t ip)
{
	struct sw_counters c;

	sw_counters(swnet_switch_at(&net, ip), &c);
	return c;
}

/* ---- query ---- */

static struct inc_control query_of(uint32_t member)
{
	struct inc_control c = swnet_control(&group, member);

	c.path_count = 0;
	c.planes = INC_PLANE_USER | INC_PLANE_KERNEL;
	c.lease_ms = UINT32_MAX;
	memset(c.path, 0, sizeof(c.path));
	return c;
}

static void control_send(uint8_t kind, uint32_t member, const struct inc_control *c,
			 const struct roce_path *path)
{
	swnet_control_send(&net, &group, kind, member, c, path);
	swnet_run(&net);
}

static void query(uint32_t member, const struct inc_control *c)
{
	const struct swnet_member *m = &group.members[member];
	struct roce_path path = {m->ip, m->path[0], m->port, ROCE_PORT};

	control_send(INC_QUERY, member, c, &path);
}

/* The oldest packet of a kind that came to member 0. */
static bool first_hears(uint8_t kind, struct inc_control *out)
{
	struct swnet_packet *p = swnet_take(&net, group.members[0].ip, group.members[0].port, kind);

	if (!p)
		return false;
	assert_int_equal(p->path.to_port, group.members[0].port);
	assert_int_equal(p->path.from_port, ROCE_PORT);
	assert_int_equal(inc_control_decode(p->decoded.payload, p->decoded.payload_bytes, out),
			 DXP_OK);
	free(p);
	return true;
}

/* Two leaves, each below the same two spines, which are below one core. */
static void open_fabric(void)
{
	struct sw_options spine = {.parents = {SPINE(9)}, .parent_count = 1};
	struct sw_options leaf = {.parents = {SPINE(0), SPINE(1)}, .parent_count = 2};
	struct sw_options core = {.ip = SPINE(9), .lease_ms = 9000, .groups_max = 5};
	uint32_t leaves[2] = {LEAF(0), LEAF(1)};

	swnet_open(&net);
	assert_non_null(swnet_switch(&net, &core));
	for (uint32_t i = 0; i < 2; i++) {
		spine.ip = SPINE(i);
		spine.segment_bytes = i ? 1024 : 0;
		spine.window = i ? 0 : 48;
		assert_non_null(swnet_switch(&net, &spine));
		leaf.ip = LEAF(i);
		assert_non_null(swnet_switch(&net, &leaf));
	}
	swnet_group_plan(&group, 4, leaves, 2, SPINE(9));
}

static void control__query_by_every_way(void **state)
{
	struct inc_control c, heard;

	open_fabric();
	c = query_of(2);
	c.window = 1000;
	query(2, &c);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(first_hears(INC_QUERY, &heard));
		assert_int_equal(heard.path_count, 3);
		assert_int_equal(heard.hop, 3);
		assert_int_equal(heard.path[0].ip, LEAF(1));
		assert_int_equal(heard.path[1].ip, SPINE(i));
		assert_int_equal(heard.path[2].ip, SPINE(9));
		assert_int_equal(heard.path[2].children, 5); /* groups that are free there */
		assert_int_equal(heard.path[0].children, SWITCH_GROUPS_DEFAULT);
		assert_int_equal(heard.fail_cause, INC_CAUSE_NONE);
		assert_int_equal(heard.planes, INC_PLANE_USER);
		assert_int_equal(heard.free_groups, 5);
		assert_int_equal(heard.lease_ms, 9000);
		assert_int_equal(heard.segment_bytes, i ? 1024 : 1408);
		assert_int_equal(heard.window, i ? 64 : 32); /* a power of two */
		assert_int_equal(heard.sup_op, (1 << DXP_INC_OPS) - 1);
		assert_int_equal(heard.sup_type, (1 << DXP_INC_TYPES) - 1);
		assert_int_equal(heard.sup_comm_type, 0x1e);
	}
	assert_false(first_hears(INC_QUERY, &heard));
	assert_int_equal(counters(SPINE(9)).queries, 2);
	done();
}

/* What a host cannot do no switch gives it. */
static void control__query_only_lessens(void **state)
{
	struct inc_control c, heard;

	open_fabric();
	c = query_of(0);
	c.window = 8;
	c.segment_bytes = 256;
	c.sup_op = 6;
	c.sup_type = 4;
	c.sup_comm_type = 2;
	c.planes = INC_PLANE_USER;
	c.free_groups = 3;
	c.lease_ms = 100;
	query(0, &c);
	assert_true(first_hears(INC_QUERY, &heard));
	assert_int_equal(heard.window, 8);
	assert_int_equal(heard.segment_bytes, 256);
	assert_int_equal(heard.sup_op, 6);
	assert_int_equal(heard.sup_type, 4);
	assert_int_equal(heard.sup_comm_type, 2);
	assert_int_equal(heard.free_groups, 3);
	assert_int_equal(heard.lease_ms, 100);
	done();
}

static void control__query_says_who_refuses(void **state)
{
	struct inc_control c, heard;
	struct roce_path path;

	open_fabric();
	c = query_of(1);
	sw_drain(swnet_switch_at(&net, SPINE(1)), true);
	query(1, &c);
	assert_true(first_hears(INC_QUERY, &heard));
	assert_int_equal(heard.fail_cause, INC_CAUSE_NONE);
	assert_true(first_hears(INC_QUERY, &heard));
	assert_int_equal(heard.fail_cause, INC_CAUSE_DRAINED);
	assert_int_equal(heard.cause_ip, SPINE(1));
	assert_int_equal(heard.free_groups, 0);
	sw_drain(swnet_switch_at(&net, SPINE(1)), false);
	/* Who refuses first is remembered. */
	c.fail_cause = INC_CAUSE_GROUPS;
	c.cause_ip = 77;
	sw_drain(swnet_switch_at(&net, SPINE(9)), true);
	query(1, &c);
	assert_true(first_hears(INC_QUERY, &heard));
	assert_int_equal(heard.fail_cause, INC_CAUSE_GROUPS);
	assert_int_equal(heard.cause_ip, 77);
	sw_drain(swnet_switch_at(&net, SPINE(9)), false);
	swnet_forget(&net);
	c = query_of(1);
	/* From another address than it says. */
	path = (struct roce_path){group.members[1].ip + 50, LEAF(0), group.members[1].port,
				  ROCE_PORT};
	control_send(INC_QUERY, 1, &c, &path);
	assert_true(first_hears(INC_QUERY, &heard));
	assert_int_equal(heard.fail_cause, INC_CAUSE_ADDRESS);
	assert_int_equal(heard.cause_ip, LEAF(0));
	swnet_forget(&net);
	/* A path that it did not come by. */
	c.path_count = c.hop = 1;
	c.path[0].ip = LEAF(1);
	path = (struct roce_path){LEAF(0), SPINE(0), ROCE_SOURCE_PORT, ROCE_PORT};
	control_send(INC_QUERY, 1, &c, &path);
	assert_true(first_hears(INC_QUERY, &heard));
	assert_int_equal(heard.fail_cause, INC_CAUSE_ADDRESS);
	assert_int_equal(heard.cause_ip, SPINE(0));
	/* Through itself, and through too many. */
	c.path[0].ip = SPINE(0);
	control_send(INC_QUERY, 1, &c, &path);
	assert_true(first_hears(INC_QUERY, &heard));
	assert_int_equal(heard.fail_cause, INC_CAUSE_DEPTH);
	c.path_count = c.hop = INC_PATH_MAX;
	c.path[0].ip = 1;
	control_send(INC_QUERY, 1, &c, &path);
	assert_true(first_hears(INC_QUERY, &heard));
	assert_int_equal(heard.fail_cause, INC_CAUSE_DEPTH);
	assert_int_equal(heard.path_count, INC_PATH_MAX);
	/* What does not fit together. */
	c.hop = 1;
	control_send(INC_QUERY, 1, &c, &path);
	assert_int_equal(counters(SPINE(0)).malformed, 1);
	assert_false(first_hears(INC_QUERY, &heard));
	done();
}

static void control__query_of_a_full_switch(void **state)
{
	struct inc_control c, heard;

	open_fabric();
	for (uint32_t i = 0; i < 5; i++) {
		group.id = 100 + i;
		group.members[0].path_count = group.members[1].path_count = 1;
		group.members[0].path[0] = group.members[1].path[0] = SPINE(9);
		group.count = 2;
		assert_true(swnet_group_make(&net, &group));
	}
	swnet_group_plan(&group, 2, (uint32_t[]){LEAF(0)}, 2, SPINE(9));
	c = query_of(0);
	query(0, &c);
	assert_true(first_hears(INC_QUERY, &heard));
	assert_int_equal(heard.fail_cause, INC_CAUSE_GROUPS);
	assert_int_equal(heard.cause_ip, SPINE(9));
	assert_int_equal(heard.free_groups, 0);
	done();
}

/* One host cannot keep a switch busy with queries; another is heard all the same. */
static void control__query_flood(void **state)
{
	struct inc_control c, heard;
	unsigned passed = 0;

	open_fabric();
	c = query_of(0);
	for (unsigned i = 0; i < 20000; i++) {
		query(0, &c);
		while (first_hears(INC_QUERY, &heard))
			passed++;
	}
	assert_in_range(passed, 3000, 6000);
	assert_in_range(counters(LEAF(0)).limited, 17000, 20000);
	c = query_of(1);
	query(1, &c);
	assert_true(first_hears(INC_QUERY, &heard));
	done();
}

/* ---- notify ---- */

static void open_one(const struct sw_options *options, uint32_t count)
{
	struct sw_options o = *options;

	swnet_open(&net);
	o.ip = LEAF(0);
	assert_non_null(swnet_switch(&net, &o));
	swnet_group_plan(&group, count, NULL, 0, LEAF(0));
}

static void data_send(uint32_t member, uint32_t seq)
{
	struct inc_header h = swnet_call(seq, DXP_INC_SUM, DXP_INC_INT32, 1);

	swnet_contribute(&net, &group, member, &h, "abcd", 4);
	swnet_run(&net);
}

static void works(uint32_t seq)
{
	for (uint32_t m = 0; m < group.count; m++)
		data_send(m, seq);
	for (uint32_t m = 0; m < group.count; m++) {
		struct swnet_packet *p = swnet_result(&net, &group, m);

		assert_non_null(p);
		free(p);
	}
}

static void works_not(void)
{
	struct swnet_packet *p;

	data_send(0, 1000);
	p = swnet_take(&net, group.members[0].ip, group.members[0].port, INC_REFUSED);
	assert_non_null(p);
	assert_int_equal(p->decoded.header.status, -DXP_ENOENT);
	assert_int_equal(p->decoded.header.req_id, 1000);
	assert_int_equal(p->decoded.header.comm_id, group.id);
	assert_int_equal(p->decoded.header.epoch, group.epoch);
	assert_int_equal(p->decoded.roce.qkey, group.qkey);
	assert_int_equal(p->path.to_port, ROCE_PORT);
	free(p);
	assert_null(swnet_result(&net, &group, 0));
}

static void control__notify_twice(void **state)
{
	open_one(&(struct sw_options){0}, 3);
	for (int i = 0; i < 3; i++) {
		assert_true(swnet_group_make(&net, &group));
		works((uint32_t)i);
	}
	done();
}

/* Data before all children are known is dropped without a word. */
static void control__not_ready(void **state)
{
	open_one(&(struct sw_options){0}, 2);
	swnet_notify(&net, &group, 0, INC_NOTIFY);
	swnet_run(&net);
	swnet_forget(&net);
	data_send(0, 0);
	assert_int_equal(net.inbox.count, 0);
	assert_int_equal(counters(LEAF(0)).refused, 1);
	assert_true(swnet_group_make(&net, &group));
	works(0);
	done();
}

static void notice_send(const struct inc_control *c, uint32_t member)
{
	struct roce_path path = {group.members[0].ip, LEAF(0), group.members[0].port, ROCE_PORT};

	control_send(INC_NOTIFY, member, c, &path);
}

static void refused_with(unsigned cause)
{
	struct inc_control heard;
	struct swnet_packet *p =
		swnet_take(&net, group.members[0].ip, group.members[0].port, INC_NOTIFIED);

	assert_non_null(p);
	assert_int_equal(p->path.to_port, group.members[0].port);
	assert_int_equal(p->path.from_port, ROCE_PORT);
	assert_int_equal(p->decoded.header.status, -DXP_EBUSY);
	assert_int_equal(p->decoded.header.epoch, group.epoch);
	assert_int_equal(inc_control_decode(p->decoded.payload, p->decoded.payload_bytes, &heard),
			 DXP_OK);
	assert_int_equal(heard.fail_cause, cause);
	assert_int_equal(heard.cause_ip, LEAF(0));
	assert_int_equal(heard.true_comm_id, group.id);
	free(p);
	assert_int_equal(net.inbox.count, 0);
}

/* Another group of the same id, in whatever it differs. */
static void control__id_in_use(void **state)
{
	struct inc_control first, c;

	open_one(&(struct sw_options){0}, 2);
	assert_true(swnet_group_make(&net, &group));
	first = swnet_control(&group, 0);
	notice_send((c = first, c.job_id++, &c), 0);
	refused_with(INC_CAUSE_ID);
	notice_send((c = first, c.qkey++, &c), 0);
	refused_with(INC_CAUSE_ID);
	notice_send((c = first, c.members++, &c), 0);
	refused_with(INC_CAUSE_ID);
	notice_send((c = first, c.path[0].children++, &c), 0);
	refused_with(INC_CAUSE_ID);
	notice_send((c = first, c.window *= 2, &c), 0);
	refused_with(INC_CAUSE_ID);
	notice_send((c = first, c.segment_bytes -= 16, &c), 0);
	refused_with(INC_CAUSE_ID);
	notice_send((c = first, c.member_port++, &c), 0);
	refused_with(INC_CAUSE_ID);
	notice_send((c = first, c.path[0].index = 1, &c), 0);
	refused_with(INC_CAUSE_ID);
	notice_send((c = first, c.path[0].index = 1, &c), 1);
	refused_with(INC_CAUSE_ID);
	notice_send(&first, 1); /* as the other member */
	refused_with(INC_CAUSE_ID);
	notice_send((c = first, c.planes ^= INC_PLANE_KERNEL, &c), 0);
	refused_with(INC_CAUSE_ID);
	group.rc = true;
	notice_send(&first, 0);
	free(swnet_take(&net, group.members[0].ip, group.members[0].port, 0));
	refused_with(INC_CAUSE_ID);
	group.rc = false;
	works(0);
	done();
}

static void control__another_owner(void **state)
{
	struct inc_control c;

	open_one(&(struct sw_options){0}, 2);
	assert_true(swnet_group_make(&net, &group));
	group.epoch++; /* would replace it, were it the owner's */
	group.members[0].ip += 100;
	c = swnet_control(&group, 0);
	notice_send(&c, 0);
	refused_with(INC_CAUSE_ID);
	group.members[0].ip -= 100;
	group.members[0].port++;
	c = swnet_control(&group, 0);
	notice_send(&c, 0);
	refused_with(INC_CAUSE_ID);
	group.members[0].port--;
	group.epoch--;
	works(0);
	done();
}

static void control__next_epoch_replaces(void **state)
{
	struct inc_control c;

	open_one(&(struct sw_options){0}, 2);
	group.epoch = 0xffff;
	assert_true(swnet_group_make(&net, &group));
	data_send(0, 0);
	group.epoch = 1;
	works_not();
	assert_true(swnet_group_make(&net, &group));
	works(0);
	group.epoch = 0xffff; /* late */
	c = swnet_control(&group, 0);
	notice_send(&c, 0);
	refused_with(INC_CAUSE_ID);
	works_not();
	group.epoch = 1;
	works(1);
	done();
}

static void control__no_group_free(void **state)
{
	struct inc_control c;

	open_one(&(struct sw_options){.groups_max = 3}, 2);
	for (group.id = 0; group.id < 3; group.id++)
		assert_true(swnet_group_make(&net, &group));
	c = swnet_control(&group, 0);
	notice_send(&c, 0);
	refused_with(INC_CAUSE_GROUPS);
	group.id = 1;
	works(0);
	swnet_notify_all(&net, &group, INC_KILL);
	swnet_run(&net);
	swnet_forget(&net);
	group.id = 3;
	assert_true(swnet_group_make(&net, &group));
	works(0);
	done();
}

static void control__no_memory(void **state)
{
	struct inc_control c;

	open_one(&(struct sw_options){.memory_max = 3 * 8 * 2 * 1408}, 2);
	for (group.id = 0; group.id < 2; group.id++)
		assert_true(swnet_group_make(&net, &group));
	group.segment_bytes = 1408;
	group.window = 8;
	c = swnet_control(&group, 0);
	notice_send(&c, 0);
	refused_with(INC_CAUSE_MEMORY);
	group.window = 4;
	assert_true(swnet_group_make(&net, &group));
	group.id++;
	c = swnet_control(&group, 0);
	notice_send(&c, 0);
	refused_with(INC_CAUSE_MEMORY);
	group.id = 0;
	swnet_notify_all(&net, &group, INC_KILL);
	swnet_run(&net);
	swnet_forget(&net);
	group.id = 3;
	assert_true(swnet_group_make(&net, &group));
	done();
}

static void control__other_causes(void **state)
{
	struct inc_control first, c;
	struct roce_path path;

	open_one(&(struct sw_options){.parents = {SPINE(0)}, .parent_count = 1}, 2);
	first = swnet_control(&group, 0);
	sw_drain(net.switches[0], true);
	notice_send(&first, 0);
	refused_with(INC_CAUSE_DRAINED);
	sw_drain(net.switches[0], false);
	notice_send((c = first, c.path[0].children = SWITCH_CHILDREN_MAX + 1, &c), 0);
	refused_with(INC_CAUSE_CHILDREN);
	notice_send((c = first, c.path[0].ip++, &c), 0); /* not here */
	refused_with(INC_CAUSE_ADDRESS);
	notice_send((c = first, c.hop = 1, &c), 0);
	refused_with(INC_CAUSE_ADDRESS);
	path = (struct roce_path){group.members[0].ip, LEAF(0), group.members[0].port + 1,
				  ROCE_PORT};
	control_send(INC_NOTIFY, 0, &first, &path);
	refused_with(INC_CAUSE_ADDRESS);
	path = (struct roce_path){group.members[0].ip + 1, LEAF(0), group.members[0].port,
				  ROCE_PORT};
	control_send(INC_NOTIFY, 0, &first, &path);
	refused_with(INC_CAUSE_ADDRESS);
	/* From a switch above that this one was not told of, and one that is not on the path. */
	c = first;
	c.hop = 1;
	c.path_count = 2;
	c.path[1] = (struct inc_hop){.ip = SPINE(1), .children = 1};
	path = (struct roce_path){SPINE(1), LEAF(0), ROCE_SOURCE_PORT, ROCE_PORT};
	control_send(INC_NOTIFY, 0, &c, &path);
	refused_with(INC_CAUSE_PARENT);
	path.from_ip = SPINE(0);
	control_send(INC_NOTIFY, 0, &c, &path);
	refused_with(INC_CAUSE_ADDRESS);
	assert_int_equal(counters(LEAF(0)).notifies, 2);
	/* A root's group is no other's, and no switch is below itself. */
	assert_true(swnet_group_make(&net, &group));
	c.path[0] = first.path[0];
	c.path[1].ip = SPINE(0);
	control_send(INC_NOTIFY, 0, &c, &path);
	refused_with(INC_CAUSE_ID);
	c.hop = 0;
	c.path[1].ip = LEAF(0);
	notice_send(&c, 0);
	assert_int_equal(counters(LEAF(0)).malformed, 1);
	done();
}

static void control__malformed(void **state)
{
	struct inc_control first, c;
	uint64_t count = 0;

	open_one(&(struct sw_options){.window = 32}, 2);
	first = swnet_control(&group, 0);
	notice_send((c = first, c.window = 0, &c), 0);
	assert_int_equal(counters(LEAF(0)).malformed, ++count);
	notice_send((c = first, c.window = 3, &c), 0);
	assert_int_equal(counters(LEAF(0)).malformed, ++count);
	notice_send((c = first, c.window = 64, &c), 0);
	assert_int_equal(counters(LEAF(0)).malformed, ++count);
	notice_send((c = first, c.segment_bytes = 0, &c), 0);
	assert_int_equal(counters(LEAF(0)).malformed, ++count);
	notice_send((c = first, c.segment_bytes = 1424, &c), 0);
	assert_int_equal(counters(LEAF(0)).malformed, ++count);
	notice_send((c = first, c.path[0].children = 0, &c), 0);
	assert_int_equal(counters(LEAF(0)).malformed, ++count);
	notice_send((c = first, c.member_ip = 0, &c), 0);
	assert_int_equal(counters(LEAF(0)).malformed, ++count);
	notice_send((c = first, c.member_port = 0, &c), 0);
	assert_int_equal(counters(LEAF(0)).malformed, ++count);
	notice_send((c = first, c.members = 0, &c), 0);
	assert_int_equal(counters(LEAF(0)).malformed, ++count);
	notice_send((c = first, c.members = DXP_INC_MEMBERS_MAX + 1, &c), 0);
	assert_int_equal(counters(LEAF(0)).malformed, ++count);
	notice_send((c = first, c.true_comm_id = INC_COMM_CONTROL, &c), 0);
	assert_int_equal(counters(LEAF(0)).malformed, ++count);
	notice_send(&first, 2); /* of two members */
	assert_int_equal(counters(LEAF(0)).malformed, ++count);
	assert_int_equal(net.inbox.count, 0);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control__query_by_every_way),
		cmocka_unit_test(control__query_only_lessens),
		cmocka_unit_test(control__query_says_who_refuses),
		cmocka_unit_test(control__query_of_a_full_switch),
		cmocka_unit_test(control__query_flood),
		cmocka_unit_test(control__notify_twice),
		cmocka_unit_test(control__not_ready),
		cmocka_unit_test(control__id_in_use),
		cmocka_unit_test(control__another_owner),
		cmocka_unit_test(control__next_epoch_replaces),
		cmocka_unit_test(control__no_group_free),
		cmocka_unit_test(control__no_memory),
		cmocka_unit_test(control__other_causes),
		cmocka_unit_test(control__malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
