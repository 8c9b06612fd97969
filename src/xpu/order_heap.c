/* SPDX-License-Identifier: BSD-3-Clause */
#include "xpu/order_heap.h"

#include <assert.h>
#include <stdlib.h>

#include <dxp/status.h>

#include "xpu/graph.h"

#define SPACE_FIRST 64

int order_heap_reserve(struct order_heap *h, uint32_t count)
{
	if (count <= h->space)
		return DXP_OK;
	uint32_t space = h->space ? h->space : SPACE_FIRST;
	while (space < count)
		space *= 2;
	struct graph_command **items = realloc(h->items, space * sizeof(struct graph_command *));
	if (!items)
		return DXP_ENOMEM;
	h->items = items;
	h->space = space;
	return DXP_OK;
}

void order_heap_destroy(struct order_heap *h)
{
	free(h->items);
	*h = (struct order_heap){0};
}

static void place(struct order_heap *h, uint32_t at, struct graph_command *c)
{
	h->items[at] = c;
	c->heap_index = at;
}

static void rise(struct order_heap *h, uint32_t at, struct graph_command *c)
{
	while (at > 0 && c->order < h->items[(at - 1) / 2]->order) {
		place(h, at, h->items[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	place(h, at, c);
}

static void sink(struct order_heap *h, uint32_t at, struct graph_command *c)
{
	for (;;) {
		uint32_t child = 2 * at + 1;
		if (child + 1 < h->count && h->items[child + 1]->order < h->items[child]->order)
			child++;
		if (child >= h->count || c->order < h->items[child]->order)
			break;
		place(h, at, h->items[child]);
		at = child;
	}
	place(h, at, c);
}

void order_heap_push(struct order_heap *h, struct graph_command *c)
{
	assert(h->count < h->space);
	h->count++;
	rise(h, h->count - 1, c);
}

struct graph_command *order_heap_top(const struct order_heap *h)
{
	return h->count ? h->items[0] : NULL;
}

void order_heap_remove(struct order_heap *h, struct graph_command *c)
{
	uint32_t at = c->heap_index;

	assert(at < h->count && h->items[at] == c);
	struct graph_command *last = h->items[--h->count];
	if (last == c)
		return;
	if (at > 0 && last->order < h->items[(at - 1) / 2]->order)
		rise(h, at, last);
	else
		sink(h, at, last);
}
