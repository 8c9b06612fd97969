/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of local DMA. */
#ifndef DMA_LIMITS_H
#define DMA_LIMITS_H

#include "engine/limits.h"

#define DMA_RATES_MAX 16 /* buffer sizes that dxp_dma_open() measures at most */
/* ns that dxp_dma_open() measures in all: short, because the program waits for the result */
#define DMA_MEASURE_NS (200ull * 1000 * 1000)
#define DMA_SPIN_NS    20000 /* ns of spinning before sleep: about one wakeup */
/* outstanding transfers of a device; beyond these, dxp_dma_start() fails with DXP_EAGAIN */
#define DMA_TRANSFERS_MAX 1024
/* pinned ranges of user memory: source and destination of 32 transfers. The remaining 4 of the
 * engine's ranges are for the rings of the bridge and of its measurement. */
#define DMA_PINS_MAX   (BOARD_PINS_MAX - 4)
#define DMA_COPY_SHORT (64u << 10) /* bytes: a longer copy takes more time than waking a thread */

#endif
