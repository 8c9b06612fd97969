/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/switch_group.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dxp/status.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "inc/endpoint.h"

struct switch_group {
	struct switch_group_options o;
	pthread_t thread;
	bool joined;          /* used by the caller only */
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t changed;
	atomic_bool pending; /* `news` is new; also read without the lock */
	struct switch_news news;
	atomic_bool leaving; /* also read without the lock */
	/* Exchange: while `requested`, the thread waits for `all`. */
	bool requested, answered, expired;
	uint8_t all[COMMAND_PACKAGE_BYTES];
	size_t all_bytes;
	struct dxp_inc_group *group; /* NULL: does not exist */
	struct dxp_inc_operation *operation;
};

/* Caller holds the lock. */
static void news_announce(struct switch_group *g)
{
	atomic_store_explicit(&g->pending, true, memory_order_release);
	g->o.wake(g->o.context);
}

/* Or until its time is over. Caller holds the lock. */
static void answer_await(struct switch_group *g)
{
	const uint64_t until_ns = clock_now_ns() + g->o.exchange_ns;
	const struct timespec until = {(time_t)(until_ns / S_NS), (long)(until_ns % S_NS)};
	int error = 0;

	while (!g->answered && !g->leaving && error == 0)
		error = pthread_cond_timedwait(&g->changed, &g->lock, &until);
	g->expired = !g->answered && !g->leaving;
}

static int exchange(void *context, const void *own, void *all, size_t bytes)
{
	struct switch_group *g = context;
	int failed = -1;

	pthread_mutex_lock(&g->lock);
	if (bytes <= sizeof(g->news.own) && bytes * g->o.members <= sizeof(g->all)) {
		memcpy(g->news.own, own, bytes);
		g->news.own_bytes = (uint32_t)bytes;
		g->all_bytes = bytes * g->o.members;
		g->requested = true;
		g->answered = false;
		news_announce(g);
		answer_await(g);
		g->requested = false;
		if (g->answered) {
			memcpy(all, g->all, g->all_bytes);
			failed = 0;
		}
	}
	pthread_mutex_unlock(&g->lock);
	return failed;
}

static void group_create(struct switch_group *g)
{
	const struct dxp_inc_bootstrap boot = {.member = g->o.member,
					       .members = g->o.members,
					       .allgather = exchange,
					       .context = g};
	const struct dxp_inc_group_options options = {.mode = DXP_INC_FLAT};
	const struct endpoint_user user = {.stop = &g->leaving, .owner = g->o.owner};
	struct dxp_inc_group *group = NULL;
	char why[DXP_INC_WHY_BYTES] = "";
	int status = endpoint_group_create(g->o.inc, &boot, &options, &user, &group, why);

	pthread_mutex_lock(&g->lock);
	if (g->expired)
		snprintf(why, sizeof(why),
			 "its host did not pass on the members' messages within %llu s; create "
			 "the group again",
			 (unsigned long long)(g->o.exchange_ns / S_NS));
	g->group = group;
	g->news.created = true;
	g->news.status = status;
	g->news.expired = g->expired;
	memcpy(g->news.why, why, sizeof(why));
	news_announce(g);
	pthread_mutex_unlock(&g->lock);
}

/* Caller holds the lock, which is released meanwhile. */
static void operation_await(struct switch_group *g)
{
	size_t elements = 0;

	pthread_mutex_unlock(&g->lock);
	int status = dxp_inc_wait(g->operation, &elements);
	pthread_mutex_lock(&g->lock);
	g->operation = NULL;
	g->news.reduced = true;
	g->news.reduce_status = status;
	g->news.elements = elements;
	news_announce(g);
}

static void *group_run(void *context)
{
	struct switch_group *g = context;

	group_create(g);
	pthread_mutex_lock(&g->lock);
	while (g->operation || !g->leaving) {
		if (g->operation)
			operation_await(g);
		else
			pthread_cond_wait(&g->changed, &g->lock);
	}
	dxp_inc_group_destroy(g->group);
	g->group = NULL;
	g->news.ended = true;
	news_announce(g);
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

static void lock_init(struct switch_group *g)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&g->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&g->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

int switch_group_open(const struct switch_group_options *options, struct switch_group **out)
{
	struct switch_group *g = calloc(1, sizeof(*g));
	sigset_t all, before;

	if (!g)
		return DXP_ENOMEM;
	g->o = *options;
	lock_init(g);
	sigfillset(&all); /* signals are for the daemon's thread */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&g->thread, NULL, group_run, g);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error == 0) {
		*out = g;
		return DXP_OK;
	}
	log_error("cannot start a thread: %s; raise \"ulimit -u\"", strerror(error));
	pthread_cond_destroy(&g->changed);
	pthread_mutex_destroy(&g->lock);
	free(g);
	return DXP_EIO;
}

void switch_group_stop(struct switch_group *g)
{
	if (g->joined)
		return;
	switch_group_leave(g);
	pthread_join(g->thread, NULL);
	g->joined = true;
}

void switch_group_close(struct switch_group *g)
{
	switch_group_stop(g);
	pthread_cond_destroy(&g->changed);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

void switch_group_leave(struct switch_group *g)
{
	pthread_mutex_lock(&g->lock);
	g->leaving = true;
	if (g->operation)
		endpoint_group_give_up(g->group, DXP_ECLOSED);
	pthread_cond_signal(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

void switch_group_give_up(struct switch_group *g)
{
	pthread_mutex_lock(&g->lock);
	if (g->group)
		endpoint_group_give_up(g->group, DXP_ECANCELED);
	pthread_mutex_unlock(&g->lock);
}

bool switch_group_poll(struct switch_group *g, struct switch_news *out)
{
	if (!atomic_load_explicit(&g->pending, memory_order_acquire))
		return false;
	pthread_mutex_lock(&g->lock);
	*out = g->news;
	g->news = (struct switch_news){0};
	atomic_store_explicit(&g->pending, false, memory_order_relaxed);
	pthread_mutex_unlock(&g->lock);
	return true;
}

int switch_group_share(struct switch_group *g, const uint8_t *all, size_t bytes)
{
	int status = DXP_EINVAL;

	pthread_mutex_lock(&g->lock);
	if (g->requested && !g->answered && bytes == g->all_bytes) {
		memcpy(g->all, all, bytes);
		g->answered = true;
		pthread_cond_signal(&g->changed);
		status = DXP_OK;
	}
	pthread_mutex_unlock(&g->lock);
	return status;
}

int switch_group_reduce(struct switch_group *g, const struct switch_reduce *r)
{
	int status = DXP_EAGAIN;

	pthread_mutex_lock(&g->lock);
	if (!g->group || g->leaving)
		status = DXP_ENOENT;
	else if (!g->operation)
		status = dxp_inc_allreduce_start(g->group, r->send, r->receive, r->elements,
						 r->type, r->op, &g->operation);
	if (status == DXP_OK)
		pthread_cond_signal(&g->changed);
	else if (status != DXP_EAGAIN)
		g->operation = NULL;
	pthread_mutex_unlock(&g->lock);
	return status;
}

int switch_group_lost_status(struct switch_group *g)
{
	struct dxp_inc_group_view view = {.lost = false};

	pthread_mutex_lock(&g->lock);
	if (g->group)
		dxp_inc_group_view(g->group, &view);
	pthread_mutex_unlock(&g->lock);
	return view.lost ? view.lost_status : DXP_EPEERLOST;
}
