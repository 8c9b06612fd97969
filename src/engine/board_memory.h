/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a board, used only by its controllers and inner engine. Pages are allocated on
 * first use. */
#ifndef ENGINE_BOARD_MEMORY_H
#define ENGINE_BOARD_MEMORY_H

#include <stdint.h>

/* Maps *out; release with board_memory_put. DXP_EINVAL: 0 bytes; DXP_ENOMEM: logged. */
int board_memory_get(uint64_t bytes, uint8_t **out);
void board_memory_put(uint8_t *memory, uint64_t bytes);

#endif
