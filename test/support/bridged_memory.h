/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves random data through device memory that only DMA reaches, and compares it with an array. For
 * tests of engines with bridged memory. Failures are cmocka assertions. */
#ifndef TEST_SUPPORT_BRIDGED_MEMORY_H
#define TEST_SUPPORT_BRIDGED_MEMORY_H

#include <stdatomic.h>

#include "engine/engine.h"

#define BRIDGED_BYTES (12u << 20) /* bytes of device memory in tests of bridged memory */

/* Waits up to 5 s for the completion of one DMA, and returns it. */
struct engine_dma_end bridged_memory_dequeue(struct engine *e);

/* Run one DMA until it completes. Return the status of its start if that failed, else the status of
 * its completion. */
int bridged_in(struct engine *e, uint64_t to, const void *from, uint64_t bytes);
int bridged_out(struct engine *e, uint64_t from, void *to, uint64_t bytes);
int bridged_copy(struct engine *e, uint64_t from, uint64_t to, uint64_t bytes);

/* Runs `rounds` random IN, OUT and COPY transfers of any size and address, and compares the memory
 * with an array. Prints its seed. */
void bridged_moves(struct engine *e, unsigned rounds);

/* Checks that a DMA beyond the memory's last byte is rejected and a DMA up to the last byte
 * works. */
void bridged_ranges(struct engine *e);

/* Runs 200 DMAs in both directions, as many concurrently as the engine accepts. Checks that each
 * completes once. */
void bridged_many(struct engine *e);

/* Waits until `count` reaches `wanted`; fails after 10 s. A test must wait because the interrupt
 * comes after the completion. */
void bridged_until(const atomic_uint *count, unsigned wanted);

#endif
