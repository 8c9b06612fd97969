/* SPDX-License-Identifier: BSD-3-Clause */
/* A radix queue of events, by time in picoseconds, then by insertion. */
#ifndef MODEL_QUEUE_H
#define MODEL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_QUEUE_LEVELS 8   /* digits of a time */
#define MODEL_QUEUE_LISTS  256 /* values of a digit */

struct model_event {
	uint64_t at_ps;
	uint32_t kind, subject; /* the caller's */
};

struct model_queue_entry {
	uint64_t at_ps;
	uint32_t kind, subject;
	/* odd: its event can still happen; grows when one is added, happens, or is cancelled */
	uint32_t generation;
	uint32_t next; /* in the list, or free */
};

struct model_queue_list {
	uint32_t first, last;
};

/* Invariant: an event is in lists[level][digit], the highest digit in which its time differs from
 * base_ps, and its value there. So level 0 has the earliest events, each list one time, in order of
 * insertion. base_ps <= every time. */
struct model_queue {
	struct model_queue_entry *entries;
	uint32_t capacity, free, used;
	uint32_t live; /* events not cancelled */
	uint64_t base_ps;
	uint64_t now_ps; /* of the last event */
	/* bit: the list has events */
	uint64_t filled[MODEL_QUEUE_LEVELS][MODEL_QUEUE_LISTS / 64];
	struct model_queue_list lists[MODEL_QUEUE_LEVELS][MODEL_QUEUE_LISTS];
};

/* The queue can grow. DXP_ENOMEM. */
int model_queue_create(struct model_queue *q, uint32_t capacity);
void model_queue_destroy(struct model_queue *q);

/* Adds an event at `at_ps` >= now_ps. Returns an id for model_queue_cancel(); 0: out of memory. */
uint64_t model_queue_add(struct model_queue *q, uint64_t at_ps, uint32_t kind, uint32_t subject);

/* Returns false if it has happened or was cancelled. */
bool model_queue_cancel(struct model_queue *q, uint64_t id);

/* Sets now_ps to its time. false: none. */
bool model_queue_next(struct model_queue *q, struct model_event *out);

#endif
