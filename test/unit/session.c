/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests two sessions, datagram by datagram: ring of packets, recovery of losses, reordering, idle
 * sessions. */
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

#define FLOW RLTP_FLOW(0, 0)

static struct session_pair *pair_of(enum rltp_recovery recovery, uint32_t window)
{
	struct rltp_tuning tuning = {.recovery = recovery, .cc = CC_NONE, .no_pacing = true};

	return pair_create(&tuning, window);
}

static void burst_lose(struct session_pair *p, uint32_t count, uint32_t lost)
{
	struct datagram d;

	pair_post(p, 0, FLOW, count * PAIR_UNIT, 1);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(pair_send(p, 0, &d, 1), 1);
		if (i != lost)
			pair_deliver(p, 0, &d);
	}
}

/* Carries to end 0 what end 1 sends, `delay_ns` later. */
static void words_carry(struct session_pair *p, uint64_t delay_ns)
{
	struct datagram d[8];
	size_t n = pair_send(p, 1, d, 8);

	p->now_ns += delay_ns;
	for (size_t i = 0; i < n; i++)
		pair_deliver(p, 1, &d[i]);
}

static void session__ring_grows_with_what_is_in_flight(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK, WIRE_WINDOW_MAX);
	struct datagram d;
	struct rltp_io *io = p->ends[0].session->io;
	uint32_t sent = 0;

	assert_int_equal(io->tx_size, RLTP_TX_RING_MIN);
	pair_post(p, 0, FLOW, 5000 * PAIR_UNIT, 1);
	while (pair_send(p, 0, &d, 1) == 1)
		sent++;
	assert_int_equal(sent, WIRE_WINDOW_MAX);
	assert_int_equal(io->tx_size, WIRE_WINDOW_MAX);
	assert_int_equal(io->sent.count, WIRE_WINDOW_MAX);
	uint32_t expected = p->ends[0].session->initial_psn;
	for (struct tx_entry *entry = tx_entry_first(io, &io->sent); entry;
	     entry = tx_entry_next(io, entry))
		assert_int_equal(entry->psn, expected++);
	pair_destroy(p);
}

static void session__lost_packet_is_repeated_within_a_round_trip(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK, 64);
	struct datagram d[4];

	burst_lose(p, 10, 3);
	words_carry(p, 20 * US_NS);
	p->now_ns += 20 * US_NS; /* the reorder window */
	assert_int_equal(pair_send(p, 0, d, 4), 1);
	struct wire_header h = pair_header(&d[0]);
	assert_int_equal(h.psn, p->ends[0].session->initial_psn + 3);
	assert_true(h.flags & WIRE_FLAG_RTX);
	pair_deliver(p, 0, &d[0]);
	words_carry(p, 20 * US_NS);
	assert_int_equal(p->ends[0].done, 1);
	assert_int_equal(p->ends[0].session->counters.timeouts, 0);
	pair_destroy(p);
}

/* The retransmission of a lost packet is lost too. Acknowledgements of later packets alone cause a
 * second retransmission, without a timeout or a probe. */
static void session__lost_repeat_needs_no_timeout(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK, 64);
	struct datagram d[4];

	burst_lose(p, 10, 3);
	words_carry(p, 20 * US_NS);
	p->now_ns += 20 * US_NS;
	assert_int_equal(pair_send(p, 0, d, 4), 1); /* lost */
	burst_lose(p, 2, UINT32_MAX);
	words_carry(p, 20 * US_NS);
	p->now_ns += 20 * US_NS;
	assert_int_equal(pair_send(p, 0, d, 4), 1);
	assert_int_equal(pair_header(&d[0]).psn, p->ends[0].session->initial_psn + 3);
	assert_int_equal(p->ends[0].session->counters.retransmitted_probe, 0);
	assert_int_equal(p->ends[0].session->counters.timeouts, 0);
	pair_destroy(p);
}

static void session__tail_is_probed(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK, 64);
	struct datagram d[4];

	burst_lose(p, 1, UINT32_MAX);
	words_carry(p, 20 * US_NS); /* the first sets the round-trip time */
	burst_lose(p, 1, 0);
	p->now_ns = rltp_session_deadline(p->ends[0].session);
	assert_int_equal(pair_send(p, 0, d, 4), 1);
	assert_true(pair_header(&d[0]).flags & WIRE_FLAG_PROBE);
	pair_deliver(p, 0, &d[0]);
	words_carry(p, 20 * US_NS);
	assert_int_equal(p->ends[0].done, 2);
	assert_int_equal(p->ends[0].session->counters.timeouts, 0);
	pair_destroy(p);
}

