/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests unknown peers, garbage and floods: the switch still serves others, limits its answers, and
 * sends no peer more bytes than it received from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/rng.h"
#include "base/util.h"
#include "switch/limits.h"
#include "test/support/switch_net.h"
#include "wire/limits.h"

#define SWITCH_IP    0x0a000001u
#define UNKNOWN_PEER 0x0b000001u

static struct switch_net net;
static struct swnet_group group;

static void open_with(const struct sw_options *options)
{
	struct sw_options o = *options;

	o.ip = SWITCH_IP;
	swnet_open(&net);
	assert_non_null(swnet_switch(&net, &o));
	swnet_group_plan(&group, 2, NULL, 0, SWITCH_IP);
	assert_true(swnet_group_make(&net, &group));
}

static void done(void)
{
	assert_string_equal(net.wrong, "");
	assert_int_equal(net.inbox.count, 0);
	swnet_close(&net);
}

static struct sw_counters counters(void)
{
	struct sw_counters c;

	switch_counters(net.switches[0], &c);
	return c;
}

static void works(uint32_t seq)
{
	struct inc_header h = swnet_call(seq, DXP_INC_SUM, DXP_INC_INT32, 1);

	for (uint32_t m = 0; m < group.count; m++)
		swnet_contribute(&net, &group, m, &h, "\1\0\0\0", 4);
	swnet_run(&net);
	for (uint32_t m = 0; m < group.count; m++) {
		struct swnet_packet *p = swnet_result(&net, &group, m);
		uint32_t sum = group.count;

		assert_non_null(p);
		assert_memory_equal(p->decoded.payload, &sum, 4);
		free(p);
	}
}

static struct swnet_send contribution(uint32_t member, uint32_t seq)
{
	const struct swnet_member *m = &group.members[member];
	struct swnet_send what = {
		.path = {m->ip, SWITCH_IP, m->port, ROCE_PORT},
		.header = swnet_call(seq, DXP_INC_SUM, DXP_INC_INT32, 1),
		.qkey = group.qkey,
		.payload = "\5\0\0\0",
		.bytes = 4,
	};

	what.header.src_rank = member;
	what.header.comm_id = group.id;
	what.header.epoch = group.epoch;
	return what;
}

/* Asserts that the packet is rejected with this answer to its sender (DXP_OK: none). */
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
	refused((what = right, what.qkey++, &what), DXP_OK); /* sender unverified: no answer */
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

/* Valid for the codec, but never sent by a member. */
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

/* Control packets have their own key; their payload must be complete. */
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

/* Every flipped bit and every length: counted, without any other effect. */
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
			continue; /* fields that routers may change */
		memcpy(data, p->data, p->bytes);
		data[bit / 8] ^= 1 << bit % 8;
		swnet_raw(&net, &p->path, data, p->bytes);
	}
	for (size_t bytes = 0; bytes < p->bytes; bytes++)
		swnet_raw(&net, &p->path, p->data, bytes);
	/* Another address than the ICRC covers. */
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
	assert_int_equal(counters().foreign, 20000);
	works(0);
	done();
}

/* ---- floods ---- */

static unsigned answers_to(uint32_t ip, uint16_t port)
{
	struct swnet_packet *p;
	unsigned count = 0;

	while ((p = swnet_dequeue(&net, ip, port, INC_REFUSED)) != NULL) {
		free(p);
		count++;
	}
	return count;
}

/* A flooding host gets an eighth of the answers; others still get theirs. */
static void hostile__answers_are_limited(void **state)
{
	struct swnet_send what;
	unsigned answers = 0;

	open_with(&(struct sw_options){.refused_per_s = 800});
	what = contribution(0, 0);
	what.header.comm_id = 4711;
	for (unsigned ms = 0; ms < 1000; ms++) {
		net.now_ns += MS_NS;
		for (unsigned i = 0; i < 5; i++)
			swnet_send(&net, &what);
		swnet_run(&net);
		answers += answers_to(what.path.from_ip, what.path.from_port);
	}
	assert_in_range(answers, 100, 100 + 100 / 5 + 1); /* limit of one second, plus the burst */
	assert_int_equal(counters().refused, 5000);
	assert_int_equal(counters().limited, 5000 - answers);
	what.path.from_ip++;
	swnet_send(&net, &what);
	swnet_run(&net);
	assert_int_equal(answers_to(what.path.from_ip, what.path.from_port), 1);
	/* All hosts together get no more than the total limit. */
	net.now_ns += S_NS;
	answers = 0;
	for (unsigned i = 0; i < 5000; i++) {
		what.path.from_ip = UNKNOWN_PEER + i;
		swnet_send(&net, &what);
		swnet_run(&net);
		answers += answers_to(what.path.from_ip, what.path.from_port);
	}
	assert_in_range(answers, 800 / 5, 800 / 5 + 1);
	works(0);
	done();
}

