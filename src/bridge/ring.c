/* SPDX-License-Identifier: BSD-3-Clause */
#include "bridge/ring.h"

#include <assert.h>
#include <stddef.h>

#define TO(state) (1u << BUFFER_##state)

/* A buffer of a failed transfer may also become EMPTY from any state. */
static const uint8_t legal[RING_WAYS][BUFFER_STATES] = {
	[RING_TO_DEVICE] =
		{
			[BUFFER_EMPTY] = TO(FILL),
			[BUFFER_FILL] = TO(FULL) | TO(EMPTY),
			[BUFFER_FULL] = TO(DEVICE) | TO(EMPTY),
			[BUFFER_DEVICE] = TO(EMPTY),
		},
	[RING_FROM_DEVICE] =
		{
			[BUFFER_EMPTY] = TO(DEVICE),
			[BUFFER_DEVICE] = TO(DONE) | TO(EMPTY),
			[BUFFER_DONE] = TO(DRAIN) | TO(EMPTY),
			[BUFFER_DRAIN] = TO(EMPTY),
		},
};

void ring_init(struct ring *r, enum ring_way way, uint8_t *base, uint32_t count,
	       uint32_t buffer_bytes)
{
	*r = (struct ring){.way = way,
			   .base = base,
			   .count = count,
			   .buffer_bytes = buffer_bytes,
			   .free = count};
	for (uint32_t i = 0; i < count; i++)
		r->empty[i] = (uint8_t)(count - 1 - i);
}

bool ring_legal(enum ring_way way, enum bridge_buffer_state from, enum bridge_buffer_state to)
{
	return legal[way][from] >> to & 1;
}

uint8_t ring_buffer_get(struct ring *r)
{
	assert(r->free > 0);
	uint8_t buffer = r->empty[--r->free];

	ring_move(r, buffer, r->way == RING_TO_DEVICE ? BUFFER_FILL : BUFFER_DEVICE);
	return buffer;
}

void ring_move(struct ring *r, uint8_t buffer, enum bridge_buffer_state to)
{
	assert(buffer < r->count);
	if (r->state[buffer] == to)
		return;
	assert(ring_legal(r->way, r->state[buffer], to));
	r->state[buffer] = (uint8_t)to;
	if (to == BUFFER_EMPTY)
		r->empty[r->free++] = buffer;
}

uint8_t *ring_at(const struct ring *r, uint8_t buffer)
{
	return buffer == RING_NONE ? NULL : r->base + (size_t)buffer * r->buffer_bytes;
}
