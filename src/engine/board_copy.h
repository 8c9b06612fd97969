/* SPDX-License-Identifier: BSD-3-Clause */
/* Copying into a board's memory, which is read again much later, if at all: past the caches, whose
 * lines would otherwise be fetched only to be overwritten. On the machine this was written on it
 * makes IN 1.5 to 2 times as fast. And out of it, to where it is read next: memory is asked for
 * the bytes in time, which makes OUT 1.3 times as fast. */
#ifndef ENGINE_BOARD_COPY_H
#define ENGINE_BOARD_COPY_H

#include <stdint.h>

/* Does not overlap. Any alignment; ordered before what is stored later, as memcpy(). */
void board_copy_out(uint8_t *to, const uint8_t *from, uint64_t bytes);
void board_copy_in(uint8_t *to, const uint8_t *from, uint64_t bytes);

#endif
