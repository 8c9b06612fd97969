/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of local DMA, each with its unit and reason. */
#ifndef DMA_LIMITS_H
#define DMA_LIMITS_H

#include "engine/limits.h"

#define DMA_RATES_MAX 16 /* buffer sizes measured */
/* duration at dxp_dma_open: short enough for users */
#define DMA_MEASURE_NS (200ull * 1000 * 1000)
#define DMA_SPIN_NS    20000 /* spin before its thread sleeps: about one wakeup */
/* transfers under way at once; a further start fails with DXP_EAGAIN until one completes */
#define DMA_TRANSFERS_MAX 1024
/* ranges of user memory: both ends of 32 transfers; a board has four more */
#define DMA_PINS_MAX   (BOARD_PINS_MAX - 4)
#define DMA_COPY_SHORT (64u << 10) /* bytes; a copy faster than waking a thread for it */

#endif
