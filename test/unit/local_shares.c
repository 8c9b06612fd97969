/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests fairness inside one NIC: shares of bytes, receive entries, bounded polls, and requests that
 * wait. DXP_SEED replays one seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "test/unit/local_rig.h"

static uint64_t seed(void)
{
	const char *text = getenv("DXP_SEED");

	return text ? strtoull(text, NULL, 0) : 1;
}

/* ---- bytes ---- */

/* PUTs of random lengths, up to 8 outstanding on each queue pair of `qps`. */
struct stream {
	uint32_t function, qps, outstanding[NIC_QPS_PER_FUNCTION];
	uint32_t bytes_min, bytes_max;
	uint64_t bytes, qp_bytes[NIC_QPS_PER_FUNCTION]; /* of completed PUTs */
};

static void stream_step(struct rig *r, struct stream *s, struct rng *random)
{
	struct dxp_window *w = r->window[s->function];
	struct dxp_nic_event e;

	while (dxp_sent_dequeue(w, &e)) {
		assert_int_equal(e.status, DXP_OK);
		s->outstanding[e.qp]--;
		s->bytes += e.bytes;
		s->qp_bytes[e.qp] += e.bytes;
	}
	for (uint8_t q = 0; q < NIC_QPS_PER_FUNCTION; q++) {
		while (s->qps >> q & 1 && s->outstanding[q] < 8) {
			uint32_t to = (uint32_t)rng_below(random, NIC_FUNCTIONS);
			uint32_t bytes = s->bytes_min +
					 (uint32_t)rng_below(random, s->bytes_max - s->bytes_min);
			const struct dxp_entry own = rig_entry(r, s->function, 0, bytes),
					       other = rig_entry(r, to, 500000, bytes);
			const struct dxp_target target = rig_target(r, (uint8_t)to, 0);
			assert_int_equal(dxp_post_put(w, q, &target, &own, &other, 0, 0, 0),
					 DXP_OK);
			s->outstanding[q]++;
		}
	}
}

static double jain(const double *share, uint32_t count)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < count; i++) {
		sum += share[i];
		squares += share[i] * share[i];
	}
	return sum * sum / (count * squares);
}

static void streams_run(struct rig *r, struct stream *s, uint32_t count, uint64_t total)
{
	struct rng random = {seed()};

	for (uint64_t moved = 0; moved < total;) {
		moved = 0;
		for (uint32_t i = 0; i < count; i++) {
			stream_step(r, &s[i], &random);
			moved += s[i].bytes;
		}
		rig_poll(r);
	}
}

/* Functions share bytes equally, with one queue pair or four, short messages or long. */
static void local_shares__functions_share_bytes(void **state)
{
	struct nic_options o = rig_options();
	struct stream s[NIC_FUNCTIONS] = {0};
	double share[NIC_FUNCTIONS];
	struct rig r;

	rig_make(&r, &o, NIC_FUNCTIONS);
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++)
		s[i] = (struct stream){.function = i,
				       .qps = i % 2 ? 1 : 15,
				       .bytes_min = 4096,
				       .bytes_max = i < 4 ? 20000 : 9000};
	streams_run(&r, s, NIC_FUNCTIONS, 10 * 1000 * 1000);
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++)
		share[i] = (double)s[i].bytes;
	double index = jain(share, NIC_FUNCTIONS);
	print_message("Jain's index after 10 MB: %.5f; DXP_SEED=%llu\n", index,
		      (unsigned long long)seed());
	assert_true(index >= 0.999);
	rig_end(&r);
}

