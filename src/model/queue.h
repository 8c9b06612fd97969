/* SPDX-License-Identifier: BSD-3-Clause */
/* Event queue: a radix queue. Events are ordered by time, then by insertion. Time is in
 * picoseconds. */
#ifndef MODEL_QUEUE_H
#define MODEL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_QUEUE_LEVELS 8   /* number of digits of a time */
#define MODEL_QUEUE_LISTS  256 /* number of values of a digit */

struct model_event {
	uint64_t at_ps;
	uint32_t kind, subject; /* their meaning is up to the caller */
};

struct model_queue_entry {
	uint64_t at_ps;
	uint32_t kind, subject;
	/* odd: the entry has an event that can still happen; grows when an event is added, happens,
	 * or is cancelled */
	uint32_t generation;
	uint32_t next; /* next entry in the same list, or next free entry */
};

struct model_queue_list {
	uint32_t first, last;
};

/* Invariant: an event is in lists[level][digit], where `level` is the highest digit in which its
 * time differs from base_ps, and `digit` is its value there. So level 0 has the earliest events,
 * and each of its lists has one time, in order of insertion. base_ps <= every time in the lists. */
struct model_queue {
	struct model_queue_entry *entries;
	uint32_t capacity, free, used;
	uint32_t live; /* number of events that are not cancelled */
	uint64_t base_ps;
	uint64_t now_ps; /* time of the last event */
	/* one bit for each list: it has events */
	uint64_t filled[MODEL_QUEUE_LEVELS][MODEL_QUEUE_LISTS / 64];
	struct model_queue_list lists[MODEL_QUEUE_LEVELS][MODEL_QUEUE_LISTS];
};

/* Reserves memory for `capacity` events; the queue can grow. DXP_ENOMEM. */
int model_queue_create(struct model_queue *q, uint32_t capacity);
void model_queue_destroy(struct model_queue *q);

/* Adds an event at `at_ps` >= now_ps. Returns an id for model_queue_cancel(); 0: out of memory. */
uint64_t model_queue_add(struct model_queue *q, uint64_t at_ps, uint32_t kind, uint32_t subject);

/* Cancels an event. Returns false if it has already happened or was cancelled before. */
bool model_queue_cancel(struct model_queue *q, uint64_t id);

/* Removes the earliest event and sets now_ps to its time. Returns false if there is none. */
bool model_queue_next(struct model_queue *q, struct model_event *out);

#endif
