/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/rv32_pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"
#include "engine/rv32_engine.h"

/* One core. The calling thread writes `launch`, the core's thread `status` and later members. */
struct member {
	struct rv32_pool *pool;
	uint32_t index;
	pthread_t thread;
	bool started; /* has a thread */
	struct rv32_core *core;
	struct rv32_launch launch;
	int status;
	struct rv32_trap trap;
	struct rv32_counters counters;
};

struct rv32_pool {
	struct rv32_settings settings;
	struct member members[RV32_CORES_MAX];
	_Atomic uint64_t next_group;
	atomic_uint stop; /* 0: run; 1: a core trapped; 2: time limit */
	pthread_t guard;  /* stops a launch at its time limit */
	bool guarded;
	pthread_mutex_t lock;
	pthread_cond_t begin, done;
	/* Guarded by `lock`: */
	uint64_t round; /* launches so far */
	uint32_t cores; /* of the running launch */
	uint32_t busy;  /* threads in the running launch */
	bool closing;
	bool guarding; /* `guard` will read began_ns, and needs no wakeup */
	/* start of the running launch; 0: none, or stopped */
	uint64_t began_ns;
	pthread_cond_t guard_wake; /* monotonic clock */
};

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / S_NS), .tv_nsec = (long)(ns % S_NS)};
}

