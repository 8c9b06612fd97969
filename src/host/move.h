/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous transfers between host memory and device memory. If a transfer waits for events of
 * xPUs, and fewer than HOST_PULLS_MAX transfers are PULLED, the xPU performs it. Otherwise this
 * host performs it. States:
 * - By this host: WAITING for events; READY when all events have completed; RUNNING while it does
 *   PUT or GET in pieces.
 * - By the xPU: PULLED until the xPU reports the completion (after the events, it accesses host
 *   memory); DRAINING while the NIC still uses the memory.
 *
 * Then the transfer's event completes: an event of this host, or an event of the xPU if the
 * transfer was PULLED. It completes after the last access to the program's memory. */
#ifndef HOST_MOVE_H
#define HOST_MOVE_H

#include "host/internal.h"

enum move_state { MOVE_WAITING, MOVE_READY, MOVE_RUNNING, MOVE_PULLED, MOVE_DRAINING };

#define MOVE_WAITS_INLINE 4

/* One wait of a transfer for one event. It is in the list of that event until the event
 * completes. */
struct move_wait {
	/* neighbours in the event's list; NULL at its ends */
	struct move_wait *next, *previous;
	struct move *move; /* transfer that waits; NULL: the event has completed */
	dxp_event event;
};

struct move {
	/* pieces that are outstanding; aligned so that its address can be the context of a
	 * descriptor */
	struct host_op op;
	struct move *next, **link;
	struct dxp_xpu *xpu;
	uint8_t state; /* enum move_state */
	uint8_t direction;
	uint8_t qp;      /* RUNNING: queue pair, HOST_QP_DATA or HOST_QP_LONG */
	uint8_t again;   /* how often the transfer restarted because the path MTU became smaller */
	bool registered; /* true: `key` is valid */
	bool revoked;
	/* true: a node was notified of success before the transfer completed */
	bool notified_early;
	uint32_t key;
	uint32_t count; /* count of the transfer's event */
	uint8_t *local;
	uint64_t address, bytes, posted;
	/* Events that the transfer waits for. It normally starts after them. If it may run before
	 * they complete, it only completes after them. */
	struct move_wait *waits;
	uint32_t wait_count, waits_left;
	struct move_wait inline_waits[MOVE_WAITS_INLINE];
	int status;
	struct dxp_event_times times;
	uint64_t revoked_ns;
};

/* Returns a transfer with all fields zero except `waits`; NULL: memory is short. move_enter adds it
 * to the list of a state. */
struct move *move_new(struct dxp_fabric *f);
void move_enter(struct dxp_fabric *f, struct move *m, enum move_state state);
/* Frees a transfer. It must not be in a list. */
void move_free(struct dxp_fabric *f, struct move *m);
void moves_destroy(struct dxp_fabric *f);
/* Adds a wait for a pending event. The array `waits` must have space. */
void move_wait_for(struct move *m, dxp_event event, struct host_event *entry);

#endif
