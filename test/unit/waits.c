/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests messages whose receiver grants space later: only granted packets are sent, others do not
 * wait, and lost control packets are repaired. */
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

#define FLOW   RLTP_FLOW(0, 0)
#define OTHER  RLTP_FLOW(0, 1)
#define WAITS  7
#define WINDOW 8
#define WAY_NS (10 * US_NS)

static struct session_pair *pair_of(enum rltp_recovery recovery)
{
	const struct rltp_tuning tuning = {.recovery = recovery, .cc = CC_NONE, .no_pacing = true};
	struct session_pair *p = pair_create(&tuning, WINDOW);

	p->ends[1].reject_key = WAITS;
	p->ends[1].reject = (struct rltp_verdict){.code = WIRE_NACK_WAIT};
	return p;
}

/* Datagram `lost` of all so far is lost (0: none). Then a one-way delay passes. Returns the number
 * of datagrams so far. */
static uint64_t exchange(struct session_pair *p, uint64_t sent, uint64_t lost)
{
	struct datagram d[64];

	for (int end = 0; end < 2; end++) {
		size_t n = pair_send(p, end, d, ARRAY_COUNT(d));
		for (size_t i = 0; i < n; i++)
			if (++sent != lost)
				pair_deliver(p, end, &d[i]);
	}
	p->now_ns += WAY_NS;
	return sent;
}

static void exchange_for(struct session_pair *p, uint64_t duration_ns)
{
	for (uint64_t end_ns = p->now_ns + duration_ns; p->now_ns < end_ns;)
		exchange(p, 0, 0);
}

static void call(struct session_pair *p, uint32_t id, uint32_t granted)
{
	const struct wire_nack_body nack = {
		.code = WIRE_NACK_WAIT,
		.msg_id = id,
		/* not in flight, so the NACK rejects no packet */
		.psn = p->ends[0].session->io->tx_una - 1,
		.granted = granted,
	};

	p->ends[1].reject_from = p->ends[1].reject.granted = granted;
	rltp_session_call(p->ends[1].session, &nack);
}

static uint64_t sent_packets(const struct session_pair *p)
{
	const struct rltp_counters *c = &p->ends[0].session->counters;

	return c->sent_packets + c->retransmitted_busy;
}

static void waits__only_granted_bytes_arrive(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK);
	const struct rltp_counters *c = &p->ends[0].session->counters;

	pair_post(p, 0, FLOW, 20 * PAIR_UNIT, WAITS);
	exchange_for(p, 100 * MS_NS);
	assert_int_equal(sent_packets(p), WINDOW);
	assert_int_equal(p->ends[0].session->io->waiting.count, WINDOW);
	/* for all rejected packets */
	assert_int_equal(p->ends[1].session->counters.nacks_sent, 1);
	call(p, 0, 5);
	exchange_for(p, 10 * MS_NS);
	assert_int_equal(p->ends[1].delivered, 5);
	assert_int_equal(sent_packets(p), WINDOW + 5);
	call(p, 0, 14); /* 3 that wait and 6 not sent yet */
	exchange_for(p, 10 * MS_NS);
	assert_int_equal(p->ends[1].delivered, 14);
	assert_int_equal(sent_packets(p), WINDOW + 14);
	call(p, 0, UINT32_MAX);
	exchange_for(p, 10 * MS_NS);
	assert_int_equal(p->ends[0].done, 1);
	assert_int_equal(p->ends[0].last_status, DXP_OK);
	assert_int_equal(sent_packets(p), WINDOW + 20);
	assert_int_equal(c->retransmitted_gap + c->retransmitted_probe + c->retransmitted_timeout,
			 0);
	assert_int_equal(p->ends[0].session->io->flows[FLOW].refused, 0);
	pair_destroy(p);
}

static void waits__other_flows_go_on(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK);

	pair_post(p, 0, FLOW, 20 * PAIR_UNIT, WAITS);
	pair_post(p, 0, OTHER, 100 * PAIR_UNIT, 1);
	exchange_for(p, 10 * MS_NS);
	assert_int_equal(p->ends[0].done, 1);
	assert_int_equal(p->ends[1].delivered, 100);
	call(p, 0, UINT32_MAX);
	exchange_for(p, 10 * MS_NS);
	assert_int_equal(p->ends[0].done, 2);
	pair_destroy(p);
}

/* After a wait, each message sends one packet alone until such a packet is accepted. */
static void waits__next_message_requests_first(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK);

	pair_post(p, 0, FLOW, 2 * PAIR_UNIT, WAITS);
	exchange_for(p, MS_NS);
	call(p, 0, UINT32_MAX);
	exchange_for(p, MS_NS);
	assert_int_equal(p->ends[0].done, 1);
	p->ends[1].reject_from = p->ends[1].reject.granted = 0;
	uint64_t before = sent_packets(p);
	pair_post(p, 0, FLOW, 20 * PAIR_UNIT, WAITS);
	exchange_for(p, MS_NS);
	assert_int_equal(sent_packets(p), before + 1);
	call(p, 1, UINT32_MAX);
	exchange_for(p, MS_NS);
	assert_int_equal(p->ends[0].done, 2);
	/* accepted, so the rest follows a round trip later */
	before = p->ends[0].session->counters.sent_packets;
	pair_post(p, 0, FLOW, 20 * PAIR_UNIT, 1);
	exchange(p, 0, 0);
	assert_int_equal(p->ends[0].session->counters.sent_packets, before + 1);
	exchange_for(p, MS_NS);
	assert_int_equal(p->ends[0].done, 3);
	assert_false(p->ends[0].session->io->flows[FLOW].waited);
	/* no packet alone, as the receiver had space */
	before = p->ends[0].session->counters.sent_packets;
	pair_post(p, 0, FLOW, 20 * PAIR_UNIT, 1);
	exchange(p, 0, 0);
	assert_int_equal(p->ends[0].session->counters.sent_packets, before + WINDOW);
	exchange_for(p, MS_NS);
	pair_destroy(p);
}

