/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the creation of groups: NOTIFY packets, and every reason to reject one. */
#include "test/unit/switch_rig.h"

#include "switch/limits.h"

/* ---- notify ---- */

static void control__notify_twice(void **state)
{
	open_one(&(struct sw_options){0}, 3);
	for (int i = 0; i < 3; i++) {
		assert_true(swnet_group_make(&net, &group));
		works((uint32_t)i);
	}
	done();
}

/* Dropped without an answer until all children have sent NOTIFY. */
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

static void rejected_with(unsigned cause)
{
	struct inc_control received;
	struct swnet_packet *p =
		swnet_dequeue(&net, group.members[0].ip, group.members[0].port, INC_NOTIFIED);

	assert_non_null(p);
	assert_int_equal(p->path.to_port, group.members[0].port);
	assert_int_equal(p->path.from_port, ROCE_PORT);
	assert_int_equal(p->decoded.header.status, -DXP_EBUSY);
	assert_int_equal(p->decoded.header.epoch, group.epoch);
	assert_int_equal(
		inc_control_decode(p->decoded.payload, p->decoded.payload_bytes, &received),
		DXP_OK);
	assert_int_equal(received.fail_cause, cause);
	assert_int_equal(received.cause_ip, LEAF(0));
	assert_int_equal(received.true_comm_id, group.id);
	free(p);
	assert_int_equal(net.inbox.count, 0);
}

/* Any different field rejects a NOTIFY with a used id. */
static void control__id_in_use(void **state)
{
	struct inc_control first, c;

	open_one(&(struct sw_options){0}, 2);
	assert_true(swnet_group_make(&net, &group));
	first = swnet_control(&group, 0);
	notice_send((c = first, c.job_id++, &c), 0);
	rejected_with(INC_CAUSE_ID);
	notice_send((c = first, c.qkey++, &c), 0);
	rejected_with(INC_CAUSE_ID);
	notice_send((c = first, c.members++, &c), 0);
	rejected_with(INC_CAUSE_ID);
	notice_send((c = first, c.path[0].children++, &c), 0);
	rejected_with(INC_CAUSE_ID);
	notice_send((c = first, c.window *= 2, &c), 0);
	rejected_with(INC_CAUSE_ID);
	notice_send((c = first, c.segment_bytes -= 16, &c), 0);
	rejected_with(INC_CAUSE_ID);
	notice_send((c = first, c.member_port++, &c), 0);
	rejected_with(INC_CAUSE_ID);
	notice_send((c = first, c.path[0].index = 1, &c), 0);
	rejected_with(INC_CAUSE_ID);
	notice_send((c = first, c.path[0].index = 1, &c), 1);
	rejected_with(INC_CAUSE_ID);
	notice_send(&first, 1); /* member 0's values, from member 1 */
	rejected_with(INC_CAUSE_ID);
	notice_send((c = first, c.planes ^= INC_PLANE_KERNEL, &c), 0);
	rejected_with(INC_CAUSE_ID);
	works(0);
	done();
}

static void control__another_owner(void **state)
{
	struct inc_control c;

	open_one(&(struct sw_options){0}, 2);
	assert_true(swnet_group_make(&net, &group));
	group.epoch++; /* the owner could replace the group with this epoch */
	group.members[0].ip += 100;
	c = swnet_control(&group, 0);
	notice_send(&c, 0);
	rejected_with(INC_CAUSE_ID);
	group.members[0].ip -= 100;
	group.members[0].port++;
	c = swnet_control(&group, 0);
	notice_send(&c, 0);
	rejected_with(INC_CAUSE_ID);
	group.members[0].port--;
	group.qkey++; /* from the owner's address, but without its key */
	c = swnet_control(&group, 0);
	notice_send(&c, 0);
	rejected_with(INC_CAUSE_ID);
	group.qkey--;
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
	group.epoch = 0xffff; /* an old epoch, late */
	c = swnet_control(&group, 0);
	notice_send(&c, 0);
	rejected_with(INC_CAUSE_ID);
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
	rejected_with(INC_CAUSE_GROUPS);
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
	rejected_with(INC_CAUSE_MEMORY);
	group.window = 4;
	assert_true(swnet_group_make(&net, &group));
	group.id++;
	c = swnet_control(&group, 0);
	notice_send(&c, 0);
	rejected_with(INC_CAUSE_MEMORY);
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
	switch_emit(net.switches[0], true);
	notice_send(&first, 0);
	rejected_with(INC_CAUSE_DRAINED);
	switch_emit(net.switches[0], false);
	notice_send((c = first, c.path[0].children = SWITCH_CHILDREN_MAX + 1, &c), 0);
	rejected_with(INC_CAUSE_CHILDREN);
	notice_send((c = first, c.path[0].ip++, &c), 0); /* another switch */
	rejected_with(INC_CAUSE_ADDRESS);
	notice_send((c = first, c.hop = 1, &c), 0);
	rejected_with(INC_CAUSE_ADDRESS);
	path = (struct roce_path){group.members[0].ip, LEAF(0), group.members[0].port + 1,
				  ROCE_PORT};
	control_send(INC_NOTIFY, 0, &first, &path);
	rejected_with(INC_CAUSE_ADDRESS);
	path = (struct roce_path){group.members[0].ip + 1, LEAF(0), group.members[0].port,
				  ROCE_PORT};
	control_send(INC_NOTIFY, 0, &first, &path);
	rejected_with(INC_CAUSE_ADDRESS);
	/* from a switch above that is no configured parent; not on the path */
	c = first;
	c.hop = 1;
	c.path_count = 2;
	c.path[1] = (struct inc_hop){.ip = SPINE(1), .children = 1};
	path = (struct roce_path){SPINE(1), LEAF(0), ROCE_SOURCE_PORT, ROCE_PORT};
	control_send(INC_NOTIFY, 0, &c, &path);
	rejected_with(INC_CAUSE_PARENT);
	path.from_ip = SPINE(0);
	control_send(INC_NOTIFY, 0, &c, &path);
	rejected_with(INC_CAUSE_ADDRESS);
	assert_int_equal(counters(LEAF(0)).notifies, 2);
	/* a root's group for an inner switch; a switch twice on the path */
	assert_true(swnet_group_make(&net, &group));
	c.path[0] = first.path[0];
	c.path[1].ip = SPINE(0);
	control_send(INC_NOTIFY, 0, &c, &path);
	rejected_with(INC_CAUSE_ID);
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
	notice_send(&first, 2); /* third of two */
	assert_int_equal(counters(LEAF(0)).malformed, ++count);
	assert_int_equal(net.inbox.count, 0);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
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
