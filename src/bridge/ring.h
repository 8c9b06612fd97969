/* SPDX-License-Identifier: BSD-3-Clause */
/* One ring of buffers and the state of each (S-05). Invariant: `free` counts those that are EMPTY;
 * a buffer changes its state only as its ring's row of the table allows. */
#ifndef BRIDGE_RING_H
#define BRIDGE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"

enum bridge_buffer_state {
	BUFFER_EMPTY,
	BUFFER_FILL,   /* bytes come from the network */
	BUFFER_FULL,   /* waits for its turn with the controller */
	BUFFER_DEVICE, /* DMA, also one that was given back */
	BUFFER_DONE,   /* waits for the network */
	BUFFER_DRAIN,  /* bytes leave */
	BUFFER_STATES
};

enum ring_way { RING_TO_DEVICE, RING_FROM_DEVICE, RING_WAYS };

#define RING_NONE UINT8_MAX /* no buffer */

struct ring {
	enum ring_way way;
	uint8_t *base;
	uint32_t count, buffer_bytes;
	uint32_t free;
	uint8_t empty[BRIDGE_BUFFERS_MAX]; /* stack of those that are EMPTY; the first `free` */
	uint8_t state[BRIDGE_BUFFERS_MAX];
};

void ring_init(struct ring *r, enum ring_way way, uint8_t *base, uint32_t count,
	       uint32_t buffer_bytes);

/* A buffer that was EMPTY and now has the ring's first state: FILL towards the device, DEVICE from
 * it. There must be one. The last one given back comes first: it is still in caches. */
uint8_t ring_take(struct ring *r);
/* Asserts that the change is legal; to the state that it has already: no change. EMPTY gives it
 * back. */
void ring_move(struct ring *r, uint8_t buffer, enum bridge_buffer_state to);
bool ring_legal(enum ring_way way, enum bridge_buffer_state from, enum bridge_buffer_state to);

/* NULL for RING_NONE. */
uint8_t *ring_at(const struct ring *r, uint8_t buffer);

#endif
