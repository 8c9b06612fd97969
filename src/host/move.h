/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous transfers between host memory and device memory.
 *
 * States: WAITING for events -> READY, when the last has completed -> RUNNING, by PUT or GET in
 * pieces -> event completes. Or PULLED, if it waits for events of xPUs and fewer than
 * HOST_PULLS_MAX others do: the xPU itself accesses host memory after those -> DRAINING, while
 * the NIC still uses the memory -> event completes. The event is the host's, of a PULLED
 * transfer the xPU's. It completes after the last access to the program's memory. */
#ifndef HOST_MOVE_H
#define HOST_MOVE_H

#include "host/internal.h"

enum move_state { MOVE_WAITING, MOVE_READY, MOVE_RUNNING, MOVE_PULLED, MOVE_DRAINING };

#define MOVE_WAITS_INLINE 4

/* A transfer's wait for an event, in that event's list until it completes. */
struct move_wait {
	struct move_wait *next, *previous; /* NULL at its ends; the event points to the first */
	struct move *move;                 /* NULL: the event has completed */
	dxp_event event;
};

struct move {
	struct host_op op; /* pieces under way; aligned as contexts of descriptors */
	struct move *next, **link;
	struct dxp_xpu *xpu;
	uint8_t state; /* enum move_state */
	uint8_t direction;
	uint8_t qp;      /* RUNNING: HOST_QP_DATA or HOST_QP_LONG */
	uint8_t again;   /* narrowings survived */
	bool registered; /* `key` is valid */
	bool revoked;
	bool notified_early; /* a node was notified of success in advance */
	uint32_t key;
	uint32_t count; /* of its event */
	uint8_t *local;
	uint64_t address, bytes, posted;
	/* Events that must complete before it starts, or before it completes if running beside
	 * them is harmless. */
	struct move_wait *waits;
	uint32_t wait_count, waits_left;
	struct move_wait inline_waits[MOVE_WAITS_INLINE];
	int status;
	struct dxp_event_times times;
	uint64_t revoked_ns;
};

/* Returns a zeroed transfer, except `waits`; NULL: out of memory. move_enter adds it to its
 * state's list. */
struct move *move_new(struct dxp_fabric *f);
void move_enter(struct dxp_fabric *f, struct move *m, enum move_state state);
/* Frees a transfer that is in no list. */
void move_free(struct dxp_fabric *f, struct move *m);
void moves_destroy(struct dxp_fabric *f);
/* Adds a wait for a pending event; `waits` must have space. */
void move_wait_for(struct move *m, dxp_event event, struct host_event *entry);

#endif
