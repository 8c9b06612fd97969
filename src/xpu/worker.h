/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread that does jobs in order, so that the network's thread never waits for a kernel or a
 * compiler. Jobs come back through worker_take, in order; `wake` is called, in the worker's thread,
 * after each.
 *
 * Threads: one posts and takes; the jobs' own data belongs to the worker between the two. */
#ifndef XPU_WORKER_H
#define XPU_WORKER_H

#include <stdbool.h>
#include <stdint.h>

struct worker_job {
	struct worker_job *next;
	void (*run)(struct worker_job *job); /* in the worker's thread */
};

struct worker_options {
	uint32_t spin_ns; /* how long it looks for the next job before it sleeps */
	void (*wake)(void *context);
	void *wake_context;
};

struct worker;

/* DXP_ENOMEM; DXP_EIO: no thread (logged). */
int worker_create(const struct worker_options *options, struct worker **out);

/* Lets the job in progress end and stops. Returns the jobs that were posted and not taken, done or
 * not, as a list. */
struct worker_job *worker_destroy(struct worker *w);

void worker_post(struct worker *w, struct worker_job *job);
/* The jobs done since the last call, oldest first, as a list; or NULL. */
struct worker_job *worker_take(struct worker *w);
/* Is there something to take? Any thread. */
bool worker_finished(const struct worker *w);

#endif
