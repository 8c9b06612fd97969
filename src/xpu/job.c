/* SPDX-License-Identifier: BSD-3-Clause */
#include <dxp/status.h>

#include "xpu/slot_internal.h"

void job_post(struct slot *s, struct job *j, void (*run)(struct worker_job *),
	      void (*done)(struct job *), void (*drop)(struct job *))
{
	j->worker.run = run;
	j->slot = s;
	j->done = done;
	j->drop = drop;
	worker_post(s->worker, &j->worker);
}

static struct job *job_of(struct worker_job *w)
{
	return CONTAINER_OF(w, struct job, worker);
}

uint32_t jobs_take(struct slot *s)
{
	struct worker_job *next;
	uint32_t taken = 0;

	for (struct worker_job *w = worker_take(s->worker); w; w = next, taken++) {
		next = w->next;
		job_of(w)->done(job_of(w));
	}
	return taken;
}

void jobs_drop(struct slot *s, struct worker_job *list)
{
	struct worker_job *next;

	for (; list; list = next) {
		next = list->next;
		job_of(list)->drop(job_of(list));
	}
}
