/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of local DMA. */
#ifndef DMA_LIMITS_H
#define DMA_LIMITS_H

#include "engine/limits.h"

#define DMA_RATES_MAX 16 /* buffer sizes measured by dxp_dma_open() */
/* ns that dxp_dma_open() measures in all: the program waits */
#define DMA_MEASURE_NS (200ull * 1000 * 1000)
#define DMA_SPIN_NS    20000 /* ns of spinning: about one wakeup */
/* outstanding transfers; beyond, dxp_dma_start() fails with DXP_EAGAIN */
#define DMA_TRANSFERS_MAX 1024
/* user ranges: source and destination of 32 transfers. The engine's other 4 are for the rings of
 * the bridge and of its measurement. */
#define DMA_PINS_MAX   (BOARD_PINS_MAX - 4)
#define DMA_COPY_SHORT (64u << 10) /* bytes: longer copies take more time than a wakeup */

#endif
