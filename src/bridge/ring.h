/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring of buffers and their states (S-05). Invariant: `free` counts the EMPTY buffers. A buffer's
 * state changes only as the ring's row of the table in ring.c allows. */
#ifndef BRIDGE_RING_H
#define BRIDGE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/limits.h"

enum bridge_buffer_state {
	BUFFER_EMPTY,
	BUFFER_FILL,   /* bytes from the network arrive in it */
	BUFFER_FULL,   /* waits for a DMA to the device */
	BUFFER_DEVICE, /* a DMA is outstanding, or the owner has returned the DMA step */
	BUFFER_DONE,   /* waits to be sent to the network */
	BUFFER_DRAIN,  /* its bytes leave to the network */
	BUFFER_STATES
};

enum ring_way { RING_TO_DEVICE, RING_FROM_DEVICE, RING_WAYS };

#define RING_NONE UINT8_MAX

struct ring {
	enum ring_way way;
	uint8_t *base;
	uint32_t count, buffer_bytes;
	uint32_t free;
	/* stack of EMPTY buffers: its first `free` entries are valid */
	uint8_t empty[BRIDGE_BUFFERS_MAX];
	uint8_t state[BRIDGE_BUFFERS_MAX];
};

void ring_init(struct ring *r, enum ring_way way, uint8_t *base, uint32_t count,
	       uint32_t buffer_bytes);

/* Returns an EMPTY buffer, after changing it to the ring's first state: FILL towards the device,
 * DEVICE from it. An EMPTY buffer must exist. Prefers the buffer that was freed last, because it is
 * still in caches. */
uint8_t ring_buffer_get(struct ring *r);
/* Changes a buffer's state; asserts that this change is legal. Changing to the present state has no
 * effect. Changing to EMPTY frees the buffer. */
void ring_move(struct ring *r, uint8_t buffer, enum bridge_buffer_state to);
bool ring_legal(enum ring_way way, enum bridge_buffer_state from, enum bridge_buffer_state to);

uint8_t *ring_at(const struct ring *r, uint8_t buffer);

#endif
