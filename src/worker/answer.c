/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of a worker to its xPU. */
#include <stdatomic.h>
#include <time.h>

#include "base/util.h"
#include "worker/server_internal.h"

#define FULL_WAIT_NS 50000 /* ns: about one poll of the xPU, in which it reads answers */

/* Sends an answer. Waits while the ring is full: the xPU reads answers at each of its polls. */
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
