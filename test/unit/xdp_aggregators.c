/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests aggregators in the kernel (XDP): contributions, duplicates, results, members that
 * disagree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/unit/xdp_rig.h"

static void xdp_aggregators__root_sends_the_sum_to_all(void **state)
{
	struct rig *r = *state;
	struct xdp_frame out;
	struct inc_packet p;
	struct roce_path path;
	double values[3] = {1e16, 1, 1}, sum;

	rig_group(r, 3, 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct inc_header h = rig_header(2 - i, 0, DXP_INC_SUM, DXP_INC_DOUBLE, 1);
		int action = rig_send(r, &h, 2 - i, &values[2 - i], 8, &out);

		assert_int_equal(action, i < 2 ? ACT_DROP : ACT_TX);
	}
	rig_decode(&out, &p, &path);
	memcpy(&sum, p.payload, 8);
	assert_true(sum == (1e16 + 1) + 1);
	assert_int_equal(p.payload_bytes, 8);
	assert_int_equal(p.header.flags, INC_FLAG_RESULT | INC_FLAG_SHORT | INC_FLAG_LAST);
	assert_int_equal(p.header.status, 0);
	assert_int_equal(p.header.src_rank, 0);
	assert_int_equal(p.roce.dest_qp, ROCE_QP_MULTICAST);
	assert_int_equal(path.from_ip, SWITCH_IP);
	assert_int_equal(path.from_port, ROCE_PORT);
	assert_int_equal(path.to_port, ROCE_PORT);
	assert_int_equal(path.to_ip, SWITCH_MULTICAST_IP | (GROUP & SWITCH_MULTICAST_MASK));
	assert_int_equal(out.bytes[0], 0x01);
	assert_int_equal(out.bytes[2], 0x5e);
	assert_int_equal(out.bytes[3], path.to_ip >> 16 & 0x7f);
	assert_int_equal(get_be16(out.bytes + 4), path.to_ip & 0xffff);
	assert_memory_equal(out.bytes + 6, rig_switch_mac, 6);
}

/* Only the sender of a repeated packet gets the result again. */
static void xdp_aggregators__repeat_is_answered_from_the_result(void **state)
{
	struct rig *r = *state;
	struct xdp_frame out;
	struct inc_packet p;
	struct roce_path path;
	int32_t values[2] = {40, 2}, sum;

	rig_group(r, 2, 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct inc_header h = rig_header(i, 5, DXP_INC_SUM, DXP_INC_INT32, 1);

		rig_send(r, &h, i, &values[i], 4, &out);
	}
	for (uint32_t i = 0; i < 2; i++) {
		struct inc_header h = rig_header(i, 5, DXP_INC_SUM, DXP_INC_INT32, 1);

		h.flags |= INC_FLAG_REPEAT;
		assert_int_equal(rig_send(r, &h, i, &values[i], 4, &out), ACT_TX);
		rig_decode(&out, &p, &path);
		memcpy(&sum, p.payload, 4);
		assert_int_equal(sum, 42);
		assert_int_equal(path.to_ip, CHILD_IP + 1 + i);
		assert_int_equal(path.from_port, ROCE_SOURCE_PORT);
		assert_int_equal(path.to_port, ROCE_PORT);
		assert_int_equal(p.roce.dest_qp, INC_QP);
		assert_true(p.header.flags & INC_FLAG_RESULT);
		assert_int_equal(out.bytes[5], 1 + i);
	}
}

/* A partial result goes up again only after a pause; a result goes down once, then to each child
 * that retransmits. */
