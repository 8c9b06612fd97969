/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves random data through device memory that only DMA reaches, and compares it with an array. For
 * tests of engines with bridged memory. Failures are cmocka assertions. */
#ifndef TEST_SUPPORT_BRIDGED_MEMORY_H
#define TEST_SUPPORT_BRIDGED_MEMORY_H

#include <stdatomic.h>

#include "engine/engine.h"

#define BRIDGED_BYTES (12u << 20)

/* Waits up to 5 s for the completion of one DMA. */
struct engine_dma_end bridged_memory_dequeue(struct engine *e);

/* Run one DMA to its end. Return the status of its start if that failed, else of its completion. */
int bridged_in(struct engine *e, uint64_t to, const void *from, uint64_t bytes);
int bridged_out(struct engine *e, uint64_t from, void *to, uint64_t bytes);
int bridged_copy(struct engine *e, uint64_t from, uint64_t to, uint64_t bytes);

/* Random IN, OUT and COPY transfers of any size and address, compared with an array. Prints its
 * seed. */
void bridged_moves(struct engine *e, unsigned rounds);

/* A DMA beyond the memory's last byte must be rejected, one up to it must work. */
void bridged_ranges(struct engine *e);

/* Each of 200 DMAs in both directions must complete once, as many at a time as the engine
 * accepts. */
void bridged_many(struct engine *e);

/* Waits until `count` reaches `wanted`; fails after 10 s. The interrupt comes after the
 * completion. */
void bridged_until(const atomic_uint *count, unsigned wanted);

#endif