static void local_shares__weights(void **state)
{
	const uint32_t weights[] = {1, 2, 5, 64};
	struct nic_options o = rig_options();
	struct stream s[ARRAY_COUNT(weights)] = {0};
	double share[ARRAY_COUNT(weights)];
	struct rig r;

	rig_make(&r, &o, NIC_FUNCTIONS);
	for (uint32_t i = 0; i < ARRAY_COUNT(weights); i++) {
		s[i] = (struct stream){
			.function = i, .qps = 15, .bytes_min = 20000, .bytes_max = 30000};
		assert_int_equal(nic_function_weight(r.nic, i, weights[i]), DXP_OK);
	}
	streams_run(&r, s, ARRAY_COUNT(weights), 400 * 1000 * 1000);
	for (uint32_t i = 0; i < ARRAY_COUNT(weights); i++)
		share[i] = (double)s[i].bytes / weights[i];
	assert_true(jain(share, ARRAY_COUNT(weights)) >= 0.999);
	rig_end(&r);
}

/* One byte in RLTP_GUARD_SHARE + 1 is of normal priority, by weight; high priority gets the
 * rest. */
static void local_shares__priority(void **state)
{
	struct nic_options o = rig_options();
	struct stream s[4] = {0};
	struct rig r;
	uint64_t all = 0;

	rig_make(&r, &o, NIC_FUNCTIONS);
	for (uint32_t i = 0; i < ARRAY_COUNT(s); i++)
		s[i] = (struct stream){
			.function = i, .qps = 15, .bytes_min = 20000, .bytes_max = 30000};
	assert_int_equal(nic_function_priority(r.nic, 1, NIC_PRIORITY_HIGH), DXP_OK);
	assert_int_equal(nic_function_weight(r.nic, 3, 2), DXP_OK);
	streams_run(&r, s, ARRAY_COUNT(s), 400 * 1000 * 1000);
	for (uint32_t i = 0; i < ARRAY_COUNT(s); i++)
		all += s[i].bytes;
	for (uint32_t i = 0; i < ARRAY_COUNT(s); i++)
		print_message("function %u: %.2f %%\n", i, 100 * (double)s[i].bytes / (double)all);
	const uint64_t guard = all / (RLTP_GUARD_SHARE + 1);
	assert_in_range(s[1].bytes, (all - guard) / 100 * 98, (all - guard) / 100 * 102);
	assert_in_range(s[0].bytes, guard / 40 * 9, guard / 40 * 11);
	assert_in_range(s[2].bytes, guard / 40 * 9, guard / 40 * 11);
	assert_in_range(s[3].bytes, guard / 20 * 9, guard / 20 * 11);
	rig_end(&r);
}

/* High priority with little to copy is served in the same poll; the others lose only these
 * bytes. */
static void local_shares__priority_without_need(void **state)
{
	const uint64_t polls = 200;
	struct nic_options o = rig_options();
	struct stream busy = {.qps = 15, .bytes_min = 20000, .bytes_max = 30000};
	struct rng random = {seed()};
	struct rig r;

	rig_make(&r, &o, NIC_FUNCTIONS);
	assert_int_equal(nic_function_priority(r.nic, 1, NIC_PRIORITY_HIGH), DXP_OK);
	const struct dxp_entry own = rig_entry(&r, 1, 0, 1024), other = rig_entry(&r, 2, 0, 1024);
	const struct dxp_target to = rig_target(&r, 2, 0);
	for (uint64_t i = 0; i < polls; i++) {
		stream_step(&r, &busy, &random);
		assert_int_equal(dxp_post_put(r.window[1], 0, &to, &own, &other, 0, 0, i), DXP_OK);
		rig_poll(&r);
		rig_sent(&r, 1, i, DXP_OK);
	}
	assert_true(busy.bytes > polls * NIC_QUANTUM_BYTES / 10 * 9);
	rig_end(&r);
}

static void local_shares__queue_pairs_share_bytes(void **state)
{
	struct nic_options o = rig_options();
	struct stream s = {.qps = 15, .bytes_min = 30000, .bytes_max = 90000};
	double share[NIC_QPS_PER_FUNCTION];
	struct rig r;

	rig_make(&r, &o, NIC_FUNCTIONS);
	streams_run(&r, &s, 1, 60 * 1000 * 1000);
	for (uint32_t q = 0; q < NIC_QPS_PER_FUNCTION; q++)
		share[q] = (double)s.qp_bytes[q];
	assert_true(jain(share, NIC_QPS_PER_FUNCTION) >= 0.999);
	rig_end(&r);
}

