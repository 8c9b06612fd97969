/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <dxp/status.h>

#include "base/log.h"
#include "link/udp.h"

/* Looks at the clock this often while it spins. */
#define SPINS_PER_LOOK 64

struct job_list {
	struct worker_job *head, **tail;
};

struct worker {
	struct worker_options options;
	pthread_t thread;
	pthread_mutex_t lock; /* guards the lists and `sleeping` */
	pthread_cond_t posted;
	struct job_list todo, done;
	bool sleeping;
	_Atomic uint32_t todo_count; /* what the thread spins on */
	_Atomic uint32_t done_count;
	_Atomic bool stop;
};

static void list_init(struct job_list *l)
{
	l->head = NULL;
	l->tail = &l->head;
}

static void list_append(struct job_list *l, struct worker_job *job)
{
	job->next = NULL;
	*l->tail = job;
	l->tail = &job->next;
}

static bool idle(struct worker *w)
{
	return atomic_load_explicit(&w->todo_count, memory_order_acquire) == 0 &&
	       !atomic_load(&w->stop);
}

static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static void spin(struct worker *w)
{
	uint64_t end_ns = link_now_ns() + w->options.spin_ns;

	while (idle(w) && link_now_ns() < end_ns)
		for (int i = 0; i < SPINS_PER_LOOK && idle(w); i++)
			relax();
}

/* The next job, when there is one; NULL: stop. */
static struct worker_job *job_next(struct worker *w)
{
	struct worker_job *job = NULL;

	if (w->options.spin_ns)
		spin(w);
	pthread_mutex_lock(&w->lock);
	while (idle(w)) {
		w->sleeping = true;
		pthread_cond_wait(&w->posted, &w->lock);
		w->sleeping = false;
	}
	if (!atomic_load(&w->stop)) {
		job = w->todo.head;
		w->todo.head = job->next;
		if (!w->todo.head)
			w->todo.tail = &w->todo.head;
		atomic_fetch_sub_explicit(&w->todo_count, 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&w->lock);
	return job;
}

static void *worker_main(void *argument)
{
	struct worker *w = argument;
	struct worker_job *job;

	while ((job = job_next(w))) {
		job->run(job);
		pthread_mutex_lock(&w->lock);
		list_append(&w->done, job);
		atomic_fetch_add_explicit(&w->done_count, 1, memory_order_release);
		pthread_mutex_unlock(&w->lock);
		w->options.wake(w->options.wake_context);
	}
	return NULL;
}

int worker_create(const struct worker_options *options, struct worker **out)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (!w)
		return DXP_ENOMEM;
	w->options = *options;
	list_init(&w->todo);
	list_init(&w->done);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->posted, NULL);
	int error = pthread_create(&w->thread, NULL, worker_main, w);
	if (error != 0) {
		log_error("cannot start an engine's thread: %s; raise the limit on processes",
			  strerror(error));
		pthread_cond_destroy(&w->posted);
		pthread_mutex_destroy(&w->lock);
		free(w);
		return DXP_EIO;
	}
	*out = w;
	return DXP_OK;
}

struct worker_job *worker_destroy(struct worker *w)
{
	if (!w)
		return NULL;
	pthread_mutex_lock(&w->lock);
	atomic_store(&w->stop, true);
	pthread_cond_signal(&w->posted);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	*w->done.tail = w->todo.head;
	struct worker_job *left = w->done.head;
	pthread_cond_destroy(&w->posted);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return left;
}

void worker_post(struct worker *w, struct worker_job *job)
{
	pthread_mutex_lock(&w->lock);
	list_append(&w->todo, job);
	atomic_fetch_add_explicit(&w->todo_count, 1, memory_order_release);
	bool sleeping = w->sleeping;
	pthread_mutex_unlock(&w->lock);
	if (sleeping)
		pthread_cond_signal(&w->posted);
}

struct worker_job *worker_take(struct worker *w)
{
	if (!worker_finished(w))
		return NULL;
	pthread_mutex_lock(&w->lock);
	struct worker_job *jobs = w->done.head;
	list_init(&w->done);
	atomic_store_explicit(&w->done_count, 0, memory_order_relaxed);
	pthread_mutex_unlock(&w->lock);
	return jobs;
}

bool worker_finished(const struct worker *w)
{
	return atomic_load_explicit(&w->done_count, memory_order_acquire) > 0;
}
