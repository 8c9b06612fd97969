/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests trees of switches of any shape, with each packet lost or duplicated once, and parents that
 * restart. */
#include "test/unit/switch_tree_rig.h"

static void tree__sums(void **state)
{
	open_tree(3, 3, 4);
	for (uint32_t first = 0; first < 100; first += SEGMENTS)
		calls_run(first);
	assert_int_equal(counters(ROOT).results, 100);
	assert_int_equal(counters(ROOT).contributions, 300);
	assert_int_equal(counters(ROOT).duplicates, 0);
	assert_int_equal(counters(LEAF(1)).results, 100);
	done();
}

/* Members plus switches below the root: so many packets per segment go up and down, none
 * superfluous. */
static void tree__packets(void **state)
{
	uint64_t before;

	open_tree(3, 3, 4);
	before = net.carried;
	for (uint32_t m = 0; m < 9; m++)
		contribute(m, 0, false);
	swnet_run(&net);
	assert_int_equal(net.carried - before, 24);
	swnet_forget(&net);
	done();
}

/* One packet per run. */
static void each_packet(bool lost)
{
	uint64_t n = 1, carried;

	do {
		open_tree(2, 2, 2);
		*(lost ? &net.lose : &net.repeat) = net.carried + n;
		carried = net.carried;
		calls_run(UINT32_MAX - 4);
		carried = net.carried - carried;
		calls_run(UINT32_MAX - 4 + SEGMENTS);
		done();
	} while (n++ < carried);
	assert_true(n > 120);
}

static void tree__each_packet_lost(void **state)
{
	each_packet(true);
}

static void tree__each_packet_twice(void **state)
{
	each_packet(false);
}

/* Each NOTIFY is lost once. A member that gets no answer sends NOTIFY again. */
static void tree__each_notify_lost(void **state)
{
	uint64_t n = 1, carried;

	do {
		open_plan(2, 2, 2);
		net.lose = n;
		swnet_group_make(&net, &group);
		carried = net.carried;
		assert_true(swnet_group_make(&net, &group));
		calls_run(0);
		done();
	} while (n++ < carried);
	assert_int_equal(n, 13);
}

