/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests functions with limits, and that the others get the rest. */
#include "test/sim/arbiter_rig.h"

static void limited_check(uint64_t limit, uint64_t duration_ns)
{
	struct fair_options o = one_and_many(4);
	double rate[NIC_FUNCTIONS];

	o.functions[0].limit = limit;
	struct fair *f = opened(&o);
	run(f, 4 * MB);
	rates(f, duration_ns, rate);
	near(rate[0], (double)limit, 0.03);
	for (int i = 1; i < 4; i++)
		near(rate[i], (PORT - (double)limit) / 3, 0.03);
	o = one_and_many(4);
	fair_close(f);
}

static void arbiter__limited_has_its_rate_and_others_the_rest(void **state)
{
	limited_check(1 * MB, 500 * MS_NS);
	limited_check(10 * MB, 100 * MS_NS);
	limited_check(100 * MB, 50 * MS_NS);
	limited_check(250 * MB, 50 * MS_NS);
}

/* Checks that a single function keeps its limit for any number of peers. While it waits, it
 * requests no polls without work. */
static void limited_alone(uint64_t limit, uint64_t duration_ns)
{
	struct fair_options o = functions(1, NIC_QPS_PER_FUNCTION);
	double rate[NIC_FUNCTIONS];
	struct datagram batch[16];

	o.sim.rate_bps = 0;
	o.sim.backlog_bytes = 0;
	o.functions[0].limit = limit;
	struct fair *f = opened(&o);
	struct nic *n = sim_nic(fair_sim(f), 0);
	rates(f, 100 * MS_NS, rate);
	rates(f, duration_ns, rate);
	near(rate[0], (double)limit, 0.03);
	for (int i = 0; i < 100; i++) {
		fair_run(f, UINT64_MAX, MS_NS);
		nic_doorbells(n, sim_now(fair_sim(f)));
		if (nic_send(n, batch, ARRAY_COUNT(batch), sim_now(fair_sim(f))) == 0)
			assert_true(nic_deadline(n) > sim_now(fair_sim(f)));
	}
	assert_true(fair_failed(f, 0) == 0);
	fair_close(f);
}

static void arbiter__limits_of_any_size(void **state)
{
	limited_alone(1 * MB, S_NS);
	limited_alone(30 * MB, 200 * MS_NS);
	limited_alone(1000 * MB, 20 * MS_NS);
	limited_alone(10000 * MB, 10 * MS_NS);
}

/* Seconds pass between packets, but the peer is not lost. */
static void arbiter__slower_than_silence(void **state)
{
	struct fair_options o = functions(1, 1);
	struct fair_sample s;

	o.functions[0].limit = 300;
	o.functions[0].bytes_max = 3 * SIM_PAYLOAD_BYTES;
	struct fair *f = opened(&o);
	fair_run(f, UINT64_MAX, 100 * S_NS);
	assert_int_equal(fair_failed(f, 0), 0);
	fair_sample(f, &s);
	assert_in_range(s.bytes[0], 300 * 100, 300 * 100 + BUCKET_BURST_BYTES + 2 * 1472);
	fair_close(f);
}

static void arbiter__limits_change_in_flight(void **state)
{
	struct fair_options o = one_and_many(4);
	struct fair *f = opened(&o);
	struct nic *n = sim_nic(fair_sim(f), 0);
	double rate[NIC_FUNCTIONS];

	run(f, 4 * MB);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(nic_function_limit(n, 0, 1), DXP_OK);
		run(f, 2 * MB);
		rates(f, 10 * MS_NS, rate);
		assert_true(rate[0] == 0);
		near(rate[1], PORT / 3, 0.02);
		assert_int_equal(nic_function_limit(n, 0, 50 * MB), DXP_OK);
		run(f, 2 * MB);
		rates(f, 50 * MS_NS, rate);
		near(rate[0], 50e6, 0.03);
		/* its share, but no compensation for the limited time */
		assert_int_equal(nic_function_limit(n, 0, 0), DXP_OK);
		run(f, 2 * MB);
		rates(f, 10 * MS_NS, rate);
		for (int i = 0; i < 4; i++)
			near(rate[i], PORT / 4, 0.02);
	}
	fair_close(f);
}

static void arbiter__limited_and_lossy(void **state)
{
	struct fair_options o = one_and_many(4);
	double rate[NIC_FUNCTIONS];

	o.sim.faults.loss_ppm = 20000;
	o.functions[0].limit = 50 * MB;
	struct fair *f = opened(&o);
	run(f, 4 * MB);
	rates(f, 100 * MS_NS, rate);
	near(rate[0], 50e6, 0.03);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(fair_failed(f, i), 0);
	for (int i = 1; i < 4; i++)
		near(rate[i], (rate[1] + rate[2] + rate[3]) / 3, 0.03);
	fair_close(f);
}

/* A closed function ends its operations soon, although its rate is limited. */
static void arbiter__limited_function_can_close(void **state)
{
	struct fair_options o = one_and_many(2);

	o.functions[1].limit = 1;
	struct fair *f = opened(&o);
	struct nic *n = sim_nic(fair_sim(f), 0);
	run(f, 2 * MB);
	assert_int_equal(nic_user_close(n, 1, DXP_OK, sim_now(fair_sim(f))), DXP_OK);
	fair_run(f, UINT64_MAX, 50 * MS_NS);
	assert_true(nic_user_idle(n, 1));
	/* peers of the closed function */
	for (uint16_t node = 3; node <= 6; node++)
		assert_false(rltp_session_busy(rltp_endpoint_session(nic_endpoint(n), node)));
	fair_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arbiter__limited_has_its_rate_and_others_the_rest),
		cmocka_unit_test(arbiter__limits_of_any_size),
		cmocka_unit_test(arbiter__slower_than_silence),
		cmocka_unit_test(arbiter__limits_change_in_flight),
		cmocka_unit_test(arbiter__limited_and_lossy),
		cmocka_unit_test(arbiter__limited_function_can_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