/* The NIC reschedules at once, not at the old limit's deadline. */
static void local_shares__another_limit_holds_at_once(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;
	const uint64_t limits[] = {0, 1000 * 1000 * 1000};

	for (size_t k = 0; k < ARRAY_COUNT(limits); k++) {
		rig_make(&r, &o, 2);
		const struct dxp_entry own = rig_entry(&r, 0, 0, 500000),
				       other = rig_entry(&r, 1, 0, 500000);
		const struct dxp_target target = rig_target(&r, 1, 0);
		assert_int_equal(nic_function_limit(r.nic, 0, 1), DXP_OK);
		assert_int_equal(dxp_post_put(r.window[0], 0, &target, &own, &other, 0, 0, 0),
				 DXP_OK);
		do
			rig_poll(&r);
		while (nic_deadline(r.nic) <= r.now_ns);
		assert_true(nic_deadline(r.nic) > r.now_ns + 1000 * S_NS);
		assert_int_equal(nic_function_limit(r.nic, 0, limits[k]), DXP_OK);
		assert_true(nic_deadline(r.nic) <= r.now_ns);
		rig_end(&r);
	}
}

/* The limit covers copies, slows no other function, and lets the NIC sleep. */
static void local_shares__limit(void **state)
{
	struct nic_options o = rig_options();
	struct stream limited = {.qps = 15, .bytes_min = 20000, .bytes_max = 90000};
	struct rng random = {seed()};
	uint64_t polls = 0;
	struct rig r;

	rig_make(&r, &o, NIC_FUNCTIONS);
	assert_int_equal(nic_function_limit(r.nic, 0, 100 * 1000 * 1000), DXP_OK);
	const struct dxp_target to = rig_target(&r, 2, 0);
	while (r.now_ns < 200 * MS_NS) {
		stream_step(&r, &limited, &random);
		assert_int_equal(dxp_post_nap(r.window[1], 0, &to, "x", 1, 0, polls), DXP_OK);
		rig_poll(&r);
		rig_sent(&r, 1, polls++, DXP_OK);
		rig_received(&r, 2);
		uint64_t next_ns = nic_deadline(r.nic);
		r.now_ns = max_u64(r.now_ns, next_ns == UINT64_MAX ? 0 : next_ns);
	}
	assert_in_range(limited.bytes, 19 * 1000 * 1000, 21 * 1000 * 1000);
	assert_true(polls < 2000);
	assert_true(rig_counters(&r, 0).rate_waits > 50);
	assert_int_equal(rig_counters(&r, 1).rate_waits, 0);
	rig_end(&r);
}

/* A poll copies a bounded number of bytes, so the network is served too; one function may use them
 * all. */
static void local_shares__a_poll_is_bounded(void **state)
{
	for (uint32_t count = 1; count <= NIC_FUNCTIONS; count++) {
		struct nic_options o = rig_options();
		struct rig r;
		rig_make(&r, &o, NIC_FUNCTIONS);
		for (int poll = 0; poll < 20; poll++) {
			uint64_t before = 0, after = 0;
			for (uint32_t i = 0; i < count; i++) {
				const struct dxp_entry own = rig_entry(&r, i, 0, RIG_BYTES),
						       other = rig_entry(&r, 7, 0, RIG_BYTES);
				const struct dxp_target to = rig_target(&r, 7, 0);
				dxp_post_put(r.window[i], 0, &to, &own, &other, 0, 0, 0);
			}
			before = r.window[7]->total_bytes;
			rig_poll(&r);
			after = r.window[7]->total_bytes;
			/* In the first poll, a new function may get only one of eight shares. */
			uint32_t least = poll == 0 ? NIC_QUANTUM_BYTES / 8 : NIC_QUANTUM_BYTES / 2;
			assert_in_range(after - before, least,
					NIC_QUANTUM_BYTES + count * NIC_REST_BYTES);
			assert_int_equal(nic_deadline(r.nic), 0);
		}
		rig_end(&r);
	}
}

