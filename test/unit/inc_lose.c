/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that members of a lost group agree which operations completed, whatever packets each
 * received. */
#include "test/unit/inc_rig.h"

#define ELEMENTS 20000 /* 57 segments */
#define CALLS    4

struct job {
	struct inc_operation calls[CALLS];
	int32_t *data[CALLS];
	unsigned started;
	size_t total; /* complete at all members */
	int status[CALLS];
};

static const uint8_t two_leaves[4] = {1, 1, 2, 2};
static const uint8_t one_root[3] = {0, 1, 1};
static const size_t sizes[CALLS] = {3, ELEMENTS, 7, 900};

static void jobs_make(struct job *jobs, unsigned count)
{
	memset(jobs, 0, count * sizeof(*jobs));
	for (unsigned i = 0; i < count; i++)
		for (unsigned c = 0; c < CALLS; c++) {
			jobs[i].data[c] = calloc(ELEMENTS, sizeof(int32_t));
			assert_non_null(jobs[i].data[c]);
			for (size_t k = 0; k < sizes[c]; k++)
				jobs[i].data[c][k] = (int32_t)(k + i * 100000 + c);
		}
}

static void jobs_free(struct job *jobs, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		for (unsigned c = 0; c < CALLS; c++)
			free(jobs[i].data[c]);
}

/* Starts the next operation of `member` once its previous operation is complete, as a program
 * does. */
static void job_next(struct rig *r, struct job *j, unsigned member)
{
	struct inc_group *g = r->hosts[member].group;

	if (r->hosts[member].dead)
		return;
	while (j->started < CALLS && (j->started == 0 || j->calls[j->started - 1].done)) {
		struct inc_operation *c = &j->calls[j->started];
		*c = (struct inc_operation){.collective = INC_ALLREDUCE,
					    .op = DXP_INC_SUM,
					    .type = DXP_INC_INT32,
					    .send = j->data[j->started],
					    .receive = j->data[j->started],
					    .elements = sizes[j->started]};
		int status = inc_group_start(g, c, r->now_ns);
		if (status != DXP_OK) {
			c->done = true;
			c->status = status;
		}
		j->started++;
	}
}

static void jobs_run(struct rig *r, struct job *jobs, uint64_t for_ns)
{
	uint64_t end_ns = r->now_ns + for_ns;
	bool more = true;

	while (more && r->now_ns < end_ns) {
		for (unsigned i = 0; i < r->members; i++)
			job_next(r, &jobs[i], i);
		while (r->head != r->tail) {
			rig_deliver(r);
			for (unsigned i = 0; i < r->members; i++) {
				job_next(r, &jobs[i], i);
				rig_host_send(r, i);
			}
		}
		more = rig_step(r, end_ns);
	}
}

static uint64_t calls_end_after(struct rig *r, struct job *jobs, uint64_t limit_ns)
{
	uint64_t begin_ns = r->now_ns;

	for (;;) {
		bool done = true;
		for (unsigned i = 0; i < r->members; i++)
			done &= r->hosts[i].dead ||
				(jobs[i].started == CALLS && jobs[i].calls[CALLS - 1].done);
		if (done || r->now_ns - begin_ns > limit_ns)
			return r->now_ns - begin_ns;
		jobs_run(r, jobs, 10 * MS_NS);
	}
}

static int32_t summed(const struct rig *r, unsigned call, size_t k)
{
	int32_t s = 0;

	for (unsigned i = 0; i < r->members; i++)
		s += (int32_t)(k + i * 100000 + call);
	return s;
}

/* All live members completed the same elements; bytes behind them are unchanged. */
static void all_the_same(const struct rig *r, const struct job *jobs)
{
	unsigned first = 0;

	while (r->hosts[first].dead)
		first++;
	for (unsigned i = first; i < r->members; i++) {
		if (r->hosts[i].dead)
			continue;
		assert_int_equal(jobs[i].started, CALLS);
		for (unsigned c = 0; c < CALLS; c++) {
			const struct inc_operation *a = &jobs[first].calls[c],
						   *b = &jobs[i].calls[c];
			assert_true(b->done);
			assert_int_equal(a->status, b->status);
			assert_int_equal(a->done_elements, b->done_elements);
			for (size_t k = 0; k < sizes[c]; k++)
				assert_int_equal(jobs[i].data[c][k],
						 k < b->done_elements
							 ? summed(r, c, k)
							 : (int32_t)(k + i * 100000 + c));
		}
	}
}

