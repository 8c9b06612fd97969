/* SPDX-License-Identifier: BSD-3-Clause */
/* Event queue: a heap ordered by time, then by insertion. Time is in picoseconds. */
#ifndef MODEL_QUEUE_H
#define MODEL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_event {
	uint64_t at_ps;
	uint32_t kind, subject; /* meaning: the caller's */
};

struct model_queue_node {
	uint64_t at_ps, order;
	uint32_t entry, generation;
};

struct model_queue_entry {
	uint32_t kind, subject;
	uint32_t generation; /* grows when the event leaves, so older ids are invalid */
	uint32_t next_free;
};

/* Invariant: nodes[0 .. count) is a heap with four children per node. A node whose generation
 * differs from its entry's was cancelled. */
struct model_queue {
	struct model_queue_node *nodes;
	struct model_queue_entry *entries;
	uint32_t count, capacity, free, used;
	uint32_t live; /* events not cancelled */
	uint64_t order;
	uint64_t now_ps; /* time of the last event */
};

/* Reserves memory for `capacity` events; the queue can grow. DXP_ENOMEM. */
int model_queue_create(struct model_queue *q, uint32_t capacity);
void model_queue_destroy(struct model_queue *q);

/* Adds an event at `at_ps` >= now_ps. Returns an id for model_queue_cancel(); 0: out of memory. */
uint64_t model_queue_add(struct model_queue *q, uint64_t at_ps, uint32_t kind, uint32_t subject);

/* Removes an event. Returns false if it has happened or was cancelled. */
bool model_queue_cancel(struct model_queue *q, uint64_t id);

/* Removes the earliest event and sets now_ps to its time. Returns false if there is none. */
bool model_queue_next(struct model_queue *q, struct model_event *out);

#endif
