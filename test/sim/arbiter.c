/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of one NIC share its output equally or by weight, within their limits, whatever their
 * peers. DXP_SHARES=1 prints the shares over time. */
#include "test/sim/arbiter_rig.h"

/* ---- shares ---- */

static void equal_check(const struct fair_options *o)
{
	struct fair *f = opened(o);
	struct fair_sample s = run(f, 10 * MB);

	if (s.jain < 0.999)
		fail_msg("Jain's index %f; replay with DXP_SEED=%llu", s.jain,
			 (unsigned long long)seed());
	/* the port was never idle */
	near((double)s.time_ns, 10e6 / PORT * 1e9, 0.02);
	fair_close(f);
}

static void arbiter__equal_to_one_peer(void **state)
{
	struct fair_options o = functions(NIC_FUNCTIONS, 1);

	equal_check(&o);
}

static void arbiter__shares_do_not_depend_on_destinations(void **state)
{
	struct fair_options o = one_and_many(NIC_FUNCTIONS);

	equal_check(&o);
	o = one_and_many(2);
	equal_check(&o);
}

static void arbiter__equal_in_bytes_whatever_the_sizes(void **state)
{
	struct fair_options o = one_and_many(NIC_FUNCTIONS);

	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++) {
		o.functions[i].bytes_max = i == 0 ? 1u << 20 : 1u << (10 + i);
		o.functions[i].outstanding = i == 0 ? 2 : 32;
	}
	struct fair *f = opened(&o);
	assert_true(run(f, 10 * MB).jain >= 0.999);
	fair_close(f);
}

static void arbiter__by_weight(void **state)
{
	struct fair_options o = one_and_many(3);
	struct fair *f;
	double rate[NIC_FUNCTIONS];

	o.functions[1].weight = 2;
	o.functions[2].weight = 4;
	f = opened(&o);
	run(f, 10 * MB);
	rates(f, 20 * MS_NS, rate);
	for (int i = 0; i < 3; i++)
		near(rate[i], PORT / 7 * (1 << i), 0.02);
	/* a new weight applies at once */
	nic_function_weight(sim_nic(fair_sim(f), 0), 2, 1);
	nic_function_weight(sim_nic(fair_sim(f), 0), 0, 5);
	run(f, MB);
	rates(f, 20 * MS_NS, rate);
	near(rate[0], PORT * 5 / 8, 0.02);
	near(rate[1], PORT * 2 / 8, 0.02);
	near(rate[2], PORT * 1 / 8, 0.02);
	fair_close(f);
}

/* High priority gets the whole rate except the part that the guard reserves for the others, by
 * weight. */
static void arbiter__by_priority(void **state)
{
	struct fair_options o = one_and_many(3);
	const double guard = PORT / RLTP_GUARD_SHARE;
	struct fair *f;
	double rate[NIC_FUNCTIONS];

	o.functions[2].weight = 3;
	f = opened(&o);
	struct nic *n = sim_nic(fair_sim(f), 0);
	assert_int_equal(nic_function_priority(n, 0, NIC_PRIORITY_HIGH), DXP_OK);
	run(f, 10 * MB);
	rates(f, 50 * MS_NS, rate);
	near(rate[0], PORT - guard, 0.02);
	near(rate[1], guard / 4, 0.1);
	near(rate[2], guard * 3 / 4, 0.1);
	/* two functions of high priority share by weight */
	assert_int_equal(nic_function_priority(n, 2, NIC_PRIORITY_HIGH), DXP_OK);
	run(f, 10 * MB);
	rates(f, 50 * MS_NS, rate);
	near(rate[0], (PORT - guard) / 4, 0.02);
	near(rate[1], guard, 0.1);
	near(rate[2], (PORT - guard) * 3 / 4, 0.02);
	assert_int_equal(nic_function_priority(n, 0, NIC_PRIORITY_NORMAL), DXP_OK);
	assert_int_equal(nic_function_priority(n, 2, NIC_PRIORITY_NORMAL), DXP_OK);
	run(f, 10 * MB);
	rates(f, 20 * MS_NS, rate);
	near(rate[0], PORT / 5, 0.02);
	near(rate[1], PORT / 5, 0.02);
	near(rate[2], PORT * 3 / 5, 0.02);
	assert_int_equal(nic_function_priority(n, 0, 2), DXP_EINVAL);
	assert_int_equal(nic_function_priority(n, NIC_FUNCTIONS, 0), DXP_EINVAL);
	fair_close(f);
}

