/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs jobs that share switches, need more groups than there are, die without KILL, and continue
 * after the loss of a switch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <malloc.h>

#include "test/sim/inc_rig.h"

static const struct inc_load_options some_work = {.seed = 1, .calls = 40, .elements_max = 300};

static struct inc_switch_row switch_row(struct rig *r, uint32_t index)
{
	const struct inc_inquiry q = {.section = INC_SECTION_SWITCH};
	struct inc_answer a = {0};

	switch_answer(inc_sim_switch(r->sim, index), &q, inc_sim_now(r->sim), &a);
	return a.self;
}

static void all_free(struct rig *r)
{
	for (uint32_t i = 0; i < inc_sim_switches(r->sim); i++) {
		assert_int_equal(switch_row(r, i).groups, 0);
		assert_int_equal(switch_row(r, i).memory_bytes, 0);
	}
}

/* Draws some of the hosts, in random order. */
static void locations_draw(struct rng *r, uint32_t hosts, struct inc_location *out, uint32_t count)
{
	uint32_t order[64];

	for (uint32_t i = 0; i < hosts; i++)
		order[i] = i;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = i + (uint32_t)rng_below(r, hosts - i), t = order[k];
		order[k] = order[i];
		order[i] = t;
		out[i] = (struct inc_location){.host = t};
	}
}

static void inc_jobs__share_switches(void **state)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		static struct rig r;
		struct inc_sim_options o = rig_options(seed);
		struct rng rng = {seed};
		o.net.tree = (struct inc_tree_options){
			.hosts = 24, .levels = 2, .below = {6, 0}, .beside = {1, 3}};
		o.net.faults = (struct sim_faults){
			.loss_ppm = 3000, .duplicate_ppm = 3000, .jitter_ns = 3 * US_NS};
		o.create_ns = o.deadline_ns = 4 * S_NS;
		assert_true(rig_make(&r, &o));
		r.close_jobs = true;
		for (uint32_t i = 0; i < 8; i++) {
			struct inc_location locations[64];
			struct inc_load_options load = some_work;
			struct inc_job_options job = {.locations = locations,
						      .count = 2 + (uint32_t)rng_below(&rng, 22)};
			load.seed = seed * 100 + i;
			locations_draw(&rng, 24, locations, job.count);
			rig_job_with(&r, job, &load);
		}
		rig_right(&r, 60 * S_NS);
		for (uint32_t i = 0; i < r.job_count; i++)
			assert_int_equal(rig_view(&r.jobs[i]).calls_done, some_work.calls);
		rig_free(&r);
	}
}

static void inc_jobs__more_than_there_are(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		static struct rig r;
		struct inc_sim_options o = rig_options(seed);
		uint32_t ready = 0;
		o.hop.groups_max = 2;
		assert_true(rig_make(&r, &o));
		for (uint32_t i = 0; i < 6; i++)
			rig_job_with(&r, (struct inc_job_options){.count = 8, .late_ns = MS_NS},
				     &some_work);
		rig_right(&r, 60 * S_NS);
		for (uint32_t i = 0; i < 6; i++) {
			struct inc_job *job = r.jobs[i].job;
			if (job->state == INC_JOB_READY)
				ready++;
			else
				assert_int_equal(job->status, DXP_EBUSY);
			inc_job_close(job);
		}
		assert_true(ready <= 2);
		/* No state is left: KILL or an expired lease frees it. */
		inc_sim_run(r.sim, 65 * S_NS, NULL, NULL);
		all_free(&r);
		struct rig_job *next = rig_job(&r, 8, &some_work);
		rig_right(&r, 60 * S_NS);
		assert_int_equal(next->job->state, INC_JOB_READY);
		assert_int_equal(rig_view(next).calls_done, some_work.calls);
		rig_free(&r);
	}
}

/* One group per switch, one job after another. If KILL is lost, the lease frees the group. */
static void inc_jobs__come_and_go(void **state)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		static struct rig r;
		struct inc_sim_options o = rig_options(seed);
		o.hop.groups_max = 1;
		o.hop.lease_ms = 200;
		o.create_ns = 2 * S_NS;
		o.net.faults.loss_ppm = seed == 1 ? 0 : 20000;
		assert_true(rig_make(&r, &o));
		r.close_jobs = true;
		for (uint32_t i = 0; i < 25; i++) {
			struct rig_job *j = rig_job(&r, 8, &some_work);
			rig_right(&r, 60 * S_NS);
			if (seed == 1)
				assert_int_equal(rig_view(j).calls_done, some_work.calls);
			inc_sim_run(r.sim, seed == 1 ? MS_NS : 500 * MS_NS, NULL, NULL);
			all_free(&r);
		}
		rig_free(&r);
	}
}

/* No KILL is sent; expired leases free the groups. */
static void inc_jobs__die_without_a_word(void **state)
{
	static struct rig r;
	struct inc_sim_options o = rig_options(1);
	struct inc_load_options load = some_work;

	o.hop.lease_ms = 300;
	load.calls = 3;
	assert_true(rig_make(&r, &o));
	struct rig_job *j = rig_job(&r, 8, &load);
	rig_right(&r, S_NS);
	/* an alive job's lease is renewed without operations */
	inc_sim_run(r.sim, 3 * S_NS, NULL, NULL);
	for (uint32_t i = 0; i < inc_sim_switches(r.sim); i++)
		assert_int_equal(switch_row(&r, i).groups, 1);
	for (uint32_t i = 0; i < 8; i++)
		inc_seat_kill(&j->job->seats[i]);
	inc_sim_run(r.sim, S_NS, NULL, NULL);
	all_free(&r);
	rig_free(&r);
}