static void switch_kill(struct rig *r, unsigned i)
{
	switch_destroy(r->sw[i]);
	r->sw[i] = NULL;
}

struct death {
	unsigned victim; /* switch that dies */
	uint64_t at;     /* packets until then */
	bool reborn;
	bool lossy;
};

static struct death death;

static unsigned death_hook(struct rig *r, const struct rig_packet *p)
{
	if (r->count >= r->drop + death.at && r->sw[death.victim] &&
	    p->path.to_ip == rig_switch_ip(death.victim)) {
		switch_kill(r, death.victim);
		if (death.reborn)
			assert_int_equal(switch_create(&r->sw_options[death.victim], r->now_ns,
						       &r->sw[death.victim]),
					 DXP_OK);
		death.at = UINT64_MAX / 2;
	}
	return death.lossy && rng_chance_ppm(&r->rng, 100000) ? 0 : 1;
}

static void one_death(struct death d, uint64_t seed)
{
	struct rig r;
	struct job jobs[4];

	rig_open(&r, 4, two_leaves, 3, one_root);
	rig_ready(&r);
	jobs_make(jobs, 4);
	death = d;
	r.rng.state = seed;
	r.drop = r.count;
	r.hook = death_hook;
	assert_in_range(calls_end_after(&r, jobs, 20 * S_NS), 1, r.deadline_ns + 500 * MS_NS);
	all_the_same(&r, jobs);
	jobs_free(jobs, 4);
	rig_close(&r);
}

static void lose__switch_dies_at_each_packet(void **state)
{
	for (unsigned victim = 0; victim < 3; victim++)
		for (uint64_t at = 1; at < 760; at += at < 40 ? 1 : 7)
			one_death((struct death){.victim = victim, .at = at}, 1);
}

static void lose__switch_restarts_at_each_packet(void **state)
{
	for (unsigned victim = 0; victim < 3; victim++)
		for (uint64_t at = 1; at < 760; at += at < 40 ? 1 : 7)
			one_death((struct death){.victim = victim, .at = at, .reborn = true}, 1);
}

static void lose__switch_dies_while_packets_get_lost(void **state)
{
	for (uint64_t seed = 1; seed <= 200; seed++)
		one_death((struct death){.victim = seed % 3,
					 .at = seed * 17,
					 .reborn = seed % 2,
					 .lossy = true},
			  seed);
}

static void lose__ends_within_the_deadline(void **state)
{
	struct rig r;
	struct job jobs[4];

	rig_open(&r, 4, two_leaves, 3, one_root);
	rig_ready(&r);
	jobs_make(jobs, 4);
	switch_kill(&r, 0);
	assert_in_range(calls_end_after(&r, jobs, 9 * S_NS), 1, r.deadline_ns);
	all_the_same(&r, jobs);
	assert_int_equal(jobs[0].calls[0].status, DXP_EPEERLOST);
	jobs_free(jobs, 4);
	rig_close(&r);
}

static void lose__dead_member(void **state)
{
	struct rig r;
	struct job jobs[4];

	rig_open(&r, 4, two_leaves, 3, one_root);
	rig_ready(&r);
	jobs_make(jobs, 4);
	r.hosts[3].dead = true;
	assert_in_range(calls_end_after(&r, jobs, 9 * S_NS), 1, r.deadline_ns + 20 * MS_NS);
	all_the_same(&r, jobs);
	jobs_free(jobs, 4);
	rig_close(&r);
}

static unsigned cut_hook(struct rig *r, const struct rig_packet *p)
{
	return p->path.from_ip == rig_host_ip(3) || p->path.to_ip == rig_host_ip(3) ? 0 : 1;
}

/* The others lose the group before they begin an operation, while a member is cut off. */
static void lose__member_that_was_cut_off_ends_too(void **state)
{
	struct rig r;
	struct job jobs[4];

	rig_open(&r, 4, two_leaves, 3, one_root);
	rig_ready(&r);
	jobs_make(jobs, 4);
	for (unsigned i = 0; i < 4; i++)
		jobs[i].started = CALLS;
	r.hook = cut_hook;
	inc_group_give_up(r.hosts[0].group, DXP_ECANCELED, r.now_ns);
	jobs_run(&r, jobs, 4 * r.deadline_ns);
	assert_true(inc_group_lost(r.hosts[0].group));
	assert_true(inc_group_lost(r.hosts[1].group));
	assert_false(inc_group_lost(r.hosts[3].group));
	r.hook = NULL;
	jobs[3].started = CALLS - 1; /* as if it had completed the one before */
	jobs[3].calls[CALLS - 2].done = true;
	const uint64_t begin_ns = r.now_ns;
	while (!jobs[3].calls[CALLS - 1].done && r.now_ns - begin_ns < 9 * S_NS)
		jobs_run(&r, jobs, 10 * MS_NS);
	assert_true(jobs[3].calls[CALLS - 1].done);
	assert_int_equal(jobs[3].calls[CALLS - 1].status, DXP_EPEERLOST);
	assert_in_range(r.now_ns - begin_ns, 1, r.deadline_ns);
	jobs_free(jobs, 4);
	rig_close(&r);
}

