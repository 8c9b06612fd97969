/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/web/poller.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/util.h"

struct web_poller {
	pthread_t thread;
	void (*poll)(void *context);
	void *context;
	uint64_t interval_ns;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stopping; /* protected by `lock` */
};

/* Waits until the monotonic clock reaches `at_ns`. Returns false if the poller stops. */
static bool wait_until(struct web_poller *p, uint64_t at_ns)
{
	const struct timespec at = {(time_t)(at_ns / S_NS), (long)(at_ns % S_NS)};
	int late = 0;

	pthread_mutex_lock(&p->lock);
	while (!p->stopping && late == 0)
		late = pthread_cond_timedwait(&p->changed, &p->lock, &at);
	bool stopping = p->stopping;
	pthread_mutex_unlock(&p->lock);
	return !stopping;
}

static void *run(void *argument)
{
	struct web_poller *p = argument;
	uint64_t next_ns;

	do {
		next_ns = clock_now_ns() + p->interval_ns;
		p->poll(p->context);
	} while (wait_until(p, next_ns));
	return NULL;
}

int web_poller_start(void (*poll)(void *context), void *context, uint64_t interval_ms,
		     struct web_poller **out)
{
	struct web_poller *p = calloc(1, sizeof(*p));
	pthread_condattr_t attributes;

	if (!p)
		return DXP_ENOMEM;
	p->poll = poll;
	p->context = context;
	p->interval_ns = interval_ms * MS_NS;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&p->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&p->lock, NULL);
	if (pthread_create(&p->thread, NULL, run, p) != 0) {
		free(p);
		return DXP_ENOMEM;
	}
	*out = p;
	return DXP_OK;
}

void web_poller_stop(struct web_poller *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->changed);
	free(p);
}

uint64_t web_poller_time_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
