/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests groups of 8 to 1024 members of switches: loss up to 5 %, members at different paces, and
 * deaths of a member and of switches at any time from the creation on. No result is wrong, all
 * living members complete the same elements, and none waits for ever. DXP_SEED=n replays seed n;
 * DXP_SEEDS=n sets the number of seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/sim/group_rig.h"
#include "test/sim/inc_rig.h"

#define FEW 20
/* seeds for each one with `huge` members: an agreement of n members after a death takes n^2 packets
 */
#define PER_HUGE 50

struct deaths {
	uint64_t member_ns, switch_ns; /* after the creation; 0: never */
	uint32_t member, which;
};

static void deaths_step(struct rig *r, void *context)
{
	struct deaths *d = context;
	const struct inc_job *job = r->jobs[0].job;

	if (job->state != INC_JOB_READY)
		return;
	const uint64_t since_ns = inc_sim_now(r->sim) - job->created_ns;
	if (d->member_ns && since_ns >= d->member_ns) {
		d->member_ns = 0;
		inc_seat_kill(&job->seats[d->member]);
	}
	if (d->switch_ns && since_ns >= d->switch_ns) {
		d->switch_ns = 0;
		inc_sim_switch_kill(r->sim, d->which);
	}
}

static uint32_t crowd_size(struct rng *rng)
{
	static const uint32_t sizes[] = {8, 8, 8, 12, 16, 16, 32, 64, 128};

	return sizes[rng_below(rng, ARRAY_COUNT(sizes))];
}

static struct inc_sim_options crowd_options(uint64_t seed, uint32_t hosts, struct rng *rng)
{
	struct inc_sim_options o = rig_options(seed);

	o.net.tree = (struct inc_tree_options){.hosts = hosts,
					       .levels = hosts > 16 ? 3 : 2,
					       .below = {hosts > 64 ? 32 : 4, 8, 0},
					       .beside = {1, 2}};
	if (hosts <= 16)
		o.net.tree.below[1] = 0;
	o.net.faults = (struct sim_faults){.loss_ppm = (uint32_t)rng_below(rng, 50001),
					   .jitter_ns = 5 * US_NS};
	o.deadline_ns = 8 * S_NS;
	o.create_ns = 20 * S_NS;
	return o;
}

/* Runs a seed with `huge` members, or with a drawn number if that is 0. */
static void seed_run(uint64_t seed, uint32_t huge, uint32_t *lost, uint32_t *members)
{
	static struct rig r;
	struct rng rng = {seed * 6151};
	const uint32_t hosts = huge ? huge : crowd_size(&rng);
	const struct inc_sim_options o = crowd_options(seed, hosts, &rng);
	const struct inc_load_options load = {.seed = seed,
					      .calls = huge ? 8 : 30,
					      .elements_max = huge ? 400 : 1500,
					      .outstanding = 1 + (uint32_t)rng_below(&rng, 4),
					      .think_ns = rng_below(&rng, 2) * 2 * MS_NS,
					      .grace_ns = 40 * S_NS};
	struct deaths d = {.member = (uint32_t)rng_below(&rng, hosts)};

	assert_true(rig_make(&r, &o));
	d.which = (uint32_t)rng_below(&rng, inc_sim_switches(r.sim));
	if (huge || rng_below(&rng, 3))
		d.member_ns = 1 + rng_below(&rng, (uint64_t)(10 * US_NS) << rng_below(&rng, 12));
	if (rng_below(&rng, 3))
		d.switch_ns = 1 + rng_below(&rng, (uint64_t)(10 * US_NS) << rng_below(&rng, 12));
	r.step = deaths_step;
	r.context = &d;
	struct rig_job *j = rig_job(&r, hosts, &load);
	const char *text = rig_run(&r, 900 * S_NS);
	if (text)
		fail_msg("%s; replay it with DXP_SEED=%llu", text, (unsigned long long)seed);
	*lost += rig_view(j).lost;
	*members += hosts;
	rig_free(&r);
}

static void inc_crowds__loss_and_deaths(void **state)
{
	const uint64_t seeds = group_seeds(FEW);
	uint32_t lost = 0, members = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++)
		if (group_wanted(seed))
			seed_run(seed, 0, &lost, &members);
	print_message("%llu seeds, %u members: %u groups were lost\n", (unsigned long long)seeds,
		      members, lost);
	assert_true(getenv("DXP_SEED") || lost > 0);
}

static void inc_crowds__up_to_1024_members(void **state)
{
	static const uint32_t sizes[] = {256, 512, 256, 1024};
	const uint64_t seeds = 1 + group_seeds(0) / PER_HUGE;
	uint32_t lost = 0, members = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++)
		if (group_wanted(seed))
			seed_run(seed, sizes[(seed - 1) % ARRAY_COUNT(sizes)], &lost, &members);
	print_message("%llu seeds, %u members: %u groups were lost\n", (unsigned long long)seeds,
		      members, lost);
	assert_true(getenv("DXP_SEED") || lost > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inc_crowds__up_to_1024_members),
		cmocka_unit_test(inc_crowds__loss_and_deaths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
