/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that unknown peers and garbage do not keep a switch from serving its group. */
#include "test/unit/switch_hostile_rig.h"

/* The switch refuses the packet and answers its sender with this status; DXP_OK: it does not
 * answer. */
static void refused(const struct swnet_send *what, int answer)
{
	uint64_t before = counters().refused;
	struct swnet_packet *p;

	swnet_send(&net, what);
	swnet_run(&net);
	assert_int_equal(counters().refused, before + 1);
	p = swnet_dequeue(&net, what->path.from_ip, what->path.from_port, INC_REFUSED);
	assert_int_equal(p != NULL, answer != DXP_OK);
	if (p) {
		assert_int_equal(-(int)p->decoded.header.status, answer);
		assert_int_equal(p->decoded.header.req_id, what->header.req_id);
		assert_int_equal(p->decoded.header.comm_id, what->header.comm_id);
		assert_int_equal(p->decoded.roce.qkey, what->qkey);
		free(p);
	}
	assert_int_equal(net.inbox.count, 0);
}

static void hostile__unknown_peers(void **state)
{
	struct swnet_send right, what;

	open_with(&(struct sw_options){0});
	right = contribution(0, 0);
	refused((what = right, what.header.comm_id++, &what), DXP_ENOENT);
	refused((what = right, what.header.epoch++, &what), DXP_ENOENT);
	refused((what = right, what.header.epoch--, &what), DXP_ENOENT);
	/* wrong key: the sender may be forged */
	refused((what = right, what.qkey++, &what), DXP_OK);
	refused((what = right, what.path.from_ip = UNKNOWN_PEER, &what), DXP_EACCESS);
	refused((what = right, what.path.from_port += 7, &what), DXP_EACCESS);
	refused((what = right, what.header.src_rank = 1, &what), DXP_EACCESS);
	refused((what = right, what.header.src_rank = 77, &what), DXP_EACCESS);
	refused((what = right, what.header.flags |= INC_FLAG_SWITCH, &what), DXP_EACCESS);
	refused((what = right, what.header.flags |= INC_FLAG_RESULT, &what), DXP_OK);
	assert_int_equal(counters().contributions, 0);
	works(0);
	done();
}

/* The packets decode, but no member sends them. */
static void hostile__what_no_member_sends(void **state)
{
	static uint8_t data[1424];
	struct swnet_send what;

	open_with(&(struct sw_options){0});
	what = contribution(0, 0);
	what.header.elements = what.header.call_elements = 356;
	what.payload = data;
	what.bytes = 1424; /* longer than the group's segments */
	swnet_send(&net, &what);
	what = contribution(0, 0);
	what.header.status = 5;
	swnet_send(&net, &what);
	what = contribution(0, 0);
	what.header.op = DXP_INC_NOOP;
	what.header.collective = INC_BARRIER;
	swnet_send(&net, &what);
	swnet_run(&net);
	assert_int_equal(counters().malformed, 3);
	assert_int_equal(counters().contributions, 0);
	works(0);
	done();
}

static void hostile__kinds_of_others(void **state)
{
	static const uint8_t kinds[] = {INC_FREEZE, INC_FROZEN, INC_FETCH, INC_REFUSED};
	struct swnet_send what = contribution(0, 0);
	uint64_t count = 0;

	open_with(&(struct sw_options){0});
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
		what = contribution(0, 0);
		what.header.kind = kinds[i];
		what.payload = "12345678";
		what.bytes = kinds[i] == INC_REFUSED ? 0 : INC_PEER_BYTES;
		swnet_send(&net, &what);
		swnet_run(&net);
		assert_int_equal(counters().refused, ++count);
	}
	works(0);
	done();
}

/* The switch drops a control packet whose key is wrong or whose payload is incomplete. */
static void hostile__control_packets(void **state)
{
	static const uint8_t kinds[] = {INC_QUERY, INC_NOTIFY, INC_KILL, INC_RENEW};
	struct inc_control c;
	uint8_t payload[INC_CONTROL_BYTES_MAX];
	uint64_t count = 0;
	size_t bytes;

	open_with(&(struct sw_options){0});
	c = swnet_control(&group, 0);
	bytes = inc_control_encode(&c, payload);
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
		for (size_t cut = 0; cut < bytes; cut++) {
			struct swnet_send what = contribution(0, 0);

			what.header =
				(struct inc_header){.kind = kinds[i], .comm_id = INC_COMM_CONTROL};
			what.qkey = INC_CONTROL_QKEY;
			what.payload = payload;
			what.bytes = cut;
			swnet_send(&net, &what);
			swnet_run(&net);
			assert_int_equal(counters().malformed, ++count);
			what.qkey++;
			what.bytes = bytes;
			swnet_send(&net, &what);
			swnet_run(&net);
			assert_int_equal(counters().refused, count);
		}
	works(0);
	done();
}