/* An older, smaller grant does not reduce a newer one. */
static void waits__older_message_withdraws_nothing(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK);

	pair_post(p, 0, FLOW, 20 * PAIR_UNIT, WAITS);
	exchange_for(p, MS_NS);
	call(p, 0, 12);
	call(p, 0, 3);
	p->ends[1].reject_from = 12;
	exchange_for(p, MS_NS);
	assert_int_equal(p->ends[1].delivered, 12);
	/* no such message */
	call(p, 9, 20);
	exchange_for(p, MS_NS);
	assert_int_equal(p->ends[1].delivered, 12);
	pair_destroy(p);
}

/* The receiver rejects packets that it has granted; the sender retries soon, with pauses. */
static void waits__granted_and_rejected(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK);

	pair_post(p, 0, FLOW, 4 * PAIR_UNIT, WAITS);
	exchange_for(p, MS_NS);
	call(p, 0, 4);
	p->ends[1].reject_from = p->ends[1].reject.granted = 0;
	exchange_for(p, 100 * MS_NS);
	assert_int_equal(p->ends[1].delivered, 0);
	assert_in_range(sent_packets(p), 12, 4 * 10);
	p->ends[1].reject_key = 0;
	exchange_for(p, 100 * MS_NS);
	assert_int_equal(p->ends[0].done, 1);
	pair_destroy(p);
}

static void waits__withdrawn_by_its_poster(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK);

	struct rltp_message *m = pair_post(p, 0, FLOW, 20 * PAIR_UNIT, WAITS);
	exchange_for(p, MS_NS);
	rltp_session_cancel(p->ends[0].session, m, DXP_ECANCELED);
	exchange_for(p, 10 * MS_NS);
	assert_int_equal(p->ends[0].done, 1);
	assert_int_equal(p->ends[0].last_status, DXP_ECANCELED);
	assert_int_equal(p->ends[0].session->io->waiting.count, 0);
	pair_destroy(p);
}

/* A sender without grants gets a NACK that it supports. */
static void waits__sender_of_old(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK);

	p->ends[1].session->peer_features = WIRE_FEATURE_HELD;
	pair_post(p, 0, FLOW, 4 * PAIR_UNIT, WAITS);
	exchange_for(p, MS_NS);
	call(p, 0, 4);
	assert_int_equal(p->ends[1].session->io->nack_count, 0);
	exchange_for(p, 10 * MS_NS);
	assert_int_equal(p->ends[0].done, 1);
	assert_false(p->messages[0].waits);
	pair_destroy(p);
}

/* Two messages, four packets granted at a time, again after 2 ms without an arrival. Returns the
 * number of datagrams. */
static uint64_t scene(enum rltp_recovery recovery, uint64_t lost)
{
	struct session_pair *p = pair_of(recovery);
	uint64_t sent = 0, again_ns = p->now_ns + MS_NS, end_ns = p->now_ns + S_NS;
	uint32_t granted = 0, id = 0;

	pair_post(p, 0, FLOW, 10 * PAIR_UNIT, WAITS);
	while (p->ends[0].done < 2 && p->now_ns < end_ns) {
		sent = exchange(p, sent, lost);
		if (id == 0 && p->ends[0].done == 1) {
			pair_post(p, 0, FLOW, 10 * PAIR_UNIT, WAITS);
			id++;
			granted = 0;
			p->ends[1].reject_from = p->ends[1].reject.granted = 0;
		}
		bool came = granted > 0 && p->ends[1].delivered >= 10 * id + granted;
		if (p->now_ns < again_ns && !came)
			continue;
		granted += came || granted == 0 ? 4 : 0;
		call(p, id, granted < 10 ? granted : UINT32_MAX);
		granted = granted < 10 ? granted : 10;
		again_ns = p->now_ns + 2 * MS_NS;
	}
	if (p->ends[0].done < 2)
		fail_msg("%s: losing datagram %llu: does not end", rltp_recovery_name(recovery),
			 (unsigned long long)lost);
	assert_int_equal(p->ends[1].delivered, 20);
	assert_int_equal(p->ends[0].session->io->waiting.count, 0);
	assert_int_equal(p->ends[0].session->io->flows[FLOW].refused, 0);
	pair_destroy(p);
	return sent;
}

static void waits__any_word_is_lost(void **state)
{
	for (int r = 0; r < RLTP_RECOVERIES; r++) {
		uint64_t all = scene((enum rltp_recovery)r, 0);
		for (uint64_t k = 1; k <= all; k++)
			scene((enum rltp_recovery)r, k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits__only_granted_bytes_arrive),
		cmocka_unit_test(waits__other_flows_go_on),
		cmocka_unit_test(waits__next_message_requests_first),
		cmocka_unit_test(waits__older_message_withdraws_nothing),
		cmocka_unit_test(waits__granted_and_rejected),
		cmocka_unit_test(waits__withdrawn_by_its_poster),
		cmocka_unit_test(waits__sender_of_old),
		cmocka_unit_test(waits__any_word_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
