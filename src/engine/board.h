/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine `board`: memory, DMA controllers, stream core, and an inner engine that runs kernels
 * in the memory. */
#ifndef ENGINE_BOARD_H
#define ENGINE_BOARD_H

#include "engine/board_config.h"
#include "engine/board_core.h"
#include "engine/board_dma.h"
#include "engine/board_pins.h"
#include "engine/engine.h"
#include "wire/limits.h"

struct engine_board {
	struct engine engine;
	struct board_config config;
	uint8_t *memory;
	uint64_t memory_bytes;
	/* NULL: the board runs no kernels */
	struct engine *compute;
	struct board_core *core;
	struct board_dma *dma;
	struct board_pins pins;
	char device[FABRIC_DEVICE_BYTES];
};

struct engine_board *engine_board_of(const struct engine *e);

#endif
