/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests staged memory over the network (docs/guide/bridge.md): device latency, losses, small rings,
 * device failures, restarts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rltp/internal.h"
#include "test/sim/staged.h"

#define SEEDS 60

/* All is completed and released. Returns the first error, or NULL. */
static const char *run(const struct staged_plan *plan, struct staged_scene *out)
{
	static char verdict[200];
	static struct staged_scene s;

	staged_open(&s, plan);
	bool finished = staged_run(&s, 120 * S_NS);
	if (!finished)
		staged_wrong(&s, "does not end within 120 s of virtual time", 0, 0);
	if (out)
		*out = s;
	staged_close(&s);
	snprintf(verdict, sizeof(verdict), "%s", s.wrong);
	return verdict[0] ? verdict : NULL;
}

static void must(const char *wrong)
{
	if (wrong)
		fail_msg("%s", wrong);
}

static struct staged_plan plain(uint64_t latency_ns)
{
	return (struct staged_plan){
		.sim = {.seed = 1},
		.device = {.buffers = 8, .buffer_bytes = 4 * STAGED_UNIT, .latency_ns = latency_ns},
		.senders = 1,
		.puts = 60,
	};
}

static void staged__any_latency(void **state)
{
	const uint64_t latencies[] = {0, 1, 3 * US_NS, 100 * US_NS, 4 * MS_NS, 90 * MS_NS};
	struct staged_scene s;

	for (size_t i = 0; i < ARRAY_COUNT(latencies); i++) {
		struct staged_plan plan = plain(latencies[i]);
		must(run(&plan, &s));
		assert_true(s.good >= 60 && s.bad == 0 && s.events > 10);
	}
}

/* No peer is lost, and few packets are retransmitted. */
static void staged__five_seconds(void **state)
{
	struct staged_plan plan = plain(5 * S_NS);
	static struct staged_scene s;

	plan.puts = 3;
	staged_open(&s, &plan);
	bool finished = staged_run(&s, 60 * S_NS);
	const struct rltp_session *from =
		rltp_endpoint_session(nic_endpoint(sim_nic(s.sim, 0)), STAGED_HOST + 1);
	assert_true(finished);
	/* each of 3 PUTs is held about every 80 ms, for 5 s */
	assert_in_range(from->counters.held, 50, 600);
	assert_int_equal(from->counters.spurious, 0);
	assert_int_equal(from->counters.timeouts, 0);
	assert_true(from->srtt_ns < MS_NS);
	staged_close(&s);
	assert_string_equal(s.wrong, "");
}

static void staged__drop_each_datagram_once(void **state)
{
	const uint64_t latencies[] = {0, 30 * US_NS, 7 * MS_NS};

	for (size_t l = 0; l < ARRAY_COUNT(latencies); l++) {
		struct staged_plan plan = plain(latencies[l]);
		uint64_t count, k;
		plan.puts = 8;
		static struct staged_scene s;
		staged_open(&s, &plan);
		assert_true(staged_run(&s, 60 * S_NS));
		count = sim_counters(s.sim)->sent;
		staged_close(&s);
		for (k = 1; k <= count; k++) {
			plan.sim.faults.drop_nth = k;
			const char *wrong = run(&plan, NULL);
			if (wrong)
				fail_msg("losing datagram %llu, DMA of %llu ns: %s",
					 (unsigned long long)k, (unsigned long long)latencies[l],
					 wrong);
		}
		print_message("each of %llu datagrams lost once\n", (unsigned long long)count);
	}
}

/* Two senders each use one queue pair to several queue pairs of the target, which has buffers for
 * two packets. A buffered message waits for packets that arrive only after other senders have got a
 * buffer. */
static void staged__two_buffers(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct staged_plan plan = plain(20 * US_NS);
		plan.sim.seed = seed;
		plan.senders = 2;
		plan.puts = 30;
		plan.one_flow = true;
		plan.device.buffers = 2;
		plan.sim.faults.reorder_ppm = 200000;
		plan.sim.faults.reorder_ns = 100 * US_NS;
		plan.sim.faults.loss_ppm = 20000;
		struct staged_scene s;
		const char *wrong = run(&plan, &s);
		if (wrong)
			fail_msg("seed %llu: %s", (unsigned long long)seed, wrong);
		assert_true(s.device.refused > 0);
	}
}

/* Further reads wait in the NIC. */
static void staged__two_reads(void **state)
{
	struct staged_plan plan = plain(50 * US_NS);
	struct staged_scene s;

	plan.senders = 3;
	plan.device.reads = 2;
	must(run(&plan, &s));
	assert_true(s.device.refused > 0);
}

