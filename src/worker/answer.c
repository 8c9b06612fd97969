/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of a worker to its xPU. */
#include <stdatomic.h>
#include <time.h>

#include "base/util.h"
#include "worker/server_internal.h"

/* ns: about the time between two polls of the xPU */
#define FULL_WAIT_NS 50000

/* While the ring is full, waits for the xPU's next poll, unless the xPU stops the worker. */
void server_answer(struct worker_server *s, uint32_t kind, const struct worker_parts *parts)
{
	const struct timespec pause = {.tv_nsec = FULL_WAIT_NS};

	while (!worker_put(&s->answers, kind, parts) && !atomic_load(&s->options.rings->stop)) {
		s->options.wake(s->options.wake_context);
		nanosleep(&pause, NULL);
	}
}

void server_answer_data(struct worker_server *s, uint32_t kind, const void *data, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += WORKER_PART_BYTES) {
		const struct worker_parts parts = {
			.first = (const uint8_t *)data + at,
			.first_bytes = (uint32_t)min_u64(bytes - at, WORKER_PART_BYTES)};
		server_answer(s, kind, &parts);
	}
}
