/* SPDX-License-Identifier: BSD-3-Clause */
/* The two DMA controllers of a board, one thread each: Tx reads host memory, Rx writes it. Each
 * does its DMAs in order. IN and COPY are Tx's, OUT is Rx's, THROUGH takes both: the bytes pass the
 * stream core on their way from one to the other.
 *
 * Bytes are really moved, and no DMA is told to have ended before the board that is played could
 * have: start + latency + bytes / bandwidth + interrupt, where those of one controller queue for
 * its bandwidth, and those that use device memory for the memory's. The latency of a DMA and the
 * interrupt of the one before hide behind transfers. Any thread. */
#ifndef ENGINE_BOARD_DMA_H
#define ENGINE_BOARD_DMA_H

#include <stdint.h>

#include "engine/board_config.h"
#include "engine/board_core.h"
#include "engine/engine.h"

struct board_dma;

struct board_dma_options {
	const struct board_config *config; /* only read by board_dma_create */
	struct board_core *core;           /* these two outlive it */
	uint8_t *memory;
	uint64_t memory_bytes;
	void (*interrupt)(void *context); /* as engine_options; NULL: nobody asks */
	void *interrupt_context;
};

/* DXP_EIO: no thread (logged); DXP_ENOMEM. */
int board_dma_create(const struct board_dma_options *options, struct board_dma **out);
/* What is under way is given up; host memory is not touched any more. */
void board_dma_destroy(struct board_dma *d);

/* As the calls of struct engine_ops. */
int board_dma_start(struct board_dma *d, const struct engine_dma *dma);
uint32_t board_dma_take(struct board_dma *d, struct engine_dma_end *out, uint32_t count);
bool board_dma_help(struct board_dma *d);
void board_dma_reset(struct board_dma *d);

#endif
