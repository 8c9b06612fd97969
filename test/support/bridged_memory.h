/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory behind DMA, held against an array: for tests of engines with BRIDGED memory.
 * Failures are cmocka's. */
#ifndef TEST_SUPPORT_BRIDGED_MEMORY_H
#define TEST_SUPPORT_BRIDGED_MEMORY_H

#include "engine/engine.h"

#define BRIDGED_BYTES (12u << 20) /* of device memory in such tests */

/* Takes one end, within 5 s. */
struct engine_dma_end bridged_take(struct engine *e);

/* One DMA and its end: the status that either had. */
int bridged_in(struct engine *e, uint64_t to, const void *from, uint64_t bytes);
int bridged_out(struct engine *e, uint64_t from, void *to, uint64_t bytes);
int bridged_copy(struct engine *e, uint64_t from, uint64_t to, uint64_t bytes);

/* IN, OUT and COPY of any size at any place, `rounds` of them, against an array. Prints its seed.
 */
void bridged_moves(struct engine *e, unsigned rounds);

/* What is out of range is refused, what is just inside is not. */
void bridged_ranges(struct engine *e);

/* 200 DMA of both directions, as many at once as the engine takes; each ends once. */
void bridged_many(struct engine *e);

#endif
