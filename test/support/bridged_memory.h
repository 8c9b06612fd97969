/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares device memory behind DMA with an array, for tests of engines with BRIDGED memory.
 * Failures are cmocka assertions. */
#ifndef TEST_SUPPORT_BRIDGED_MEMORY_H
#define TEST_SUPPORT_BRIDGED_MEMORY_H

#include <stdatomic.h>

#include "engine/engine.h"

#define BRIDGED_BYTES (12u << 20) /* bytes of device memory in such tests */

/* Waits up to 5 s for the end of one DMA. */
struct engine_dma_end bridged_memory_dequeue(struct engine *e);

/* Run one DMA to its end; return the status of its start or its end. */
int bridged_in(struct engine *e, uint64_t to, const void *from, uint64_t bytes);
int bridged_out(struct engine *e, uint64_t from, void *to, uint64_t bytes);
int bridged_copy(struct engine *e, uint64_t from, uint64_t to, uint64_t bytes);

/* Runs `rounds` IN, OUT and COPY of any size and address, and compares with an array. Prints its
 * seed. */
void bridged_moves(struct engine *e, unsigned rounds);

/* Checks that DMA past a bound is rejected and DMA up to the bound works. */
void bridged_ranges(struct engine *e);

/* Runs 200 DMA in both directions, as many at once as the engine accepts; each ends once. */
void bridged_many(struct engine *e);

/* Waits until `count` is at least `wanted`, since an interrupt follows its completion. Fails after
 * 10 s. */
void bridged_until(const atomic_uint *count, unsigned wanted);

#endif
