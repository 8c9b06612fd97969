/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers between host memory and device memory that nobody waits for while they run.
 *
 * Life: WAITING for events -> READY, when the last of them has ended -> RUNNING, by PUT or GET in
 * pieces -> DRAINING, where the NIC still points into the memory -> its event ends. Or PULLED,
 * where it waits for events of xPUs and fewer than HOST_PULLS_MAX others do: the xPU itself reads
 * or writes our memory when they have ended -> DRAINING. The event is the host's, of one PULLED the
 * xPU's; it ends after the last touch of the program's memory. */
#ifndef HOST_MOVE_H
#define HOST_MOVE_H

#include "host/internal.h"

enum move_state { MOVE_WAITING, MOVE_READY, MOVE_RUNNING, MOVE_PULLED, MOVE_DRAINING };

#define MOVE_WAITS_INLINE 4

/* A move's wait for an event: in the list of that event until it has ended. */
struct move_wait {
	struct move_wait *next, *previous; /* NULL at its ends; the event has the first */
	struct move *move;                 /* NULL: the event has ended */
	dxp_event event;
};

struct move {
	struct host_op op; /* of pieces under way; aligned, as contexts of descriptors are */
	struct move *next, **link;
	struct dxp_xpu *xpu;
	uint8_t state; /* enum move_state */
	uint8_t direction;
	uint8_t qp;      /* RUNNING: HOST_QP_DATA or HOST_QP_LONG */
	uint8_t again;   /* narrowings survived */
	bool registered; /* `key` is good */
	bool revoked;
	bool told_early; /* its end was told before it was known */
	uint32_t key;
	uint32_t count; /* of its event */
	uint8_t *local;
	uint64_t address, bytes, posted;
	/* Events that must have ended before it starts or, where that does no harm,
	 * before it ends. */
	struct move_wait *waits;
	uint32_t wait_count, waits_left;
	struct move_wait inline_waits[MOVE_WAITS_INLINE];
	int status;
	struct dxp_event_times times;
	uint64_t revoked_ns;
};

/* Zeroed but for `waits`; NULL: out of memory. move_enter puts it where its state belongs. */
struct move *move_new(struct dxp_fabric *f);
void move_enter(struct dxp_fabric *f, struct move *m, enum move_state state);
/* Of one that was not entered. */
void move_free(struct dxp_fabric *f, struct move *m);
void moves_destroy(struct dxp_fabric *f);
/* It waits for this event, which is pending. There is room for one more in `waits`. */
void move_wait_for(struct move *m, dxp_event event, struct host_event *slot);

#endif