static void arbiter__priority_within_a_limit(void **state)
{
	struct fair_options o = one_and_many(3);
	struct fair *f = opened(&o);
	struct nic *n = sim_nic(fair_sim(f), 0);
	double rate[NIC_FUNCTIONS];

	assert_int_equal(nic_function_priority(n, 0, NIC_PRIORITY_HIGH), DXP_OK);
	assert_int_equal(nic_function_limit(n, 0, (uint64_t)(PORT / 2)), DXP_OK);
	run(f, 10 * MB);
	rates(f, 50 * MS_NS, rate);
	near(rate[0], PORT / 2, 0.03);
	near(rate[1], PORT / 4, 0.03);
	near(rate[2], PORT / 4, 0.03);
	fair_close(f);
}

/* ---- delays by others ---- */

static void arbiter__alone_has_everything(void **state)
{
	struct fair_options o = functions(1, 1);
	struct fair *f;
	double rate[NIC_FUNCTIONS];

	o.functions[0].weight = 1;
	f = opened(&o);
	run(f, 2 * MB);
	rates(f, 20 * MS_NS, rate);
	near(rate[0], PORT, 0.02);
	fair_close(f);
}

/* Function 0 has one peer, which is lost, so the others share its rate. Host 2 is lost too, so each
 * function's other three peers get its whole rate. */
static void arbiter__a_peer_that_is_gone_holds_back_no_other(void **state)
{
	struct fair_options o = one_and_many(4);
	struct fair *f = opened(&o);
	double rate[NIC_FUNCTIONS];

	run(f, 4 * MB);
	sim_blackhole(fair_sim(f), 0, 1, true);
	sim_blackhole(fair_sim(f), 0, 2, true);
	run(f, 4 * MB);
	rates(f, 50 * MS_NS, rate);
	assert_true(rate[0] < PORT / 100);
	for (int i = 1; i < 4; i++)
		near(rate[i], PORT / 3, 0.02);
	/* function 0 gets its share, but no compensation for the lost time */
	sim_heal(fair_sim(f));
	run(f, 400 * MB);
	rates(f, 20 * MS_NS, rate);
	for (int i = 0; i < 4; i++)
		near(rate[i], PORT / 4, 0.03);
	fair_close(f);
}

struct ping {
	struct fair *fair;
	uint64_t posted_ns, worst_ns;
	uint32_t key, own_key, ended;
};

/* Host 8 measures the longest completion of single requests to host 0, which sends at full rate. */
static bool ping_step(void *context)
{
	struct ping *p = context;
	struct sim *sim = fair_sim(p->fair);
	struct dxp_window *w = sim_window(sim, 8);
	struct dxp_target to = sim_target(sim, 0, 0);
	const struct dxp_entry from = {0, 64, p->own_key}, remote = {0, 64, p->key};
	struct dxp_nic_event event;

	if (dxp_sent_dequeue(w, &event)) {
		assert_int_equal(event.status, DXP_OK);
		/* the first one includes the handshake */
		if (p->ended++ > 0)
			p->worst_ns = max_u64(p->worst_ns, sim_now(sim) - p->posted_ns);
		p->posted_ns = 0;
	}
	if (p->posted_ns == 0) {
		p->posted_ns = sim_now(sim);
		assert_int_equal(dxp_post_put(w, 0, &to, &from, &remote, 0, 0, 0), DXP_OK);
	}
	return p->ended == 100;
}

/* Acknowledgements precede queued data, so they wait only for the port's queue and the path. */
static void arbiter__acknowledgements_do_not_wait(void **state)
{
	struct fair_options o = one_and_many(NIC_FUNCTIONS);
	struct fair *f = opened(&o);
	struct ping p = {.fair = f};
	static uint8_t memory[64];

	nic_region_register(sim_nic(fair_sim(f), 0), 0, memory, 64, NIC_REMOTE_WRITE, &p.key);
	nic_region_register(sim_nic(fair_sim(f), 8), 0, memory, 64, NIC_LOCAL, &p.own_key);
	for (int i = 0; i < 200 && !ping_step(&p); i++)
		fair_run(f, UINT64_MAX, 20 * US_NS);
	assert_true(p.ended >= 50);
	if (p.worst_ns > 100 * US_NS)
		fail_msg("%llu ns", (unsigned long long)p.worst_ns);
	fair_close(f);
}

static struct fair_options drawn(uint64_t seed)
{
	struct rng r = {seed};
	struct fair_options o = {.sim = {.seed = seed, .hosts = 6, .no_payload_crc = true}};

