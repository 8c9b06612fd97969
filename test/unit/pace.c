/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the pace of a sender: long-run rate, batches, late and idle callers, invalid arguments. A
 * window here is a session's congestion window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rltp/limits.h"
#include "base/rng.h"
#include "base/util.h"
#include "rltp/cc.h"
#include "rltp/pace.h"

static uint64_t batch(struct pace *p, uint32_t packet_bytes, uint64_t now_ns)
{
	uint64_t sent = 0;

	for (; pace_ready(p, now_ns) && sent < 1u << 30; sent += packet_bytes)
		pace_spend(p, packet_bytes, now_ns);
	return sent;
}

static double rate_expected(uint32_t window, uint32_t packet_bytes, uint32_t rtt_ns)
{
	return 1.25 * window * packet_bytes / rtt_ns; /* bytes per ns */
}

static void pace__unpaced_is_always_ready(void **state)
{
	struct pace p;

	pace_init(&p);
	assert_true(batch(&p, 1500, 0) >= 1u << 30);
	assert_int_equal(pace_deadline(&p), 0);
	pace_set(&p, 100 * CC_ONE, 1500, 0); /* round-trip time unknown */
	assert_true(batch(&p, 1500, 7) >= 1u << 30);
	pace_set(&p, CC_UNPACED, 1500, 100000);
	assert_true(batch(&p, 1500, 7) >= 1u << 30);
	assert_true(p.rate_bps == UINT64_MAX);
}

/* No pause if one poll sends a whole batch. */
static void pace__a_fast_path_is_not_paced(void **state)
{
	struct pace p;

	pace_init(&p);
	pace_set(&p, 1024 * CC_ONE, 1472, 60000);
	assert_true(batch(&p, 1472, 1) >= 1u << 30);
	pace_set(&p, 8 * CC_ONE, 1472, 6000);
	assert_true(batch(&p, 1472, 1) >= 1u << 30);
	/* a small window on the same path, as in an incast */
	pace_set(&p, CC_ONE / 2, 1472, 6000);
	assert_int_equal(batch(&p, 1472, 1), 1472);
	/* at once after the pace is removed */
	pace_set(&p, CC_UNPACED, 1472, 6000);
	assert_true(pace_ready(&p, 1));
}

static void pace__rate_in_the_long_run(void **state)
{
	static const struct {
		uint32_t window, packet_bytes, rtt_ns;
	} rows[] = {{40, 1472, 60000},    {40, 64, 60000},   {1024, 1472, 400000},
		    {1024, 8960, 800000}, {2, 1472, 100000}, {200, 1472, 3000000},
		    {4096, 1408, 4000000}};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct pace p;
		uint64_t now_ns = 12345, start_ns = now_ns, sent = 0;
		pace_init(&p);
		pace_set(&p, rows[i].window * CC_ONE, rows[i].packet_bytes, rows[i].rtt_ns);
		assert_true(p.batch_bytes >= rows[i].packet_bytes);
		assert_true(p.batch_bytes <= max_u64(RLTP_PACE_BATCH_BYTES, rows[i].packet_bytes));
		assert_int_equal(p.batch_bytes % rows[i].packet_bytes, 0);
		sent = batch(&p, rows[i].packet_bytes, now_ns); /* the initial burst */
		sent = 0;
		for (int k = 0; k < 20000; k++) {
			assert_true(pace_deadline(&p) > now_ns);
			assert_false(pace_ready(&p, pace_deadline(&p) - 1));
			now_ns = pace_deadline(&p);
			uint64_t burst = batch(&p, rows[i].packet_bytes, now_ns);
			assert_int_equal(burst, p.batch_bytes);
			sent += burst;
		}
		double rate = (double)sent / (double)(now_ns - start_ns);
		double want = rate_expected(rows[i].window, rows[i].packet_bytes, rows[i].rtt_ns);
		if (rate < 0.99 * want || rate > 1.01 * want)
			fail_msg("row %zu: %f bytes per ns, not %f", i, rate, want);
	}
}

