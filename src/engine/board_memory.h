/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory on a board: nobody but its controllers and its compute engine knows where it is. Pages
 * come when they are first used. */
#ifndef ENGINE_BOARD_MEMORY_H
#define ENGINE_BOARD_MEMORY_H

#include <stdint.h>

/* *out must be given back. DXP_EINVAL: 0 bytes; DXP_ENOMEM: logged. */
int board_memory_get(uint64_t bytes, uint8_t **out);
void board_memory_put(uint8_t *memory, uint64_t bytes);

#endif
