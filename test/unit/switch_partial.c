/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests packets between switches of a tree: partial results, results on their way down, duplicate,
 * late and foreign ones. */
#include "test/unit/switch_tree_rig.h"

#include "switch/limits.h"

/* ---- partial results ---- */

static struct swnet_packet *partial_dequeue(void)
{
	struct swnet_packet *p = swnet_dequeue(&net, ROOT, ROCE_SOURCE_PORT, INC_DATA);

	assert_non_null(p);
	assert_int_equal(p->path.to_port, ROCE_PORT);
	assert_int_equal(p->decoded.header.src_rank, 2);
	assert_int_equal(p->decoded.roce.qkey, group.qkey);
	assert_true(p->decoded.header.flags & INC_FLAG_SWITCH);
	assert_false(p->decoded.header.flags & INC_FLAG_RESULT);
	return p;
}

/* The test is the parent of a switch with members 2 and 3, where NOTIFY 3 comes first. */
static void tree__partial_as_the_parent_sees_it(void **state)
{
	uint32_t leaves[2] = {LEAF(0), LEAF(1)};
	struct swnet_packet *p;
	int64_t sum = value_of(2, 0) + value_of(3, 0);
	struct inc_header h = swnet_call(1, DXP_INC_SUM, DXP_INC_INT64, 3);

	swnet_open(&net);
	add(LEAF(1), ROOT);
	swnet_group_plan(&group, 4, leaves, 2, ROOT);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t m = i == 1 ? 2 : 3;
		struct inc_control c = swnet_control(&group, m);
		struct roce_path path = {ROOT, LEAF(1), ROCE_SOURCE_PORT, ROCE_PORT};

		c.hop = 1;
		swnet_control_send(&net, &group, INC_NOTIFY, m, &c, &path);
	}
	swnet_run(&net);
	swnet_forget(&net);
	contribute(3, 0, false);
	contribute(2, 0, false);
	swnet_run(&net);
	p = partial_dequeue();
	assert_false(p->decoded.header.flags & INC_FLAG_REPEAT);
	assert_memory_equal(p->decoded.payload, &sum, 8);
	free(p);
	net.now_ns += SWITCH_AGAIN_NS;
	contribute(3, 0, false);
	swnet_run(&net);
	p = partial_dequeue();
	assert_true(p->decoded.header.flags & INC_FLAG_REPEAT);
	assert_memory_equal(p->decoded.payload, &sum, 8);
	free(p);
	contribute(2, 1, false);
	h.op = DXP_INC_MAX;
	swnet_contribute(&net, &group, 3, &h, "123456789012345678901234", 24);
	swnet_run(&net);
	p = partial_dequeue();
	assert_int_equal(p->decoded.header.status, -DXP_EINVAL);
	assert_int_equal(p->decoded.header.elements, 0);
	assert_int_equal(p->decoded.payload_bytes, 0);
	free(p);
	done();
}

static void tree__partial_again_not_too_often(void **state)
{
	open_tree(2, 2, 2);
	contribute(0, 0, false);
	contribute(1, 0, false);
	swnet_run(&net);
	assert_int_equal(counters(LEAF(0)).sent, 2 + 1);
	contribute(0, 0, true);
	net.now_ns += SWITCH_AGAIN_NS - 1;
	contribute(1, 0, true);
	swnet_run(&net);
	assert_int_equal(counters(LEAF(0)).sent, 3);
	net.now_ns++;
	contribute(1, 0, true);
	contribute(0, 0, true);
	swnet_run(&net);
	assert_int_equal(counters(LEAF(0)).sent, 4);
	assert_int_equal(counters(LEAF(0)).repeats, 1);
	assert_int_equal(counters(LEAF(0)).duplicates, 4);
	assert_int_equal(counters(ROOT).duplicates, 1);
	calls_run(0);
	done();
}

