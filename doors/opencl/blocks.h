/* SPDX-License-Identifier: BSD-3-Clause */
/* One part of device memory given out in blocks: offsets only, the memory itself is never touched.
 * Units of BLOCK_UNIT bytes; free neighbours are one block. Free blocks are in lists by size, so
 * that taking and giving look at a few words however many blocks there are. */
#ifndef DOOR_BLOCKS_H
#define DOOR_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#define BLOCK_UNIT    128u
#define BLOCK_CLASSES 32

struct block; /* a unit's line in the table; what it says counts where a block begins */

struct blocks {
	struct block *table; /* one line for each unit, and one behind the last */
	uint32_t units;
	uint32_t free_units;
	uint32_t first[BLOCK_CLASSES]; /* free blocks of 2^n .. 2^(n+1) - 1 units; units: none */
};

/* `bytes`: of the part, a multiple of BLOCK_UNIT. False: no memory. */
bool blocks_create(struct blocks *b, uint64_t bytes);
void blocks_destroy(struct blocks *b);
/* `bytes` at least 1. `align`: a power of two, at least BLOCK_UNIT. False: there is no such room.
 */
bool blocks_take(struct blocks *b, uint64_t bytes, uint32_t align, uint64_t *offset);
/* False: no block that was taken begins there; nothing changed. */
bool blocks_give(struct blocks *b, uint64_t offset);

static inline bool blocks_unused(const struct blocks *b)
{
	return b->free_units == b->units;
}

#endif
