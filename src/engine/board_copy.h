/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy IN bypasses the caches: the board's memory is read much later, and its lines would be
 * fetched only to be overwritten. This is 1.5 to 2 times as fast on the development machine. A copy
 * OUT prefetches its source, which is 1.3 times as fast. */
#ifndef ENGINE_BOARD_COPY_H
#define ENGINE_BOARD_COPY_H

#include <stdint.h>

/* board_copy_out() copies from the board, board_copy_in() to the board. The ranges must not
 * overlap, and may have any alignment. The copied bytes are ordered before later stores, as with
 * memcpy(). */
void board_copy_out(uint8_t *to, const uint8_t *from, uint64_t bytes);
void board_copy_in(uint8_t *to, const uint8_t *from, uint64_t bytes);

#endif
