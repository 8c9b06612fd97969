/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests collectives between xPUs from operation to result: random operations of 2 to 64 members,
 * with loss, slow members, and deaths of members and switches at any time. DXP_SEED=n replays seed
 * n; DXP_SEEDS=n sets the number of seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/sim/group_rig.h"

#define FEW 40

struct sums {
	uint32_t operations, lost, continued, members, ways[DXP_WAYS];
};

static void seed_run(uint64_t seed, enum group_faults faults, struct sums *sums)
{
	static struct gsim g;
	const struct gsim_options o = group_draw(seed, faults);
	const char *text = gsim_run(&g, &o);

	if (text)
		fail_msg("seed %llu: %s; replay it with DXP_SEED=%llu", (unsigned long long)seed,
			 text, (unsigned long long)seed);
	sums->operations += g.host.completed;
	sums->lost += g.host.status != DXP_OK;
	sums->continued += g.host.continued;
	sums->members += o.members;
	for (uint32_t w = 0; w < DXP_WAYS; w++)
		sums->ways[w] += g.host.ways[w];
	gsim_free(&g);
}

static struct sums seeds_run(enum group_faults faults)
{
	const uint64_t seeds = group_seeds(FEW);
	struct sums s = {0};

	for (uint64_t seed = 1; seed <= seeds; seed++)
		if (group_wanted(seed))
			seed_run(seed, faults, &s);
	print_message("%llu seeds: %u members, %u operations by ring %u, tree %u, switches %u; "
		      "%u groups lost, %u operations continued\n",
		      (unsigned long long)seeds, s.members, s.operations, s.ways[DXP_WAY_RING],
		      s.ways[DXP_WAY_TREE], s.ways[DXP_WAY_SWITCH], s.lost, s.continued);
	return s;
}

static void group__loss_and_slow_members(void **state)
{
	const struct sums s = seeds_run(GROUP_SOUND);

	(void)state;
	assert_int_equal(s.lost, 0);
}

static void group__members_die(void **state)
{
	const struct sums s = seeds_run(GROUP_MEMBER_DIES);

	(void)state;
	assert_true(getenv("DXP_SEED") || s.lost > 0);
}

static void group__switches_die(void **state)
{
	const struct sums s = seeds_run(GROUP_SWITCH_DIES);

	(void)state;
	assert_int_equal(s.lost, 0);
	assert_true(getenv("DXP_SEED") || s.continued > 0);
}

static void group__members_and_switches_die(void **state)
{
	(void)state;
	seeds_run(GROUP_BOTH_DIE);
}

static void group__revoked_memory(void **state)
{
	(void)state;
	seeds_run(GROUP_REVOKED);
}

/* Results depend on no fault and no time. */
static void group__same_bits_in_each_run(void **state)
{
	static struct gsim g;
	const uint64_t seeds = group_seeds(FEW) / 2;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct gsim_options o = group_draw(seed, GROUP_SOUND);
		uint64_t digest[2];
		if (!group_wanted(seed))
			continue;
		for (int i = 0; i < 2; i++) {
			const char *text = gsim_run(&g, &o);
			if (text)
				fail_msg("seed %llu: %s", (unsigned long long)seed, text);
			digest[i] = g.host.digest;
			gsim_free(&g);
			o.net_seed += 77;
			o.loss_ppm = 20000 - o.loss_ppm / 5;
			o.slow = o.members / 3;
		}
		if (digest[0] != digest[1])
			fail_msg("seed %llu: other bits in another run", (unsigned long long)seed);
	}
}

/* Two runs of one seed are equal to the last packet. */
static void group__replays(void **state)
{
	static struct gsim g;
	uint64_t hash[2], end_ns[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct gsim_options o = group_draw(3, GROUP_BOTH_DIE);
		const char *text = gsim_run(&g, &o);
		if (text)
			fail_msg("%s", text);
		hash[i] = sim_trace_hash(g.sim);
		end_ns[i] = g.ended_ns;
		gsim_free(&g);
	}
	assert_int_equal(hash[0], hash[1]);
	assert_int_equal(end_ns[0], end_ns[1]);
}

static void group__64_members(void **state)
{
	static struct gsim g;
	const uint64_t seeds = group_seeds(FEW) / 10;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct gsim_options o = group_draw(seed, (enum group_faults)(seed % GROUP_FAULTS));
		if (!group_wanted(seed))
			continue;
		o.members = GSIM_MEMBERS;
		o.calls = 3;
		o.loss_ppm = (uint32_t)(seed * 7919 % 50001);
		o.slow = o.slow ? 3 : 0;
		if (o.revoked_call)
			o.revoked_call = 1 + o.revoked_call % o.calls;
		const char *text = gsim_run(&g, &o);
		if (text)
			fail_msg("seed %llu: %s", (unsigned long long)seed, text);
		gsim_free(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group__loss_and_slow_members),
		cmocka_unit_test(group__members_die),
		cmocka_unit_test(group__switches_die),
		cmocka_unit_test(group__members_and_switches_die),
		cmocka_unit_test(group__revoked_memory),
		cmocka_unit_test(group__same_bits_in_each_run),
		cmocka_unit_test(group__replays),
		cmocka_unit_test(group__64_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
