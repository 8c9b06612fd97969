/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of one host on one xPU, by number (`count`), in a ring. It doubles, up to a bound, rather
 * than overwrite an event that is needed. Then the oldest completed events are forgotten, and
 * pending ones move to a sorted list. No I/O; not thread-safe. */
#ifndef XPU_EVENT_LOG_H
#define XPU_EVENT_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct graph_wait;

enum event_state {
	EVENT_UNKNOWN,
	EVENT_PENDING,
	EVENT_ISSUED, /* graph_next has returned the command */
	EVENT_DONE,
};

struct event_entry {
	uint32_t count;
	uint8_t state;
	int8_t status; /* DONE: enum dxp_status */
	struct graph_wait *waiters;
};

struct event_log {
	/* `count` is at count % capacity, a power of two */
	struct event_entry *entries;
	uint32_t capacity, capacity_max;
	/* events complete on another xPU: a pending one without waiters may be forgotten */
	bool foreign;
	uint32_t oldest; /* completed events before it may be forgotten */
	bool some_forgotten;
	uint32_t forgotten; /* newest count of a forgotten event */
	/* pending ones pushed out of the ring, by count */
	struct event_entry *kept;
	uint32_t kept_count, kept_space;
};

/* `capacity_max`: a power of two. */
void event_log_init(struct event_log *l, uint32_t capacity_max, bool foreign);
void event_log_destroy(struct event_log *l);

/* Valid until the next event_log_add; NULL: unknown. */
struct event_entry *event_log_find(const struct event_log *l, uint32_t count);

/* The log may have known and forgotten this event. */
bool event_log_forgotten(const struct event_log *l, uint32_t count);

/* Adds an unknown event as EVENT_PENDING. DXP_ENOMEM. */
int event_log_add(struct event_log *l, uint32_t count, struct event_entry **out);

#endif
