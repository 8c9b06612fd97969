/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that no wakeup between a NIC's thread and its users is lost: both sleep at random moments,
 * and a lost one would cost a whole time limit. */
#include "test/unit/host_function.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "base/rng.h"
#include "test/support/sanitizer.h"

#if SANITIZED_THREAD
#define ROUNDS 2000
#else
#define ROUNDS 20000
#endif

struct side {
	struct dxp_function *f;
	struct dxp_target peer;
	bool begins;
	uint64_t seed;
	uint64_t rounds;
	int status;
};

/* Up to 60 us, about the time to fall asleep, or not at all. */
static void pause_somewhat(struct rng *rng)
{
	uint64_t until_ns = clock_now_ns() + rng_next(rng) % (60 * US_NS);

	if (rng_next(rng) % 2)
		return;
	while (clock_now_ns() < until_ns)
		dxp_relax();
}

static int nap_send(struct side *s, uint64_t imm)
{
	struct dxp_nic_event event;
	struct dxp_window *w = dxp_function_window(s->f);
	int status;

	while (dxp_sent_dequeue(w, &event))
		;
	do
		status = dxp_post_nap(w, 0, &s->peer, NULL, 0, imm, 0);
	while (status == DXP_EAGAIN);
	dxp_function_kick(s->f);
	return status;
}

/* Dequeues completions too, because they wake the user. */
static int nap_wait(struct side *s, uint64_t imm)
{
	struct dxp_window *w = dxp_function_window(s->f);
	struct dxp_nic_event event;

	while (!dxp_received_peek(w)) {
		while (dxp_sent_dequeue(w, &event))
			if (event.status != DXP_OK)
				return event.status;
		int status = dxp_function_wait(s->f, PATIENCE_NS);
		if (status != DXP_OK)
			return status;
	}
	bool right = dxp_received_peek(w)->imm == imm;
	dxp_received_release(w);
	return right ? DXP_OK : DXP_EMALFORMED;
}

static void *side_run(void *context)
{
	struct side *s = context;
	struct rng rng;

	rng = (struct rng){.state = s->seed};
	for (uint64_t i = 0; i < s->rounds && s->status == DXP_OK; i++) {
		if (s->begins || i > 0)
			s->status = nap_send(s, i);
		if (s->status == DXP_OK)
			s->status = nap_wait(s, s->begins ? i + 1 : i);
		pause_somewhat(&rng);
	}
	if (!s->begins && s->status == DXP_OK)
		s->status = nap_send(s, s->rounds);
	return NULL;
}

static void ping_pong(uint32_t spin_us, uint64_t rounds)
{
	const struct dxp_nic_options options = {.thread = true, .spin_us = spin_us};
	struct dxp_nic *nic;
	struct side sides[2] = {{.begins = true, .seed = 1, .rounds = rounds},
				{.seed = 2, .rounds = rounds}};
	pthread_t threads[2];

	ok(dxp_nic_open(&options, &nic));
	for (int i = 0; i < 2; i++)
		ok(dxp_nic_function(nic, NULL, &sides[i].f));
	for (int i = 0; i < 2; i++) {
		sides[i].peer = target_of(sides[1 - i].f, 0);
		assert_int_equal(pthread_create(&threads[i], NULL, side_run, &sides[i]), 0);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++) {
		if (sides[i].status != DXP_OK)
			fail_msg("side %d: %s", i, dxp_status_name(sides[i].status));
		dxp_function_close(sides[i].f);
	}
	dxp_nic_close(nic);
}

static void sleep__loses_no_wake_up(void **state)
{
	ping_pong(NEVER_SPIN, ROUNDS / 4);
}

/* A short spin: sleep begins just when the peer sends. */
static void sleep__loses_none_after_a_short_spin(void **state)
{
	ping_pong(1, ROUNDS / 4);
	ping_pong(20, ROUNDS);
}

/* A thread that spins would delay the one that it waits for. */
static void sleep__on_one_cpu_no_thread_spins(void **state)
{
	cpu_set_t old, one;

	assert_int_equal(sched_getaffinity(0, sizeof(old), &old), 0);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
		if (CPU_ISSET(i, &old))
			CPU_SET(i, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	uint64_t begin_ns = clock_now_ns();
	ping_pong(1000000, 200); /* with a spin, each round would take a second */
	assert_int_equal(sched_setaffinity(0, sizeof(old), &old), 0);
	assert_true(clock_now_ns() - begin_ns < 20 * S_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sleep__loses_no_wake_up),
		cmocka_unit_test(sleep__loses_none_after_a_short_spin),
		cmocka_unit_test(sleep__on_one_cpu_no_thread_spins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
