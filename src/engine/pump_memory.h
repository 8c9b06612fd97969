/* SPDX-License-Identifier: BSD-3-Clause */
/* Host memory for DMA: whole pages, huge if possible, allocated, and pinned if the engine can. */
#ifndef ENGINE_PUMP_MEMORY_H
#define ENGINE_PUMP_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

struct pump_memory {
	uint8_t *base; /* aligned to a page, from 2 MiB on to 2 MiB */
	uint64_t bytes;
	bool pinned;
};

/* DXP_ENOMEM, DXP_EIO; logged. */
int pump_memory_map(struct engine *engine, uint64_t bytes, struct pump_memory *out);
void pump_memory_unmap(struct engine *engine, struct pump_memory *m);

#endif
