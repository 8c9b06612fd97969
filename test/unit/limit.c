/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests rate limits: exact in the long run, bounded bursts, late callers, changes of the rate,
 * invalid arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/limits.h"
#include "base/rng.h"
#include "base/util.h"
#include "nic/internal.h"

#define PACKET  1472
#define LATE_NS (1000 * S_NS) /* ns; a new bucket is full */

static uint64_t batch(struct bucket *b, uint32_t bytes, uint64_t now_ns)
{
	uint64_t sent = 0;

	for (; bucket_allows(b, now_ns) && sent < 1u << 30; sent += bytes)
		bucket_charge(b, bytes, now_ns);
	return sent;
}

static uint64_t burst_bytes(uint64_t rate)
{
	return max_u64(rate / 1000, BUCKET_BURST_BYTES);
}

static void limit__none_costs_nothing(void **state)
{
	struct bucket b = {0};

	assert_true(batch(&b, PACKET, 0) >= 1u << 30);
	assert_int_equal(b.paid_ns, 0);
	bucket_rate(&b, 1000);
	batch(&b, PACKET, 5);
	assert_false(bucket_allows(&b, 6));
	bucket_rate(&b, 0);
	assert_true(batch(&b, PACKET, 6) >= 1u << 30);
	assert_int_equal(b.waits, 1);
}

/* Allows a send from its deadline on, and `rate` in the long run, even if the caller is late by
 * less than a burst. */
static void rate_check(uint64_t rate, uint32_t bytes, uint64_t late_ns)
{
	struct bucket b = {0};
	struct rng r = {rate};
	uint64_t start_ns = 77 * S_NS, now_ns = start_ns, sent = 0;

	bucket_rate(&b, rate);
	batch(&b, bytes, now_ns);
	start_ns = b.next_ns; /* the initial burst is used up */
	while (sent < max_u64(rate / 10, 200ull * bytes)) {
		assert_true(b.next_ns > now_ns);
		assert_false(bucket_allows(&b, b.next_ns - 1));
		now_ns = b.next_ns + (late_ns ? rng_below(&r, late_ns) : 0);
		sent += batch(&b, bytes, now_ns);
	}
	double got = (double)sent * 1e9 / (double)(b.next_ns - start_ns);
	if (got < 0.999 * (double)rate || got > 1.001 * (double)rate)
		fail_msg("%f bytes per second, not %llu", got, (unsigned long long)rate);
}

static void limit__rate_in_the_long_run(void **state)
{
	static const uint64_t rates[] = {
		1,         1000,        33333,        1000000,      12345678,
		100000000, 1250000000u, 10000000000u, 99999999999u, BUCKET_RATE_MAX / 100000};

	for (size_t i = 0; i < ARRAY_COUNT(rates); i++) {
		rate_check(rates[i], PACKET, 0);
		rate_check(rates[i], 65, 0);
		rate_check(rates[i], PACKET, 500 * US_NS);
	}
}

/* The larger of 64 KiB and 1 ms bounds a burst; the packet that exceeds it is still sent. */
static void limit__bursts_are_bounded(void **state)
{
	static const uint64_t rates[] = {1000,     1000000,     50000000,
					 65536000, 1250000000u, 10000000000u};

	for (size_t i = 0; i < ARRAY_COUNT(rates); i++) {
		for (uint64_t gap_ns = 1; gap_ns < UINT64_MAX / 16; gap_ns *= 8) {
			struct bucket b = {0};
			bucket_rate(&b, rates[i]);
			uint64_t most = burst_bytes(rates[i]) + 2 * PACKET;
			uint64_t first = batch(&b, PACKET, LATE_NS);
			assert_in_range(first, burst_bytes(rates[i]) - PACKET, most);
			assert_true(batch(&b, PACKET, LATE_NS + gap_ns) <= most);
		}
	}
}

/* In every time span, the bucket allows at most the rate times the span, plus one burst. This holds
 * for any times of the calls. */
static void limit__never_more_than_the_rate(void **state)
{
	uint64_t seed = getenv("DXP_SEED") ? strtoull(getenv("DXP_SEED"), NULL, 0) : 1;
	uint64_t last = getenv("DXP_SEED") ? seed : 500;

	for (; seed <= last; seed++) {
		struct rng r = {seed};
		struct bucket b = {0};
		uint64_t rate = 1 + rng_below(&r, 1ull << (1 + rng_below(&r, 38)));
		uint64_t start_ns = rng_below(&r, 1ull << 60), now_ns = start_ns, sent = 0;
		bucket_rate(&b, rate);
		for (int i = 0; i < 300; i++) {
			uint32_t bytes = 1 + (uint32_t)rng_below(&r, 9000);
			if (bucket_allows(&b, now_ns)) {
				bucket_charge(&b, bytes, now_ns);
				sent += bytes;
			}
			double most = (double)rate * (double)(now_ns - start_ns) / 1e9 +
				      (double)burst_bytes(rate) + 2 * 9000;
			if ((double)sent > most)
				fail_msg("replay with DXP_SEED=%llu", (unsigned long long)seed);
			now_ns += rng_below(&r, 20000000000000ull / rate + 2);
		}
	}
}