/* Long PUTs without pause do not delay another function. */
static void local_shares__short_messages_pass_long_ones(void **state)
{
	struct nic_options o = rig_options();
	struct rig r;

	rig_make(&r, &o, 3);
	const struct dxp_target to = rig_target(&r, 2, 0);
	const struct dxp_entry own = rig_entry(&r, 0, 0, RIG_BYTES),
			       other = rig_entry(&r, 2, 0, RIG_BYTES);
	struct dxp_nic_event e;
	for (int i = 0; i < 100; i++) {
		while (dxp_post_put(r.window[0], 0, &to, &own, &other, 0, 0, 0) == DXP_OK)
			;
		dxp_post_nap(r.window[1], 0, &to, "now", 3, (uint64_t)i, (uint64_t)i);
		rig_poll(&r);
		assert_int_equal(rig_received(&r, 2), 1);
		rig_sent(&r, 1, (uint64_t)i, DXP_OK);
		while (dxp_sent_dequeue(r.window[0], &e))
			;
	}
	rig_end(&r);
}

/* ---- receive entries ---- */

static void naps_post(struct rig *r, uint32_t function, uint8_t qp, uint8_t to, uint32_t count,
		      uint64_t *posted)
{
	const struct dxp_target target = rig_target(r, to, 0);

	for (uint32_t i = 0; i < count; i++)
		if (dxp_post_nap(r->window[function], qp, &target, "x", 1, *posted, *posted) ==
		    DXP_OK)
			++*posted;
}

/* Only queue pairs to the silent consumer wait, checked at growing intervals; later everything
 * arrives. */
static void local_shares__a_full_ring_holds_back_no_other(void **state)
{
	struct nic_options o = rig_options();
	uint64_t posted = 0, other = 0, dequeued = 0;
	struct rig r;

	o.receive_entries = 8;
	rig_make(&r, &o, 3);
	naps_post(&r, 0, 0, 1, 30, &posted);
	rig_run(&r);
	assert_int_equal(r.nic->users[1].received_index, 8);
	assert_int_equal(rig_counters(&r, 0).credit_waits, 1);
	assert_int_equal(rig_counters(&r, 1).receiver_busy, 1);
	for (int i = 0; i < 20; i++) {
		naps_post(&r, 0, 1, 2, 1, &other);
		naps_post(&r, 2, 1, 0, 1, &other);
		rig_poll(&r);
		assert_int_equal(rig_received(&r, 2), 1);
		assert_int_equal(rig_received(&r, 0), 1);
	}
	uint64_t sleep_ns = 0;
	for (int i = 0; i < 12; i++) {
		uint64_t next_ns = nic_deadline(r.nic);
		assert_true(next_ns > r.now_ns && next_ns != UINT64_MAX);
		assert_true(next_ns - r.now_ns >= sleep_ns / 2);
		sleep_ns = next_ns - r.now_ns;
		r.now_ns = next_ns;
		rig_poll(&r);
	}
	assert_true(sleep_ns > NIC_SPACE_CHECK_MAX_NS / 2 && sleep_ns <= NIC_SPACE_CHECK_MAX_NS);
	while (dequeued < posted) {
		const struct dxp_nic_event *e = dxp_received_peek(r.window[1]);
		if (!e) {
			rig_poll(&r);
			continue;
		}
		assert_int_equal(e->imm, dequeued++);
		dxp_received_release(r.window[1]);
	}
	rig_run(&r);
	assert_int_equal(r.nic->functions[0].outstanding, 0);
	assert_int_equal(nic_deadline(r.nic), UINT64_MAX);
	rig_end(&r);
}