static void staged__recoveries(void **state)
{
	for (int r = 0; r < RLTP_RECOVERIES; r++) {
		for (uint64_t latency_ns = 0; latency_ns < 10 * MS_NS;
		     latency_ns = 40 * latency_ns + 5 * US_NS) {
			struct staged_plan plan = plain(latency_ns);
			plan.puts = 20;
			plan.sim.tuning.recovery = (enum rltp_recovery)r;
			plan.sim.faults.loss_ppm = 10000;
			const char *wrong = run(&plan, NULL);
			if (wrong)
				fail_msg("%s, DMA of %llu ns: %s", rltp_recovery_name(r),
					 (unsigned long long)latency_ns, wrong);
		}
	}
}

/* The n-th DMA fails with `status`; one operation completes with `expected`. */
static void each_fails(struct staged_plan plan, int status, int expected)
{
	struct staged_scene s;

	must(run(&plan, &s));
	uint32_t dmas = s.device.dmas;
	plan.may_fail = true;
	plan.device.fail_status = status;
	for (uint32_t n = 1; n <= dmas; n++) {
		plan.device.fail_nth = n;
		must(run(&plan, &s));
		assert_int_equal(s.bad, 1);
		uint32_t failed = 0;
		for (uint32_t i = 0; i < s.sender[0].posted; i++)
			failed += s.sender[0].operations[i].status == expected;
		assert_int_equal(failed, 1);
	}
}

/* Successful operations are in place, the others fail, and the rings still work. */
static void staged__device_fails(void **state)
{
	struct staged_plan plan = plain(30 * US_NS);
	struct staged_scene s;

	plan.puts = 12;
	each_fails(plan, DXP_EDEVICE, DXP_EDEVICE);
	each_fails(plan, DXP_EACCESS, DXP_EACCESS);
	each_fails(plan, DXP_ENOENT, DXP_EDEVICE);
	plan.may_fail = true;
	plan.device.fail_every = 3;
	plan.sim.faults.loss_ppm = 30000;
	must(run(&plan, &s));
	assert_true(s.bad > 3 && s.good > 3);
}

static struct staged_plan plan_draw(uint64_t seed)
{
	struct rng r = {seed};
	struct staged_plan plan =
		plain(rng_below(&r, 3) ? rng_below(&r, 300 * US_NS) : rng_below(&r, 20 * MS_NS));

	plan.sim.seed = seed;
	plan.sim.delay_ns = 1000 + rng_below(&r, 100 * US_NS);
	plan.sim.rate_bps = rng_below(&r, 2) ? 0 : 100000000ull << rng_below(&r, 8);
	plan.sim.faults.loss_ppm =
		(uint32_t)(rng_below(&r, 3) ? rng_below(&r, 20000) : rng_below(&r, 200000));
	plan.sim.faults.duplicate_ppm = (uint32_t)rng_below(&r, 50000);
	plan.sim.faults.reorder_ppm = (uint32_t)rng_below(&r, 100000);
	plan.sim.faults.reorder_ns = rng_below(&r, 200 * US_NS);
	plan.sim.faults.corrupt_ppm = (uint32_t)rng_below(&r, 10000);
	plan.sim.window_packets = rng_below(&r, 3) ? 0 : 1 + (uint32_t)rng_below(&r, 64);
	plan.device.buffers = 2 + (uint32_t)rng_below(&r, 7);
	plan.device.buffer_bytes = STAGED_UNIT << rng_below(&r, 4);
	plan.device.reads = 1 + (uint32_t)rng_below(&r, 16);
	plan.senders = 1 + (uint32_t)rng_below(&r, 3);
	plan.one_flow = rng_below(&r, 3) == 0;
	plan.puts = 20;
	return plan;
}

static void staged__seeds(void **state)
{
	const char *one = getenv("DXP_SEED");
	uint64_t first = one ? strtoull(one, NULL, 0) : 1, last = one ? first : SEEDS;

	for (uint64_t seed = first; seed <= last; seed++) {
		struct staged_plan plan = plan_draw(seed);
		const char *wrong = run(&plan, NULL);
		if (wrong)
			fail_msg("seed %llu: %s\nreplay: DXP_SEED=%llu build/test/test-sim-staged",
				 (unsigned long long)seed, wrong, (unsigned long long)seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(staged__any_latency),
		cmocka_unit_test(staged__five_seconds),
		cmocka_unit_test(staged__drop_each_datagram_once),
		cmocka_unit_test(staged__two_buffers),
		cmocka_unit_test(staged__two_reads),
		cmocka_unit_test(staged__recoveries),
		cmocka_unit_test(staged__device_fails),
		cmocka_unit_test(staged__seeds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
