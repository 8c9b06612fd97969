/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of local DMA. */
#ifndef DMA_LIMITS_H
#define DMA_LIMITS_H

#include "engine/limits.h"

#define DMA_RATES_MAX 16 /* buffer sizes that are measured */
/* ns that dxp_dma_open measures: short, because the program waits */
#define DMA_MEASURE_NS (200ull * 1000 * 1000)
#define DMA_SPIN_NS    20000 /* ns of spinning before sleep: about one wakeup */
/* concurrent transfers; starting one more fails with DXP_EAGAIN */
#define DMA_TRANSFERS_MAX 1024
/* ranges of user memory: both ends of 32 transfers; a board has four more */
#define DMA_PINS_MAX   (BOARD_PINS_MAX - 4)
#define DMA_COPY_SHORT (64u << 10) /* bytes: a longer copy takes longer than waking a thread */

#endif
