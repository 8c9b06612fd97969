/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests packets that the receiver holds for a device: they are not lost, give no sample, stall
 * nothing, and need no retransmission, even if a message about them is lost. */
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

#define FLOW     RLTP_FLOW(0, 0)
#define HELD     7
#define RETRY_US 5000
#define WAY_NS   (10 * US_NS)

static const struct rltp_verdict held = {WIRE_NACK_HELD, RETRY_US};

static struct session_pair *pair_of(enum rltp_recovery recovery)
{
	const struct rltp_tuning tuning = {.recovery = recovery, .cc = CC_NONE, .no_pacing = true};
	struct session_pair *p = pair_create(&tuning, 64);

	p->ends[1].reject_key = HELD;
	p->ends[1].reject = held;
	return p;
}

/* Delivers what is pending, except datagram `lost` over all calls (0: none), then waits a one-way
 * delay. Returns the datagrams so far. */
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

static uint64_t exchange_for(struct session_pair *p, uint64_t duration_ns, uint64_t sent,
			     uint64_t lost)
{
	for (uint64_t end_ns = p->now_ns + duration_ns; p->now_ns < end_ns;)
		sent = exchange(p, sent, lost);
	return sent;
}

/* There must be exactly one. */
static uint32_t waiting_psn(const struct session_pair *p)
{
	struct rltp_io *io = p->ends[0].session->io;

	assert_int_equal(io->waiting.count, 1);
	return tx_entry_first(io, &io->waiting)->psn;
}

static void held__others_go_on(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK);
	struct rltp_session *s = p->ends[0].session;

	pair_post(p, 0, FLOW, 8, HELD);
	exchange(p, 0, 0);
	exchange(p, 0, 0);
	uint32_t psn = waiting_psn(p);
	assert_int_equal(s->io->flows[FLOW].refused, 0);
	pair_post(p, 0, FLOW, 20 * PAIR_UNIT, 1);
	exchange_for(p, MS_NS, 0, 0);
	assert_int_equal(p->ends[0].done, 1);
	assert_int_equal(p->ends[1].delivered, 20);
	assert_int_equal(s->counters.sent_packets, 21);
	assert_int_equal(s->io->rx.end - s->io->rx.cum, 0);
	rltp_session_accept(p->ends[1].session, psn, 8, p->now_ns);
	exchange(p, 0, 0);
	assert_int_equal(p->ends[0].done, 2);
	assert_int_equal(p->ends[0].last_status, DXP_OK);
	assert_int_equal(s->io->waiting.count, 0);
	/* no packet was treated as lost */
	assert_int_equal(s->counters.retransmitted_gap + s->counters.retransmitted_probe +
				 s->counters.retransmitted_timeout + s->counters.retransmitted_busy,
			 0);
	/* a second acceptance has no effect */
	rltp_session_accept(p->ends[1].session, psn, 8, p->now_ns);
	assert_int_equal(p->ends[1].session->counters.received_packets, 21);
	pair_destroy(p);
}

/* The device accepts after 5 s; the round-trip time stays that of the network. */
static void held__is_no_round_trip(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK);
	struct rltp_session *s = p->ends[0].session;

	pair_post(p, 0, FLOW, 8, 1);
	exchange_for(p, MS_NS, 0, 0);
	uint32_t srtt_ns = s->srtt_ns;
	assert_true(srtt_ns > 0 && srtt_ns <= 10 * WAY_NS);
	pair_post(p, 0, FLOW, 8, HELD);
	exchange(p, 0, 0);
	exchange(p, 0, 0);
	uint32_t psn = waiting_psn(p);
	exchange_for(p, 5 * S_NS, 0, 0);
	assert_true(p->now_ns - s->received_ns < 2 * RETRY_US * US_NS);
	assert_true(rltp_session_dead_ns(s) > p->now_ns);
	assert_in_range(s->counters.held, 900, 1010);
	rltp_session_accept(p->ends[1].session, psn, 8, p->now_ns);
	exchange(p, 0, 0);
	assert_int_equal(p->ends[0].done, 2);
	assert_true(s->srtt_ns <= 10 * WAY_NS && s->rttvar_ns <= 10 * WAY_NS);
	assert_int_equal(s->counters.spurious, 0);
	assert_int_equal(s->io->reorder_steps, 0);
	pair_destroy(p);
}

/* A retransmission that crosses the acknowledgement arrives as a duplicate, which is no sign of
 * reordering. */
static void held__repeat_that_crosses_is_excused(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK);
	struct rltp_session *s = p->ends[0].session;
	struct datagram d;

	pair_post(p, 0, FLOW, 8, HELD);
	exchange(p, 0, 0);
	exchange(p, 0, 0);
	uint32_t psn = waiting_psn(p);
	s->io->repeats_sent = 5; /* none of these caused the duplicate */
	p->now_ns += RETRY_US * US_NS;
	assert_int_equal(pair_send(p, 0, &d, 1), 1);
	assert_int_equal(d.cause, DATAGRAM_CAUSE_HELD);
	rltp_session_accept(p->ends[1].session, psn, 8, p->now_ns);
	pair_deliver(p, 0, &d);
	exchange_for(p, MS_NS, 0, 0);
	assert_int_equal(p->ends[1].session->counters.duplicates, 1);
	assert_int_equal(p->ends[0].done, 1);
	assert_int_equal(s->counters.spurious, 0);
	assert_int_equal(s->io->repeats_sent, 5);
	pair_destroy(p);
}

