/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams under way, ordered by time and, at one instant, by when they were sent: a binary heap.
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct sim_delivery {
	uint64_t time_ns, order;
	uint32_t from, to; /* hosts */
	uint32_t bytes;
	uint8_t *data; /* owned */
};

struct sim_queue {
	struct sim_delivery *heap;
	size_t count, room;
	uint64_t order;
};

int sim_queue_push(struct sim_queue *q,
		   struct sim_delivery d); /* DXP_ENOMEM: d.data is still the caller's */
struct sim_delivery sim_queue_pop(struct sim_queue *q); /* q->count > 0; the caller frees data */
uint64_t sim_queue_next(const struct sim_queue *q);     /* UINT64_MAX when empty */
void sim_queue_free(struct sim_queue *q);

#endif