/* The probe did not fit into the batch, so it is sent with the next. */
static void session__one_probe_for_one_silence(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK, 64);
	struct rltp_session *s = p->ends[0].session;
	struct datagram d;

	burst_lose(p, 3, 2);
	p->now_ns += 50 * MS_NS;
	for (int i = 0; i < 8; i++)
		assert_int_equal(pair_send(p, 0, &d, 0), 0);
	assert_int_equal(s->counters.retransmitted_probe, 1);
	assert_int_equal(s->counters.timeouts, 0);
	assert_int_equal(rltp_session_deadline(s), 0);
	assert_int_equal(pair_send(p, 0, &d, 1), 1);
	assert_true(pair_header(&d).flags & WIRE_FLAG_PROBE);
	pair_destroy(p);
}

/* A peer silent for WAIT_SPIN_NS may sleep, so the probe waits. */
static void session__a_sleeping_peer_is_not_probed_at_once(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK, 64);
	const struct rltp_session *s = p->ends[0].session;

	burst_lose(p, 1, UINT32_MAX);
	words_carry(p, 20 * US_NS);
	burst_lose(p, 1, UINT32_MAX);
	uint64_t active_ns = rltp_session_deadline(s) - p->now_ns;
	words_carry(p, 20 * US_NS);
	p->now_ns += 2 * WAIT_SPIN_NS;
	burst_lose(p, 1, UINT32_MAX);
	assert_true(rltp_session_deadline(s) - p->now_ns >= active_ns + RLTP_WAKING_NS / 2);
	words_carry(p, 20 * US_NS);
	assert_int_equal(s->counters.retransmitted_probe, 0);
	pair_destroy(p);
}

/* The round trip is longer than the largest timeout. */
static void session__long_paths_do_not_time_out(void **state)
{
	struct session_pair *p = pair_of(RLTP_GBN_RTO, 64);
	const uint64_t rtt_ns = 2 * RLTP_RTO_MAX_NS;

	for (int i = 0; i < 4; i++) {
		burst_lose(p, 1, UINT32_MAX);
		assert_true(rltp_session_deadline(p->ends[0].session) >= p->now_ns);
		if (i > 0)
			assert_true(rltp_session_deadline(p->ends[0].session) > p->now_ns + rtt_ns);
		words_carry(p, rtt_ns);
	}
	assert_int_equal(p->ends[0].session->counters.timeouts, 0);
	pair_destroy(p);
}

/* A needless retransmission widens the window; losses without any narrow it. */
static void session__reordering_is_learnt(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK, 64);
	struct datagram late, d[4];
	struct rltp_session *s = p->ends[0].session;

	burst_lose(p, 4, UINT32_MAX);
	words_carry(p, 100 * US_NS);
	uint64_t before = recovery_reorder_window(s);
	pair_post(p, 0, FLOW, 4 * PAIR_UNIT, 1);
	assert_int_equal(pair_send(p, 0, &late, 1), 1);
	assert_int_equal(pair_send(p, 0, d, 3), 3);
	for (int i = 0; i < 3; i++)
		pair_deliver(p, 0, &d[i]);
	words_carry(p, 100 * US_NS);
	p->now_ns += 100 * US_NS;
	/* late, not lost */
	assert_int_equal(pair_send(p, 0, d, 1), 1);
	pair_deliver(p, 0, &late);
	pair_deliver(p, 0, &d[0]);
	words_carry(p, 100 * US_NS);
	assert_int_equal(s->counters.spurious, 1);
	assert_true(recovery_reorder_window(s) > before);
	for (int i = 0; i < 2 * RLTP_CLEAN_REPEATS; i++) {
		burst_lose(p, 4, 0);
		words_carry(p, 100 * US_NS);
		p->now_ns += 200 * US_NS;
		assert_int_equal(pair_send(p, 0, d, 1), 1);
		pair_deliver(p, 0, &d[0]);
		words_carry(p, 100 * US_NS);
	}
	assert_int_equal(s->io->reorder_steps, 0);
	pair_destroy(p);
}

static void session__go_back_n_sends_all_from_the_gap(void **state)
{
	struct session_pair *p = pair_of(RLTP_GBN_NAK, 64);
	struct datagram d[16];

	burst_lose(p, 10, 3);
	assert_int_equal(p->ends[1].delivered, 3);
	assert_int_equal(p->ends[1].session->counters.out_of_order, 6);
	words_carry(p, 20 * US_NS);
	assert_int_equal(pair_send(p, 0, d, 16), 7);
	for (uint32_t i = 0; i < 7; i++) {
		assert_int_equal(pair_header(&d[i]).psn, p->ends[0].session->initial_psn + 3 + i);
		pair_deliver(p, 0, &d[i]);
	}
	words_carry(p, 20 * US_NS);
	assert_int_equal(p->ends[0].done, 1);
	pair_destroy(p);
}