static void held__rejected_after_all(void **state)
{
	const struct wire_nack_body rejection = {.code = WIRE_NACK_DEVICE};
	struct session_pair *p = pair_of(RLTP_RACK);

	pair_post(p, 0, FLOW, 8, HELD);
	exchange(p, 0, 0);
	exchange(p, 0, 0);
	struct wire_nack_body nack = rejection;
	nack.psn = waiting_psn(p);
	rltp_session_reject(p->ends[1].session, &nack);
	exchange(p, 0, 0);
	exchange(p, 0, 0);
	exchange(p, 0, 0);
	assert_int_equal(p->ends[0].done, 1);
	assert_int_equal(p->ends[0].last_status, DXP_EDEVICE);
	rltp_session_reject(p->ends[1].session, &nack);
	assert_int_equal(p->ends[1].session->io->nack_count, 0);
	pair_destroy(p);
}

/* The stopped flow continues when the receiver has space. */
static void held__after_no_space(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK);
	struct rltp_io *io = p->ends[0].session->io;

	p->ends[1].reject = (struct rltp_verdict){WIRE_NACK_RNR, 100};
	pair_post(p, 0, FLOW, 8, HELD);
	exchange(p, 0, 0);
	exchange(p, 0, 0);
	assert_int_equal(io->flows[FLOW].refused, 1);
	p->ends[1].reject = held;
	exchange_for(p, MS_NS, 0, 0);
	assert_int_equal(io->flows[FLOW].refused, 0);
	rltp_session_accept(p->ends[1].session, waiting_psn(p), 8, p->now_ns);
	exchange(p, 0, 0);
	assert_int_equal(p->ends[0].done, 1);
	assert_int_equal(io->flows[FLOW].refused, 0);
	pair_destroy(p);
}

/* Such a sender gets a rejection that it supports. */
static void held__to_a_sender_of_old(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK);

	p->ends[1].session->peer_features = 0;
	pair_post(p, 0, FLOW, 8, HELD);
	exchange_for(p, 6 * MS_NS, 0, 0);
	assert_int_equal(p->ends[0].session->counters.held, 0);
	assert_true(p->ends[0].session->counters.retransmitted_busy > 0);
	uint32_t psn = waiting_psn(p);
	rltp_session_accept(p->ends[1].session, psn, 8, p->now_ns);
	exchange(p, 0, 0);
	assert_int_equal(p->ends[0].done, 1);
	pair_destroy(p);
}

/* One message before and one behind the held one. Returns the number of datagrams. */
static uint64_t scene(enum rltp_recovery recovery, uint64_t device_ns, bool fails, uint64_t lost)
{
	struct session_pair *p = pair_of(recovery);
	struct rltp_session *to = p->ends[1].session;
	uint64_t sent = 0;

	pair_post(p, 0, FLOW, 3 * PAIR_UNIT, 1);
	pair_post(p, 0, FLOW, 8, HELD);
	pair_post(p, 0, FLOW, 3 * PAIR_UNIT, 2);
	uint32_t psn = p->ends[0].session->tx_next + 3;
	sent = exchange_for(p, device_ns, sent, lost);
	if (fails) {
		const struct wire_nack_body nack = {.code = WIRE_NACK_DEVICE, .psn = psn};
		p->ends[1].reject.code = WIRE_NACK_DEVICE;
		rltp_session_reject(to, &nack);
	} else {
		/* now a retransmission counts as a duplicate */
		p->ends[1].reject_key = 0;
		rltp_session_accept(to, psn, 8, p->now_ns);
	}
	uint64_t ended_ns = p->now_ns;
	while (p->ends[0].done < 3 && p->now_ns < ended_ns + S_NS)
		sent = exchange(p, sent, lost);
	if (p->ends[0].done < 3)
		fail_msg("%s: losing datagram %llu: does not end", rltp_recovery_name(recovery),
			 (unsigned long long)lost);
	assert_int_equal(p->ends[0].session->io->waiting.count, 0);
	assert_int_equal(p->ends[0].session->io->flows[FLOW].refused, 0);
	assert_int_equal(p->ends[1].delivered, 6);
	pair_destroy(p);
	return sent;
}

static void held__any_packet_is_lost(void **state)
{
	for (int r = 0; r < RLTP_RECOVERIES; r++) {
		for (int fails = 0; fails < 2; fails++) {
			for (uint64_t ms = 3; ms <= 12; ms += 9) {
				uint64_t all = scene((enum rltp_recovery)r, ms * MS_NS, fails, 0);
				for (uint64_t k = 1; k <= all; k++)
					scene((enum rltp_recovery)r, ms * MS_NS, fails, k);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held__others_go_on),
		cmocka_unit_test(held__is_no_round_trip),
		cmocka_unit_test(held__repeat_that_crosses_is_excused),
		cmocka_unit_test(held__rejected_after_all),
		cmocka_unit_test(held__after_no_space),
		cmocka_unit_test(held__to_a_sender_of_old),
		cmocka_unit_test(held__any_packet_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