static void tree__partial_not_after_the_result(void **state)
{
	struct swnet_packet *result;
	uint64_t sent;

	open_tree(2, 2, 2);
	for (uint32_t m = 0; m < 4; m++)
		contribute(m, 0, false);
	/* the result for LEAF(0), third behind two partial results */
	net.lose = net.carried + 3;
	swnet_run(&net);
	assert_int_equal(net.inbox.count, 2);
	swnet_forget(&net);
	net.now_ns += SWITCH_AGAIN_NS;
	sent = counters(LEAF(0)).sent;
	contribute(1, 0, true);
	swnet_receive(&net);
	struct inc_header h = swnet_call(0, DXP_INC_SUM, DXP_INC_INT64, 3);
	int64_t values[3] = {0};
	struct swnet_send what = {.path = {ROOT, LEAF(0), ROCE_SOURCE_PORT, ROCE_PORT},
				  .qkey = group.qkey,
				  .payload = values,
				  .bytes = sizeof(values)};

	what.header = h;
	what.header.comm_id = group.id;
	what.header.epoch = group.epoch;
	what.header.flags |= INC_FLAG_RESULT;
	swnet_send(&net, &what);
	swnet_receive(&net);
	swnet_run(&net);
	assert_int_equal(counters(LEAF(0)).sent, sent + 2);
	for (uint32_t m = 0; m < 2; m++) {
		result = swnet_result(&net, &group, m);
		assert_non_null(result);
		free(result);
	}
	done();
}

/* A second or unrequested result is not sent on. */
static void tree__results_of_parents(void **state)
{
	struct inc_header h = swnet_call(0, DXP_INC_SUM, DXP_INC_INT64, 3);
	int64_t values[3] = {5, 5, 5};
	struct swnet_send what = {.path = {ROOT, LEAF(0), ROCE_SOURCE_PORT, ROCE_PORT},
				  .qkey = 0x1234567,
				  .payload = values,
				  .bytes = sizeof(values)};

	open_tree(2, 2, 2);
	h.comm_id = group.id;
	h.epoch = group.epoch;
	h.flags |= INC_FLAG_RESULT;
	what.header = h;
	swnet_send(&net, &what); /* no contribution yet */
	contribute(0, 0, false);
	swnet_send(&net, &what); /* no partial result yet */
	swnet_run(&net);
	assert_int_equal(counters(LEAF(0)).stale, 2);
	contribute(1, 0, false);
	swnet_run(&net);
	what.header.req_id = 4; /* another segment of the aggregator */
	swnet_send(&net, &what);
	swnet_run(&net);
	assert_int_equal(counters(LEAF(0)).stale, 3);
	what.header.req_id = 0;
	what.path.from_ip = LEAF(1); /* not the parent */
	swnet_send(&net, &what);
	what.path.from_ip = ROOT;
	what.header.elements = 2; /* another number of elements */
	what.bytes = 16;
	swnet_send(&net, &what);
	what.header.elements = 3;
	what.header.op = DXP_INC_MAX;
	what.bytes = 24;
	swnet_send(&net, &what);
	swnet_run(&net);
	assert_int_equal(counters(LEAF(0)).refused, 1);
	assert_int_equal(counters(LEAF(0)).malformed, 2);
	assert_int_equal(net.inbox.count, 0);
	what.header = h;
	swnet_send(&net, &what);
	swnet_send(&net, &what);
	swnet_run(&net);
	assert_int_equal(net.inbox.count, 2);
	assert_int_equal(counters(LEAF(0)).duplicates, 1);
	swnet_forget(&net);
	/* a root has no parent */
	what.path = (struct roce_path){LEAF(0), ROOT, ROCE_SOURCE_PORT, ROCE_PORT};
	swnet_send(&net, &what);
	what.path.from_ip = 0;
	swnet_send(&net, &what);
	swnet_run(&net);
	assert_int_equal(counters(ROOT).refused, 2);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree__partial_as_the_parent_sees_it),
		cmocka_unit_test(tree__partial_again_not_too_often),
		cmocka_unit_test(tree__partial_not_after_the_result),
		cmocka_unit_test(tree__results_of_parents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
