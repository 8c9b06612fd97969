/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the codec of control payloads and of messages between members. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "wire/inc.h"

static struct inc_control sample(void)
{
	return (struct inc_control){
		.master_num = DXP_INC_SOCKET,
		.hop = 3,
		.sup_comm_type = 0x1e,
		.fail_cause = INC_CAUSE_DEPTH,
		.sup_op = 0x1ffe,
		.sup_type = 0x1ffff,
		.segment_bytes = 1408,
		.window = 64,
		.planes = INC_PLANE_USER | INC_PLANE_KERNEL,
		.path_count = 2,
		.members = 4096,
		.true_comm_id = 0x01020304,
		.qkey = 0x11121314,
		.free_groups = 255,
		.lease_ms = 30000,
		.job_id = 0x2122232425262728,
		.c_id = 0x31323334,
		.world_rank = 0x41424344,
		.member_ip = 0x0a4d0001,
		.first_ip = 0x0a4d0002,
		.member_port = 0xc001,
		.first_port = 0xc002,
		.cause_ip = 0x0a4d00f1,
		.path = {{0x0a4d00f1, 4, 3}, {0x0a4d00fe, 1, 0}},
	};
}

static void inc_control__round_trip(void **state)
{
	for (uint8_t count = 0; count <= INC_PATH_MAX; count++) {
		struct inc_control c = sample(), out;
		uint8_t data[INC_CONTROL_BYTES_MAX], again[INC_CONTROL_BYTES_MAX];

		c.path_count = count;
		for (size_t i = 2; i < count; i++)
			c.path[i] = (struct inc_hop){(uint32_t)i, 7, 6};
		size_t bytes = inc_control_encode(&c, data);
		assert_int_equal(bytes, 72 + 8 * count);
		assert_int_equal(inc_control_decode(data, bytes, &out), DXP_OK);
		assert_int_equal(inc_control_encode(&out, again), bytes);
		assert_memory_equal(again, data, bytes);
		assert_true(out.job_id == c.job_id && out.first_port == c.first_port &&
			    out.sup_type == c.sup_type && out.cause_ip == c.cause_ip);
	}
}

static void inc_control__every_length(void **state)
{
	struct inc_control c = sample(), out = {.members = 77};
	uint8_t data[INC_CONTROL_BYTES_MAX + 8] = {0};
	size_t bytes = inc_control_encode(&c, data);

	for (size_t n = 0; n < sizeof(data); n++) {
		if (n != bytes)
			assert_int_equal(inc_control_decode(data, n, &out), DXP_EMALFORMED);
		assert_int_equal(out.members, 77);
	}
}

static void inc_control__rejected(void **state)
{
	static const struct {
		uint8_t at, value;
		int status;
	} cases[] = {
		{0, DXP_INC_FLAT, DXP_OK},
		{0, DXP_INC_FLAT + 1, DXP_EMALFORMED},
		{1, INC_PATH_MAX, DXP_OK},
		{1, INC_PATH_MAX + 1, DXP_EMALFORMED},
		{3, INC_CAUSES, DXP_EMALFORMED},
		{13, 0x81, DXP_EMALFORMED}, /* invalid segment_bytes */
		{17, 3, DXP_EMALFORMED},    /* path_count: more hops than fit */
		{17, INC_PATH_MAX + 1, DXP_EMALFORMED},
		{70, 1, DXP_EMALFORMED}, /* must be zero */
		{71, 1, DXP_EMALFORMED},
		{77, 3, DXP_EMALFORMED}, /* children of a hop: not above its index */
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct inc_control c = sample(), out;
		uint8_t data[INC_CONTROL_BYTES_MAX];
		size_t bytes = inc_control_encode(&c, data);

		data[cases[i].at] = cases[i].value;
		if (inc_control_decode(data, bytes, &out) != cases[i].status)
			fail_msg("case %zu", i);
	}
}

static void inc_control__peer(void **state)
{
	struct inc_peer p = {0x01020304, 0xfffffffe}, out = {0};
	uint8_t data[INC_PEER_BYTES + 1] = {0};

	assert_int_equal(inc_peer_encode(&p, data), INC_PEER_BYTES);
	for (size_t n = 0; n <= sizeof(data); n++)
		if (n != INC_PEER_BYTES)
			assert_int_equal(inc_peer_decode(data, n, &out), DXP_EMALFORMED);
	assert_int_equal(inc_peer_decode(data, INC_PEER_BYTES, &out), DXP_OK);
	assert_memory_equal(&out, &p, sizeof(p));
}

static void inc_control__cause_text(void **state)
{
	for (unsigned cause = 0; cause < INC_CAUSES; cause++)
		assert_non_null(inc_cause_text(cause));
	assert_string_equal(inc_cause_text(INC_CAUSE_GROUPS), "no free group");
	assert_string_equal(inc_cause_text(INC_CAUSES), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inc_control__round_trip),
		cmocka_unit_test(inc_control__every_length),
		cmocka_unit_test(inc_control__rejected),
		cmocka_unit_test(inc_control__peer),
		cmocka_unit_test(inc_control__cause_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
