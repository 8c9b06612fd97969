/* SPDX-License-Identifier: BSD-3-Clause */
/* The two DMA controllers of a board, one thread each: Tx reads host memory, Rx writes it. Each
 * works in order. IN and COPY use Tx, OUT uses Rx, THROUGH uses both, with the stream core between
 * them.
 *
 * The controllers copy the bytes in memory. A completion is not reported before the modelled board
 * could: start + latency + bytes / bandwidth + interrupt. DMAs share their controller's bandwidth
 * and, if they use it, the memory's. A DMA's latency and its predecessor's interrupt overlap with
 * transfers. Any thread may call these functions. */
#ifndef ENGINE_BOARD_DMA_H
#define ENGINE_BOARD_DMA_H

#include <stdint.h>

#include "engine/board_config.h"
#include "engine/board_core.h"
#include "engine/engine.h"

struct board_dma;

struct board_dma_options {
	const struct board_config *config; /* read by board_dma_create only */
	struct board_core *core;           /* core and memory outlive this */
	uint8_t *memory;
	uint64_t memory_bytes;
	void (*interrupt)(void *context); /* see engine_options; NULL: none */
	void *interrupt_context;
};

/* Starts the controllers. DXP_EIO: no thread (logged); DXP_ENOMEM. */
int board_dma_create(const struct board_dma_options *options, struct board_dma **out);
/* Aborts all DMAs; afterwards host memory is not accessed. */
void board_dma_destroy(struct board_dma *d);

/* These functions implement those of struct engine_ops with the same names. */
int board_dma_start(struct board_dma *d, const struct engine_dma *dma);
uint32_t board_dma_dequeue(struct board_dma *d, struct engine_dma_end *out, uint32_t count);
bool board_dma_help(struct board_dma *d);
void board_dma_reset(struct board_dma *d);

#endif
