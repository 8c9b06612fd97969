/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests congestion control in a loop with a bottleneck, in virtual time. The bounds show the
 * purpose of each module. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rltp/limits.h"
#include "base/util.h"
#include "rltp/cc.h"
#include "test/support/bottleneck.h"

static struct bottleneck loop;

/* A path as in docs/design/congestion.md: 10 Gb/s, a queue of 256 packets, 20 us, senders at 40
 * Gb/s. */
static struct bottleneck_options path(enum cc_kind kind, uint32_t flows)
{
	return (struct bottleneck_options){
		.rate_bps = 1250000000,
		.access_bps = 5000000000ull,
		.delay_ns = 20000,
		.queue_packets = 256,
		.packet_bytes = 1538,
		.ack_every = RLTP_ACK_EVERY,
		.seed = 1,
		.kind = kind,
		.most = RLTP_WINDOW_DEFAULT,
		.flows = flows,
	};
}

static uint64_t seed_first(void)
{
	return getenv("DXP_SEED") ? strtoull(getenv("DXP_SEED"), NULL, 0) : 1;
}

static uint64_t seed_last(uint64_t default_last)
{
	return getenv("DXP_SEED") ? seed_first() : default_last;
}

/* Returns 0 to 1, after a warm-up of 5 ms. */
static double utilisation(const struct bottleneck_options *o, uint64_t ms)
{
	bottleneck_create(&loop, o);
	bottleneck_run(&loop, 5 * MS_NS);
	bottleneck_reset(&loop);
	bottleneck_run(&loop, (5 + ms) * MS_NS);
	double share = bottleneck_utilisation(&loop, ms * MS_NS);
	bottleneck_destroy(&loop);
	return share;
}

#define ASSERT_AT_LEAST(value, bound)                                          \
	do {                                                                   \
		double value_ = (value);                                       \
		if (!(value_ >= (bound)))                                      \
			fail_msg("%s is %.4f, not %g", #value, value_, bound); \
	} while (0)

#define ASSERT_AT_MOST(value, bound)                                           \
	do {                                                                   \
		double value_ = (value);                                       \
		if (!(value_ <= (bound)))                                      \
			fail_msg("%s is %.4f, not %g", #value, value_, bound); \
	} while (0)

/* Loss without congestion costs `swift` little more than the lost packets. */
static void cc_loop__swift_keeps_its_rate_under_loss(void **state)
{
	static const struct {
		uint32_t loss_ppm;
		double least;
	} rows[] = {{0, 0.97}, {1000, 0.97}, {10000, 0.95}, {50000, 0.90}, {100000, 0.85}};

	for (uint32_t delay_ns = 20000; delay_ns <= 200000; delay_ns *= 10)
		for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
			struct bottleneck_options o = path(CC_SWIFT, 1);
			o.delay_ns = delay_ns;
			o.loss_ppm = rows[i].loss_ppm;
			ASSERT_AT_LEAST(utilisation(&o, 60), rows[i].least);
		}
}

/* Shows that the model is realistic: on these paths `reno` collapses, as is known. */
static void cc_loop__reno_collapses_under_loss(void **state)
{
	struct bottleneck_options o = path(CC_RENO, 1);

	ASSERT_AT_LEAST(utilisation(&o, 60), 0.97);
	o.loss_ppm = 10000;
	ASSERT_AT_MOST(utilisation(&o, 60), 0.6);
	o.delay_ns = 200000;
	ASSERT_AT_MOST(utilisation(&o, 60), 0.2);
}

static void cc_loop__swift_incast(void **state)
{
	static const struct {
		uint32_t flows, noise_ns;
	} rows[] = {{2, 0}, {8, 0}, {8, 5000}, {32, 0}, {32, 2000}, {32, 5000}};

	for (uint64_t seed = seed_first(); seed <= seed_last(3); seed++)
		for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
			struct bottleneck_options o = path(CC_SWIFT, rows[i].flows);
			o.seed = seed;
			o.noise_ns = rows[i].noise_ns;
			print_message("%u to 1, DXP_SEED=%llu\n", o.flows,
				      (unsigned long long)seed);
			bottleneck_create(&loop, &o);
			bottleneck_run(&loop, 200 * MS_NS);
			/* Includes the start, when each flow sends as if alone. */
			ASSERT_AT_MOST(bottleneck_drops(&loop), 0.02);
			ASSERT_AT_LEAST(bottleneck_fairness(&loop, o.flows), 0.98);
			ASSERT_AT_LEAST(bottleneck_utilisation(&loop, 200 * MS_NS), 0.97);
			bottleneck_reset(&loop);
			bottleneck_run(&loop, 240 * MS_NS);
			/* Excludes the start. */
			ASSERT_AT_MOST(bottleneck_drops(&loop), 0.0005);
			ASSERT_AT_MOST(bottleneck_queue(&loop), 100.0);
			bottleneck_destroy(&loop);
		}
}

