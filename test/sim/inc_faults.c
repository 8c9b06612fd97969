/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests in-network computing under faults and deaths: each packet of a small job lost once, then
 * random storms. No result is wrong, members agree, and deadlines hold. DXP_SEED=n replays storm
 * n. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/sim/inc_rig.h"

#define STORMS 300

/* Drops the packet of `concerns` at which `left` reaches 0; 0 at the start: none. */
struct loser {
	struct inc_sim_tap tap;
	uint64_t left;
	bool (*concerns)(uint32_t node, uint32_t next);
};

static bool loses_one(void *context, uint32_t node, uint32_t next, const struct roce_path *path,
		      const uint8_t *data, size_t bytes)
{
	struct loser *l = context;

	(void)node;
	(void)next;
	(void)path;
	(void)data;
	(void)bytes;
	return l->left > 0 && --l->left == 0;
}

/* The `k`-th packet on a wire is lost, from the creation on; false: there were fewer. */
static bool drop_one(const struct inc_sim_options *o, uint32_t members,
		     const struct inc_load_options *load, uint64_t k)
{
	static struct rig r;
	static struct loser loser;

	assert_true(rig_make(&r, o));
	loser = (struct loser){.left = k};
	loser.tap.tap = (struct inc_tap){.loses = loses_one, .context = &loser};
	inc_sim_tap(r.sim, &loser.tap);
	struct rig_job *j = rig_job(&r, members, load);
	const char *text = rig_run(&r, 60 * S_NS);
	if (text)
		fail_msg("crossing %llu is lost: %s", (unsigned long long)k, text);
	assert_int_equal(j->job->state, INC_JOB_READY);
	if (rig_view(j).calls_done != load->calls)
		fail_msg("crossing %llu is lost: %u calls done", (unsigned long long)k,
			 rig_view(j).calls_done);
	rig_free(&r);
	return loser.left == 0;
}

static void inc_faults__every_packet_once(void **state)
{
	static const struct {
		struct inc_tree_options tree;
		uint32_t elements_max;
	} cases[] = {
		{{.hosts = 2, .levels = 1, .below = {0}}, 8},
		{{.hosts = 4, .levels = 2, .below = {2, 0}}, 8},
		{{.hosts = 4, .levels = 2, .below = {2, 0}}, 2000},
		{{.hosts = 6, .levels = 3, .below = {2, 2, 0}}, 8},
	};
	uint64_t total = 0;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct inc_sim_options o = rig_options(i + 1);
		const struct inc_load_options load = {
			.seed = i, .calls = 6, .elements_max = cases[i].elements_max};
		o.net.tree = cases[i].tree;
		o.hop.window = 4;
		uint64_t k = 1;
		while (drop_one(&o, o.net.tree.hosts, &load, k))
			k++;
		assert_true(k > 30);
		total += k - 1;
	}
	print_message("%llu packets were lost in turn\n", (unsigned long long)total);
}

static struct sim_faults faults_draw(struct rng *r)
{
	static const uint32_t rates[] = {0, 0, 1000, 10000, 50000};
	struct sim_faults f = {0};

	f.loss_ppm = rates[rng_below(r, 5)];
	f.duplicate_ppm = rates[rng_below(r, 5)];
	f.reorder_ppm = rates[rng_below(r, 5)];
	f.reorder_ns = 1 + rng_below(r, 3 * MS_NS);
	f.corrupt_ppm = rates[rng_below(r, 5)];
	f.truncate_ppm = rng_below(r, 4) ? 0 : 5000;
	f.extend_ppm = rng_below(r, 4) ? 0 : 5000;
	f.late_ppm = rng_below(r, 4) ? 0 : 10000;
	f.jitter_ns = rng_below(r, 20 * US_NS);
	return f;
}

static struct inc_sim_options storm_options(uint64_t seed, struct rng *r)
{
	struct inc_sim_options o = rig_options(seed);

	o.net.tree = (struct inc_tree_options){
		.hosts = 2 + (uint32_t)rng_below(r, 11),
		.levels = 1 + (uint32_t)rng_below(r, 3),
		.below = {2 + (uint32_t)rng_below(r, 3), 2},
		.beside = {1, 1 + (uint32_t)rng_below(r, 3), 1 + (uint32_t)rng_below(r, 2)}};
	o.net.tree.below[o.net.tree.levels - 1] = 0;
	o.net.faults = faults_draw(r);
	o.hop.window = (uint16_t)(1u << rng_below(r, 6));
	if (rng_below(r, 2)) {
		o.net.rate_bps = 1000000000;
		o.net.queue_bytes = 30000;
		o.net.host = (struct inc_cost){.receive_ns = 2000, .send_ns = 2000};
		o.net.hop = (struct inc_cost){.receive_ns = 1000, .send_ns = 1000};
	}
	return o;
}

static struct inc_load_options storm_load(uint64_t seed, struct rng *r)
{
	return (struct inc_load_options){.seed = seed,
					 .calls = 10 + (uint32_t)rng_below(r, 20),
					 .elements_max = rng_below(r, 2) ? 16 : 6000,
					 .outstanding = 1 + (uint32_t)rng_below(r, 3),
					 .think_ns =
						 rng_below(r, 3) ? 0 : rng_below(r, 100 * US_NS)};
}