	if (rng_below(&r, 3) > 0)
		o.sim.rate_bps = 100000000ull << rng_below(&r, 8);
	o.sim.backlog_bytes = rng_below(&r, 2) ? 4096u << rng_below(&r, 6) : 0;
	o.sim.window_packets = rng_below(&r, 2) ? 1u << rng_below(&r, 8) : 0;
	o.sim.tuning.cc = rng_below(&r, 4) ? CC_SWIFT : CC_NONE;
	o.sim.faults.loss_ppm = rng_below(&r, 2) ? (uint32_t)rng_below(&r, 100000) : 0;
	o.sim.faults.duplicate_ppm = rng_below(&r, 2) ? (uint32_t)rng_below(&r, 20000) : 0;
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++) {
		struct fair_function *f = &o.functions[i];
		f->peer_count = (uint32_t)rng_below(&r, NIC_QPS_PER_FUNCTION + 1);
		f->bytes_max = 1u << rng_below(&r, 18);
		f->outstanding = 1 + (uint32_t)rng_below(&r, NIC_OUTSTANDING_MAX);
		f->weight = 1 + (uint32_t)rng_below(&r, RLTP_WEIGHT_MAX);
		f->limit = rng_below(&r, 3) ? 0 : 1ull << rng_below(&r, 34);
		for (uint32_t q = 0; q < NIC_QPS_PER_FUNCTION; q++)
			f->peers[q] = 1 + (uint32_t)rng_below(&r, o.sim.hosts - 1);
	}
	return o;
}

/* After random changes of limits, weights and reachability, all operations complete, without polls
 * for no work. */
static bool seed_good(uint64_t seed)
{
	struct fair_options o = drawn(seed);
	struct fair *f = opened(&o);
	struct sim *sim = fair_sim(f);
	struct rng r = {~seed};
	const char *broken = NULL;

	for (int i = 0; i < 20 && !broken; i++) {
		uint32_t function = (uint32_t)rng_below(&r, NIC_FUNCTIONS);
		nic_function_limit(sim_nic(sim, 0), function,
				   rng_below(&r, 2) ? 1ull << rng_below(&r, 34) : 0);
		nic_function_weight(sim_nic(sim, 0), function,
				    1 + (uint32_t)rng_below(&r, RLTP_WEIGHT_MAX));
		sim_blackhole(sim, 0, 1 + (uint32_t)rng_below(&r, 5), rng_below(&r, 2));
		fair_run(f, UINT64_MAX, rng_below(&r, 2 * MS_NS));
		broken = invariants_broken(sim_nic(sim, 0));
	}
	fair_stop(f);
	sim_heal(sim);
	for (uint32_t i = 0; i < NIC_FUNCTIONS; i++)
		nic_function_limit(sim_nic(sim, 0), i, 0);
	fair_run(f, UINT64_MAX, 20 * S_NS);
	if (!broken && !fair_ended(f))
		broken = "not all that was posted has ended";
	if (!broken && sim_counters(sim)->spins > 0)
		broken = "a host requests polls without work";
	if (broken)
		printf("seed %llu: %s\nreplay: DXP_SEED=%llu build/test/test-sim-arbiter\n",
		       (unsigned long long)seed, broken, (unsigned long long)seed);
	fair_close(f);
	return !broken;
}

static void arbiter__seeds(void **state)
{
	uint64_t first = seed(), last = getenv("DXP_SEED") ? first : 60;
	int failed = 0;

	for (uint64_t s = first; s <= last; s++)
		failed += !seed_good(s);
	assert_int_equal(failed, 0);
}

static void arbiter__replays(void **state)
{
	uint64_t hash[2];

	for (int i = 0; i < 2; i++) {
		struct fair_options o = one_and_many(NIC_FUNCTIONS);
		o.sim.faults.loss_ppm = 10000;
		o.functions[3].limit = 10 * MB;
		struct fair *f = opened(&o);
		run(f, 2 * MB);
		hash[i] = sim_trace_hash(fair_sim(f));
		fair_close(f);
	}
	assert_true(hash[0] == hash[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arbiter__equal_to_one_peer),
		cmocka_unit_test(arbiter__shares_do_not_depend_on_destinations),
		cmocka_unit_test(arbiter__equal_in_bytes_whatever_the_sizes),
		cmocka_unit_test(arbiter__by_weight),
		cmocka_unit_test(arbiter__by_priority),
		cmocka_unit_test(arbiter__priority_within_a_limit),
		cmocka_unit_test(arbiter__alone_has_everything),
		cmocka_unit_test(arbiter__a_peer_that_is_gone_holds_back_no_other),
		cmocka_unit_test(arbiter__acknowledgements_do_not_wait),
		cmocka_unit_test(arbiter__seeds),
		cmocka_unit_test(arbiter__replays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
