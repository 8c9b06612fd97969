/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that a flooded switch serves others, limits its answers, and sends a host no more bytes
 * than it received from it. */
#include "test/unit/switch_hostile_rig.h"

#include "switch/core.h"

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

/* One host gets at most an eighth of all answers. */
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
	/* a second's limit, plus the burst */
	assert_in_range(answers, 100, 100 + 100 / 5 + 1);
	assert_int_equal(counters().refused, 5000);
	assert_int_equal(counters().limited, 5000 - answers);
	what.path.from_ip++;
	swnet_send(&net, &what);
	swnet_run(&net);
	assert_int_equal(answers_to(what.path.from_ip, what.path.from_port), 1);
	/* the total limit */
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

/* One host's share is limited also for long answers with rows. */
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

static uint32_t groups_count(void)
{
	struct inc_answer a;

	switch_answer(net.switches[0], &(struct inc_inquiry){.section = INC_SECTION_SWITCH},
		      net.now_ns, &a);
	return a.self.groups;
}

/* Creates groups with one member, at this address, until the switch rejects them. Returns how many
 * the switch has then. */
static uint32_t groups_fill(uint32_t ip, uint32_t first_id)
{
	struct swnet_group other;
	uint32_t before;

	swnet_group_plan(&other, 1, NULL, 0, SWITCH_IP);
	other.members[0].ip = ip;
	other.id = first_id;
	do {
		before = groups_count();
		swnet_notify(&net, &other, 0, INC_NOTIFY);
		swnet_run(&net);
		other.id++;
	} while (groups_count() > before);
	swnet_forget(&net);
	return before;
}

/* One address gets at most 7/8 of a switch's groups, and the next one 7/8 of the rest. */
static void hostile__groups_of_one_address(void **state)
{
	open_with(&(struct sw_options){.groups_max = 64});
	assert_int_equal(groups_fill(UNKNOWN_PEER, 100), 1 + 56);
	assert_int_equal(groups_fill(UNKNOWN_PEER + 1, 200), 1 + 56 + 7);
	swnet_close(&net);
}

/* The same for the memory of aggregators. */
static void hostile__memory_of_one_address(void **state)
{
	const uint64_t one = 2 * 4 * 1408; /* window 4 */

	open_with(&(struct sw_options){.memory_max = 2 * one + 64 * one});
	assert_in_range(groups_fill(UNKNOWN_PEER, 100), 1 + 55, 1 + 57);
	group.id = 99;
	assert_true(swnet_group_make(&net, &group));
	works(0);
	done();
}

/* Anyone may send a KILL, to any port of any host. Without the group, few are forwarded. */
static void hostile__kills_of_no_group(void **state)
{
	struct swnet_group other;

	open_with(&(struct sw_options){0});
	swnet_group_plan(&other, 1, NULL, 0, SWITCH_IP);
	other.members[0].ip = UNKNOWN_PEER;
	other.id = 4711;
	for (unsigned i = 0; i < 1000; i++) {
		other.members[0].port = (uint16_t)(ROCE_SOURCE_PORT + i);
		swnet_notify(&net, &other, 0, INC_KILL);
		swnet_run(&net);
	}
	/* a burst */
	assert_in_range(net.inbox.count, 1, SWITCH_KILLS_PER_S / 5 + 1);
	swnet_forget(&net);
	works(0);
	done();
}

/* Sends QUERYs that `count` switches seem to have forwarded. */
static void queries_forge(unsigned count)
{
	struct inc_control c = swnet_control(&group, 0);

	c.hop = c.path_count = 1;
	for (unsigned i = 0; i < count; i++) {
		struct roce_path path = {UNKNOWN_PEER + i, SWITCH_IP, ROCE_SOURCE_PORT, ROCE_PORT};
		net.now_ns++;
		c.path[0] = (struct inc_hop){.ip = path.from_ip};
		swnet_control_send(&net, &group, INC_QUERY, 0, &c, &path);
		c.path[0].ip = UNKNOWN_PEER - 1; /* not the sender */
		swnet_control_send(&net, &group, INC_QUERY, 0, &c, &path);
		swnet_run(&net);
	}
}

/* Returns the number of switches below the first one. */
static unsigned below(uint32_t ips[2 * SWITCH_BELOW_MAX])
{
	return switch_below(net.switches[0], net.now_ns, ips, 2 * SWITCH_BELOW_MAX);
}

