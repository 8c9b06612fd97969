/* SPDX-License-Identifier: BSD-3-Clause */
/* The stream core of a board: what lies between its two controllers and sees every byte of a
 * stream once, in order. A stream is cut at any byte; what the core does does not depend on where.
 *
 * Words are 4 bytes of the stream, the first at its beginning, lowest byte first; the last one may
 * be short. One thread calls all but board_core_set() and board_core_get(), which any may. */
#ifndef ENGINE_BOARD_CORE_H
#define ENGINE_BOARD_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/board_config.h"
#include "engine/engine.h"

struct board_core;

/* What a stream is begun with. */
struct board_core_task {
	uint32_t core; /* enum engine_core */
	uint32_t operand;
};

/* A kernel of the configuration is built here. DXP_EINVAL, DXP_EBUILD, DXP_EUNSUPPORTED: logged,
 * with the build log; DXP_ENOMEM. */
int board_core_create(const struct board_config *config, const char *cache_folder,
		      struct board_core **out);
void board_core_destroy(struct board_core *c);

/* For streams that begin later. DXP_EINVAL: no such core, or an operand where there is none;
 * DXP_EUNSUPPORTED: the board was set up without a kernel. */
int board_core_set(struct board_core *c, uint32_t core, uint32_t operand);
void board_core_get(struct board_core *c, struct board_core_task *set, uint64_t *result);

/* A stream begins: position and sum start afresh. */
void board_core_begin(struct board_core *c, const struct board_core_task *task);
/* How many of `bytes` it takes in one step. */
/* Was it set up with a kernel? Then a step may take any time. Never changes. */
bool board_core_has_kernel(const struct board_core *c);
uint64_t board_core_step_bytes(const struct board_core *c, uint64_t bytes);
/* The next bytes of the stream; `out` and `in` are the same or apart. DXP_EDEVICE: the kernel
 * failed; logged. */
int board_core_step(struct board_core *c, uint8_t *out, const uint8_t *in, uint64_t bytes);

#endif
