/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's thread: jobs run once and come back in order; stopping gives back what is left. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dxp/status.h>

#include "base/util.h"
#include "xpu/worker.h"

#define JOBS 2000

struct counted {
	struct worker_job job; /* first */
	int runs;
};

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t wakes;

static void wake(void *context)
{
	atomic_fetch_add(&wakes, 1);
}

static void run(struct worker_job *job)
{
	((struct counted *)job)->runs++;
}

static void run_gated(struct worker_job *job)
{
	pthread_mutex_lock(&gate);
	run(job);
	pthread_mutex_unlock(&gate);
}

static struct worker *create(uint32_t spin_ns)
{
	const struct worker_options options = {.spin_ns = spin_ns, .wake = wake};
	struct worker *w;

	assert_int_equal(worker_create(&options, &w), DXP_OK);
	return w;
}

static void in_order(uint32_t spin_ns)
{
	struct counted *jobs = calloc(JOBS, sizeof(*jobs));
	struct worker *w = create(spin_ns);
	uint32_t back = 0;

	for (uint32_t i = 0; i < JOBS; i++) {
		jobs[i].job.run = run;
		worker_post(w, &jobs[i].job);
	}
	while (back < JOBS)
		for (struct worker_job *j = worker_take(w); j; j = j->next, back++) {
			assert_ptr_equal(j, &jobs[back].job);
			assert_int_equal(jobs[back].runs, 1);
		}
	assert_false(worker_finished(w));
	assert_null(worker_destroy(w));
	free(jobs);
}

static void worker_take__in_order(void **state)
{
	atomic_store(&wakes, 0);
	in_order(0);
	assert_int_equal(atomic_load(&wakes), JOBS);
	in_order(50 * US_NS);
}

static void worker_destroy__gives_back_what_is_left(void **state)
{
	struct counted jobs[10] = {0};
	struct worker *w = create(0);
	uint32_t left = 0, run_count = 0;

	pthread_mutex_lock(&gate);
	for (int i = 0; i < 10; i++) {
		jobs[i].job.run = run_gated;
		worker_post(w, &jobs[i].job);
	}
	pthread_mutex_unlock(&gate);
	for (struct worker_job *j = worker_destroy(w); j; j = j->next, left++)
		assert_ptr_equal(j, &jobs[left].job);
	for (int i = 0; i < 10; i++)
		run_count += (uint32_t)jobs[i].runs;
	assert_int_equal(left, 10);
	assert_true(run_count <= 10);
	assert_null(worker_destroy(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worker_take__in_order),
		cmocka_unit_test(worker_destroy__gives_back_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
