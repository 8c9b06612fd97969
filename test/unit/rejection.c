/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests packets without space at the receiver: retransmitted after the requested time, others sent
 * meanwhile, no state left. */
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

#define FLOW    RLTP_FLOW(0, 0)
#define OTHER   RLTP_FLOW(0, 1)
#define REFUSED 7

static const struct rltp_tuning plain = {.cc = CC_NONE, .no_pacing = true};

static void words_carry(struct session_pair *p)
{
	struct datagram d[8];
	size_t n = pair_send(p, 1, d, 8);

	for (size_t i = 0; i < n; i++)
		pair_deliver(p, 1, &d[i]);
}

/* A copy that arrives meanwhile cancels the retransmission. */
static void rejection__arrived_while_it_waits(void **state)
{
	struct session_pair *p = pair_create(&plain, 64);
	struct rltp_session *s = p->ends[0].session;
	struct datagram d, again;

	s->awaited = 1; /* keeps the session active */
	p->ends[1].reject_key = REFUSED;
	p->ends[1].reject = (struct rltp_verdict){WIRE_NACK_RNR, 100};
	pair_post(p, 0, FLOW, 8, REFUSED);
	assert_int_equal(pair_send(p, 0, &d, 1), 1);
	again = d;
	pair_deliver(p, 0, &d);
	words_carry(p);
	assert_int_equal(s->io->waiting.count, 1);
	p->ends[1].reject_key = 0;
	pair_deliver(p, 0, &again); /* a late duplicate */
	p->now_ns += RLTP_ACK_DELAY_NS;
	words_carry(p);
	assert_int_equal(p->ends[0].done, 1);
	p->now_ns += MS_NS;
	assert_int_equal(pair_send(p, 0, &d, 1), 0);
	assert_true(rltp_session_deadline(s) > p->now_ns);
	pair_destroy(p);
}

/* The window has one packet and a flow is always rejected, but the other continues. Polls without
 * work (`looks`) change nothing. */
static void shared_window(uint32_t looks)
{
	struct session_pair *p = pair_create(&plain, 1);
	struct datagram d;
	uint32_t tried = 0;

	p->ends[1].reject_key = REFUSED;
	p->ends[1].reject = (struct rltp_verdict){WIRE_NACK_RNR, 0};
	pair_post(p, 0, FLOW, 8, REFUSED);
	pair_post(p, 0, OTHER, 1000 * PAIR_UNIT, 1);
	for (int round = 0; round < 200; round++) {
		if (pair_send(p, 0, &d, 1) == 1) {
			tried += pair_header(&d).key == REFUSED;
			pair_deliver(p, 0, &d);
		}
		for (uint32_t i = 0; i < looks; i++)
			assert_int_equal(pair_send(p, 0, &d, 1), 0);
		p->now_ns += RLTP_ACK_DELAY_NS;
		words_carry(p);
	}
	assert_in_range(tried, 50, 150);
	assert_in_range(p->ends[1].delivered, 50, 150);
	pair_destroy(p);
}

static void rejection__alternates_in_a_window_of_one(void **state)
{
	for (uint32_t looks = 0; looks < 4; looks++)
		shared_window(looks);
}

static void rejection__waits_no_longer_than_a_timeout(void **state)
{
	struct session_pair *p = pair_create(&plain, 64);
	struct datagram d;

	p->ends[1].reject_key = REFUSED;
	p->ends[1].reject = (struct rltp_verdict){WIRE_NACK_RNR, UINT32_MAX};
	pair_post(p, 0, FLOW, 8, REFUSED);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(pair_send(p, 0, &d, 1), 1);
		pair_deliver(p, 0, &d);
		words_carry(p);
		p->now_ns += RLTP_RTO_MAX_NS;
	}
	pair_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rejection__arrived_while_it_waits),
		cmocka_unit_test(rejection__alternates_in_a_window_of_one),
		cmocka_unit_test(rejection__waits_no_longer_than_a_timeout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