/* A job that uses another's id gets no group, and the running job continues. */
static void inc_jobs__anothers_id(void **state)
{
	static struct rig r;
	struct inc_sim_options o = rig_options(1);
	struct inc_load_options load = some_work;
	const struct inc_job_options own = {.count = 8, .id = 77, .qkey = 1111};
	struct inc_location locations[8];
	struct inc_job_options other = {.locations = locations, .count = 8, .id = 77, .qkey = 2222};

	for (uint32_t i = 0; i < 8; i++)
		locations[i] = (struct inc_location){.host = 7 - i, .endpoint = 1};
	load.calls = 3000;
	assert_true(rig_make(&r, &o));
	struct rig_job *a = rig_job_with(&r, own, &load);
	inc_sim_run(r.sim, 5 * MS_NS, NULL, NULL);
	assert_int_equal(a->job->state, INC_JOB_READY);
	struct rig_job *b = rig_job_with(&r, other, &load);
	rig_right(&r, 60 * S_NS);
	assert_int_equal(rig_view(a).calls_done, load.calls);
	assert_int_equal(b->job->state, INC_JOB_REJECTED);
	rig_free(&r);
}

/* The job creates its group again, one epoch later, while old packets are in flight. */
static void inc_jobs__begin_again(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		static struct rig r;
		struct inc_sim_options o = rig_options(seed);
		struct inc_load_options load = some_work;
		o.net.faults = (struct sim_faults){.loss_ppm = 5000,
						   .duplicate_ppm = 100000,
						   .reorder_ppm = 100000,
						   .reorder_ns = 2 * S_NS};
		o.create_ns = o.deadline_ns = 8 * S_NS;
		load.grace_ns = 60 * S_NS;
		load.calls = 200;
		load.seed = seed;
		assert_true(rig_make(&r, &o));
		for (uint16_t epoch = 0; epoch < 4; epoch++) {
			struct rig_job *j = rig_job_with(
				&r,
				(struct inc_job_options){
					.count = 8, .id = 5, .qkey = 6, .epoch = epoch},
				&load);
			while (j->job->state == INC_JOB_CREATING)
				inc_sim_run(r.sim, MS_NS, NULL, NULL);
			if (epoch < 3) {
				inc_sim_run(r.sim, 20 * MS_NS, NULL, NULL);
				for (uint32_t i = 0; i < inc_sim_switches(r.sim); i++) {
					inc_sim_switch_kill(r.sim, i);
					inc_sim_switch_start(r.sim, i);
				}
			}
			rig_right(&r, 600 * S_NS);
			rig_rejection(j);
			assert_int_equal(j->job->state, INC_JOB_READY);
			if (epoch == 3)
				assert_int_equal(rig_view(j).calls_done, load.calls);
			inc_job_close(j->job);
		}
		rig_free(&r);
	}
}

/* A job's memory does not grow from operation 1000 to operation 3900. */
static void inc_jobs__no_memory_grows(void **state)
{
	static struct rig r;
	struct inc_sim_options o = rig_options(1);
	struct inc_load_options load = {.seed = 1, .calls = 4000, .elements_max = 1000};
	size_t before = 0;

	o.net.faults = (struct sim_faults){
		.loss_ppm = 5000, .duplicate_ppm = 5000, .jitter_ns = 5 * US_NS};
	o.deadline_ns = 4 * S_NS;
	assert_true(rig_make(&r, &o));
	struct rig_job *j = rig_job(&r, 8, &load);
	while (rig_view(j).calls_done < 1000 && !inc_load_wrong(j->load))
		inc_sim_run(r.sim, 10 * MS_NS, NULL, NULL);
	before = mallinfo2().uordblks;
	uint64_t pool = inc_net_pool_bytes(inc_sim_net(r.sim));
	while (rig_view(j).calls_done < 3900 && !inc_load_wrong(j->load))
		inc_sim_run(r.sim, 10 * MS_NS, NULL, NULL);
	/* outstanding operations of 8 members (2 * 8 KiB each), and 128 KiB */
	assert_true(mallinfo2().uordblks <= before + 8 * 2 * 8192 + 65536 * 2);
	assert_true(inc_net_pool_bytes(inc_sim_net(r.sim)) <= 2 * pool);
	rig_right(&r, 600 * S_NS);
	assert_int_equal(rig_view(j).calls_done, load.calls);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inc_jobs__share_switches),
		cmocka_unit_test(inc_jobs__more_than_there_are),
		cmocka_unit_test(inc_jobs__come_and_go),
		cmocka_unit_test(inc_jobs__die_without_a_word),
		cmocka_unit_test(inc_jobs__anothers_id),
		cmocka_unit_test(inc_jobs__begin_again),
		cmocka_unit_test(inc_jobs__no_memory_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