/* Seven senders share the entries of a slow reader equally. */
static void local_shares__waiters_alternate(void **state)
{
	struct nic_options o = rig_options();
	uint64_t posted[NIC_FUNCTIONS] = {0}, got[NIC_FUNCTIONS] = {0}, next[NIC_FUNCTIONS] = {0};
	struct rig r;

	o.receive_entries = 32;
	rig_make(&r, &o, NIC_FUNCTIONS);
	for (int i = 0; i < 5000; i++) {
		struct dxp_nic_event ended;
		for (uint32_t f = 1; f < NIC_FUNCTIONS; f++) {
			while (dxp_sent_dequeue(r.window[f], &ended))
				;
			naps_post(&r, f, 0, 0, f == 1 ? 32 : 4, &posted[f]);
		}
		rig_poll(&r);
		for (int k = 0; k < 5 && dxp_received_peek(r.window[0]); k++) {
			const struct dxp_nic_event *e = dxp_received_peek(r.window[0]);
			uint32_t from = e->peer_qp >> 8;
			assert_int_equal(e->imm, next[from]++);
			got[from]++;
			dxp_received_release(r.window[0]);
		}
	}
	for (uint32_t f = 1; f < NIC_FUNCTIONS; f++)
		assert_in_range(got[f], 5000 * 5 / 7 - 40, 5000 * 5 / 7 + 40);
	rig_end(&r);
}

/* Buffers return out of order, while the ring wraps several times. */
static void local_shares__buffers(void **state)
{
	struct nic_options o = rig_options();
	uint8_t data[100] = {0};
	uint16_t kept[64];
	struct rig r;

	rig_make(&r, &o, 2);
	const struct dxp_target to = rig_target(&r, 1, 0);
	for (uint32_t i = 0, count = 0; i < 3000; i++) {
		memset(data, (int)i, sizeof(data));
		assert_int_equal(dxp_post_nap(r.window[0], 0, &to, data, sizeof(data), 0, i),
				 DXP_OK);
		rig_poll(&r);
		rig_sent(&r, 0, i, DXP_OK);
		const struct dxp_nic_event *e = dxp_received_peek(r.window[1]);
		assert_non_null(e);
		assert_memory_equal(dxp_received_data(r.window[1], e), data, sizeof(data));
		kept[count++] = e->buffer;
		dxp_received_keep(r.window[1]);
		while (count == ARRAY_COUNT(kept) || (count > 0 && i % 3 == 0))
			dxp_buffer_return(r.window[1], kept[--count]);
	}
	assert_int_equal(dxp_error(r.window[1]), DXP_OK);
	rig_end(&r);
}

/* If a waiting sender closes, the next one gets the entry. */
static void local_shares__closed_while_waiting(void **state)
{
	struct nic_options o = rig_options();
	uint64_t posted[3] = {0};
	struct rig r;

	o.receive_entries = 1;
	rig_make(&r, &o, 3);
	for (uint32_t f = 1; f < 3; f++) {
		naps_post(&r, f, 0, 0, 3, &posted[f]);
		rig_run(&r);
	}
	assert_int_equal(nic_user_close(r.nic, 1, DXP_ECLOSED, r.now_ns), DXP_OK);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(rig_received(&r, 0), 1);
		r.now_ns += NIC_SPACE_CHECK_MAX_NS;
		rig_run(&r);
	}
	assert_int_equal(r.nic->functions[2].outstanding, 0);
	rig_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local_shares__functions_share_bytes),
		cmocka_unit_test(local_shares__weights),
		cmocka_unit_test(local_shares__priority),
		cmocka_unit_test(local_shares__priority_without_need),
		cmocka_unit_test(local_shares__queue_pairs_share_bytes),
		cmocka_unit_test(local_shares__limit),
		cmocka_unit_test(local_shares__another_limit_holds_at_once),
		cmocka_unit_test(local_shares__a_poll_is_bounded),
		cmocka_unit_test(local_shares__short_messages_pass_long_ones),
		cmocka_unit_test(local_shares__a_full_ring_holds_back_no_other),
		cmocka_unit_test(local_shares__waiters_alternate),
		cmocka_unit_test(local_shares__buffers),
		cmocka_unit_test(local_shares__closed_while_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
