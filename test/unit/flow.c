/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the order of sending in a session: control, then channels by weight, then their flows
 * equally; a blocked flow blocks no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "rltp/internal.h"
#include "test/support/session_pair.h"

#define WINDOW 1024

static const struct rltp_tuning plain = {.cc = CC_NONE, .no_pacing = true};

/* Drops up to `count` packets and counts them by key. */
static void packets_count(struct session_pair *p, size_t count, uint32_t *by_key)
{
	struct datagram d;

	while (count-- > 0 && pair_send(p, 0, &d, 1) == 1)
		by_key[pair_header(&d).key]++;
}

static void flow__control_goes_first(void **state)
{
	struct session_pair *p = pair_create(&plain, WINDOW);
	struct datagram d[4];

	pair_post(p, 0, RLTP_FLOW(0, 0), 3 * PAIR_UNIT, 1);
	pair_post(p, 0, RLTP_FLOW_CONTROL, 8, 2);
	assert_int_equal(pair_send(p, 0, d, 4), 4);
	assert_int_equal(pair_header(&d[0]).key, 2);
	assert_int_equal(pair_header(&d[1]).key, 1);
	pair_destroy(p);
}

static void flow__channels_share_by_weight(void **state)
{
	struct session_pair *p = pair_create(&plain, WINDOW);
	uint32_t packets[4] = {0};

	arbiter_weight(&p->ends[0].shared.arbiter, 2, 3);
	pair_post(p, 0, RLTP_FLOW(1, 0), 900 * PAIR_UNIT, 1);
	pair_post(p, 0, RLTP_FLOW(2, 0), 900 * PAIR_UNIT, 2);
	packets_count(p, 640, packets);
	assert_in_range(packets[2], 470, 490);
	assert_int_equal(packets[1] + packets[2], 640);
	pair_destroy(p);
}

/* Shares are bytes, so small packets are more. */
static void flow__shares_are_bytes(void **state)
{
	struct session_pair *p = pair_create(&plain, WINDOW);
	uint32_t packets[3] = {0};

	pair_post(p, 0, RLTP_FLOW(0, 0), 900 * PAIR_UNIT, 1);
	for (int i = 0; i < 900; i++)
		pair_post(p, 0, RLTP_FLOW(0, 1), 64, 2);
	packets_count(p, 700, packets);
	uint32_t ratio = packets[2] * (64 + WIRE_DATA_BYTES) * 100 /
			 (packets[1] * (PAIR_UNIT + WIRE_DATA_BYTES));
	assert_in_range(ratio, 80, 125);
	pair_destroy(p);
}

/* Packets of two flows do not alternate one by one. */
static void flow__quanta_are_batches(void **state)
{
	struct session_pair *p = pair_create(&plain, WINDOW);
	struct datagram d;
	uint32_t last = 0, changes = 0;

	pair_post(p, 0, RLTP_FLOW(0, 0), 200 * PAIR_UNIT, 1);
	pair_post(p, 0, RLTP_FLOW(0, 1), 200 * PAIR_UNIT, 2);
	for (int i = 0; i < 320; i++) {
		assert_int_equal(pair_send(p, 0, &d, 1), 1);
		changes += pair_header(&d).key != last;
		last = pair_header(&d).key;
	}
	assert_in_range(changes, 10, 320 / RLTP_QUANTUM_PACKETS + 4);
	pair_destroy(p);
}

/* A flow whose packets are all rejected occupies only a part of the send window. */
static void flow__blocked_flow_leaves_the_window(void **state)
{
	struct session_pair *p = pair_create(&plain, 128);

	p->ends[1].reject_key = 1;
	p->ends[1].reject = (struct rltp_verdict){WIRE_NACK_RNR, 100};
	pair_post(p, 0, RLTP_FLOW(0, 0), 2000 * PAIR_UNIT, 1);
	pair_post(p, 0, RLTP_FLOW(0, 1), 2000 * PAIR_UNIT, 2);
	pair_settle(p, p->now_ns + 20 * MS_NS);
	assert_int_equal(p->ends[0].done, 1);
	assert_int_equal(p->ends[1].delivered, 2000);
	assert_in_range(p->ends[0].session->io->flows[RLTP_FLOW(0, 0)].unacked, 1,
			RLTP_QUANTUM_PACKETS);
	p->ends[1].reject_key = 0;
	pair_settle(p, p->now_ns + 20 * MS_NS);
	assert_int_equal(p->ends[0].done, 2);
	pair_destroy(p);
}

/* A rest of a quantum is not saved, because it could later occupy the whole session. */
static void flow__unused_quanta_are_not_saved(void **state)
{
	struct session_pair *p = pair_create(&plain, 32);
	struct rltp_io *io = p->ends[0].session->io;
	int32_t poll = RLTP_QUANTUM_PACKETS * PAIR_UNIT;

	arbiter_weight(&p->ends[0].shared.arbiter, 1, RLTP_WEIGHT_MAX);
	for (uint8_t c = 0; c < 3; c++)
		pair_post(p, 0, RLTP_FLOW(c, 0), 100000 * PAIR_UNIT, c);
	for (int round = 0; round < 1000; round++) {
		p->ends[1].delivered = 0;
		pair_settle(p, p->now_ns + 50 * US_NS);
		for (uint32_t c = 0; c < 3; c++)
			assert_true(io->flows[RLTP_FLOW(c, 0)].deficit <= poll);
	}
	pair_destroy(p);
}

static void flow__many_at_random_all_end(void **state)
{
	struct session_pair *p = pair_create(&plain, 64);
	uint32_t seed = 12345, posted = 0;

	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 25; i++) {
			seed = seed * 1664525u + 1013904223u;
			pair_post(p, 0, (uint8_t)(seed >> 8) % RLTP_FLOWS, (seed >> 16) % 3000, 1);
			posted++;
		}
		pair_settle(p, p->now_ns + (seed >> 24) * US_NS);
	}
	pair_settle(p, p->now_ns + 50 * MS_NS);
	assert_int_equal(p->ends[0].done, posted);
	assert_int_equal(p->ends[0].session->io->flows_active, 0);
	pair_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flow__control_goes_first),
		cmocka_unit_test(flow__channels_share_by_weight),
		cmocka_unit_test(flow__shares_are_bytes),
		cmocka_unit_test(flow__quanta_are_batches),
		cmocka_unit_test(flow__blocked_flow_leaves_the_window),
		cmocka_unit_test(flow__unused_quanta_are_not_saved),
		cmocka_unit_test(flow__many_at_random_all_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
