/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests endpoints of in-network computing over loopback sockets; switch and members run in
 * threads. */
#include "test/unit/inc_endpoint_rig.h"

#include "base/clock.h"
#include "inc/limits.h"

/* ---- tests that depend on time ---- */

/* Measures the longest time for which the machine did not run it. */
struct canary {
	pthread_t thread;
	_Atomic bool stop;
	_Atomic uint64_t longest_ns;
};

static void *canary_run(void *context)
{
	struct canary *c = context;

	while (!c->stop) {
		uint64_t begin_ns = clock_now_ns();
		usleep(1000);
		uint64_t elapsed_ns = clock_now_ns() - begin_ns;
		if (elapsed_ns > c->longest_ns)
			c->longest_ns = elapsed_ns;
	}
	return NULL;
}

/* Up to 10 runs; a failure in a run with a stall of the machine does not count. */
static void play_timed(int (*how)(struct member *), uint64_t deadline_ns, bool ends)
{
	int failed = 1;

	for (unsigned i = 0; failed && i < 10; i++) {
		struct canary c = {.stop = false};
		struct bench b;

		assert_int_equal(pthread_create(&c.thread, NULL, canary_run, &c), 0);
		bench_open(&b);
		failed = played(&b, how,
				(struct dxp_inc_options){.deadline_ns = deadline_ns,
							 .create_ns = PATIENCE_NS});
		if (!ends)
			bench_close(&b);
		c.stop = true;
		pthread_join(c.thread, NULL);
		if (failed && c.longest_ns < STILL_NS)
			fail_msg("line %d", failed);
	}
	if (failed) {
		print_message("skipped: this machine stands still too often\n");
		skip();
	}
}

static int sums(struct dxp_inc_group *g, unsigned index, unsigned rounds, size_t longest)
{
	double *in = calloc(longest, sizeof(*in)), *out = calloc(longest, sizeof(*out));

	CHECK(in && out);
	for (unsigned k = 0; k < rounds; k++) {
		size_t n = 1 + k * 7919 % longest, done;
		for (size_t i = 0; i < n; i++)
			in[i] = (double)(i + index + k);
		CHECK(dxp_inc_allreduce(g, in, out, n, DXP_INC_DOUBLE, DXP_INC_SUM, &done) ==
		      DXP_OK);
		CHECK(done == n);
		for (size_t i = 0; i < n; i++)
			CHECK(out[i] == (double)(MEMBERS * (i + k) + MEMBERS * (MEMBERS - 1) / 2));
	}
	free(in);
	free(out);
	return 0;
}

static int sums_play(struct member *me)
{
	return sums(me->group, me->index, 100, 30000);
}

static int kinds_play(struct member *me)
{
	struct dxp_inc_group *g = me->group;
	struct dxp_inc_operation *c[3];
	int32_t one = (int32_t)me->index, sum = 0, low = 0;
	char text[3000] = "";
	size_t done;

	if (me->index == 1)
		memset(text, 'x', sizeof(text));
	CHECK(dxp_inc_barrier(g) == DXP_OK);
	/* in reverse order */
	CHECK(dxp_inc_allreduce_start(g, &one, &sum, 1, DXP_INC_INT32, DXP_INC_SUM, &c[0]) ==
	      DXP_OK);
	CHECK(dxp_inc_broadcast_start(g, text, sizeof(text), 1, &c[1]) == DXP_OK);
	CHECK(dxp_inc_reduce_start(g, &one, &low, 1, DXP_INC_INT32, DXP_INC_MAX, 2, &c[2]) ==
	      DXP_OK);
	CHECK(dxp_inc_wait(c[2], &done) == DXP_OK && done == 1);
	CHECK(low == (me->index == 2 ? MEMBERS - 1 : 0));
	while (dxp_inc_test(c[1], &done) == DXP_EAGAIN)
		;
	CHECK(done == sizeof(text) && text[0] == 'x' && text[2999] == 'x');
	CHECK(dxp_inc_wait(c[0], NULL) == DXP_OK && sum == MEMBERS * (MEMBERS - 1) / 2);
	CHECK(dxp_inc_allreduce(g, NULL, &one, 1, DXP_INC_INT32, DXP_INC_SUM, NULL) == DXP_OK);
	CHECK(one == sum);
	CHECK(dxp_inc_allreduce(g, NULL, NULL, 0, DXP_INC_INT32, DXP_INC_SUM, &done) == DXP_OK);
	CHECK(dxp_inc_allreduce(g, NULL, &one, 1, DXP_INC_FLOAT, DXP_INC_BXOR, &done) ==
	      DXP_EINVAL);
	CHECK(!dxp_inc_accepts(g, DXP_INC_BXOR, DXP_INC_FLOAT, 1));
	CHECK(dxp_inc_accepts(g, DXP_INC_MINLOC, DXP_INC_DOUBLE_INT, 1));
	return 0;
}

static void *other_group(void *context)
{
	struct member *me = context;

	return (void *)(intptr_t)sums(me->other, me->index, 100, 9000);
}