static void xdp_aggregators__inner_switch(void **state)
{
	struct rig *r = *state;
	struct xdp_frame in, out;
	struct inc_packet p;
	struct roce_path path, down = {PARENT_IP, SWITCH_IP, ROCE_SOURCE_PORT, ROCE_PORT};
	struct inc_header h, result;
	int64_t values[2] = {7, -9}, got, whole = 1000;

	rig_group(r, 2, PARENT_IP);
	h = rig_header(0, 8, DXP_INC_MIN, DXP_INC_INT64, 1);
	assert_int_equal(rig_send(r, &h, 0, &values[0], 8, &out), ACT_DROP);
	/* before the partial result was sent */
	result = h;
	result.flags |= INC_FLAG_RESULT;
	rig_frame(&result, &down, QKEY, &whole, 8, &in);
	assert_int_equal(rig_run(r, &in, &out), ACT_PASS);
	h.src_rank = 1;
	assert_int_equal(rig_send(r, &h, 1, &values[1], 8, &out), ACT_ELSE);
	rig_decode(&out, &p, &path);
	memcpy(&got, p.payload, 8);
	assert_int_equal(got, -9);
	assert_int_equal(path.to_ip, PARENT_IP);
	assert_int_equal(path.from_port, ROCE_SOURCE_PORT);
	assert_int_equal(p.header.flags, INC_FLAG_SWITCH | INC_FLAG_SHORT | INC_FLAG_LAST);
	assert_int_equal(out.bytes[5], 0xfd);
	/* up only after a pause */
	bool too_early = false;
	for (int i = 0; i < 100 && !too_early; i++)
		too_early = rig_send(r, &h, 1, &values[1], 8, &out) == ACT_DROP;
	assert_true(too_early);
	usleep(1000);
	assert_int_equal(rig_send(r, &h, 1, &values[1], 8, &out), ACT_ELSE);
	rig_decode(&out, &p, &path);
	memcpy(&got, p.payload, 8);
	assert_int_equal(got, -9);
	assert_true(p.header.flags & INC_FLAG_REPEAT);
	/* by multicast; a duplicate; then a child's retransmission */
	down.to_ip = SWITCH_MULTICAST_IP | (GROUP & SWITCH_MULTICAST_MASK);
	down.from_port = ROCE_PORT;
	rig_frame(&result, &down, QKEY, &whole, 8, &in);
	assert_int_equal(rig_run(r, &in, &out), ACT_TX);
	rig_decode(&out, &p, &path);
	memcpy(&got, p.payload, 8);
	assert_int_equal(got, 1000);
	assert_int_equal(path.from_ip, SWITCH_IP);
	assert_int_equal(rig_run(r, &in, &out), ACT_DROP);
	assert_int_equal(rig_send(r, &h, 1, &values[1], 8, &out), ACT_TX);
	rig_decode(&out, &p, &path);
	memcpy(&got, p.payload, 8);
	assert_int_equal(got, 1000);
}

static void xdp_aggregators__result_of_an_unknown_peer(void **state)
{
	struct rig *r = *state;
	struct xdp_frame in, out;
	struct roce_path path = rig_path(0);
	struct inc_header h = rig_header(0, 0, DXP_INC_SUM, DXP_INC_INT64, 1);
	uint64_t refused = rig_count(r, KERNEL_REJECTED);
	int64_t value = 1;

	rig_group(r, 1, PARENT_IP);
	assert_int_equal(rig_send(r, &h, 0, &value, 8, &out), ACT_ELSE);
	h.flags |= INC_FLAG_RESULT;
	rig_frame(&h, &path, QKEY, &value, 8, &in);
	assert_int_equal(rig_run(r, &in, &out), ACT_PASS);
	assert_int_equal(rig_count(r, KERNEL_REJECTED), refused + 1);
}