static void inc_faults__storms_of_packets(void **state)
{
	uint64_t crossings = 0;

	for (uint64_t seed = 1; seed <= STORMS; seed++) {
		static struct rig r;
		struct rng rng = {seed};
		struct inc_sim_options o = storm_options(seed, &rng);
		struct inc_load_options load = storm_load(seed, &rng);
		if (!rig_seed_wanted(seed))
			continue;
		o.deadline_ns = 4 * S_NS;
		o.create_ns = 4 * S_NS;
		load.grace_ns = 30 * S_NS;
		assert_true(rig_make(&r, &o));
		struct rig_job *j = rig_job(&r, o.net.tree.hosts, &load);
		rig_right(&r, 600 * S_NS);
		rig_rejection(j);
		if (j->job->state != INC_JOB_READY || rig_view(j).lost)
			fail_msg("seed %llu: the group is %s", (unsigned long long)seed,
				 rig_view(j).lost ? "lost" : "refused");
		crossings += inc_net_counters(inc_sim_net(r.sim))->crossings;
		rig_free(&r);
	}
	print_message("%llu packets crossed a wire\n", (unsigned long long)crossings);
}

/* ---- deaths ---- */

struct disaster {
	uint64_t at_ns[3], back_ns[3];
	uint32_t which[3];
	uint64_t start_ns;
	uint32_t done, returned, count;
	bool later;  /* times count from the creation of the group, not the start of the job */
	bool member; /* a member dies too, not only switches */
	uint64_t member_ns;
	uint32_t target;
};

static void disaster_step(struct rig *r, void *context)
{
	struct disaster *d = context;
	uint64_t now = inc_sim_now(r->sim);
	const struct inc_job *job = r->jobs[0].job;

	if (d->later && job->state != INC_JOB_READY)
		return;
	now -= d->later ? job->created_ns : d->start_ns;
	for (uint32_t i = 0; i < d->count; i++) {
		if (!(d->done >> i & 1) && now >= d->at_ns[i]) {
			inc_sim_switch_kill(r->sim, d->which[i]);
			d->done |= 1u << i;
		}
		if (d->back_ns[i] > 0 && !(d->returned >> i & 1) && now >= d->back_ns[i]) {
			if (!inc_sim_switch(r->sim, d->which[i]))
				inc_sim_switch_start(r->sim, d->which[i]);
			d->returned |= 1u << i;
		}
	}
	if (d->member && now >= d->member_ns) {
		inc_seat_kill(&r->jobs[0].job->seats[d->target]);
		d->member = false;
	}
}

static void disaster_draw(struct disaster *d, struct rng *r, uint32_t switches, uint64_t now_ns)
{
	*d = (struct disaster){.start_ns = now_ns,
			       .later = rng_below(r, 4),
			       .count = 1 + (uint32_t)rng_below(r, 2)};
	for (uint32_t i = 0; i < d->count; i++) {
		d->which[i] = (uint32_t)rng_below(r, switches);
		d->at_ns[i] = rng_below(r, 3 * MS_NS);
		if (rng_below(r, 2))
			d->back_ns[i] = d->at_ns[i] + rng_below(r, 2) * rng_below(r, 500 * MS_NS);
	}
}

/* A switch process dies, with or without a restart, while packets are lost. All members still have
 * the same results. */
static void inc_faults__switches_die(void **state)
{
	uint32_t lost = 0, in_creation = 0;

	for (uint64_t seed = 1; seed <= STORMS; seed++) {
		static struct rig r;
		static struct disaster d;
		struct rng rng = {seed * 77};
		struct inc_sim_options o = storm_options(seed, &rng);
		struct inc_load_options load = storm_load(seed, &rng);
		if (!rig_seed_wanted(seed))
			continue;
		load.calls = 1000;
		load.elements_max = load.elements_max > 16 ? 2000 : 16;
		o.deadline_ns = 4 * S_NS;
		load.grace_ns = 12 * S_NS;
		assert_true(rig_make(&r, &o));
		disaster_draw(&d, &rng, inc_sim_switches(r.sim), inc_sim_now(r.sim));
		r.step = disaster_step;
		r.context = &d;
		struct rig_job *j = rig_job(&r, o.net.tree.hosts, &load);
		rig_right(&r, 600 * S_NS);
		lost += rig_view(j).lost;
		in_creation += j->job->state == INC_JOB_REJECTED;
		rig_free(&r);
	}
	print_message("%u groups were lost, %u refused\n", lost, in_creation);
	assert_true(getenv("DXP_SEED") || lost > STORMS / 10);
}

/* The others complete in time, agree, and have no wrong result. */
static void inc_faults__members_die(void **state)
{
	uint32_t lost = 0;

	for (uint64_t seed = 1; seed <= STORMS; seed++) {
		static struct rig r;
		static struct disaster d;
		struct rng rng = {seed * 99};
		struct inc_sim_options o = storm_options(seed, &rng);
		struct inc_load_options load = storm_load(seed, &rng);
		if (!rig_seed_wanted(seed))
			continue;
		load.calls = 1000;
		load.elements_max = load.elements_max > 16 ? 2000 : 16;
		o.deadline_ns = 4 * S_NS;
		load.grace_ns = 16 * S_NS;
		assert_true(rig_make(&r, &o));
		disaster_draw(&d, &rng, inc_sim_switches(r.sim), inc_sim_now(r.sim));
		d.count = (uint32_t)rng_below(&rng, 2);
		d.member = true;
		d.member_ns = rng_below(&rng, 3 * MS_NS);
		d.target = (uint32_t)rng_below(&rng, o.net.tree.hosts);
		r.step = disaster_step;
		r.context = &d;
		struct rig_job *j = rig_job(&r, o.net.tree.hosts, &load);
		rig_right(&r, 600 * S_NS);
		lost += rig_view(j).lost;
		rig_free(&r);
	}
	print_message("%u groups were lost\n", lost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inc_faults__every_packet_once),
		cmocka_unit_test(inc_faults__storms_of_packets),
		cmocka_unit_test(inc_faults__switches_die),
		cmocka_unit_test(inc_faults__members_die),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