/* With only a fixed bound on packets in flight, most are dropped. */
static void cc_loop__none_drops_most_of_an_incast(void **state)
{
	struct bottleneck_options o = path(CC_NONE, 8);

	o.most = 256;
	bottleneck_create(&loop, &o);
	bottleneck_run(&loop, 5 * MS_NS);
	ASSERT_AT_LEAST(bottleneck_drops(&loop), 0.5);
	bottleneck_destroy(&loop);
}

/* The late flow measures a delay with the earlier flows' queue, and still gets a fair share. */
static void cc_loop__late_joiner_converges(void **state)
{
	for (uint32_t delay_ns = 20000; delay_ns <= 200000; delay_ns *= 10)
		for (uint32_t flows = 2; flows <= 9; flows += 7) {
			struct bottleneck_options o = path(CC_SWIFT, flows);
			o.delay_ns = delay_ns;
			bottleneck_create(&loop, &o);
			loop.flow[flows - 1].start_ns = 50 * MS_NS;
			bottleneck_run(&loop, 150 * MS_NS);
			bottleneck_reset(&loop);
			bottleneck_run(&loop, 350 * MS_NS);
			print_message("%u flows, %u us: %.4f\n", flows, delay_ns / 1000,
				      bottleneck_fairness(&loop, flows));
			ASSERT_AT_LEAST(bottleneck_fairness(&loop, flows),
					delay_ns == 20000 ? 0.98 : 0.9);
			bottleneck_destroy(&loop);
		}
}

static void cc_loop__dctcp_keeps_the_queue_at_the_mark(void **state)
{
	for (uint32_t flows = 1; flows <= 8; flows *= 2) {
		struct bottleneck_options o = path(CC_DCTCP, flows);
		o.mark_packets = 20;
		bottleneck_create(&loop, &o);
		bottleneck_run(&loop, 10 * MS_NS);
		bottleneck_reset(&loop);
		bottleneck_run(&loop, 60 * MS_NS);
		ASSERT_AT_LEAST(bottleneck_utilisation(&loop, 50 * MS_NS), 0.97);
		ASSERT_AT_LEAST(bottleneck_queue(&loop), 8.0);
		ASSERT_AT_MOST(bottleneck_queue(&loop), 30.0);
		assert_true(loop.queue_most < 60);
		assert_true(bottleneck_drops(&loop) == 0);
		bottleneck_destroy(&loop);
	}
}

/* Batches and late polls of the host add up to 40 us to samples, sometimes 1 ms, which look like a
 * queue. */
static void cc_loop__swift_bears_a_noisy_host(void **state)
{
	for (uint64_t seed = seed_first(); seed <= seed_last(3); seed++)
		for (uint32_t spike_ppm = 0; spike_ppm <= 100000; spike_ppm += 50000) {
			struct bottleneck_options o = path(CC_SWIFT, 1);
			print_message("spikes %u ppm, DXP_SEED=%llu\n", spike_ppm,
				      (unsigned long long)seed);
			o.seed = seed;
			o.rate_bps = 3500000000ull;
			o.access_bps = 7000000000ull;
			o.queue_packets = 1024;
			o.delay_ns = 6000;
			o.host_ns = 150000;
			o.noise_ns = 40000;
			o.spike_ppm = spike_ppm;
			o.spike_ns = 1000000;
			ASSERT_AT_LEAST(utilisation(&o, 40), 0.97);
		}
}

/* After a pause a session sends no more than a new one, and soon recovers its rate. */
static void cc_loop__a_pause_forgets_the_window(void **state)
{
	struct bottleneck_options o = path(CC_SWIFT, 1);

	o.delay_ns = 200000;
	o.idle_from_ns = 40 * MS_NS;
	o.idle_to_ns = 140 * MS_NS;
	bottleneck_create(&loop, &o);
	bottleneck_run(&loop, 40 * MS_NS);
	assert_true(cc_window(&loop.flow[0].cc) > 100);
	bottleneck_run(&loop, 140 * MS_NS - 1);
	assert_int_equal(loop.flow[0].inflight, 0);
	bottleneck_reset(&loop);
	bottleneck_run(&loop, 140 * MS_NS + 100000); /* half a round trip */
	assert_true(loop.flow[0].sent > 0 && loop.flow[0].sent <= RLTP_CC_INITIAL);
	bottleneck_run(&loop, 145 * MS_NS);
	bottleneck_reset(&loop);
	bottleneck_run(&loop, 165 * MS_NS);
	ASSERT_AT_LEAST(bottleneck_utilisation(&loop, 20 * MS_NS), 0.9);
	bottleneck_destroy(&loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cc_loop__swift_keeps_its_rate_under_loss),
		cmocka_unit_test(cc_loop__reno_collapses_under_loss),
		cmocka_unit_test(cc_loop__swift_incast),
		cmocka_unit_test(cc_loop__none_drops_most_of_an_incast),
		cmocka_unit_test(cc_loop__late_joiner_converges),
		cmocka_unit_test(cc_loop__dctcp_keeps_the_queue_at_the_mark),
		cmocka_unit_test(cc_loop__swift_bears_a_noisy_host),
		cmocka_unit_test(cc_loop__a_pause_forgets_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