/* Rows are long: a host's share of them is limited too. */
static void hostile__inquiries_are_limited(void **state)
{
	struct swnet_send what = {.path = {UNKNOWN_PEER, SWITCH_IP, 999, ROCE_PORT},
				  .header = {.kind = INC_INQUIRE, .comm_id = INC_COMM_CONTROL},
				  .qkey = INC_CONTROL_QKEY,
				  .bytes = INC_INQUIRY_BYTES};
	struct inc_inquiry q = {INC_SECTION_GROUPS, 0};
	uint8_t payload[INC_INQUIRY_BYTES];
	unsigned answers = 0;
	struct swnet_packet *p;

	open_with(&(struct sw_options){0});
	what.payload = payload;
	inc_inquiry_encode(&q, payload);
	for (unsigned i = 0; i < 2000; i++)
		swnet_send(&net, &what);
	swnet_run(&net);
	while ((p = swnet_dequeue(&net, UNKNOWN_PEER, 999, INC_ANSWER)) != NULL) {
		assert_int_equal(p->path.to_port, 999);
		free(p);
		answers++;
	}
	assert_in_range(answers, 25, 26);
	works(0);
	done();
}

/* The number of rows that wait for switch_send is bounded; further hosts must retry. */
static void hostile__rows_are_bounded(void **state)
{
	struct swnet_send what = {.path = {UNKNOWN_PEER, SWITCH_IP, 999, ROCE_PORT},
				  .header = {.kind = INC_INQUIRE, .comm_id = INC_COMM_CONTROL},
				  .qkey = INC_CONTROL_QKEY,
				  .bytes = INC_INQUIRY_BYTES,
				  .payload = "\1\0\0\0\0\0\0\0"};

	open_with(&(struct sw_options){0});
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 2 * SWITCH_ANSWERS; i++, what.path.from_ip++)
			swnet_send(&net, &what);
		swnet_receive(&net);
		assert_int_equal(switch_deadline(net.switches[0]), 0);
		swnet_run(&net);
		assert_int_equal(net.inbox.count, SWITCH_ANSWERS);
		swnet_forget(&net);
	}
	assert_int_equal(counters().limited, 3 * SWITCH_ANSWERS);
	done();
}

/* Many messages do not delay a result: half of the space is left for results. */
static void hostile__messages_leave_space(void **state)
{
	struct inc_batch batch = {.space = 20};
	struct datagram datagrams[20];
	uint8_t trailers[20][INC_TRAILER_BYTES];
	uint16_t ports[20];
	struct swnet_send what;

	batch.datagrams = datagrams;
	batch.trailers = trailers;
	batch.from_ports = ports;
	open_with(&(struct sw_options){0});
	for (uint32_t m = 0; m < 40; m++)
		swnet_notify(&net, &group, 0, INC_NOTIFY);
	for (uint32_t m = 0; m < 2; m++) {
		what = contribution(m, 0);
		swnet_send(&net, &what);
	}
	swnet_receive(&net);
	assert_int_equal(switch_send(net.switches[0], &batch, net.now_ns), 20);
	assert_true(datagrams[9].slices[0].bytes > 4);
	assert_int_equal(datagrams[10].slices[0].bytes, 4);
	assert_int_equal(datagrams[11].slices[0].bytes, 4);
	assert_true(datagrams[12].slices[0].bytes > 4);
	swnet_run(&net);
	assert_int_equal(net.inbox.count, 40 + 2 - 20);
	swnet_forget(&net);
	done();
}

