/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugins/opencl/node/blocks.h"

#include <stdlib.h>

enum block_state { BLOCK_INSIDE, BLOCK_FREE, BLOCK_USED };

struct block {
	uint32_t state : 2, units : 30;
	/* units of the block before this one; 0: this is the first block */
	uint32_t before;
	uint32_t next, previous; /* neighbours in the list of free blocks; valid while FREE */
};

static uint32_t class_of(uint32_t units)
{
	return 31 - (uint32_t)__builtin_clz(units);
}

static void list_add(struct blocks *b, uint32_t at)
{
	uint32_t *first = &b->first[class_of(b->table[at].units)];

	b->table[at].state = BLOCK_FREE;
	b->table[at].previous = b->units;
	b->table[at].next = *first;
	if (*first != b->units)
		b->table[*first].previous = at;
	*first = at;
}

static void list_remove(struct blocks *b, uint32_t at)
{
	const struct block *t = &b->table[at];

	if (t->previous != b->units)
		b->table[t->previous].next = t->next;
	else
		b->first[class_of(t->units)] = t->next;
	if (t->next != b->units)
		b->table[t->next].previous = t->previous;
}

static void set_units(struct blocks *b, uint32_t at, uint32_t units)
{
	b->table[at].units = units;
	b->table[at + units].before = units;
}

bool blocks_create(struct blocks *b, uint64_t bytes)
{
	b->units = (uint32_t)(bytes / BLOCK_UNIT);
	b->free_units = b->units;
	b->table = calloc((size_t)b->units + 1, sizeof(*b->table));
	if (!b->table)
		return false;
	for (uint32_t i = 0; i < BLOCK_CLASSES; i++)
		b->first[i] = b->units;
	b->table[b->units].state = BLOCK_USED;
	set_units(b, 0, b->units);
	list_add(b, 0);
	return true;
}

void blocks_destroy(struct blocks *b)
{
	free(b->table);
}

/* Units that must stay free, from `at` on, so that the block after them is aligned. */
static uint32_t gap_of(uint32_t at, uint32_t align_units)
{
	return (align_units - (at & (align_units - 1))) & (align_units - 1);
}

static uint32_t find(const struct blocks *b, uint32_t units, uint32_t align_units)
{
	for (uint32_t c = class_of(units); c < BLOCK_CLASSES; c++)
		for (uint32_t at = b->first[c]; at != b->units; at = b->table[at].next)
			if (b->table[at].units >= units + gap_of(at, align_units))
				return at;
	return b->units;
}

/* The block at `at` must not be in a list. Its part after `units` units becomes free. */
static void split(struct blocks *b, uint32_t at, uint32_t units)
{
	uint32_t rest = b->table[at].units - units;

	if (!rest)
		return;
	set_units(b, at, units);
	set_units(b, at + units, rest);
	list_add(b, at + units);
}

bool blocks_allocate(struct blocks *b, uint64_t bytes, uint32_t align, uint64_t *offset)
{
	uint64_t wanted = (bytes + BLOCK_UNIT - 1) / BLOCK_UNIT;

	if (!wanted || wanted > b->free_units)
		return false;
	uint32_t units = (uint32_t)wanted;
	uint32_t at = find(b, units, align / BLOCK_UNIT);
	if (at == b->units)
		return false;
	list_remove(b, at);
	uint32_t gap = gap_of(at, align / BLOCK_UNIT);
	if (gap) {
		uint32_t whole = b->table[at].units;
		set_units(b, at, gap);
		list_add(b, at);
		at += gap;
		set_units(b, at, whole - gap);
	}
	split(b, at, units);
	b->table[at].state = BLOCK_USED;
	b->free_units -= units;
	*offset = (uint64_t)at * BLOCK_UNIT;
	return true;
}

/* After this, no block begins at `next`. */
static void join(struct blocks *b, uint32_t at, uint32_t next)
{
	b->table[next].state = BLOCK_INSIDE;
	set_units(b, at, b->table[at].units + b->table[next].units);
}

bool blocks_give(struct blocks *b, uint64_t offset)
{
	uint64_t unit = offset / BLOCK_UNIT;

	if (offset % BLOCK_UNIT || unit >= b->units || b->table[unit].state != BLOCK_USED)
		return false;
	uint32_t at = (uint32_t)unit;
	b->free_units += b->table[at].units;
	uint32_t next = at + b->table[at].units;
	if (b->table[next].state == BLOCK_FREE) {
		list_remove(b, next);
		join(b, at, next);
	}
	uint32_t before = at - b->table[at].before;
	if (before != at && b->table[before].state == BLOCK_FREE) {
		list_remove(b, before);
		join(b, before, at);
		at = before;
	}
	list_add(b, at);
	return true;
}
