/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of one host on one xPU, by count: a ring that doubles, up to its bound, when a needed
 * event would be overwritten. At the bound the oldest completed events are forgotten. Pending
 * events move to a sorted list that only memory bounds. Pure; not thread-safe. */
#ifndef XPU_EVENT_LOG_H
#define XPU_EVENT_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct graph_wait;

enum event_state {
	EVENT_UNKNOWN,
	EVENT_PENDING,
	EVENT_ISSUED, /* the command has been handed out */
	EVENT_DONE,
};

struct event_entry {
	uint32_t count;
	uint8_t state; /* enum event_state */
	int8_t status; /* DONE: enum dxp_status */
	struct graph_wait *waiters;
};

struct event_log {
	/* The ring: its capacity is a power of two; the entry of `count` is at index count %
	 * capacity. */
	struct event_entry *entries;
	uint32_t capacity, capacity_max;
	/* The events complete on another xPU, so a pending event without waiters may be
	 * forgotten. */
	bool foreign;
	uint32_t oldest; /* completed events before this count may be forgotten */
	bool some_forgotten;
	uint32_t forgotten; /* the newest count that was forgotten */
	/* Pending events whose ring entries other events needed, sorted by count. */
	struct event_entry *kept;
	uint32_t kept_count, kept_space;
};

/* Initializes an empty log. capacity_max: a power of two. */
void event_log_init(struct event_log *l, uint32_t capacity_max, bool foreign);
void event_log_destroy(struct event_log *l);

/* Returns the entry of this event, or NULL. Valid until the next event_log_add. */
struct event_entry *event_log_find(const struct event_log *l, uint32_t count);

/* Returns whether the event was, or may have been, known and forgotten. */
bool event_log_forgotten(const struct event_log *l, uint32_t count);

/* Adds a PENDING entry; `count` must be unknown. DXP_ENOMEM. */
int event_log_add(struct event_log *l, uint32_t count, struct event_entry **out);

#endif
