/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of one host on one executor (an xPU, or the host itself): a ring indexed by count,
 * from the oldest that somebody may still ask for to the next to be given out. It doubles up to
 * HOST_EVENTS_RING. When it is full, the events at its old end move to a sorted list: those that
 * have ended, and at HOST_EVENTS_RING also those that are pending. So a program may keep events, or
 * leave them pending, and make new ones for ever; only memory bounds their number. Invariant:
 * next - oldest <= capacity in uint32_t arithmetic that wraps; the slot of `oldest` is in use
 * unless they are equal; counts of the list are before `oldest`; its last entry is in use. */
#ifndef HOST_EVENTS_H
#define HOST_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <dxp/mmd.h>

enum host_event_state { HOST_EVENT_FREE, HOST_EVENT_PENDING, HOST_EVENT_DONE };

struct host_event {
	uint8_t state;         /* enum host_event_state */
	bool silent : 1;       /* nobody asks for it: freed as soon as it is done */
	bool pulls : 1;        /* until it is done the xPU reads or writes this host's memory */
	bool notify : 1;       /* its end is told with `cookie` */
	bool lazy : 1;         /* its node may tell late */
	int8_t status;         /* DONE: enum dxp_status */
	uint16_t bytes;        /* PENDING: of the command's message; 0: none */
	int32_t native;        /* as struct dxp_completion's */
	uint16_t told;         /* a second node that learns of its end; 0: none */
	uint16_t signalled;    /* a node that was sent a signal for it; 0: none */
	uint32_t signal_count; /* the count of that signal */
	uint64_t cookie;
	struct dxp_event_times times;
	struct move *move;  /* what it is the end of; NULL: of a command or of the program's word */
	struct tell *tells; /* the host's own: nodes that wait for it */
	struct move_wait *moves; /* the first move that waits for it */
};

/* Called when one that has `notify` or `moves`, or any where `always`, becomes DONE, before it is
 * freed. It may not change the ring. */
struct events_watch {
	void (*ended)(void *context, uint32_t count, struct host_event *slot);
	void *context;
	bool always;
};

struct elder;

struct events {
	struct host_event *slots;
	uint32_t capacity; /* a power of two, or 0 */
	uint32_t oldest, next;
	uint32_t oldest_pending; /* none before it is PENDING */
	uint32_t pending;
	uint32_t pulling;     /* of those, that pull */
	uint64_t bytes;       /* of their commands, as the xPU counts them */
	struct elder *elders; /* by count; freed ones stay until half of the list is free */
	uint32_t elder_count, elder_room;
	uint32_t elder_free;    /* of these, freed */
	uint32_t elder_pending; /* index; no elder before it is PENDING */
	struct events_watch watch;
};

void events_init(struct events *e, uint32_t first);
void events_destroy(struct events *e);

/* Makes the next event, PENDING. DXP_ENOMEM. */
int events_add(struct events *e, uint32_t *count, struct host_event **out);

/* NULL when it was freed or never was. Valid until the next events_add or events_free. */
struct host_event *events_find(const struct events *e, uint32_t count);

/* Nothing before this count is waited for by anybody: it has ended. */
uint32_t events_oldest(struct events *e);

/* Takes back what events_add has just given. */
void events_undo(struct events *e);

/* The command of the newest event has a message of so many bytes. */
void events_weigh(struct events *e, uint32_t message_bytes);

/* The oldest that is in use and not before *count, which becomes its count; NULL: there is none.
 * Begin with events_begin(); events may end and be freed between two calls. */
struct host_event *events_next(const struct events *e, uint32_t *count);
uint32_t events_begin(const struct events *e);

/* Marks one that pulls, if it is still PENDING. */
void events_pull(struct events *e, uint32_t count);

/* PENDING becomes DONE (or free, when silent). False when it was not pending. */
bool events_finish(struct events *e, uint32_t count, int status,
		   const struct dxp_event_times *times);
void events_free(struct events *e, uint32_t count);
/* As events_free, but one that is PENDING is freed when it is DONE. */
void events_forget(struct events *e, uint32_t count);

/* Ends everything that is pending but moves, which end when nothing touches their memory any more;
 * returns how many. */
uint32_t events_fail(struct events *e, int status);

#endif
