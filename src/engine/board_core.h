/* SPDX-License-Identifier: BSD-3-Clause */
/* The stream core of a board, between its DMA controllers. It processes each byte once, in order,
 * however the stream is cut into calls.
 *
 *  A word is 4 bytes from the stream's start, lowest byte first; the last one may be shorter. One
 *  thread calls these functions; any thread may call board_core_set(), board_core_get() and
 *  board_core_drop(). */
#ifndef ENGINE_BOARD_CORE_H
#define ENGINE_BOARD_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/board_config.h"
#include "engine/board_owners.h"
#include "engine/engine.h"

struct board_core;

/* Builds the kernel of core KERNEL on an engine that `opener` opens. DXP_EINVAL, DXP_EBUILD,
 * DXP_EUNSUPPORTED: logged, with the build log; DXP_ENOMEM. */
int board_core_create(const struct board_config *config, const char *cache_folder,
		      engine_opener opener, struct board_core **out);
void board_core_destroy(struct board_core *c);

/* Applies to later streams of an owner. DXP_EINVAL: no such core, or it takes no operand;
 * DXP_EUNSUPPORTED: no kernel is configured; DXP_ENOMEM. */
int board_core_set(struct board_core *c, uint32_t owner, const struct board_core_task *set);
/* Settings of an owner, and the result of its last stream. */
void board_core_get(struct board_core *c, uint32_t owner, struct board_core_task *set,
		    uint64_t *result);
/* The owner must have no running stream. */
void board_core_drop(struct board_core *c, uint32_t owner);

void board_core_begin(struct board_core *c, uint32_t owner, const struct board_core_task *task);
/* If a kernel is configured, a step can take any time. Never changes. */
bool board_core_has_kernel(const struct board_core *c);
/* Returns how many of `bytes` one step can process. */
uint64_t board_core_step_bytes(const struct board_core *c, uint64_t bytes);
/* `out` and `in` are equal or do not overlap. DXP_EDEVICE: the kernel failed; logged. */
int board_core_step(struct board_core *c, uint8_t *out, const uint8_t *in, uint64_t bytes);

#endif