static void limit__change_frees_waiting_requests(void **state)
{
	struct bucket b = {0};

	bucket_rate(&b, 1);
	bucket_charge(&b, 1u << 30, 1000);
	assert_false(bucket_allows(&b, 100 * S_NS));
	uint64_t next_ns = b.next_ns;
	bucket_rate(&b, 1); /* same rate: no effect */
	assert_int_equal(b.next_ns, next_ns);
	bucket_rate(&b, 1000000);
	assert_true(bucket_allows(&b, 100 * S_NS));
	assert_true(batch(&b, PACKET, 100 * S_NS) <= BUCKET_BURST_BYTES + 2 * PACKET);
	bucket_rate(&b, 1000);
	assert_true(bucket_allows(&b, 100 * S_NS));
}

/* Bytes without a check are charged; the time saturates. */
static void limit__charges_of_any_size(void **state)
{
	struct bucket b = {0};

	bucket_rate(&b, 1000000);
	bucket_charge(&b, 10000000, 50 * S_NS);
	assert_in_range(b.next_ns, 59 * S_NS, 60 * S_NS);
	bucket_charge(&b, 1000000, 51 * S_NS);
	assert_in_range(b.next_ns, 60 * S_NS, 61 * S_NS);
	bucket_rate(&b, 1);
	for (int i = 0; i < 10; i++)
		bucket_charge(&b, UINT64_MAX, 50 * S_NS);
	assert_int_equal(b.next_ns, UINT64_MAX);
	bucket_rate(&b, BUCKET_RATE_MAX);
	bucket_charge(&b, UINT64_MAX, UINT64_MAX / 2);
	assert_true(b.paid_ns < UINT64_MAX / 2 + S_NS);
}

static void limit__waits_are_counted_once(void **state)
{
	struct bucket b = {0};

	bucket_rate(&b, 1000000);
	for (uint64_t i = 0; i < 10; i++) {
		uint64_t now_ns = max_u64(b.next_ns, S_NS);
		batch(&b, PACKET, now_ns);
		assert_false(bucket_allows(&b, now_ns));
		/* a retransmission is sent without a check, which lengthens the wait */
		bucket_charge(&b, PACKET, now_ns);
		assert_false(bucket_allows(&b, now_ns));
		assert_int_equal(b.waits, i + 1);
	}
}

static uint64_t token_of(void *context, uint32_t id)
{
	return id;
}

static void limit__function(void **state)
{
	struct rng r = {1};
	const struct nic_options options = {
		.node = 1, .entropy = rng_entropy_rng, .entropy_context = &r, .token = token_of};
	struct nic *n;

	assert_int_equal(nic_create(&options, &n), DXP_OK);
	struct nic_function *f = &n->functions[3];
	n->now_ns = S_NS;
	assert_true(limit_allows(f, S_NS));
	assert_int_equal(limit_deadline(f), UINT64_MAX);
	assert_int_equal(nic_function_limit(n, 3, 1000000), DXP_OK);
	assert_int_equal(limit_deadline(f), 0);
	limit_charge(f, 1000000);
	assert_false(limit_allows(f, S_NS));
	assert_int_equal(limit_waits(f), 1);
	assert_in_range(limit_deadline(f), S_NS + 900 * MS_NS, 2 * S_NS);
	assert_true(limit_allows(f, limit_deadline(f)));
	assert_int_equal(nic_function_limit(n, 3, 0), DXP_OK);
	assert_int_equal(limit_deadline(f), UINT64_MAX);
	assert_int_equal(nic_function_limit(n, NIC_FUNCTIONS, 1), DXP_EINVAL);
	assert_int_equal(nic_function_limit(n, 0, BUCKET_RATE_MAX + 1), DXP_EINVAL);
	nic_destroy(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limit__none_costs_nothing),
		cmocka_unit_test(limit__rate_in_the_long_run),
		cmocka_unit_test(limit__bursts_are_bounded),
		cmocka_unit_test(limit__never_more_than_the_rate),
		cmocka_unit_test(limit__change_frees_waiting_requests),
		cmocka_unit_test(limit__charges_of_any_size),
		cmocka_unit_test(limit__waits_are_counted_once),
		cmocka_unit_test(limit__function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
