/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests in-network computing without faults: all collectives and long operations, on trees of one
 * to four levels, members in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/sim/inc_rig.h"

static void all_done(struct inc_sim_options *o, const struct inc_job_options *job,
		     const struct inc_load_options *load)
{
	static struct rig r;

	assert_true(rig_make(&r, o));
	struct rig_job *j = rig_job_with(&r, *job, load);
	rig_right(&r, 60 * S_NS);
	rig_rejection(j);
	assert_int_equal(j->job->state, INC_JOB_READY);
	assert_int_equal(rig_view(j).calls_done, load->calls);
	assert_false(rig_view(j).lost);
	rig_free(&r);
}

static void inc_calls__short_ones(void **state)
{
	for (uint32_t members = 1; members <= 8; members++) {
		struct inc_sim_options o = rig_options(members);
		const struct inc_job_options job = {.count = members};
		const struct inc_load_options load = {
			.seed = members, .calls = 100, .elements_max = 16};
		all_done(&o, &job, &load);
	}
}

static void inc_calls__long_ones(void **state)
{
	struct inc_sim_options o = rig_options(1);
	const struct inc_job_options job = {.count = 8};
	const struct inc_load_options load = {
		.seed = 1, .calls = 40, .elements_max = 20000, .outstanding = 3};

	o.net.rate_bps = 10000000000ull;
	all_done(&o, &job, &load);
}

static void inc_calls__more_levels_and_spines(void **state)
{
	static const struct inc_tree_options trees[] = {
		{.hosts = 16, .levels = 1, .below = {0}},
		{.hosts = 30, .levels = 2, .below = {4, 0}, .beside = {1, 4}},
		{.hosts = 37, .levels = 3, .below = {4, 3, 0}, .beside = {1, 2, 2}},
		{.hosts = 32, .levels = 4, .below = {2, 2, 2, 0}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(trees); i++) {
		struct inc_sim_options o = rig_options(i + 1);
		const struct inc_job_options job = {.count = trees[i].hosts};
		const struct inc_load_options load = {
			.seed = i + 1, .calls = 30, .elements_max = 1000, .outstanding = 2};
		o.net.tree = trees[i];
		all_done(&o, &job, &load);
	}
}

/* Members are mapped to hosts as a job scheduler may do it: not contiguous, unevenly, several on a
 * host. */
static void inc_calls__members_anywhere(void **state)
{
	struct inc_location locations[20];

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct inc_sim_options o = rig_options(seed);
		struct rng r = {seed};
		uint16_t used[8] = {0};
		for (size_t i = 0; i < ARRAY_COUNT(locations); i++) {
			locations[i].host = (uint32_t)rng_below(&r, 8);
			locations[i].endpoint = used[locations[i].host]++;
		}
		const struct inc_job_options job = {.locations = locations,
						    .count = ARRAY_COUNT(locations),
						    .late_ns = 20 * MS_NS};
		const struct inc_load_options load = {.seed = seed,
						      .calls = 30,
						      .elements_max = 500,
						      .outstanding = 2,
						      .think_ns = 50 * US_NS};
		all_done(&o, &job, &load);
	}
}

/* A member that computes beyond the deadline is late, not dead. */
static void inc_calls__late_members(void **state)
{
	struct inc_sim_options o = rig_options(3);
	const struct inc_job_options job = {.count = 4};
	const struct inc_load_options load = {
		.seed = 3, .calls = 10, .elements_max = 100, .think_ns = 5 * S_NS};

	all_done(&o, &job, &load);
}

/* Each host sends one packet per segment, and retransmits none (N-11). */
static void inc_calls__one_packet_of_each_member(void **state)
{
	static struct rig r;
	struct inc_sim_options o = rig_options(4);
	const struct inc_load_options load = {.seed = 4,
					      .calls = 50,
					      .elements_max = 1,
					      .collective = INC_ALLREDUCE,
					      .op = DXP_INC_SUM,
					      .type = DXP_INC_DOUBLE};
	struct inc_watch_view v;

	assert_true(rig_make(&r, &o));
	struct rig_job *j = rig_job(&r, 8, &load);
	rig_right(&r, S_NS);
	inc_watch_view(j->watch, &v);
	assert_int_equal(v.contributions, 50 * 8);
	assert_int_equal(v.results, 50 * 8);
	assert_int_equal(v.repeats, 0);
	rig_free(&r);
}

static void inc_calls__members_disagree(void **state)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		static struct rig r;
		struct inc_sim_options o = rig_options(seed);
		const struct inc_load_options load = {.seed = seed,
						      .calls = 20,
						      .elements_max = seed % 2 ? 16 : 3000,
						      .collective = INC_ALLREDUCE,
						      .op = DXP_INC_SUM,
						      .type = DXP_INC_DOUBLE,
						      .rogue_member = (uint32_t)seed % 8,
						      .rogue_call = 10};
		assert_true(rig_make(&r, &o));
		struct rig_job *j = rig_job(&r, 8, &load);
		rig_right(&r, 20 * S_NS);
		assert_int_equal(rig_view(j).calls_done, 10);
		assert_int_equal(rig_view(j).lost_at, 10);
		assert_int_equal(rig_view(j).lost_status, DXP_EINVAL);
		rig_free(&r);
	}
}

/* Two runs with the same seed are equal, with every event at the same nanosecond. */
static void inc_calls__replays(void **state)
{
	uint64_t hash[2];

	for (int i = 0; i < 2; i++) {
		static struct rig r;
		struct inc_sim_options o = rig_options(5);
		const struct inc_load_options load = {
			.seed = 5, .calls = 50, .elements_max = 2000, .think_ns = 30 * US_NS};
		o.net.faults = (struct sim_faults){.loss_ppm = 10000, .jitter_ns = 5 * US_NS};
		assert_true(rig_make(&r, &o));
		rig_job(&r, 8, &load);
		rig_right(&r, 60 * S_NS);
		hash[i] = inc_net_trace_hash(inc_sim_net(r.sim));
		rig_free(&r);
	}
	assert_int_equal(hash[0], hash[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inc_calls__short_ones),
		cmocka_unit_test(inc_calls__long_ones),
		cmocka_unit_test(inc_calls__more_levels_and_spines),
		cmocka_unit_test(inc_calls__members_anywhere),
		cmocka_unit_test(inc_calls__late_members),
		cmocka_unit_test(inc_calls__one_packet_of_each_member),
		cmocka_unit_test(inc_calls__members_disagree),
		cmocka_unit_test(inc_calls__replays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
