/* SPDX-License-Identifier: BSD-3-Clause */
/* ALLOC and FREE. Memory is zero when its host hears of it: what somebody else left there is
 * nobody's to read. Large ranges are cleared in pieces between two turns of the network. */
#include <stdlib.h>

#include <dxp/status.h>

#include "xpu/slot_internal.h"

static void allocate_reply(struct tenant *t, uint32_t sequence, uint64_t address, int status)
{
	const struct command_reply r = {
		.op = COMMAND_ALLOC,
		.sequence = sequence,
		.status = status,
		.free_bytes = arena_free_bytes(t->slot->arena),
		.address = address,
	};

	reply_send(t, &r);
}

/* DXP_OK: the reply comes later. */
static int clearing_begin(struct tenant *t, uint32_t sequence, uint64_t address, uint64_t bytes)
{
	struct slot *s = t->slot;
	struct clearing *c = calloc(1, sizeof(*c));

	if (!c)
		return DXP_ENOMEM;
	c->tenant = t;
	c->sequence = sequence;
	c->address = address;
	c->bytes = bytes;
	arena_hold(s->arena, t->owner, address, bytes, NULL); /* its own: cannot fail */
	t->busy++;
	*s->clearings_tail = c;
	s->clearings_tail = &c->next;
	return DXP_OK;
}

void memory_allocate(struct tenant *t, const struct command *c)
{
	struct arena *arena = t->slot->arena;
	uint64_t address = 0;
	int status = arena_alloc(arena, t->owner, c->bytes, &address);

	if (status == DXP_OK && c->bytes <= XPU_ZERO_BYTES) {
		arena_clear(arena, address, c->bytes);
	} else if (status == DXP_OK) {
		status = clearing_begin(t, c->sequence, address, c->bytes);
		if (status == DXP_OK)
			return;
		arena_free(arena, t->owner, address);
	}
	allocate_reply(t, c->sequence, address, status);
}

void memory_free(struct tenant *t, const struct command *c)
{
	struct command_reply r = {.op = COMMAND_FREE, .sequence = c->sequence};

	r.status = arena_free(t->slot->arena, t->owner, c->address);
	r.free_bytes = arena_free_bytes(t->slot->arena);
	reply_send(t, &r);
}

static void clearing_pop(struct slot *s)
{
	struct clearing *c = s->clearings;

	s->clearings = c->next;
	if (!s->clearings)
		s->clearings_tail = &s->clearings;
	arena_drop(s->arena, c->address);
	c->tenant->busy--;
	free(c);
}

uint32_t clearings_advance(struct slot *s)
{
	struct clearing *c = s->clearings;

	if (!c)
		return 0;
	if (!c->tenant->leaving) {
		uint64_t bytes = min_u64(c->bytes - c->cleared, XPU_ZERO_BYTES);
		arena_clear(s->arena, c->address + c->cleared, bytes);
		c->cleared += bytes;
		if (c->cleared < c->bytes)
			return 1;
		allocate_reply(c->tenant, c->sequence, c->address, DXP_OK);
	}
	clearing_pop(s);
	return 1;
}

void clearings_free(struct slot *s)
{
	while (s->clearings)
		clearing_pop(s);
}