/* The receiver sends one NAK for each hole. Packets that arrive later behind the hole cause no
 * further NAK. */
static void session__go_back_n_reports_it_once(void **state)
{
	struct session_pair *p = pair_of(RLTP_GBN_NAK, 64);
	struct datagram d;
	uint32_t naks = 0;

	pair_post(p, 0, FLOW, 20 * PAIR_UNIT, 1);
	for (int i = 0; i < 20; i++) {
		struct datagram word;
		assert_int_equal(pair_send(p, 0, &d, 1), 1);
		if (i == 5)
			continue;
		pair_deliver(p, 0, &d);
		while (pair_send(p, 1, &word, 1) == 1)
			naks += (pair_header(&word).flags & WIRE_FLAG_NACK) != 0;
	}
	assert_int_equal(naks, 1);
	pair_destroy(p);
}

static void session__go_back_n_by_timeout_waits_for_it(void **state)
{
	struct session_pair *p = pair_of(RLTP_GBN_RTO, 64);
	struct datagram d[16];

	burst_lose(p, 10, 3);
	p->now_ns += RLTP_ACK_DELAY_NS;
	words_carry(p, 20 * US_NS);
	assert_int_equal(pair_send(p, 0, d, 16), 0);
	p->now_ns += RLTP_RTO_MIN_NS;
	assert_int_equal(pair_send(p, 0, d, 16), 7);
	assert_int_equal(p->ends[0].session->counters.timeouts, 1);
	pair_destroy(p);
}

/* A lost retransmission waits for a timeout. */
static void session__irn_repeats_once(void **state)
{
	struct session_pair *p = pair_of(RLTP_IRN, 64);
	struct datagram d[16];

	burst_lose(p, 10, 3);
	words_carry(p, 20 * US_NS);
	assert_int_equal(pair_send(p, 0, d, 16), 1); /* lost */
	burst_lose(p, 4, UINT32_MAX);
	words_carry(p, 20 * US_NS);
	assert_int_equal(pair_send(p, 0, d, 16), 0);
	p->now_ns += RLTP_IRN_RTO_NS;
	assert_int_equal(pair_send(p, 0, d, 16), 1);
	assert_int_equal(p->ends[0].session->counters.timeouts, 1);
	pair_destroy(p);
}

static void session__rests_and_wakes(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK, 64);
	struct rltp_session *s = p->ends[0].session;

	pair_post(p, 0, FLOW, 100 * PAIR_UNIT, 1);
	pair_settle(p, p->now_ns + 2 * RLTP_REST_NS);
	for (int end = 0; end < 2; end++) {
		assert_null(p->ends[end].session->io);
		assert_int_equal(p->ends[end].rested, 1);
		assert_true(rltp_session_deadline(p->ends[end].session) == UINT64_MAX);
	}
	assert_int_equal(s->tx_next, s->initial_psn + 100);
	pair_post(p, 0, FLOW, 100 * PAIR_UNIT, 1);
	pair_settle(p, p->now_ns + 10 * MS_NS);
	assert_int_equal(p->ends[0].done, 2);
	assert_int_equal(p->ends[1].delivered, 200);
	assert_int_equal(p->ends[1].session->counters.duplicates, 0);
	pair_destroy(p);
}

static void session__hole_keeps_the_receiver_active(void **state)
{
	struct session_pair *p = pair_of(RLTP_RACK, 64);
	struct rltp_session *receiver = p->ends[1].session;

	burst_lose(p, 3, 1);
	words_carry(p, 20 * US_NS);
	p->now_ns += 3 * RLTP_REST_NS;
	assert_false(rltp_session_rest(receiver, p->now_ns));
	assert_non_null(receiver->io);
	pair_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(session__ring_grows_with_what_is_in_flight),
		cmocka_unit_test(session__lost_packet_is_repeated_within_a_round_trip),
		cmocka_unit_test(session__lost_repeat_needs_no_timeout),
		cmocka_unit_test(session__tail_is_probed),
		cmocka_unit_test(session__one_probe_for_one_silence),
		cmocka_unit_test(session__a_sleeping_peer_is_not_probed_at_once),
		cmocka_unit_test(session__long_paths_do_not_time_out),
		cmocka_unit_test(session__reordering_is_learnt),
		cmocka_unit_test(session__go_back_n_sends_all_from_the_gap),
		cmocka_unit_test(session__go_back_n_reports_it_once),
		cmocka_unit_test(session__go_back_n_by_timeout_waits_for_it),
		cmocka_unit_test(session__irn_repeats_once),
		cmocka_unit_test(session__rests_and_wakes),
		cmocka_unit_test(session__hole_keeps_the_receiver_active),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