/* A switch that restarts reports that it does not know the group, so no member waits for the
 * deadline. */
static void lose__forgotten_group_is_noticed_at_once(void **state)
{
	struct rig r;
	struct job jobs[4];

	rig_open(&r, 4, two_leaves, 3, one_root);
	rig_ready(&r);
	jobs_make(jobs, 4);
	death = (struct death){.victim = 1, .at = 100, .reborn = true};
	r.drop = r.count;
	r.hook = death_hook;
	assert_in_range(calls_end_after(&r, jobs, 9 * S_NS), 1, 100 * MS_NS);
	all_the_same(&r, jobs);
	jobs_free(jobs, 4);
	rig_close(&r);
}

/* Replaces the status of results for members by DXP_EAGAIN, with which callers would wait for
 * ever. */
static unsigned again_hook(struct rig *r, const struct rig_packet *p)
{
	struct rig_packet *changed = (struct rig_packet *)(uintptr_t)p;
	struct inc_packet packet;

	if (p->path.to_ip < rig_switch_ip(0) &&
	    inc_packet_decode(p->data, p->bytes, &packet) == DXP_OK && packet.header.status &&
	    packet.header.kind != INC_REFUSED)
		changed->data[roce_header_bytes(packet.roce.opcode) + INC_OFF_STATUS] =
			(uint8_t)-DXP_EAGAIN;
	return 1;
}

/* All members get the same status for the same operation. */
static void disagree(unsigned (*hook)(struct rig *r, const struct rig_packet *p), int status)
{
	struct rig r;
	int32_t data[4][400] = {0};
	struct inc_operation first[4], second[4];
	struct dxp_inc_group_view v;

	rig_open(&r, 4, two_leaves, 3, one_root);
	rig_ready(&r);
	r.hook = hook;
	for (unsigned i = 0; i < 4; i++) {
		first[i] = (struct inc_operation){.collective = INC_ALLREDUCE,
						  .op = DXP_INC_SUM,
						  .type = DXP_INC_INT32,
						  .receive = data[i],
						  .elements = 400};
		second[i] = first[i];
		second[i].op = i == 2 ? DXP_INC_MAX : DXP_INC_SUM;
		assert_int_equal(inc_group_start(r.hosts[i].group, &first[i], r.now_ns), DXP_OK);
		assert_int_equal(inc_group_start(r.hosts[i].group, &second[i], r.now_ns), DXP_OK);
	}
	rig_run(&r, 200 * MS_NS);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(first[i].done && first[i].status == DXP_OK);
		assert_true(second[i].done);
		assert_int_equal(second[i].status, status);
		assert_int_equal(second[i].done_elements, 0);
		inc_group_view(r.hosts[i].group, &v);
		assert_true(v.lost);
		assert_int_equal(inc_group_start(r.hosts[i].group, &first[i], r.now_ns),
				 DXP_EPEERLOST);
	}
	rig_close(&r);
}

static void lose__disagreement(void **state)
{
	disagree(NULL, DXP_EINVAL);
	disagree(again_hook, DXP_EIO);
}

/* ---- members lost during the agreement ---- */

/* Results reach some members, then the root exits, and member `dumb` reaches some for a while.
 * These must not accept from it what the others cannot get. */
struct partial {
	uint64_t quiet_from;   /* packet from which on results are dropped */
	unsigned root_packets; /* packets from then to the root's exit */
	unsigned dumb;
	uint8_t served;        /* mask of members that still get results */
	uint8_t deaf;          /* mask of members that get nothing from `dumb` */
	unsigned packets;      /* of `dumb`, that still arrive */
	unsigned fetched_from; /* first FETCHED of `dumb` that are dropped */
};

static struct partial partial;