/* The number of waiting messages is bounded, even without a send in between. */
static void hostile__messages_are_bounded(void **state)
{
	struct inc_control c;
	struct swnet_send what = {.header = {.kind = INC_NOTIFY, .comm_id = INC_COMM_CONTROL},
				  .qkey = INC_CONTROL_QKEY};
	uint8_t payload[INC_CONTROL_BYTES_MAX];
	const struct swnet_packet *p;

	open_with(&(struct sw_options){0});
	c = swnet_control(&group, 0);
	what.header.epoch = group.epoch;
	what.path = (struct roce_path){c.first_ip, SWITCH_IP, c.first_port, ROCE_PORT};
	what.payload = payload;
	what.bytes = inc_control_encode(&c, payload);
	swnet_send(&net, &what);
	p = net.wire.packets[0];
	for (unsigned i = 0; i < 3 * SWITCH_MESSAGES_MAX; i++)
		switch_receive(net.switches[0], p->data, p->bytes, &p->path, net.now_ns);
	assert_int_equal(counters().limited, 2 * SWITCH_MESSAGES_MAX);
	swnet_run(&net); /* delivers one more, still on the wire */
	assert_int_equal(net.inbox.count, SWITCH_MESSAGES_MAX + 1);
	swnet_forget(&net);
	works(0);
	assert_int_equal(counters().limited, 2 * SWITCH_MESSAGES_MAX);
	done();
}

/* One group has its whole window to send, the other one result, which is sent when its share is
 * due. */
static void hostile__groups_alternate(void **state)
{
	static uint8_t data[1408];
	struct inc_batch batch = {.space = 1024};
	static struct datagram datagrams[1024];
	static uint8_t trailers[1024][INC_TRAILER_BYTES];
	static uint16_t ports[1024];
	struct swnet_group other;
	size_t at = 0;

	batch.datagrams = datagrams;
	batch.trailers = trailers;
	batch.from_ports = ports;
	open_with(&(struct sw_options){0});
	swnet_group_plan(&group, 16, NULL, 0, SWITCH_IP);
	group.id = 8;
	group.window = 64;
	assert_true(swnet_group_make(&net, &group));
	other = group;
	other.id = 9;
	assert_true(swnet_group_make(&net, &other));
	for (uint32_t m = 0; m < 16; m++)
		for (uint32_t seq = 0; seq < 64; seq++) {
			struct inc_header h = swnet_call(seq, DXP_INC_SUM, DXP_INC_INT32, 352);

			swnet_contribute(&net, &group, m, &h, data, 1408);
		}
	for (uint32_t m = 0; m < 16; m++) {
		struct inc_header h = swnet_call(0, DXP_INC_SUM, DXP_INC_INT32, 1);

		swnet_contribute(&net, &other, m, &h, data, 4);
	}
	swnet_receive(&net);
	assert_int_equal(switch_send(net.switches[0], &batch, net.now_ns), 1024);
	while (datagrams[at].slices[0].bytes != 4)
		at++;
	assert_int_equal(at, SWITCH_QUANTUM);
	assert_int_equal(datagrams[at + 15].slices[0].bytes, 4);
	batch.count = 0;
	assert_int_equal(switch_send(net.switches[0], &batch, net.now_ns), 16);
	done();
}

/* A QUERY that names the switch itself as member 0, on any port, is forwarded at most once. */
static void hostile__queries_to_itself(void **state)
{
	static const uint16_t ports[] = {ROCE_PORT, 0, ROCE_SOURCE_PORT - 1, ROCE_SOURCE_PORT};
	uint64_t before;

	open_with(&(struct sw_options){0});
	before = net.carried;
	for (size_t i = 0; i < ARRAY_COUNT(ports); i++) {
		struct inc_control c = swnet_control(&group, 1);
		struct roce_path path = {c.member_ip, SWITCH_IP, c.member_port, ROCE_PORT};

		c.path_count = 0;
		c.first_ip = SWITCH_IP;
		c.first_port = ports[i];
		swnet_control_send(&net, &group, INC_QUERY, 1, &c, &path);
	}
	swnet_run(&net);
	assert_int_equal(net.carried - before, 5);
	assert_int_equal(counters().malformed, 3);
	assert_int_equal(counters().foreign, 1);
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
		cmocka_unit_test(hostile__answers_are_limited),
		cmocka_unit_test(hostile__inquiries_are_limited),
		cmocka_unit_test(hostile__rows_are_bounded),
		cmocka_unit_test(hostile__messages_leave_space),
		cmocka_unit_test(hostile__messages_are_bounded),
		cmocka_unit_test(hostile__groups_alternate),
		cmocka_unit_test(hostile__queries_to_itself),
		cmocka_unit_test(hostile__options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
