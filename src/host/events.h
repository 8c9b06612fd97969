/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of one host on one executor (an xPU, or the host itself).
 *
 * Recent events are in a ring indexed by count. The ring doubles up to HOST_EVENTS_RING entries.
 * When it is full, its oldest events move to a sorted list: completed ones, and at HOST_EVENTS_RING
 * also pending ones. So only memory limits how many events a program keeps.
 *
 * Invariant: next - oldest <= capacity, in uint32_t arithmetic that wraps. Unless they are equal,
 * the entry of `oldest` is in use. Counts in the list are before `oldest`; the list's last entry is
 * in use. */
#ifndef HOST_EVENTS_H
#define HOST_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <dxp/mmd.h>

enum host_event_state { HOST_EVENT_FREE, HOST_EVENT_PENDING, HOST_EVENT_DONE };

struct host_event {
	uint8_t state;         /* enum host_event_state */
	bool silent : 1;       /* has no handle: freed when done */
	bool pulls : 1;        /* until the event is DONE, the xPU may access this host's memory */
	bool notify : 1;       /* the completion must be queued, with `cookie` */
	bool begun : 1;        /* the node reported that the command runs */
	bool lazy : 1;         /* the node may delay the report */
	bool kernel : 1;       /* set for a kernel's event (use.h) */
	bool transfer : 1;     /* set for a transfer's event (use.h) */
	int8_t status;         /* DONE: enum dxp_status */
	uint16_t bytes;        /* PENDING: set by events_weigh; 0: none */
	int32_t native;        /* see struct dxp_completion */
	uint16_t notified;     /* node that is notified of the event's completion; 0: none */
	uint16_t signalled;    /* node that got a signal for it; 0: none */
	uint32_t signal_count; /* count of that signal */
	uint64_t cookie;
	struct dxp_event_times times;
	/* Transfer that the event completes; NULL: the event belongs to a command or to the
	 * program. */
	struct move *move;
	struct notice *notices;  /* own events: nodes that wait for it */
	struct move_wait *moves; /* first transfer that waits for it */
};

/* Called when an event with `notify` or `moves` (`always`: any event) becomes DONE, before it is
 * freed. Must not change the ring. */
struct events_watch {
	void (*ended)(void *context, uint32_t count, struct host_event *entry);
	void *context;
	bool always;
};

struct kept_event;

struct events {
	struct host_event *entries;
	uint32_t capacity; /* a power of two, or 0 */
	uint32_t oldest, next;
	uint32_t oldest_pending; /* no earlier event is PENDING */
	uint32_t pending;
	uint32_t pulling;
	uint64_t bytes;          /* bytes of pending commands, as the xPU counts them */
	struct kept_event *kept; /* sorted by count; packed when half are free */
	uint32_t kept_count, kept_space;
	uint32_t kept_free;    /* free entries in the list */
	uint32_t kept_pending; /* index: no earlier entry is PENDING */
	struct events_watch watch;
};

void events_init(struct events *e, uint32_t first);
void events_destroy(struct events *e);

/* Adds the next event, as PENDING. DXP_ENOMEM. */
int events_add(struct events *e, uint32_t *count, struct host_event **out);

/* Finds an event; NULL: unknown or freed. Valid until the next events_add or events_free. */
struct host_event *events_find(const struct events *e, uint32_t count);

/* Returns the oldest pending count, or the next count if none is pending. */
uint32_t events_oldest(struct events *e);

/* Removes the event that events_add added last. */
void events_undo(struct events *e);

/* Records what the newest event's command counts: the bytes of its message and
 * COMMAND_KEPT_ARGUMENTS. */
void events_weigh(struct events *e, uint32_t bytes);

/* Returns the oldest event in use at or after *count, and sets *count to it; NULL: none. Start at
 * events_begin(). Events may complete and be freed between calls. */
struct host_event *events_next(const struct events *e, uint32_t *count);
uint32_t events_begin(const struct events *e);

/* Sets `pulls` of a PENDING event; has no effect on other events. */
void events_pull(struct events *e, uint32_t count);

/* Makes a PENDING event DONE, or frees it if silent. Returns false if it was not pending. */
bool events_finish(struct events *e, uint32_t count, int status,
		   const struct dxp_event_times *times);
void events_free(struct events *e, uint32_t count);
/* Frees an event. A PENDING event is freed later, when it becomes DONE. */
void events_forget(struct events *e, uint32_t count);

/* Completes all pending events with `status`, and returns how many. Leaves out events of transfers,
 * which complete when nothing accesses their memory. */
uint32_t events_fail(struct events *e, int status);

#endif
