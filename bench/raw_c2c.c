/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures core-to-core latency: one stores, the other polls and stores. Each thread writes only
 * its own cache line, which counts its polls. */
#include "bench/raw_udp.h"

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>

#include <dxp/status.h>

#include "base/log.h"
#include "base/util.h"
#include "bench/raw_ends.h"

/* the median over batches excludes preemptions */
#define BATCHES_MAX 64

struct line {
	alignas(128) _Atomic uint32_t polls; /* some CPUs prefetch lines in pairs */
};

struct echo {
	struct line here, there;
	uint32_t rounds;
	int cpu;
};

/* Yields from time to time, so two threads on one core finish. */
static void await(_Atomic uint32_t *polls, uint32_t value)
{
	for (unsigned looks = 1; atomic_load_explicit(polls, memory_order_acquire) != value;
	     looks++)
		if (looks % 65536 == 0)
			sched_yield();
}

static void pin(pthread_t thread, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(thread, sizeof(set), &set);
}

static void *echo_run(void *argument)
{
	struct echo *e = argument;

	pin(pthread_self(), e->cpu);
	for (uint32_t i = 1; i <= e->rounds; i++) {
		await(&e->here.polls, i);
		atomic_store_explicit(&e->there.polls, i, memory_order_release);
	}
	return NULL;
}

static double measure_run(struct echo *e)
{
	uint64_t batch_ns[BATCHES_MAX];
	uint32_t batches = e->rounds < BATCHES_MAX ? e->rounds : BATCHES_MAX;
	uint32_t per_batch = e->rounds / batches, poll = 0;

	for (uint32_t b = 0; b < batches; b++) {
		uint64_t start_ns = raw_clock_ns(CLOCK_MONOTONIC);
		for (uint32_t i = 0; i < per_batch; i++) {
			atomic_store_explicit(&e->here.polls, ++poll, memory_order_release);
			await(&e->there.polls, poll);
		}
		batch_ns[b] = raw_clock_ns(CLOCK_MONOTONIC) - start_ns;
	}
	return (double)raw_percentile(batch_ns, batches, 50) / per_batch / 2;
}

static int cpus_choose(const cpu_set_t *allowed, int cpus[2])
{
	int found = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET(cpu, allowed))
			cpus[found++] = cpu;
	return found == 2 ? DXP_OK : DXP_EUNSUPPORTED;
}

int raw_c2c(unsigned rounds, double *one_way_ns)
{
	struct echo e = {0};
	cpu_set_t allowed;
	pthread_t thread;
	int cpus[2];

	if (rounds < 1)
		return DXP_EINVAL;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0 ||
	    cpus_choose(&allowed, cpus) != DXP_OK)
		return DXP_EUNSUPPORTED;
	uint32_t batches = rounds < BATCHES_MAX ? rounds : BATCHES_MAX;
	e.rounds = rounds / batches * batches;
	e.cpu = cpus[1];
	if (pthread_create(&thread, NULL, echo_run, &e) != 0) {
		log_error("cannot start a second thread; \"ulimit -u\" shows the limit");
		return DXP_EIO;
	}
	pin(pthread_self(), cpus[0]);
	double ns = measure_run(&e);
	pthread_join(thread, NULL);
	pthread_setaffinity_np(pthread_self(), sizeof(allowed), &allowed);
	*one_way_ns = ns;
	return DXP_OK;
}
