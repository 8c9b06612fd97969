/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests RLTP and the NIC with each single datagram lost, then 200 seeds of all faults at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "test/support/workload.h"

#define SEEDS 200

/* Returns the first error, or NULL. */
static const char *run(const struct sim_options *options, const struct workload_options *load,
		       uint64_t *sent, uint64_t *hash)
{
	static char verdict[200];
	struct sim *s;

	assert_int_equal(sim_create(options, &s), DXP_OK);
	struct workload *w = workload_create(s, options->seed, load);
	assert_non_null(w);
	bool finished = sim_run(s, 60 * S_NS, workload_step, w);
	const char *wrong = workload_verdict(w);
	if (wrong || !finished)
		snprintf(verdict, sizeof(verdict), "%s",
			 wrong ? wrong : "did not finish within 60 s of virtual time");
	if (sent)
		*sent = sim_counters(s)->sent;
	if (hash)
		*hash = sim_trace_hash(s);
	workload_destroy(w);
	sim_destroy(s);
	return wrong || !finished ? verdict : NULL;
}

static void recovery__clean(void **state)
{
	struct sim_options o = {.seed = 1, .hosts = 2};
	struct workload_options load = {.operations = 300, .bytes_max = 20000};

	assert_null(run(&o, &load, NULL, NULL));
}

static void recovery__drop_each_datagram_once(void **state)
{
	struct sim_options o = {.seed = 2, .hosts = 2};
	struct workload_options load = {.operations = 12, .bytes_max = 6000};
	uint64_t count;

	assert_null(run(&o, &load, &count, NULL));
	for (uint64_t k = 0; k < count; k++) {
		o.faults.drop_nth = k + 1;
		const char *wrong = run(&o, &load, NULL, NULL);
		if (wrong)
			fail_msg("losing datagram %llu: %s", (unsigned long long)k, wrong);
	}
	print_message("each of %llu datagrams lost once\n", (unsigned long long)count);
}

static struct sim_options options_draw(uint64_t seed)
{
	struct rng r = {seed};
	struct sim_options o = {.seed = seed, .hosts = 2};

	o.delay_ns = 1000 + rng_below(&r, 200 * US_NS);
	o.faults.jitter_ns = rng_below(&r, 3) ? 0 : rng_below(&r, o.delay_ns);
	o.rate_bps = rng_below(&r, 2) ? 0 : 100000000ull << rng_below(&r, 8);
	o.faults.loss_ppm =
		(uint32_t)(rng_below(&r, 3) ? rng_below(&r, 20000) : rng_below(&r, 300000));
	o.faults.duplicate_ppm = (uint32_t)rng_below(&r, 50000);
	o.faults.corrupt_ppm = (uint32_t)rng_below(&r, 30000);
	o.faults.truncate_ppm = (uint32_t)rng_below(&r, 10000);
	o.faults.reorder_ppm = (uint32_t)rng_below(&r, 100000);
	o.window_packets = rng_below(&r, 3) ? 0 : 1 + (uint32_t)rng_below(&r, 64);
	return o;
}

static void recovery__seeds(void **state)
{
	const char *one = getenv("DXP_SEED");
	uint64_t first = one ? strtoull(one, NULL, 0) : 1;
	uint64_t last = one ? first : SEEDS;
	struct workload_options load = {.operations = 60, .bytes_max = 30000};

	for (uint64_t seed = first; seed <= last; seed++) {
		struct sim_options o = options_draw(seed);
		const char *wrong = run(&o, &load, NULL, NULL);
		if (wrong)
			fail_msg(
				"seed %llu: %s\nreplay: DXP_SEED=%llu build/test/test-sim-recovery",
				(unsigned long long)seed, wrong, (unsigned long long)seed);
	}
}

static void recovery__same_seed_same_trace(void **state)
{
	struct workload_options load = {.operations = 40, .bytes_max = 30000};
	uint64_t a, b, c;
	struct sim_options o = options_draw(77), other = options_draw(78);

	const char *wrong = run(&o, &load, NULL, &a);
	if (wrong)
		fail_msg("seed 77: %s", wrong);
	assert_null(run(&o, &load, NULL, &b));
	assert_null(run(&other, &load, NULL, &c));
	assert_true(a == b);
	assert_true(a != c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recovery__clean),
		cmocka_unit_test(recovery__drop_each_datagram_once),
		cmocka_unit_test(recovery__same_seed_same_trace),
		cmocka_unit_test(recovery__seeds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
