/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of the events of one host on one xPU, by count: a ring that doubles while it is too
 * small for what must be remembered, up to its bound. Beyond it the oldest events that are done are
 * forgotten; those that are pending move to a sorted list, so their number has no bound but
 * memory. Pure; not thread-safe. */
#ifndef XPU_EVENT_LOG_H
#define XPU_EVENT_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct graph_wait;

enum event_state {
	EVENT_UNKNOWN,
	EVENT_PENDING,
	EVENT_ISSUED, /* its command has been given out */
	EVENT_DONE,
};

struct event_entry {
	uint32_t count;
	uint8_t state; /* enum event_state */
	int8_t status; /* DONE: enum dxp_status */
	struct graph_wait *waiters;
};

struct event_log {
	struct event_entry
		*entries; /* capacity of them, a power of two; entry of count at count % capacity */
	uint32_t capacity, capacity_max;
	bool foreign;    /* ended by somebody else: a pending one that nobody waits for is worth
			    nothing */
	uint32_t oldest; /* done ones before it may be forgotten */
	bool some_forgotten;
	uint32_t forgotten; /* the newest count that was forgotten */
	/* Events that were pending when the full ring needed their place, by count. */
	struct event_entry *elders;
	uint32_t elder_count, elder_room;
};

/* capacity_max: a power of two. */
void event_log_init(struct event_log *l, uint32_t capacity_max, bool foreign);
void event_log_destroy(struct event_log *l);

/* NULL: not known. Valid until the next event_log_add. */
struct event_entry *event_log_find(const struct event_log *l, uint32_t count);

/* Was it, or may it have been, known and forgotten? */
bool event_log_forgotten(const struct event_log *l, uint32_t count);

/* A new entry, PENDING; `count` is not known yet. DXP_ENOMEM. */
int event_log_add(struct event_log *l, uint32_t count, struct event_entry **out);

#endif
