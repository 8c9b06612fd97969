/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/dxp/parallel.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/util.h"

#define THREADS_MAX 32 /* threads: rarely are more nodes unreachable at once */

struct job {
	void (*work)(void *context, size_t index);
	void *context;
	size_t count;
	_Atomic size_t next; /* index of the next call */
};

static void *job_run(void *context)
{
	struct job *j = context;
	size_t i;

	while ((i = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed)) < j->count)
		j->work(j->context, i);
	return NULL;
}

void parallel_run(size_t count, void (*work)(void *context, size_t index), void *context)
{
	struct job j = {.work = work, .context = context, .count = count};
	size_t wanted = min_u64(count, THREADS_MAX), started = 0;
	pthread_t threads[THREADS_MAX];

	while (started + 1 < wanted && pthread_create(&threads[started], NULL, job_run, &j) == 0)
		started++;
	job_run(&j); /* this thread also works; it works alone if no other thread started */
	while (started > 0)
		pthread_join(threads[--started], NULL);
}
