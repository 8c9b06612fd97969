/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring of buffers and their states (S-05). Invariant: `free` counts the EMPTY ones; states change
 * only as the table in ring.c allows. */
#ifndef BRIDGE_RING_H
#define BRIDGE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/limits.h"

enum bridge_buffer_state {
	BUFFER_EMPTY,
	BUFFER_FILL,   /* bytes arrive from the network */
	BUFFER_FULL,   /* waits for a DMA to the device */
	BUFFER_DEVICE, /* a DMA is outstanding, or was returned */
	BUFFER_DONE,   /* waits for the network */
	BUFFER_DRAIN,  /* bytes leave to the network */
	BUFFER_STATES
};

enum ring_way { RING_TO_DEVICE, RING_FROM_DEVICE, RING_WAYS };

#define RING_NONE UINT8_MAX

struct ring {
	enum ring_way way;
	uint8_t *base;
	uint32_t count, buffer_bytes;
	uint32_t free;
	/* stack of EMPTY buffers: the first `free` are valid */
	uint8_t empty[BRIDGE_BUFFERS_MAX];
	uint8_t state[BRIDGE_BUFFERS_MAX];
};

void ring_init(struct ring *r, enum ring_way way, uint8_t *base, uint32_t count,
	       uint32_t buffer_bytes);

/* Changes an EMPTY buffer, of which there must be one, to the ring's first state: FILL towards the
 * device, DEVICE from it. Prefers the one freed last, which is in caches. */
uint8_t ring_buffer_get(struct ring *r);
/* Asserts that the change is legal. No effect in that state already; EMPTY frees the buffer. */
void ring_move(struct ring *r, uint8_t buffer, enum bridge_buffer_state to);
bool ring_legal(enum ring_way way, enum bridge_buffer_state from, enum bridge_buffer_state to);

uint8_t *ring_at(const struct ring *r, uint8_t buffer);

#endif