/* Any flipped bit or cut has no effect but its count. */
static void hostile__damaged(void **state)
{
	struct swnet_send what;
	struct sw_counters c;
	const struct swnet_packet *p;

	open_with(&(struct sw_options){0});
	what = contribution(0, 0);
	swnet_send(&net, &what);
	p = net.wire.packets[0];
	for (size_t bit = 0; bit < 8 * p->bytes; bit++) {
		uint8_t data[200];

		if (bit / 8 == 4)
			/* routers may change these bits */
			continue;
		memcpy(data, p->data, p->bytes);
		data[bit / 8] ^= 1 << bit % 8;
		swnet_raw(&net, &p->path, data, p->bytes);
	}
	for (size_t bytes = 0; bytes < p->bytes; bytes++)
		swnet_raw(&net, &p->path, p->data, bytes);
	/* the ICRC covers addresses and ports */
	struct roce_path path = p->path;

	path.from_port++;
	swnet_raw(&net, &path, p->data, p->bytes);
	c = counters();
	assert_int_equal(c.foreign + c.malformed + c.icrc_wrong, 8 * (p->bytes - 1) + p->bytes + 1);
	assert_true(c.foreign > 0 && c.malformed > 0 && c.icrc_wrong > 0);
	assert_int_equal(c.contributions, 0);
	assert_int_equal(c.refused, 0);
	swnet_run(&net);
	assert_int_equal(counters().contributions, 1);
	works(1);
	done();
}

static void hostile__icrc_check_off(void **state)
{
	struct swnet_send what;
	struct swnet_packet *p;

	open_with(&(struct sw_options){.no_icrc_check = true});
	what = contribution(0, 0);
	swnet_send(&net, &what);
	p = net.wire.packets[0];
	p->data[p->bytes - 1] ^= 1;
	swnet_run(&net);
	assert_int_equal(counters().contributions, 1);
	done();
}

static void hostile__noise(void **state)
{
	struct rng r = {11};
	struct roce_path path = {UNKNOWN_PEER, SWITCH_IP, 5, ROCE_PORT};
	uint8_t data[300];

	open_with(&(struct sw_options){0});
	for (unsigned i = 0; i < 20000; i++) {
		size_t bytes = rng_below(&r, sizeof(data));

		for (size_t k = 0; k < bytes; k++)
			data[k] = (uint8_t)rng_next(&r);
		swnet_raw(&net, &path, data, bytes);
	}
	assert_int_equal(counters().foreign + counters().icrc_wrong, 20000);
	works(0);
	done();
}

static void hostile__options(void **state)
{
	struct sw *s;
	const struct sw_options wrong[] = {
		{.ip = 0},
		{.ip = 1, .parent_count = 5},
		{.ip = 1, .parents = {0}, .parent_count = 1},
		{.ip = 1, .parents = {1}, .parent_count = 1},
		{.ip = 1, .parents = {2, 2}, .parent_count = 2},
		{.ip = 1, .groups_max = SWITCH_GROUPS_MAX + 1},
		{.ip = 1, .window = INC_WINDOW_MAX + 1},
		{.ip = 1, .segment_bytes = 8},
		{.ip = 1, .segment_bytes = SWITCH_SEGMENT_MAX + 16},
		{.ip = 1, .name = "a name that is much too long, 32"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
		assert_int_equal(switch_create(&wrong[i], 0, &s), DXP_EINVAL);
	switch_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile__unknown_peers),
		cmocka_unit_test(hostile__what_no_member_sends),
		cmocka_unit_test(hostile__kinds_of_others),
		cmocka_unit_test(hostile__control_packets),
		cmocka_unit_test(hostile__damaged),
		cmocka_unit_test(hostile__icrc_check_off),
		cmocka_unit_test(hostile__noise),
		cmocka_unit_test(hostile__options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