static void tree__any_order_of_notify(void **state)
{
	open_plan(3, 2, 2);
	for (uint32_t i = 0; i < 6; i++)
		swnet_notify(&net, &group, (5 * i + 3) % 6, INC_NOTIFY);
	swnet_run(&net);
	swnet_forget(&net);
	calls_run(0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(counters(LEAF(i)).refused, 0);
	assert_int_equal(counters(ROOT).refused, 0);
	done();
}

/* The largest depth, with members at every level. */
static void tree__deep_and_uneven(void **state)
{
	swnet_open(&net);
	for (uint32_t i = 0; i < INC_PATH_MAX; i++)
		add(LEAF(i), i + 1 < INC_PATH_MAX ? LEAF(i + 1) : 0);
	swnet_group_plan(&group, 2 * INC_PATH_MAX, NULL, 0, 0);
	for (uint32_t m = 0; m < group.count; m++) {
		struct swnet_member *member = &group.members[m];

		member->path_count = 0;
		for (uint32_t i = m / 2; i < INC_PATH_MAX; i++)
			member->path[member->path_count++] = LEAF(i);
	}
	assert_true(swnet_group_make(&net, &group));
	calls_run(0);
	calls_run(SEGMENTS);
	done();
}

/* The stored CRC of a partial result is not used for the result. */
static void tree__full_segments(void **state)
{
	static uint64_t data[4][176];

	open_tree(2, 2, 4);
	for (uint32_t seq = 0; seq < 20; seq++) {
		struct inc_header h = swnet_call(seq, DXP_INC_SUM, DXP_INC_UINT64, 176);

		for (uint32_t m = 0; m < 4; m++) {
			for (uint64_t i = 0; i < 176; i++)
				data[m][i] = i * (m + 1) << seq;
			swnet_contribute(&net, &group, m, &h, data[m], sizeof(data[m]));
		}
		swnet_run(&net);
		for (uint32_t m = 0; m < 4; m++) {
			struct swnet_packet *p = swnet_result(&net, &group, m);

			assert_non_null(p);
			for (uint64_t i = 0; i < 176; i++)
				data[0][i] = i * 10 << seq;
			assert_int_equal(p->decoded.payload_bytes, 1408);
			assert_memory_equal(p->decoded.payload, data[0], 1408);
			free(p);
		}
	}
	done();
}

/* ---- disagreement and broadcast across switches ---- */

static void tree__members_disagree(void **state)
{
	int32_t data[4] = {0};

	open_tree(3, 2, 2);
	for (uint32_t odd = 1; odd < 64; odd++) {
		for (uint32_t m = 0; m < 6; m++) {
			enum dxp_inc_op op = odd >> m & 1 ? DXP_INC_MAX : DXP_INC_SUM;
			struct inc_header h = swnet_call(odd, op, DXP_INC_INT32, 4);

			swnet_contribute(&net, &group, m, &h, data, sizeof(data));
		}
		swnet_run(&net);
		if (odd < 63)
			status_expect(DXP_EINVAL);
		swnet_forget(&net);
	}
	done();
}

static void tree__broadcasts(void **state)
{
	open_tree(2, 2, 2);
	for (uint32_t root = 0; root < 4; root++) {
		struct inc_header h = swnet_call(root, DXP_INC_NOOP, DXP_INC_BYTES, 0);

		h.collective = INC_BROADCAST;
		h.call_elements = 5;
		h.root = (uint16_t)root;
		for (uint32_t m = 0; m < 4; m++) {
			h.elements = m == root ? 5 : 0;
			swnet_contribute(&net, &group, m, &h, "hello", h.elements);
		}
		swnet_run(&net);
		for (uint32_t m = 0; m < 4; m++) {
			struct swnet_packet *p = swnet_result(&net, &group, m);

			assert_non_null(p);
			assert_int_equal(p->decoded.payload_bytes, 5);
			assert_memory_equal(p->decoded.payload, "hello", 5);
			free(p);
		}
	}
	done();
}

static void tree__two_roots(void **state)
{
	struct inc_header h = swnet_call(0, DXP_INC_NOOP, DXP_INC_BYTES, 0);

	open_tree(2, 2, 2);
	h.collective = INC_BROADCAST;
	h.call_elements = 5;
	for (uint32_t m = 0; m < 4; m++) {
		h.elements = m % 2 ? 0 : 5;
		h.root = (uint16_t)(m / 2 * 2);
		swnet_contribute(&net, &group, m, &h, "hello", h.elements);
	}
	swnet_run(&net);
	status_expect(DXP_EINVAL);
	done();
}

/* Two switches send its data, so it fails. */
static void tree__broadcast_comes_twice(void **state)
{
	struct inc_header h = swnet_call(0, DXP_INC_NOOP, DXP_INC_BYTES, 5);
	struct swnet_send what = {.path = {LEAF(1), ROOT, ROCE_SOURCE_PORT, ROCE_PORT},
				  .payload = "HELLO",
				  .bytes = 5};

	open_tree(2, 2, 2);
	h.collective = INC_BROADCAST;
	what.qkey = group.qkey;
	what.header = h;
	what.header.comm_id = group.id;
	what.header.epoch = group.epoch;
	what.header.src_rank = 2;
	what.header.flags |= INC_FLAG_SWITCH;
	for (uint32_t m = 0; m < 4; m++) {
		h.elements = m ? 0 : 5;
		swnet_contribute(&net, &group, m, &h, "hello", h.elements);
	}
	swnet_send(&net, &what);
	swnet_run(&net);
	status_expect(DXP_EINVAL);
	done();
}

/* ---- a parent that restarts ---- */

static void tree__parent_restarts(void **state)
{
	struct sw_options options = {.ip = ROOT};

	open_tree(2, 2, 2);
	calls_run(0);
	swnet_switch_kill(&net, ROOT);
	assert_non_null(swnet_switch(&net, &options));
	contribute(0, SEGMENTS, false);
	contribute(1, SEGMENTS, false);
	swnet_run(&net);
	for (uint32_t m = 0; m < 2; m++) {
		const struct swnet_member *member = &group.members[m];
		struct swnet_packet *p = swnet_dequeue(&net, member->ip, member->port, INC_REFUSED);

		assert_non_null(p);
		assert_int_equal(p->decoded.header.comm_id, group.id);
		assert_int_equal(p->decoded.header.epoch, group.epoch);
		assert_int_equal(p->decoded.header.status, -DXP_ENOENT);
		assert_int_equal(p->decoded.roce.qkey, group.qkey);
		free(p);
	}
	assert_int_equal(net.inbox.count, 0);
	/* both leaf switches accept new NOTIFYs */
	assert_true(swnet_group_make(&net, &group));
	calls_run(SEGMENTS);
	done();
}

/* Only the parent's rejection counts. */
static void tree__unknown_peers_reject_in_vain(void **state)
{
	struct swnet_send what = {
		.path = {ROOT, LEAF(0), ROCE_SOURCE_PORT, ROCE_PORT},
		.header = {.kind = INC_REFUSED, .comm_id = 7, .epoch = 1, .status = -DXP_ENOENT},
		.qkey = 0x1234567,
	};
	struct swnet_send wrong;

	open_tree(2, 2, 2);
	swnet_send(&net, (wrong = what, wrong.path.from_ip = LEAF(1), &wrong));
	swnet_send(&net, (wrong = what, wrong.header.epoch = 2, &wrong));
	swnet_send(&net, (wrong = what, wrong.header.comm_id = 8, &wrong));
	swnet_send(&net, (wrong = what, wrong.header.status = -DXP_EACCESS, &wrong));
	swnet_send(&net, (wrong = what, wrong.qkey = 1, &wrong));
	swnet_send(&net, (wrong = what, wrong.rc = true, &wrong));
	swnet_run(&net);
	free(swnet_dequeue(&net, ROOT, ROCE_SOURCE_PORT, 0));
	assert_int_equal(counters(LEAF(0)).refused, 6);
	calls_run(0);
	done();
}

/* Rejected; test/unit/switch_rc.c tests connections. */
static void tree__rc_without_connection(void **state)
{
	struct inc_header h = swnet_call(0, DXP_INC_SUM, DXP_INC_UINT64, 1);
	const struct swnet_member *m = &group.members[0];
	struct swnet_send what = {.header = h, .rc = true, .payload = "8 bytes", .bytes = 8};

	open_tree(2, 2, 2);
	what.header.comm_id = group.id;
	what.header.epoch = group.epoch;
	what.path = (struct roce_path){m->ip, m->path[0], m->port, ROCE_PORT};
	swnet_send(&net, &what);
	swnet_run(&net);
	assert_int_equal(counters(LEAF(0)).refused, 1);
	assert_int_equal(net.inbox.count, 0);
	calls_run(0);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree__sums),
		cmocka_unit_test(tree__packets),
		cmocka_unit_test(tree__each_packet_lost),
		cmocka_unit_test(tree__each_packet_twice),
		cmocka_unit_test(tree__each_notify_lost),
		cmocka_unit_test(tree__any_order_of_notify),
		cmocka_unit_test(tree__deep_and_uneven),
		cmocka_unit_test(tree__full_segments),
		cmocka_unit_test(tree__members_disagree),
		cmocka_unit_test(tree__broadcasts),
		cmocka_unit_test(tree__two_roots),
		cmocka_unit_test(tree__broadcast_comes_twice),
		cmocka_unit_test(tree__parent_restarts),
		cmocka_unit_test(tree__unknown_peers_reject_in_vain),
		cmocka_unit_test(tree__rc_without_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