/* The second of two contributions differs from the first. Both members get the error. */
static void disagree(struct rig *r, const struct inc_header *other, const void *payload,
		     size_t bytes)
{
	static uint32_t req_id = 100;
	struct xdp_frame out;
	struct inc_packet p;
	struct roce_path path;
	struct inc_header h = rig_header(0, ++req_id, DXP_INC_SUM, DXP_INC_FLOAT, 2), o = *other;
	float values[2] = {1, 2};

	o.req_id = req_id;
	o.src_rank = 1;
	assert_int_equal(rig_send(r, &h, 0, values, 8, &out), ACT_DROP);
	assert_int_equal(rig_send(r, &o, 1, payload, bytes, &out), ACT_TX);
	rig_decode(&out, &p, &path);
	assert_int_equal(p.header.status, -DXP_EINVAL);
	assert_int_equal(p.payload_bytes, 0);
	assert_int_equal(p.header.elements, 0);
	assert_int_equal(rig_send(r, &h, 0, values, 8, &out), ACT_TX);
	rig_decode(&out, &p, &path);
	assert_int_equal(p.header.status, -DXP_EINVAL);
}

static void xdp_aggregators__disagreement(void **state)
{
	struct rig *r = *state;
	static const uint8_t payload[1400];
	struct inc_header h;

	rig_group(r, 2, 0);
	h = rig_header(1, 0, DXP_INC_MAX, DXP_INC_FLOAT, 2);
	disagree(r, &h, payload, 8);
	h = rig_header(1, 0, DXP_INC_SUM, DXP_INC_INT32, 2);
	disagree(r, &h, payload, 8);
	h = rig_header(1, 0, DXP_INC_SUM, DXP_INC_FLOAT, 3);
	disagree(r, &h, payload, 12);
	h = rig_header(1, 0, DXP_INC_NOOP, DXP_INC_BYTES, 0);
	disagree(r, &h, payload, 0);
	/* these operations belong to user space */
	h = rig_header(1, 0, DXP_INC_PROD, DXP_INC_FLOAT, 2);
	disagree(r, &h, payload, 8);
	h = rig_header(1, 0, DXP_INC_SUM, DXP_INC_FLOAT, 350);
	h.flags = 0;
	disagree(r, &h, payload, 1400);
	h = rig_header(1, 0, DXP_INC_SUM, DXP_INC_FLOAT, 2);
	h.root = 1;
	disagree(r, &h, payload, 8);
}

/* The result for all children has the same status. */
static void xdp_aggregators__status_goes_on(void **state)
{
	struct rig *r = *state;
	struct xdp_frame out;
	struct inc_packet p;
	struct roce_path path;
	struct inc_header h = rig_header(1, 0, DXP_INC_SUM, DXP_INC_FLOAT, 0);
	float value = 1;

	rig_group(r, 2, 0);
	r->children[1].is_switch = true;
	struct sw_group_view view = {.id = GROUP,
				     .qkey = QKEY,
				     .members = 4,
				     .epoch = EPOCH,
				     .planes = INC_PLANE_KERNEL,
				     .child_count = 2,
				     .children = r->children};
	assert_true(plane_install(&r->plane, &view));
	h.flags |= INC_FLAG_SWITCH;
	h.call_elements = 1;
	h.status = -DXP_EINVAL;
	assert_int_equal(rig_send(r, &h, 1, NULL, 0, &out), ACT_DROP);
	h = rig_header(0, 0, DXP_INC_SUM, DXP_INC_FLOAT, 1);
	assert_int_equal(rig_send(r, &h, 0, &value, 4, &out), ACT_TX);
	rig_decode(&out, &p, &path);
	assert_int_equal(p.header.status, -DXP_EINVAL);
}

/* Older segments are stale; those for user space change nothing; newer ones reuse the
 * aggregator. */
