/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of one host on one xPU, found by their number (`count`). The log is a ring. When a new
 * event would overwrite one that is still needed, the ring doubles, up to a bound. At the bound the
 * oldest completed events are forgotten. Pending events move to a sorted list that only memory
 * bounds. No I/O; not thread-safe. */
#ifndef XPU_EVENT_LOG_H
#define XPU_EVENT_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct graph_wait;

enum event_state {
	EVENT_UNKNOWN,
	EVENT_PENDING,
	EVENT_ISSUED, /* graph_next has returned the event's command */
	EVENT_DONE,
};

struct event_entry {
	uint32_t count;
	uint8_t state; /* enum event_state */
	int8_t status; /* DONE: enum dxp_status */
	struct graph_wait *waiters;
};

struct event_log {
	/* The ring. Its capacity is a power of two. The entry of `count` is at index count %
	 * capacity. */
	struct event_entry *entries;
	uint32_t capacity, capacity_max;
	/* true: these events complete on another xPU. A pending event without waiters may then be
	 * forgotten. */
	bool foreign;
	uint32_t oldest; /* completed events before this count may be forgotten */
	bool some_forgotten;
	uint32_t forgotten; /* the newest count of a completed event that was forgotten */
	/* Pending events that other events have pushed out of the ring, sorted by count. */
	struct event_entry *kept;
	uint32_t kept_count, kept_space;
};

/* Initializes an empty log. `capacity_max` must be a power of two. */
void event_log_init(struct event_log *l, uint32_t capacity_max, bool foreign);
void event_log_destroy(struct event_log *l);

/* Returns the entry of this event, or NULL. The entry is valid until the next event_log_add. */
struct event_entry *event_log_find(const struct event_log *l, uint32_t count);

/* Returns true if the log may have known this event and forgotten it. */
bool event_log_forgotten(const struct event_log *l, uint32_t count);

/* Adds an entry with the state EVENT_PENDING; `count` must be unknown. DXP_ENOMEM: out of
 * memory. */
int event_log_add(struct event_log *l, uint32_t count, struct event_entry **out);

#endif
