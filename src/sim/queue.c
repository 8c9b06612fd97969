/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap. */
#include "sim/queue.h"

#include <stdbool.h>
#include <stdlib.h>

#include <dxp/status.h>

static bool before(const struct sim_delivery *a, const struct sim_delivery *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static void swap(struct sim_delivery *a, struct sim_delivery *b)
{
	struct sim_delivery t = *a;

	*a = *b;
	*b = t;
}

int sim_queue_push(struct sim_queue *q, struct sim_delivery d)
{
	if (q->count == q->room) {
		size_t room = q->room ? 2 * q->room : 256;
		struct sim_delivery *heap = realloc(q->heap, room * sizeof(*heap));
		if (!heap)
			return DXP_ENOMEM;
		q->heap = heap;
		q->room = room;
	}
	d.order = q->order++;
	size_t i = q->count++;
	q->heap[i] = d;
	for (; i > 0 && before(&q->heap[i], &q->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&q->heap[i], &q->heap[(i - 1) / 2]);
	return DXP_OK;
}

struct sim_delivery sim_queue_pop(struct sim_queue *q)
{
	struct sim_delivery top = q->heap[0];
	size_t i = 0;

	q->heap[0] = q->heap[--q->count];
	for (;;) {
		size_t least = i;
		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < q->count; child++)
			if (before(&q->heap[child], &q->heap[least]))
				least = child;
		if (least == i)
			return top;
		swap(&q->heap[i], &q->heap[least]);
		i = least;
	}
}

uint64_t sim_queue_next(const struct sim_queue *q)
{
	return q->count ? q->heap[0].time_ns : UINT64_MAX;
}

void sim_queue_free(struct sim_queue *q)
{
	for (size_t i = 0; i < q->count; i++)
		free(q->heap[i].data);
	free(q->heap);
}
