/* SPDX-License-Identifier: BSD-3-Clause */
/* Ready commands: a binary heap, earliest graph_command.order on top. Commands store their index,
 * so that a cancelled one can be removed. */
#ifndef XPU_ORDER_HEAP_H
#define XPU_ORDER_HEAP_H

#include <stdint.h>

struct graph_command;

struct order_heap {
	struct graph_command **items;
	uint32_t count, space;
};

/* Reserves space for `count` commands in total, so that order_heap_push() cannot fail. DXP_ENOMEM:
 * out of memory. */
int order_heap_reserve(struct order_heap *h, uint32_t count);
void order_heap_destroy(struct order_heap *h);

void order_heap_push(struct order_heap *h, struct graph_command *c);
struct graph_command *order_heap_top(const struct order_heap *h);
void order_heap_remove(struct order_heap *h, struct graph_command *c);

#endif
