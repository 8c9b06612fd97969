/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates blocks, multiples of BLOCK_UNIT bytes, in one part of device memory. It calculates only
 * with offsets and never accesses the memory. Adjacent free blocks are merged. Free blocks are in
 * lists by size, so allocation and release are fast for any number of blocks. */
#ifndef OPENCL_BLOCKS_H
#define OPENCL_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#define BLOCK_UNIT    128u
#define BLOCK_CLASSES 32

struct block; /* one entry of the table; valid if a block begins at its unit */

struct blocks {
	/* one entry for each unit, and one after the last unit */
	struct block *table;
	uint32_t units;
	uint32_t free_units;
	/* unit of the first free block with 2^n .. 2^(n+1) - 1 units; equal to `units`: there is
	 * none */
	uint32_t first[BLOCK_CLASSES];
};

/* Creates one free block of `bytes` bytes, the size of the part; a multiple of BLOCK_UNIT. False:
 * memory is short. */
bool blocks_create(struct blocks *b, uint64_t bytes);
void blocks_destroy(struct blocks *b);
/* `bytes`: at least 1. `align`: a power of two, at least BLOCK_UNIT. False: no free block is large
 * enough. */
bool blocks_allocate(struct blocks *b, uint64_t bytes, uint32_t align, uint64_t *offset);
/* Frees the block at `offset`. False: no allocated block begins there, and nothing changes. */
bool blocks_give(struct blocks *b, uint64_t offset);

static inline bool blocks_unused(const struct blocks *b)
{
	return b->free_units == b->units;
}

#endif