/* Switches below are those that forward a QUERY from their own address. */
static void hostile__switches_below(void **state)
{
	uint32_t ips[2 * SWITCH_BELOW_MAX];

	open_with(&(struct sw_options){0});
	queries_forge(2 * SWITCH_BELOW_MAX);
	assert_int_equal(switch_below(net.switches[0], net.now_ns, ips, 1), 1);
	assert_int_equal(below(ips), SWITCH_BELOW_MAX);
	for (unsigned i = 0; i < SWITCH_BELOW_MAX; i++)
		assert_in_range(ips[i], UNKNOWN_PEER + SWITCH_BELOW_MAX,
				UNKNOWN_PEER + 2 * SWITCH_BELOW_MAX - 1);
	net.now_ns += SWITCH_BELOW_NS;
	assert_int_equal(below(ips), 0);
	swnet_forget(&net);
	works(0);
	done();
}

/* Forged QUERYs do not replace a switch that is in a group. */
static void hostile__queries_replace_no_switch_of_a_group(void **state)
{
	static const uint32_t leaves[] = {SWITCH_IP + 1, SWITCH_IP + 2};
	struct sw_options root = {.ip = SWITCH_IP};
	uint32_t ips[2 * SWITCH_BELOW_MAX];

	swnet_open(&net);
	assert_non_null(swnet_switch(&net, &root));
	for (unsigned i = 0; i < ARRAY_COUNT(leaves); i++)
		assert_non_null(swnet_switch(&net, &(struct sw_options){.ip = leaves[i],
									.parents = {SWITCH_IP},
									.parent_count = 1}));
	swnet_group_plan(&group, 4, leaves, 2, SWITCH_IP);
	assert_true(swnet_group_make(&net, &group));
	assert_int_equal(below(ips), 2);
	queries_forge(2 * SWITCH_BELOW_MAX);
	assert_int_equal(below(ips), SWITCH_BELOW_MAX);
	for (unsigned i = 0; i < ARRAY_COUNT(leaves); i++)
		assert_true(ips[0] == leaves[i] || ips[1] == leaves[i]);
	net.now_ns += SWITCH_BELOW_NS;
	queries_forge(1);
	assert_int_equal(below(ips), 1);
	assert_int_equal(ips[0], UNKNOWN_PEER);
	for (unsigned i = 0; i < SWITCH_BELOW_MAX; i++)
		below_note(net.switches[0], leaves[0] + i, true, net.now_ns);
	queries_forge(1);
	assert_int_equal(below(ips), SWITCH_BELOW_MAX);
	for (unsigned i = 0; i < SWITCH_BELOW_MAX; i++)
		assert_int_not_equal(ips[i], UNKNOWN_PEER);
	swnet_forget(&net);
	done();
}

/* The number of rows that wait to be sent is bounded. Beyond it, hosts get no answer and must try
 * again. */
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

/* Half of each batch is for results. */
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

/* The number of answers to send is bounded, even if the switch does not send meanwhile. */
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
	swnet_run(&net); /* still in flight */
	assert_int_equal(net.inbox.count, SWITCH_MESSAGES_MAX + 1);
	swnet_forget(&net);
	works(0);
	assert_int_equal(counters().limited, 2 * SWITCH_MESSAGES_MAX);
	done();
}

/* A single result comes after one quantum of the group with a whole window of results. */
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

/* A QUERY states the switch's own address as the address of member 0, with any port. The switch
 * forwards it at most once. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile__answers_are_limited),
		cmocka_unit_test(hostile__inquiries_are_limited),
		cmocka_unit_test(hostile__groups_of_one_address),
		cmocka_unit_test(hostile__memory_of_one_address),
		cmocka_unit_test(hostile__kills_of_no_group),
		cmocka_unit_test(hostile__switches_below),
		cmocka_unit_test(hostile__queries_replace_no_switch_of_a_group),
		cmocka_unit_test(hostile__rows_are_bounded),
		cmocka_unit_test(hostile__messages_leave_space),
		cmocka_unit_test(hostile__messages_are_bounded),
		cmocka_unit_test(hostile__groups_alternate),
		cmocka_unit_test(hostile__queries_to_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
