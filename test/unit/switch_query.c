/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests queries of hosts, which go up on every path while switches lower their limits; rejections
 * and floods. */
#include "test/unit/switch_rig.h"

#include "switch/limits.h"

/* ---- query ---- */

/* Opens two leaf switches, each below the same two spines. Both spines are below one core
 * switch. */
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
	struct inc_control c, received;

	open_fabric();
	c = query_of(2);
	c.window = 1000;
	query(2, &c);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(first_receives(INC_QUERY, &received));
		assert_int_equal(received.path_count, 3);
		assert_int_equal(received.hop, 3);
		assert_int_equal(received.path[0].ip, LEAF(1));
		assert_int_equal(received.path[1].ip, SPINE(i));
		assert_int_equal(received.path[2].ip, SPINE(9));
		/* free groups at the core */
		assert_int_equal(received.path[2].children, 5);
		assert_int_equal(received.path[0].children, SWITCH_GROUPS_DEFAULT);
		assert_int_equal(received.fail_cause, INC_CAUSE_NONE);
		assert_int_equal(received.planes, INC_PLANE_USER);
		assert_int_equal(received.free_groups, 5);
		assert_int_equal(received.lease_ms, 9000);
		assert_int_equal(received.segment_bytes, i ? 1024 : 1408);
		/* largest power of two within the limits */
		assert_int_equal(received.window, i ? 64 : 32);
		assert_int_equal(received.sup_op, (1 << DXP_INC_OPS) - 1);
		assert_int_equal(received.sup_type, (1 << DXP_INC_TYPES) - 1);
		assert_int_equal(received.sup_comm_type, 0x1e);
	}
	assert_false(first_receives(INC_QUERY, &received));
	assert_int_equal(counters(SPINE(9)).queries, 2);
	done();
}

static void control__query_only_lessens(void **state)
{
	struct inc_control c, received;

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
	assert_true(first_receives(INC_QUERY, &received));
	assert_int_equal(received.window, 8);
	assert_int_equal(received.segment_bytes, 256);
	assert_int_equal(received.sup_op, 6);
	assert_int_equal(received.sup_type, 4);
	assert_int_equal(received.sup_comm_type, 2);
	assert_int_equal(received.free_groups, 3);
	assert_int_equal(received.lease_ms, 100);
	done();
}

static void control__query_names_the_rejecting_switch(void **state)
{
	struct inc_control c, received;
	struct roce_path path;

	open_fabric();
	c = query_of(1);
	switch_emit(swnet_switch_at(&net, SPINE(1)), true);
	query(1, &c);
	assert_true(first_receives(INC_QUERY, &received));
	assert_int_equal(received.fail_cause, INC_CAUSE_NONE);
	assert_true(first_receives(INC_QUERY, &received));
	assert_int_equal(received.fail_cause, INC_CAUSE_DRAINED);
	assert_int_equal(received.cause_ip, SPINE(1));
	assert_int_equal(received.free_groups, 0);
	switch_emit(swnet_switch_at(&net, SPINE(1)), false);
	/* an earlier rejection is kept */
	c.fail_cause = INC_CAUSE_GROUPS;
	c.cause_ip = 77;
	switch_emit(swnet_switch_at(&net, SPINE(9)), true);
	query(1, &c);
	assert_true(first_receives(INC_QUERY, &received));
	assert_int_equal(received.fail_cause, INC_CAUSE_GROUPS);
	assert_int_equal(received.cause_ip, 77);
	switch_emit(swnet_switch_at(&net, SPINE(9)), false);
	swnet_forget(&net);
	c = query_of(1);
	/* not the address in the QUERY */
	path = (struct roce_path){group.members[1].ip + 50, LEAF(0), group.members[1].port,
				  ROCE_PORT};
	control_send(INC_QUERY, 1, &c, &path);
	assert_true(first_receives(INC_QUERY, &received));
	assert_int_equal(received.fail_cause, INC_CAUSE_ADDRESS);
	assert_int_equal(received.cause_ip, LEAF(0));
	swnet_forget(&net);
	/* not the path by which it came */
	c.path_count = c.hop = 1;
	c.path[0].ip = LEAF(1);
	path = (struct roce_path){LEAF(0), SPINE(0), ROCE_SOURCE_PORT, ROCE_PORT};
	control_send(INC_QUERY, 1, &c, &path);
	assert_true(first_receives(INC_QUERY, &received));
	assert_int_equal(received.fail_cause, INC_CAUSE_ADDRESS);
	assert_int_equal(received.cause_ip, SPINE(0));
	/* the same switch twice; too many switches */
	c.path[0].ip = SPINE(0);
	control_send(INC_QUERY, 1, &c, &path);
	assert_true(first_receives(INC_QUERY, &received));
	assert_int_equal(received.fail_cause, INC_CAUSE_DEPTH);
	c.path_count = c.hop = INC_PATH_MAX;
	c.path[0].ip = 1;
	control_send(INC_QUERY, 1, &c, &path);
	assert_true(first_receives(INC_QUERY, &received));
	assert_int_equal(received.fail_cause, INC_CAUSE_DEPTH);
	assert_int_equal(received.path_count, INC_PATH_MAX);
	/* contradicting fields */
	c.hop = 1;
	control_send(INC_QUERY, 1, &c, &path);
	assert_int_equal(counters(SPINE(0)).malformed, 1);
	assert_false(first_receives(INC_QUERY, &received));
	done();
}

static void control__query_of_a_full_switch(void **state)
{
	struct inc_control c, received;

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
	assert_true(first_receives(INC_QUERY, &received));
	assert_int_equal(received.fail_cause, INC_CAUSE_GROUPS);
	assert_int_equal(received.cause_ip, SPINE(9));
	assert_int_equal(received.free_groups, 0);
	done();
}

/* Another host still gets an answer. */
static void control__query_flood(void **state)
{
	struct inc_control c, received;
	unsigned passed = 0;

	open_fabric();
	c = query_of(0);
	for (unsigned i = 0; i < 20000; i++) {
		query(0, &c);
		while (first_receives(INC_QUERY, &received))
			passed++;
	}
	assert_in_range(passed, 3000, 6000);
	assert_in_range(counters(LEAF(0)).limited, 17000, 20000);
	c = query_of(1);
	query(1, &c);
	assert_true(first_receives(INC_QUERY, &received));
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control__query_by_every_way),
		cmocka_unit_test(control__query_only_lessens),
		cmocka_unit_test(control__query_names_the_rejecting_switch),
		cmocka_unit_test(control__query_of_a_full_switch),
		cmocka_unit_test(control__query_flood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