/* A delay below a quarter of the window costs no rate. */
static void pace__late_callers_keep_the_rate(void **state)
{
	struct pace p;
	struct rng r = {4};
	uint64_t now_ns = 1000, sent = 0;

	pace_init(&p);
	pace_set(&p, 256 * CC_ONE, 1472, 200000);
	batch(&p, 1472, now_ns);
	uint64_t start_ns = now_ns;
	for (int i = 0; i < 20000; i++) {
		now_ns = pace_deadline(&p) + rng_below(&r, 40000);
		uint64_t burst = batch(&p, 1472, now_ns);
		assert_true(burst <= p.batch_bytes + 256 * 1472 / 4 + 1472);
		sent += burst;
	}
	double rate = (double)sent / (double)(now_ns - start_ns);
	double want = rate_expected(256, 1472, 200000);
	if (rate < 0.99 * want || rate > 1.01 * want)
		fail_msg("%f bytes per ns, not %f", rate, want);
}

/* The burst stays at most a batch and a quarter of the window. */
static void pace__idle_callers_get_no_more(void **state)
{
	for (uint64_t gap_ns = 1; gap_ns < UINT64_MAX / 16; gap_ns *= 8) {
		struct pace p;
		pace_init(&p);
		pace_set(&p, 40 * CC_ONE, 1472, 60000);
		batch(&p, 1472, 1000);
		uint64_t burst = batch(&p, 1472, 1000 + gap_ns);
		assert_true(burst <= p.batch_bytes + 10 * 1472 + 1472);
		assert_true(pace_deadline(&p) <= 1000 + gap_ns + 60000);
	}
}

/* One packet of any length is sent per rtt / window. */
static void pace__windows_under_one_packet(void **state)
{
	static const uint32_t windows[] = {RLTP_CC_WINDOW_MIN, 64, 128, 255};

	for (size_t i = 0; i < ARRAY_COUNT(windows); i++)
		for (uint32_t bytes = 64; bytes <= 1472; bytes += 704) {
			struct pace p;
			pace_init(&p);
			pace_set(&p, windows[i], 1472, 100000);
			uint64_t gap_ns = 100000ull * CC_ONE / windows[i];
			assert_int_equal(batch(&p, bytes, 5000), bytes);
			assert_in_range(pace_deadline(&p), 5000 + gap_ns - 2, 5000 + gap_ns + 2);
			/* even after a long pause */
			assert_int_equal(batch(&p, bytes, 500000000), bytes);
		}
	struct pace p;
	pace_init(&p);
	pace_set(&p, 1, 1472, UINT32_MAX);
	assert_int_equal(batch(&p, 1472, 5000), 1472);
	assert_true(pace_deadline(&p) <= 5000 + RLTP_PACE_GAP_MAX_NS);
}

static void pace__no_argument_breaks_it(void **state)
{
	uint64_t seed = getenv("DXP_SEED") ? strtoull(getenv("DXP_SEED"), NULL, 0) : 1;
	uint64_t last = getenv("DXP_SEED") ? seed : 2000;

	for (; seed <= last; seed++) {
		struct rng r = {seed};
		struct pace p;
		uint64_t now_ns = rng_next(&r) >> (2 + rng_below(&r, 60));
		pace_init(&p);
		for (int i = 0; i < 200; i++) {
			if (rng_below(&r, 4) == 0)
				pace_set(&p, (uint32_t)(rng_next(&r) >> rng_below(&r, 64)),
					 (uint32_t)(rng_next(&r) >> rng_below(&r, 64)),
					 (uint32_t)(rng_next(&r) >> rng_below(&r, 64)));
			pace_spend(&p, (uint32_t)(rng_next(&r) >> rng_below(&r, 64)), now_ns);
			/* never more than RLTP_PACE_GAP_MAX_NS */
			if (pace_deadline(&p) > now_ns + RLTP_PACE_GAP_MAX_NS ||
			    !pace_ready(&p, now_ns + RLTP_PACE_GAP_MAX_NS))
				fail_msg("held too long; replay with DXP_SEED=%llu",
					 (unsigned long long)seed);
			now_ns += rng_next(&r) >> (20 + rng_below(&r, 44));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pace__unpaced_is_always_ready),
		cmocka_unit_test(pace__a_fast_path_is_not_paced),
		cmocka_unit_test(pace__rate_in_the_long_run),
		cmocka_unit_test(pace__late_callers_keep_the_rate),
		cmocka_unit_test(pace__idle_callers_get_no_more),
		cmocka_unit_test(pace__windows_under_one_packet),
		cmocka_unit_test(pace__no_argument_breaks_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