static unsigned partial_hook(struct rig *r, const struct rig_packet *p)
{
	struct inc_packet packet;
	unsigned from = p->path.from_ip - rig_host_ip(0), to = p->path.to_ip - rig_host_ip(0);

	if (r->count < partial.quiet_from)
		return 1;
	if (r->count >= partial.quiet_from + partial.root_packets && r->sw[0] &&
	    p->path.from_ip != rig_switch_ip(0))
		switch_kill(r, 0);
	if (to < r->members && from >= r->members) /* from a switch, such as a result */
		return partial.served >> to & 1;
	if (from != partial.dumb || to >= r->members)
		return 1;
	if ((partial.deaf >> to & 1) || partial.packets == 0)
		return 0;
	partial.packets--;
	assert_int_equal(inc_packet_decode(p->data, p->bytes, &packet), DXP_OK);
	if (packet.header.kind != INC_FETCHED || partial.fetched_from == 0)
		return 1;
	partial.fetched_from--;
	return 0;
}

static void one_partial_result(uint64_t seed)
{
	struct rig r;
	struct job jobs[4];
	struct rng rng = {seed};

	rig_open(&r, 4, two_leaves, 3, one_root);
	rig_ready(&r);
	jobs_make(jobs, 4);
	partial = (struct partial){.quiet_from = r.count + 20 + rng_below(&rng, 600),
				   .root_packets = 20 + (unsigned)rng_below(&rng, 100),
				   .dumb = (unsigned)rng_below(&rng, 4),
				   .deaf = (uint8_t)rng_below(&rng, 16),
				   .packets = (unsigned)rng_below(&rng, 100),
				   .fetched_from = (unsigned)rng_below(&rng, 20)};
	partial.served =
		(uint8_t)(1u << partial.dumb | (rng_below(&rng, 2) ? rng_below(&rng, 16) : 0));
	r.hook = partial_hook;
	assert_in_range(calls_end_after(&r, jobs, 20 * S_NS), 1, 3 * r.deadline_ns + 500 * MS_NS);
	r.hosts[partial.dumb].dead = true;
	all_the_same(&r, jobs);
	jobs_free(jobs, 4);
	rig_close(&r);
}

static void lose__member_that_only_some_receive(void **state)
{
	for (uint64_t seed = 1; seed <= 1000; seed++)
		one_partial_result(seed);
}

/* Member `dumb` receives nothing and gives up all others while they wait for a dead one; the others
 * must not give up each other. */
static unsigned deaf_hook(struct rig *r, const struct rig_packet *p)
{
	unsigned from = p->path.from_ip - rig_host_ip(0), to = p->path.to_ip - rig_host_ip(0);

	if (r->count < partial.quiet_from)
		return 1;
	if (r->count >= partial.quiet_from + partial.root_packets && r->sw[0] &&
	    p->path.from_ip != rig_switch_ip(0)) {
		switch_kill(r, 0);
		if (from != (partial.dumb + 1) % 4)
			r->hosts[(partial.dumb + 1) % 4].dead = true;
	}
	if (to < r->members && from >= r->members)
		return partial.served >> to & 1;
	return to == partial.dumb ? 0 : 1;
}

static void lose__member_that_receives_nothing(void **state)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct rig r;
		struct job jobs[4];
		struct rng rng = {seed};

		rig_open(&r, 4, two_leaves, 3, one_root);
		rig_ready(&r);
		jobs_make(jobs, 4);
		partial = (struct partial){.quiet_from = r.count + 20 + rng_below(&rng, 600),
					   .root_packets = 20 + (unsigned)rng_below(&rng, 100),
					   .dumb = (unsigned)rng_below(&rng, 4),
					   .served = (uint8_t)rng_below(&rng, 16)};
		r.hook = deaf_hook;
		assert_in_range(calls_end_after(&r, jobs, 20 * S_NS), 1,
				3 * r.deadline_ns + 500 * MS_NS);
		r.hosts[partial.dumb].dead = true;
		all_the_same(&r, jobs);
		jobs_free(jobs, 4);
		rig_close(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lose__switch_dies_at_each_packet),
		cmocka_unit_test(lose__switch_restarts_at_each_packet),
		cmocka_unit_test(lose__switch_dies_while_packets_get_lost),
		cmocka_unit_test(lose__ends_within_the_deadline),
		cmocka_unit_test(lose__dead_member),
		cmocka_unit_test(lose__member_that_was_cut_off_ends_too),
		cmocka_unit_test(lose__forgotten_group_is_noticed_at_once),
		cmocka_unit_test(lose__disagreement),
		cmocka_unit_test(lose__member_that_only_some_receive),
		cmocka_unit_test(lose__member_that_receives_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
