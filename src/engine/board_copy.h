/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy IN bypasses the caches, because the board's memory is read much later: 1.5 to 2 times as
 * fast on the development machine. A copy OUT prefetches its source: 1.3 times as fast. */
#ifndef ENGINE_BOARD_COPY_H
#define ENGINE_BOARD_COPY_H

#include <stdint.h>

/* board_copy_out(): from the board, board_copy_in(): to it. No overlap, any alignment. The copied
 * bytes are ordered before later stores, as with memcpy(). */
void board_copy_out(uint8_t *to, const uint8_t *from, uint64_t bytes);
void board_copy_in(uint8_t *to, const uint8_t *from, uint64_t bytes);

#endif
