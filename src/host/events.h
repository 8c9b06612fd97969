/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of this host on one executor. An executor is an xPU, or the host itself.
 *
 * Recent events are in a ring, indexed by count. The ring doubles up to HOST_EVENTS_RING entries.
 * When it is full, its oldest completed events move to a sorted list. At HOST_EVENTS_RING entries,
 * pending events move too. So only memory limits how many events a program can keep.
 *
 * Invariant: next - oldest <= capacity, in uint32_t arithmetic that wraps. If `next` and `oldest`
 * differ, the entry of `oldest` is in use. All counts in the list are before `oldest`. The last
 * entry of the list is in use. */
#ifndef HOST_EVENTS_H
#define HOST_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <dxp/mmd.h>

enum host_event_state { HOST_EVENT_FREE, HOST_EVENT_PENDING, HOST_EVENT_DONE };

struct host_event {
	uint8_t state; /* enum host_event_state */
	/* true: the program has no handle, so the event is freed when it is DONE */
	bool silent : 1;
	bool pulls : 1;    /* until the event is DONE, the xPU may access this host's memory */
	bool notify : 1;   /* true: the completion must be queued, with `cookie` */
	bool begun : 1;    /* true: the node reported that the command runs */
	bool lazy : 1;     /* true: the node may delay its report of the completion */
	bool kernel : 1;   /* true: the event belongs to a kernel (use.h) */
	bool transfer : 1; /* true: the event belongs to a transfer (use.h) */
	/* true: an allreduce lost its switches, after done_bytes bytes, and waits for SETTLE */
	bool lost : 1;
	int8_t status;         /* DONE: result, enum dxp_status; `lost`: reason of the loss */
	uint16_t bytes;        /* PENDING: value of events_weigh; 0: none */
	int32_t native;        /* see struct dxp_completion */
	uint16_t notified;     /* node that must be notified when the event completes; 0: none */
	uint16_t signalled;    /* node that gets a SIGNAL when the event completes; 0: none */
	uint32_t signal_count; /* count of the event that belongs to the SIGNAL command */
	uint64_t cookie;
	union {
		struct dxp_event_times times;
		uint64_t done_bytes; /* while PENDING and `lost` */
	};
	/* Transfer that the event completes; NULL: the event belongs to a command or to the
	 * program. */
	struct move *move;
	struct notice *notices;          /* event of this host: list of nodes that wait for it */
	struct move_wait *moves;         /* first transfer that waits for this event */
	struct dxp_event_cycles *cycles; /* of a launch, freed with the event; NULL: none */
};

/* Called when an event becomes DONE and `notify` or `moves` is set, before the event is freed. If
 * `always` is true, called for each event that becomes DONE. It must not change the ring. */
struct events_watch {
	void (*ended)(void *context, uint32_t count, struct host_event *entry);
	void *context;
	bool always;
};

struct kept_event;

struct events {
	struct host_event *entries;
	uint32_t capacity; /* entries of the ring: a power of two, or 0 */
	uint32_t oldest, next;
	uint32_t oldest_pending; /* all events before this count are not PENDING */
	uint32_t pending;
	uint32_t pulling;
	uint64_t bytes; /* bytes of the xPU's limit that pending commands use */
	/* list of moved events, sorted by count; freed entries are removed when half of it is
	 * free */
	struct kept_event *kept;
	uint32_t kept_count, kept_space;
	uint32_t kept_free;    /* number of freed entries in the list */
	uint32_t kept_pending; /* index in the list; all entries before it are not PENDING */
	struct events_watch watch;
};

void events_init(struct events *e, uint32_t first);
void events_destroy(struct events *e);

/* Adds the next event, as PENDING; *count is its count. DXP_ENOMEM. */
int events_add(struct events *e, uint32_t *count, struct host_event **out);

/* Finds an event. NULL: the event is unknown or was freed. The result is valid until the next
 * events_add or events_free. */
struct host_event *events_find(const struct events *e, uint32_t count);

/* Returns the count of the oldest pending event. If none is pending, returns the count of the next
 * event. */
uint32_t events_oldest(struct events *e);

/* Removes the event that events_add added last. */
void events_undo(struct events *e);

/* Records the bytes by which the newest event's command counts against the xPU's limit for pending
 * commands. `bytes`: length of its message plus COMMAND_KEPT_ARGUMENTS(). */
void events_weigh(struct events *e, uint32_t bytes);

/* Returns the first event in use whose count is *count or later, and sets *count to its count;
 * NULL: none. Start with the result of events_begin(). Events may complete and be freed between
 * calls. */
struct host_event *events_next(const struct events *e, uint32_t *count);
uint32_t events_begin(const struct events *e);

/* Sets `pulls` of a PENDING event; has no effect on other events. */
void events_pull(struct events *e, uint32_t count);

/* Makes a PENDING event DONE, or frees it if it is silent. Returns false if the event was not
 * PENDING. */
bool events_finish(struct events *e, uint32_t count, int status,
		   const struct dxp_event_times *times);
void events_free(struct events *e, uint32_t count);
/* Frees an event. A PENDING event is freed later, when it becomes DONE. */
void events_forget(struct events *e, uint32_t count);

/* Completes all pending events with `status`, and returns how many. Events of transfers stay
 * pending; they complete when nothing accesses their memory. */
uint32_t events_fail(struct events *e, int status);

#endif
