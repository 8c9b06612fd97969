/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a switch's segments: order of the sum, retransmissions, window, wrap of numbers, members
 * that disagree. */
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

#define SWITCH_IP 0x0a000001u

static struct switch_net net;
static struct swnet_group group;

static void open_with(uint32_t count, uint16_t window)
{
	struct sw_options options = {.ip = SWITCH_IP, .name = "tor"};

	swnet_open(&net);
	assert_non_null(swnet_switch(&net, &options));
	swnet_group_plan(&group, count, NULL, 0, SWITCH_IP);
	group.window = window;
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

static void give(uint32_t member, uint32_t seq, int32_t value)
{
	struct inc_header h = swnet_call(seq, DXP_INC_SUM, DXP_INC_INT32, 1);

	swnet_contribute(&net, &group, member, &h, &value, sizeof(value));
	swnet_run(&net);
}

static void dequeue(uint32_t member, uint32_t seq, int32_t value)
{
	struct swnet_packet *p = swnet_result(&net, &group, member);

	assert_non_null(p);
	assert_int_equal(p->decoded.header.req_id, seq);
	assert_int_equal(p->decoded.header.status, 0);
	assert_true(p->decoded.header.flags & INC_FLAG_RESULT);
	assert_int_equal(p->decoded.payload_bytes, 4);
	assert_memory_equal(p->decoded.payload, &value, 4);
	assert_int_equal(p->path.from_ip, SWITCH_IP);
	assert_int_equal(p->path.from_port, group.members[member].port);
	assert_int_equal(p->path.to_port, ROCE_PORT);
	assert_int_equal(p->decoded.roce.qkey, group.qkey);
	assert_int_equal(p->decoded.roce.psn, seq & 0xffffff);
	assert_int_equal(p->decoded.header.epoch, group.epoch);
	assert_int_equal(p->decoded.header.src_rank, 0);
	free(p);
}

static void round_of(uint32_t seq)
{
	for (uint32_t m = 0; m < group.count; m++)
		give(m, seq, (int32_t)(seq + m));
	for (uint32_t m = 0; m < group.count; m++)
		dequeue(m, seq, (int32_t)(group.count * seq + group.count * (group.count - 1) / 2));
}

static void aggregator__sums_and_sends_to_all(void **state)
{
	open_with(3, 4);
	for (uint32_t seq = 0; seq < 50; seq++)
		round_of(seq);
	assert_int_equal(counters().contributions, 150);
	assert_int_equal(counters().results, 50);
	assert_int_equal(counters().repeats, 0);
	done();
}

static void aggregator__one_member(void **state)
{
	open_with(1, 1);
	for (uint32_t seq = 0; seq < 5; seq++)
		round_of(seq);
	done();
}

/* The bits are those of the order of the children. */
static void aggregator__folds_in_order(void **state)
{
	static const double values[5] = {1e16, 1.0, -1e16, 3.5, 1e-3};
	double expected = values[0];
	struct rng r = {5};

	for (int i = 1; i < 5; i++)
		expected += values[i];
	open_with(5, 2);
	for (uint32_t seq = 0; seq < 200; seq++) {
		struct inc_header h = swnet_call(seq, DXP_INC_SUM, DXP_INC_DOUBLE, 1);
		uint32_t order[5] = {0, 1, 2, 3, 4};

		for (uint32_t i = 4; i > 0; i--) {
			uint32_t j = (uint32_t)rng_below(&r, i + 1), kept = order[i];

			order[i] = order[j];
			order[j] = kept;
		}
		for (int i = 0; i < 5; i++)
			swnet_contribute(&net, &group, order[i], &h, &values[order[i]], 8);
		swnet_run(&net);
		for (uint32_t m = 0; m < 5; m++) {
			struct swnet_packet *p = swnet_result(&net, &group, m);

			assert_non_null(p);
			assert_memory_equal(p->decoded.payload, &expected, 8);
			free(p);
		}
	}
	done();
}

/* Any order of the members in the whole window gives the right sums. */
static void aggregator__window_in_flight(void **state)
{
	static uint8_t data[3][1408];
	struct rng r = {9};

	open_with(3, 8);
	for (uint32_t base = 0; base < 160; base += 8) {
		for (uint32_t i = 0; i < 24; i++) {
			uint32_t m = (base / 8 + i / 8) % 3, seq = base + i % 8;
			struct inc_header h = swnet_call(seq, DXP_INC_BXOR, DXP_INC_UINT64, 176);

			for (size_t k = 0; k < 1408; k++)
				data[m][k] = (uint8_t)(rng_next(&r), seq * 7 + k * (m + 1));
			swnet_contribute(&net, &group, m, &h, data[m], 1408);
		}
		swnet_run(&net);
		for (uint32_t i = 0; i < 24; i++) {
			struct swnet_packet *p = swnet_result(&net, &group, i / 8);
			uint32_t seq = base + i % 8;

			assert_non_null(p);
			assert_int_equal(p->decoded.header.req_id, seq);
			assert_true(p->decoded.header.flags & INC_FLAG_TRAIN);
			for (size_t k = 0; k < 1408; k++)
				assert_int_equal(p->decoded.payload[k],
						 (uint8_t)(seq * 7 + k) ^
							 (uint8_t)(seq * 7 + 2 * k) ^
							 (uint8_t)(seq * 7 + 3 * k));
			free(p);
		}
	}
	done();
}

/* Results leave child by child, each child's in one batch. */
static void aggregator__batches_form(void **state)
{
	static uint8_t data[1408];

	open_with(3, 8);
	for (uint32_t m = 0; m < 2; m++)
		for (uint32_t seq = 0; seq < 8; seq++) {
			struct inc_header h = swnet_call(seq, DXP_INC_SUM, DXP_INC_INT32, 352);

			swnet_contribute(&net, &group, m, &h, data, 1408);
		}
	swnet_run(&net);
	/* of the last child; one poll sends all results */
	struct sw *s = net.switches[0];
	struct inc_batch batch = {.space = 64};
	struct datagram datagrams[64];
	uint8_t trailers[64][INC_TRAILER_BYTES];
	uint16_t ports[64];

	for (uint32_t seq = 0; seq < 8; seq++) {
		struct inc_header h = swnet_call(seq, DXP_INC_SUM, DXP_INC_INT32, 352);

		swnet_contribute(&net, &group, 2, &h, data, 1408);
	}
	swnet_receive(&net);
	batch.datagrams = datagrams;
	batch.trailers = trailers;
	batch.from_ports = ports;
	assert_int_equal(switch_deadline(s), 0);
	assert_int_equal(switch_send(s, &batch, net.now_ns), 24);
	for (size_t i = 0; i < 24; i++) {
		struct udp_address to = address_v4(group.members[i / 8].ip, ROCE_PORT);

		assert_true(address_equal(&datagrams[i].to, &to));
		assert_int_equal(datagrams[i].header[11], i % 8); /* PSN */
		assert_int_equal(datagrams[i].slices[0].bytes, 1408);
	}
	assert_int_equal(switch_send(s, &batch, net.now_ns), 0);
	done();
}

/* Whatever the size of the send batch. */
static void aggregator__any_space(void **state)
{
	for (size_t space = 1; space < 30; space++) {
		open_with(5, 4);
		net.batch = space;
		for (uint32_t m = 0; m < 5; m++)
			for (uint32_t seq = 0; seq < 4; seq++)
				give(m, seq, 1);
		for (uint32_t seq = 0; seq < 4; seq++)
			for (uint32_t m = 0; m < 5; m++)
				dequeue(m, seq, 5);
		done();
	}
}

static void aggregator__numbers_wrap(void **state)
{
	open_with(2, 4);
	for (uint32_t seq = UINT32_MAX - 20; seq != 21; seq++)
		round_of(seq);
	assert_int_equal(counters().stale, 0);
	done();
}

/* While the other plane handles half of all numbers, an idle aggregator's next segment looks old,
 * but is accepted. */
static void aggregator__sleeps_while_numbers_pass(void **state)
{
	open_with(2, 4);
	round_of(16);
	give(0, 8, 1);
	assert_int_equal(counters().stale, 1);
	net.now_ns += SWITCH_STALE_NS;
	round_of(16u + 0x80000008u);
	assert_int_equal(counters().stale, 1);
	done();
}

static void aggregator__stale_is_dropped(void **state)
{
	open_with(2, 2);
	for (uint32_t seq = 0; seq < 6; seq++)
		round_of(seq);
	give(0, 1, 1000); /* older than segment 5, which its aggregator holds */
	give(1, 1, 1000);
	assert_int_equal(counters().stale, 2);
	round_of(6);
	done();
}

/* Dropped before the result exists; then only the child that retransmits gets it. */
static void aggregator__repeats(void **state)
{
	open_with(3, 2);
	give(0, 0, 1);
	give(0, 0, 1);
	give(0, 0, 77);
	assert_int_equal(counters().duplicates, 2);
	give(2, 0, 4);
	give(2, 0, 4);
	assert_int_equal(net.inbox.count, 0);
	give(1, 0, 2);
	for (uint32_t m = 0; m < 3; m++)
		dequeue(m, 0, 7);
	for (uint32_t m = 0; m < 3; m++) {
		give(m, 0, 1 << m);
		assert_int_equal(net.inbox.count, 1);
		assert_true(net.inbox.packets[0]->decoded.header.flags & INC_FLAG_REPEAT);
		dequeue(m, 0, 7);
	}
	/* only one answer */
	for (int i = 0; i < 3; i++) {
		struct inc_header h = swnet_call(0, DXP_INC_SUM, DXP_INC_INT32, 1);

		swnet_contribute(&net, &group, 1, &h, "abcd", 4);
	}
	swnet_receive(&net);
	swnet_run(&net);
	dequeue(1, 0, 7);
	assert_int_equal(net.inbox.count, 0);
	assert_int_equal(counters().repeats, 4);
	assert_int_equal(counters().duplicates, 9);
	assert_int_equal(counters().contributions, 3);
	/* a result is kept for 2 * window segments */
	round_of(1);
	round_of(2);
	round_of(3);
	give(1, 0, 2);
	dequeue(1, 0, 7);
	round_of(4);
	give(1, 0, 2);
	assert_int_equal(counters().stale, 1);
	done();
}

/* Only the latest results are sent, each once. */
static void aggregator__accepted_before_it_is_sent(void **state)
{
	open_with(2, 1);
	for (uint32_t seq = 0; seq < 20; seq++)
		for (uint32_t m = 0; m < 2; m++) {
			struct inc_header h = swnet_call(seq, DXP_INC_SUM, DXP_INC_INT32, 1);
			int32_t value = (int32_t)(seq + m);

			swnet_contribute(&net, &group, m, &h, &value, 4);
		}
	swnet_receive(&net);
	swnet_run(&net);
	assert_int_equal(net.inbox.count, 4);
	for (uint32_t m = 0; m < 2; m++)
		for (uint32_t seq = 18; seq < 20; seq++)
			dequeue(m, seq, (int32_t)(2 * seq + 1));
	done();
}

/* ---- disagreement ---- */

static void status_all(int status)
{
	for (uint32_t m = 0; m < group.count; m++) {
		struct swnet_packet *p = swnet_result(&net, &group, m);

		assert_non_null(p);
		assert_int_equal(-(int)p->decoded.header.status, status);
		assert_int_equal(p->decoded.payload_bytes, 0);
		free(p);
	}
}

static void disagree(uint32_t seq, const struct inc_header *other, size_t bytes)
{
	static uint8_t data[1408];
	struct inc_header h = swnet_call(seq, DXP_INC_SUM, DXP_INC_INT32, 4), o = *other;

	o.req_id = seq;
	for (uint32_t m = 0; m < 3; m++) {
		bool odd = m == seq % 3;

		swnet_contribute(&net, &group, m, odd ? &o : &h, data, odd ? bytes : 16);
	}
	swnet_run(&net);
	status_all(DXP_EINVAL);
}

static void aggregator__members_disagree(void **state)
{
	struct inc_header h = swnet_call(0, DXP_INC_SUM, DXP_INC_INT32, 4), o;
	uint32_t seq = 0;

	open_with(3, 4);
	for (unsigned member = 0; member < 3; member++) {
		disagree(seq++, (o = h, o.op = DXP_INC_MAX, &o), 16);
		disagree(seq++, (o = h, o.type = DXP_INC_FLOAT, &o), 16);
		disagree(seq++, (o = h, o.elements = 3, &o), 12);
		disagree(seq++, (o = h, o.elements = 300, &o), 1200);
		disagree(seq++, (o = h, o.call_elements = 5, &o), 16);
		disagree(seq++, (o = h, o.collective = INC_REDUCE, &o), 16);
		disagree(seq++, (o = h, o.root = 1, &o), 16);
		o = h;
		o.collective = INC_BARRIER;
		o.elements = 0;
		disagree(seq++, &o, 0);
	}
	assert_int_equal(counters().mismatches, seq);
	/* the status of the first contribution */
	swnet_contribute(&net, &group, 1, (o = h, o.req_id = seq - 1, &o), "0123456789abcdef", 16);
	swnet_run(&net);
	struct swnet_packet *p = swnet_result(&net, &group, 1);

	assert_non_null(p);
	assert_int_equal(p->decoded.header.status, -DXP_EINVAL);
	free(p);
	done();
}

/* ---- other operations ---- */

static void broadcast(uint32_t seq, uint32_t root, uint32_t senders, int status)
{
	struct inc_header h = swnet_call(seq, DXP_INC_NOOP, DXP_INC_BYTES, 0);

	h.collective = INC_BROADCAST;
	h.call_elements = 11;
	h.root = (uint16_t)root;
	for (uint32_t m = 0; m < group.count; m++) {
		bool sends = senders >> m & 1;

		h.elements = sends ? 11 : 0;
		swnet_contribute(&net, &group, m, &h, "hello world", sends ? 11 : 0);
	}
	swnet_run(&net);
	if (status) {
		status_all(status);
		return;
	}
	for (uint32_t m = 0; m < group.count; m++) {
		struct swnet_packet *p = swnet_result(&net, &group, m);

		assert_non_null(p);
		assert_int_equal(p->decoded.header.elements, 11);
		assert_int_equal(p->decoded.payload_bytes, 11);
		assert_memory_equal(p->decoded.payload, "hello world", 11);
		free(p);
	}
}

static void aggregator__broadcasts(void **state)
{
	open_with(4, 2);
	for (uint32_t root = 0; root < 4; root++)
		broadcast(root, root, 1u << root, DXP_OK);
	broadcast(4, 1, 0, DXP_EINVAL);       /* no data from the root */
	broadcast(5, 1, 1u << 2, DXP_EINVAL); /* data from another member */
	broadcast(6, 1, 3, DXP_EINVAL);       /* data from two roots */
	broadcast(7, 3, 8, DXP_OK);
	done();
}

static void aggregator__barriers(void **state)
{
	struct inc_header h = swnet_call(0, DXP_INC_NOOP, DXP_INC_BYTES, 0);

	open_with(4, 2);
	h.collective = INC_BARRIER;
	h.flags = INC_FLAG_SHORT | INC_FLAG_LAST;
	for (h.req_id = 0; h.req_id < 10; h.req_id++) {
		for (uint32_t m = 0; m < 4; m++) {
			swnet_contribute(&net, &group, 3 - m, &h, NULL, 0);
			swnet_run(&net);
			assert_int_equal(net.inbox.count, m == 3 ? 4 : 0);
		}
		for (uint32_t m = 0; m < 4; m++) {
			struct swnet_packet *p = swnet_result(&net, &group, m);

			assert_non_null(p);
			assert_int_equal(p->decoded.payload_bytes, 0);
			assert_int_equal(p->decoded.header.flags,
					 INC_FLAG_RESULT | INC_FLAG_SHORT | INC_FLAG_LAST);
			free(p);
		}
	}
	done();
}

static void aggregator__many_children(void **state)
{
	open_with(SWITCH_CHILDREN_MAX, 1);
	for (uint32_t seq = 0; seq < 3; seq++) {
		for (uint32_t m = SWITCH_CHILDREN_MAX; m > 0; m--)
			give(m - 1, seq, (int32_t)m);
		for (uint32_t m = 0; m < SWITCH_CHILDREN_MAX; m++)
			dequeue(m, seq, SWITCH_CHILDREN_MAX * (SWITCH_CHILDREN_MAX + 1) / 2);
	}
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aggregator__sums_and_sends_to_all),
		cmocka_unit_test(aggregator__one_member),
		cmocka_unit_test(aggregator__folds_in_order),
		cmocka_unit_test(aggregator__window_in_flight),
		cmocka_unit_test(aggregator__batches_form),
		cmocka_unit_test(aggregator__any_space),
		cmocka_unit_test(aggregator__numbers_wrap),
		cmocka_unit_test(aggregator__sleeps_while_numbers_pass),
		cmocka_unit_test(aggregator__stale_is_dropped),
		cmocka_unit_test(aggregator__repeats),
		cmocka_unit_test(aggregator__accepted_before_it_is_sent),
		cmocka_unit_test(aggregator__members_disagree),
		cmocka_unit_test(aggregator__broadcasts),
		cmocka_unit_test(aggregator__barriers),
		cmocka_unit_test(aggregator__many_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