static int two_threads_play(struct member *me)
{
	pthread_t thread;
	void *line;

	CHECK(group_make(me, me->second, &me->other) == DXP_OK);
	CHECK(pthread_create(&thread, NULL, other_group, me) == 0);
	int own = sums(me->group, me->index, 100, 9000);
	pthread_join(thread, &line);
	CHECK(own == 0);
	return (int)(intptr_t)line;
}

/* Member 1 starts after the deadline, but its progress thread answers the others. */
static int late_play(struct member *me)
{
	if (me->index == 1)
		usleep(2500 * 1000);
	return sums(me->group, me->index, 3, 1000);
}

/* Member 1 starts later and then detects the loss of the switch. */
static int lost_play(struct member *me)
{
	int64_t in = 1, out = 0;
	size_t done = 7;
	struct dxp_inc_group_view v;

	CHECK(sums(me->group, me->index, 5, 1000) == 0);
	pthread_barrier_wait(&me->m->barrier);
	if (me->index == 0)
		bench_close(me->b);
	pthread_barrier_wait(&me->m->barrier);
	if (me->index == 1)
		usleep(AWAY_NS / 1000);
	uint64_t begin_ns = clock_now_ns();
	CHECK(dxp_inc_allreduce(me->group, &in, &out, 1, DXP_INC_INT64, DXP_INC_SUM, &done) ==
	      DXP_EPEERLOST);
	CHECK(done == 0 && out == 0);
	/* The deadline counts from the start of the last member's operation, as waiting for it is
	 * no loss. */
	CHECK(clock_now_ns() - begin_ns <
	      (me->index == 1 ? 0 : AWAY_NS) + me->options.deadline_ns + 600 * MS_NS);
	dxp_inc_group_view(me->group, &v);
	CHECK(v.lost && v.lost_status != DXP_OK);
	return 0;
}

static void endpoint__sums_are_right(void **state)
{
	struct bench b;

	bench_open(&b);
	play(&b, sums_play, (struct dxp_inc_options){0});
	play(&b, sums_play, (struct dxp_inc_options){.spin_ns = 50000, .user_plane = true});
	play(&b, sums_play, (struct dxp_inc_options){.framing = DXP_INC_RC});
	bench_close(&b);
}

static void idle(void *context)
{
	atomic_fetch_add((_Atomic unsigned *)context, 1);
}

static void endpoint__kinds_of_calls(void **state)
{
	struct bench b;
	_Atomic unsigned count = 0;

	bench_open(&b);
	play(&b, kinds_play, (struct dxp_inc_options){.idle = idle, .idle_context = &count});
	play(&b, kinds_play, (struct dxp_inc_options){.no_icrc_check = true});
	bench_close(&b);
}

static void endpoint__two_groups_in_two_threads(void **state)
{
	struct bench b;

	bench_open(&b);
	play(&b, two_threads_play, (struct dxp_inc_options){0});
	bench_close(&b);
}

static void endpoint__packets_get_lost(void **state)
{
	struct bench b;

	setenv("DXP_FAULT", "loss=2%,dup=2%,reorder=2%,corrupt=1%,seed=5", 1);
	bench_open(&b);
	play(&b, sums_play, (struct dxp_inc_options){0});
	play(&b, kinds_play, (struct dxp_inc_options){0});
	unsetenv("DXP_FAULT");
	bench_close(&b);
}

static void endpoint__late_member(void **state)
{
	play_timed(late_play, S_NS, false);
}

static void endpoint__switch_ends(void **state)
{
	play_timed(lost_play, 600 * MS_NS, true);
}

static void endpoint__selftest(void **state)
{
	struct dxp_inc_options o = {.switches = "nonsense"};
	char line[DXP_INC_WHY_BYTES];
	struct dxp_inc *inc;
	struct bench b;

	bench_open(&b);
	inc = inc_open(&b);
	assert_int_equal(dxp_inc_selftest(inc, line), DXP_OK);
	assert_memory_equal(line, "offload works: switch 127.", 26);
	assert_non_null(strstr(line, "(user plane), 0 switches above it, 8 B in "));
	bench_close(&b);
	/* The kernel reports that no process listens. A stalled machine may read the switch's last
	 * packets late, which count as a sign of life, so the test retries. */
	for (unsigned i = 0; i < 10 && !strstr(line, "nothing listens"); i++) {
		usleep(INC_RECEIVED_NS / 1000);
		assert_int_equal(dxp_inc_selftest(inc, line), DXP_ENOENT);
		assert_memory_equal(line, "no answer through switch 127.", 29);
	}
	assert_non_null(strstr(line, "nothing listens"));
	dxp_inc_close(inc);
	assert_int_equal(dxp_inc_open(&o, &inc), DXP_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(endpoint__sums_are_right),
		cmocka_unit_test(endpoint__kinds_of_calls),
		cmocka_unit_test(endpoint__two_groups_in_two_threads),
		cmocka_unit_test(endpoint__packets_get_lost),
		cmocka_unit_test(endpoint__late_member),
		cmocka_unit_test(endpoint__switch_ends),
		cmocka_unit_test(endpoint__selftest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
