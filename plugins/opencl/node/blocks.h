/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates blocks in one part of device memory: offsets only, the memory itself is never accessed.
 * Blocks are multiples of BLOCK_UNIT bytes; adjacent free blocks are merged. Free blocks are in
 * lists by size, so allocation and release cost few steps at any number of blocks. */
#ifndef OPENCL_BLOCKS_H
#define OPENCL_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#define BLOCK_UNIT    128u
#define BLOCK_CLASSES 32

struct block; /* table entry of a unit; valid where a block begins */

struct blocks {
	struct block *table; /* one entry for each unit, and one after the last */
	uint32_t units;
	uint32_t free_units;
	uint32_t first[BLOCK_CLASSES]; /* free blocks of 2^n .. 2^(n+1) - 1 units; `units`: none */
};

/* Creates one free block. `bytes`: size of the part, a multiple of BLOCK_UNIT. False: no memory. */
bool blocks_create(struct blocks *b, uint64_t bytes);
void blocks_destroy(struct blocks *b);
/* Allocates a block. `bytes`: at least 1. `align`: a power of two, at least BLOCK_UNIT. False: no
 * free block is large enough. */
bool blocks_allocate(struct blocks *b, uint64_t bytes, uint32_t align, uint64_t *offset);
/* Frees a block. False: no allocated block begins at `offset`; nothing changed. */
bool blocks_give(struct blocks *b, uint64_t offset);

static inline bool blocks_unused(const struct blocks *b)
{
	return b->free_units == b->units;
}

#endif
