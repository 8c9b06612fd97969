/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of one host on one xPU: a ring indexed by count, from the oldest that somebody may
 * still ask for to the next to be given out. Grows by doubling up to HOST_EVENTS_MAX, then refuses.
 * Invariant: next - oldest <= capacity in uint32_t arithmetic that wraps; the slot of `oldest` is
 * in use unless they are equal. */
#ifndef HOST_EVENTS_H
#define HOST_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <dxp/mmd.h>

enum host_event_state { HOST_EVENT_FREE, HOST_EVENT_PENDING, HOST_EVENT_DONE };

struct host_event {
	uint8_t state;         /* enum host_event_state */
	bool silent;           /* nobody asks for it: freed as soon as it is done */
	bool pulls;            /* until it is done the xPU reads or writes this host's memory */
	int8_t status;         /* DONE: enum dxp_status */
	uint16_t told;         /* a second node that learns of its end; 0: none */
	uint16_t signalled;    /* a node that was sent a signal for it; 0: none */
	uint32_t signal_count; /* the count of that signal */
	struct dxp_event_times times;
};

struct events {
	struct host_event *slots;
	uint32_t capacity; /* a power of two, or 0 */
	uint32_t oldest, next;
	uint32_t pending;
	uint32_t pulling; /* of those, that pull */
};

void events_init(struct events *e, uint32_t first);
void events_destroy(struct events *e);

/* Makes the next event, PENDING. DXP_EAGAIN: HOST_EVENTS_MAX are in use; DXP_ENOMEM. */
int events_add(struct events *e, uint32_t *count, struct host_event **out);

/* NULL when it was freed or never was. */
struct host_event *events_find(const struct events *e, uint32_t count);

/* Marks one that pulls, if it is still PENDING. */
void events_pull(struct events *e, uint32_t count);

/* PENDING becomes DONE (or free, when silent). False when it was not pending. */
bool events_finish(struct events *e, uint32_t count, int status,
		   const struct dxp_event_times *times);
void events_free(struct events *e, uint32_t count);

/* Ends everything that is pending; returns how many. */
uint32_t events_fail(struct events *e, int status);

#endif