/* Sleeps until the limit of the launch that it saw last, so short launches need no system call. */
static void *guard_main(void *argument)
{
	struct rv32_pool *p = argument;
	const uint64_t limit_ns = p->settings.limit_s * S_NS;

	pthread_mutex_lock(&p->lock);
	while (!p->closing) {
		const uint64_t over_ns = p->began_ns + limit_ns;
		const struct timespec over = timespec_of(over_ns);

		if (p->began_ns == 0) {
			p->guarding = false;
			pthread_cond_wait(&p->guard_wake, &p->lock);
		} else if (clock_now_ns() < over_ns) {
			pthread_cond_timedwait(&p->guard_wake, &p->lock, &over);
		} else {
			atomic_store(&p->stop, 2);
			p->began_ns = 0;
		}
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Starts a thread that has all signals blocked. */
static bool thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	const bool started = pthread_create(thread, NULL, run, argument) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return started;
}

static int limit_begin(struct rv32_pool *p)
{
	if (p->settings.limit_s == 0)
		return DXP_OK;
	if (!p->guarded)
		p->guarded = thread_start(&p->guard, guard_main, p);
	if (!p->guarded)
		return DXP_ENOMEM;
	pthread_mutex_lock(&p->lock);
	p->began_ns = clock_now_ns();
	if (!p->guarding)
		pthread_cond_signal(&p->guard_wake);
	p->guarding = true;
	pthread_mutex_unlock(&p->lock);
	return DXP_OK;
}

static void limit_end(struct rv32_pool *p)
{
	if (p->settings.limit_s == 0)
		return;
	pthread_mutex_lock(&p->lock);
	p->began_ns = 0;
	pthread_mutex_unlock(&p->lock);
}

static void member_run(struct member *m)
{
	unsigned none = 0;

	m->status = rv32_core_run(m->core, &m->launch, &m->counters, &m->trap);
	if (m->status != DXP_OK)
		atomic_compare_exchange_strong(&m->pool->stop, &none, 1);
}

static void *member_main(void *argument)
{
	struct member *m = argument;
	struct rv32_pool *p = m->pool;
	uint64_t seen = 0;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (!p->closing && (p->round == seen || m->index >= p->cores))
			pthread_cond_wait(&p->begin, &p->lock);
		if (p->closing)
			break;
		seen = p->round;
		pthread_mutex_unlock(&p->lock);
		member_run(m);
		pthread_mutex_lock(&p->lock);
		if (--p->busy == 0)
			pthread_cond_signal(&p->done);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int rv32_pool_create(const struct rv32_settings *settings, struct rv32_pool **out)
{
	struct rv32_pool *p = calloc(1, sizeof(*p));
	pthread_condattr_t monotonic;

	if (!p)
		return DXP_ENOMEM;
	p->settings = *settings;
	for (uint32_t i = 0; i < RV32_CORES_MAX; i++) {
		p->members[i].pool = p;
		p->members[i].index = i;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->begin, NULL);
	pthread_cond_init(&p->done, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&p->guard_wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	*out = p;
	return DXP_OK;
}

void rv32_pool_destroy(struct rv32_pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->closing = true;
	pthread_cond_broadcast(&p->begin);
	pthread_cond_signal(&p->guard_wake);
	pthread_mutex_unlock(&p->lock);
	if (p->guarded)
		pthread_join(p->guard, NULL);
	for (uint32_t i = 0; i < RV32_CORES_MAX; i++) {
		if (p->members[i].started)
			pthread_join(p->members[i].thread, NULL);
		rv32_core_destroy(p->members[i].core);
	}
	pthread_cond_destroy(&p->guard_wake);
	pthread_cond_destroy(&p->done);
	pthread_cond_destroy(&p->begin);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* The first member has no thread. */
static int member_start(struct member *m)
{
	const struct rv32_core_options options = {.index = m->index,
						  .private_bytes = m->pool->settings.private_bytes,
						  .warps = m->pool->settings.warps};

	if (!m->core)
		m->core = rv32_core_create(&options);
	if (!m->core)
		return DXP_ENOMEM;
	if (m->index == 0 || m->started)
		return DXP_OK;
	m->started = thread_start(&m->thread, member_main, m);
	return m->started ? DXP_OK : DXP_ENOMEM;
}

static int members_start(struct rv32_pool *p, uint32_t cores)
{
	int status = DXP_OK;

	for (uint32_t i = 0; status == DXP_OK && i < cores; i++)
		status = member_start(&p->members[i]);
	return status;
}

static void round_begin(struct rv32_pool *p, uint32_t cores)
{
	pthread_mutex_lock(&p->lock);
	p->cores = cores;
	p->busy = cores - 1;
	p->round++;
	pthread_cond_broadcast(&p->begin);
	pthread_mutex_unlock(&p->lock);
}

static void round_wait(struct rv32_pool *p)
{
	pthread_mutex_lock(&p->lock);
	while (p->busy > 0)
		pthread_cond_wait(&p->done, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

/* Ignores traps of cores that another core's trap stopped. */
static int results_join(struct rv32_pool *p, uint32_t cores, struct rv32_result *out)
{
	int status = DXP_OK;

	*out = (struct rv32_result){.timed_out = atomic_load(&p->stop) == 2};
	for (uint32_t i = 0; i < cores; i++) {
		const struct member *m = &p->members[i];
		out->counters.instructions += m->counters.instructions;
		out->counters.warp_instructions += m->counters.warp_instructions;
		out->counters.groups += m->counters.groups;
		if (m->status == DXP_OK ||
		    (status != DXP_OK &&
		     (m->trap.kind == RV32_TRAP_STOPPED || out->trap.kind != RV32_TRAP_STOPPED)))
			continue;
		status = m->status;
		out->trap = m->trap;
	}
	return status;
}

int rv32_pool_run(struct rv32_pool *p, const struct rv32_launch *launch,
		  struct rv32_code *const *codes, void *const *trace_contexts, uint32_t cores,
		  struct rv32_result *out)
{
	int status = members_start(p, cores);

	if (status != DXP_OK)
		return status;
	atomic_store(&p->next_group, 0);
	atomic_store(&p->stop, 0);
	for (uint32_t i = 0; i < cores; i++) {
		struct member *m = &p->members[i];
		m->launch = *launch;
		m->launch.code = codes[i];
		if (trace_contexts)
			m->launch.trace_context = trace_contexts[i];
		m->launch.next_group = cores > 1 ? &p->next_group : NULL;
		m->launch.stop = &p->stop;
		m->trap = (struct rv32_trap){0};
		m->counters = (struct rv32_counters){0};
	}
	status = limit_begin(p);
	if (status != DXP_OK)
		return status;
	if (cores > 1)
		round_begin(p, cores);
	member_run(&p->members[0]);
	if (cores > 1)
		round_wait(p);
	limit_end(p);
	return results_join(p, cores, out);
}
