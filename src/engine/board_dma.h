/* SPDX-License-Identifier: BSD-3-Clause */
/* The two DMA controllers of a board, with one thread each: Tx reads host memory, Rx writes it.
 * Each works in order. IN and COPY use Tx, OUT uses Rx, THROUGH both, with the stream core between
 * them.
 *
 * No completion comes before the real board could report it: start + control + latency + bytes /
 * bandwidth + interrupt (delays of board_config). The DMAs of a controller share its bandwidth, and
 * those that use the board's memory also its bandwidth. The latency of a DMA, and the interrupt of
 * the one before, overlap with transfers. Any thread may call these functions. */
#ifndef ENGINE_BOARD_DMA_H
#define ENGINE_BOARD_DMA_H

#include <stdint.h>

#include "engine/board_config.h"
#include "engine/board_core.h"
#include "engine/engine.h"

struct board_dma;

struct board_dma_options {
	const struct board_config *config; /* read only by board_dma_create() */
	/* must outlive the controllers, as `memory` */
	struct board_core *core;
	uint8_t *memory;
	uint64_t memory_bytes;
	void (*interrupt)(void *context); /* see engine_options; may be NULL */
	void *interrupt_context;
};

/* DXP_EIO: a thread could not start (logged); DXP_ENOMEM. */
int board_dma_create(const struct board_dma_options *options, struct board_dma **out);
/* Aborts all DMAs; no thread accesses host memory afterwards. */
void board_dma_destroy(struct board_dma *d);

/* See struct engine_ops. */
int board_dma_start(struct board_dma *d, const struct engine_dma *dma);
uint32_t board_dma_dequeue(struct board_dma *d, struct engine_dma_end *out, uint32_t count);
bool board_dma_help(struct board_dma *d);
void board_dma_reset(struct board_dma *d);

#endif
