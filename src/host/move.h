/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous transfers between host memory and device memory. The xPU performs a transfer if it
 * waits for events of xPUs and fewer than HOST_PULLS_MAX transfers are PULLED. Otherwise the host
 * performs it. States:
 *
 * by the host  WAITING for events -> READY: all have completed -> RUNNING: PUT or GET in pieces
 * by the xPU   PULLED: it accesses host memory after the events -> DRAINING: the NIC still uses it
 *
 * Then the event completes: the host's event, or for a PULLED transfer the xPU's. It completes
 * after the last access to the program's memory. */
#ifndef HOST_MOVE_H
#define HOST_MOVE_H

#include "host/internal.h"

enum move_state { MOVE_WAITING, MOVE_READY, MOVE_RUNNING, MOVE_PULLED, MOVE_DRAINING };

#define MOVE_WAITS_INLINE 4

/* A transfer's wait for an event. It is in that event's list until the event completes. */
struct move_wait {
	/* NULL at the list's ends; the event points to the first */
	struct move_wait *next, *previous;
	struct move *move; /* NULL: the event has completed */
	dxp_event event;
};

struct move {
	struct host_op op; /* outstanding pieces; aligned as contexts of descriptors */
	struct move *next, **link;
	struct dxp_xpu *xpu;
	uint8_t state; /* enum move_state */
	uint8_t direction;
	uint8_t qp;      /* RUNNING: HOST_QP_DATA or HOST_QP_LONG */
	uint8_t again;   /* restarts after a narrower path */
	bool registered; /* `key` is valid */
	bool revoked;
	bool notified_early; /* a node was notified of success early */
	uint32_t key;
	uint32_t count; /* count of its event */
	uint8_t *local;
	uint64_t address, bytes, posted;
	/* Pending events. The transfer starts after them; if it may run before they complete, it
	 * only completes after them. */
	struct move_wait *waits;
	uint32_t wait_count, waits_left;
	struct move_wait inline_waits[MOVE_WAITS_INLINE];
	int status;
	struct dxp_event_times times;
	uint64_t revoked_ns;
};

/* Returns a zeroed transfer whose `waits` is set; NULL: out of memory. move_enter adds it to the
 * list of a state. */
struct move *move_new(struct dxp_fabric *f);
void move_enter(struct dxp_fabric *f, struct move *m, enum move_state state);
/* Frees a transfer that is in no list. */
void move_free(struct dxp_fabric *f, struct move *m);
void moves_destroy(struct dxp_fabric *f);
/* Adds a wait for a pending event. `waits` must have space. */
void move_wait_for(struct move *m, dxp_event event, struct host_event *entry);

#endif