static void xdp_aggregators__owner(void **state)
{
	struct rig *r = *state;
	struct xdp_frame out;
	static const uint8_t payload[512];
	struct inc_header h = rig_header(0, 10, DXP_INC_SUM, DXP_INC_INT32, 1), slow;

	rig_group(r, 2, 0);
	slow = rig_header(0, 12, DXP_INC_PROD, DXP_INC_INT32, 1);
	assert_int_equal(rig_send(r, &slow, 0, payload, 4, &out), ACT_PASS);
	assert_int_equal(rig_send(r, &h, 0, payload, 4, &out), ACT_DROP);
	assert_int_equal(rig_send(r, &slow, 1, payload, 4, &out), ACT_PASS);
	h.src_rank = 1;
	assert_int_equal(rig_send(r, &h, 1, payload, 4, &out), ACT_TX);
	assert_int_equal(rig_send(r, &slow, 0, payload, 4, &out), ACT_PASS);
	/* still held */
	assert_int_equal(rig_send(r, &h, 1, payload, 4, &out), ACT_TX);
	h.req_id = 8;
	assert_int_equal(rig_send(r, &h, 1, payload, 4, &out), ACT_DROP);
	h.req_id = 12;
	assert_int_equal(rig_send(r, &h, 1, payload, 4, &out), ACT_DROP);
	h.req_id = 10;
	/* stale now */
	assert_int_equal(rig_send(r, &h, 1, payload, 4, &out), ACT_DROP);
	assert_true(plane_last_ns(&r->plane, GROUP) > 0);
	/* wraps from UINT32_MAX to 0 */
	rig_group(r, 1, 0);
	h.src_rank = 0;
	for (uint32_t req_id = UINT32_MAX - 3; req_id != 4; req_id++) {
		h.req_id = req_id;
		assert_int_equal(rig_send(r, &h, 0, payload, 4, &out), ACT_TX);
	}
}

/* The answer has the result's length, not the request's. */
static void xdp_aggregators__answer_longer_and_shorter(void **state)
{
	struct rig *r = *state;
	static const double values[32] = {1, 2, 3};
	struct inc_header h = rig_header(0, 2, DXP_INC_MAX, DXP_INC_DOUBLE, 32), other;
	struct xdp_frame out;
	struct inc_packet p;
	struct roce_path path;

	rig_group(r, 1, 0);
	assert_int_equal(rig_send(r, &h, 0, values, 256, &out), ACT_TX);
	other = rig_header(0, 2, DXP_INC_NOOP, DXP_INC_BYTES, 0);
	assert_int_equal(rig_send(r, &other, 0, NULL, 0, &out), ACT_TX);
	rig_decode(&out, &p, &path);
	assert_int_equal(p.payload_bytes, 256);
	assert_memory_equal(p.payload, values, 256);
	other.req_id = 3;
	assert_int_equal(rig_send(r, &other, 0, NULL, 0, &out), ACT_TX);
	h.req_id = 3;
	assert_int_equal(rig_send(r, &h, 0, values, 256, &out), ACT_TX);
	rig_decode(&out, &p, &path);
	assert_int_equal(p.payload_bytes, 0);
	assert_int_equal(p.header.collective, INC_BARRIER);
}

/* No data; after the group's removal, user space. */
static void xdp_aggregators__barrier_and_removal(void **state)
{
	struct rig *r = *state;
	struct xdp_frame out;
	struct inc_header h = rig_header(0, 0, DXP_INC_NOOP, DXP_INC_BYTES, 0);

	rig_group(r, 2, 0);
	assert_int_equal(rig_send(r, &h, 0, NULL, 0, &out), ACT_DROP);
	h.src_rank = 1;
	assert_int_equal(rig_send(r, &h, 1, NULL, 0, &out), ACT_TX);
	plane_remove_group(&r->plane, GROUP);
	assert_int_equal(rig_send(r, &h, 1, NULL, 0, &out), ACT_PASS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xdp_aggregators__root_sends_the_sum_to_all),
		cmocka_unit_test(xdp_aggregators__repeat_is_answered_from_the_result),
		cmocka_unit_test(xdp_aggregators__inner_switch),
		cmocka_unit_test(xdp_aggregators__result_of_an_unknown_peer),
		cmocka_unit_test(xdp_aggregators__disagreement),
		cmocka_unit_test(xdp_aggregators__status_goes_on),
		cmocka_unit_test(xdp_aggregators__owner),
		cmocka_unit_test(xdp_aggregators__answer_longer_and_shorter),
		cmocka_unit_test(xdp_aggregators__barrier_and_removal),
	};

	return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
