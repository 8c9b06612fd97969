/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream core that is an OpenCL kernel. Its engine is its own, so that kernels which a host runs
 * in board memory and those of streams do not wait for each other. The kernel is
 *
 *	kernel void NAME(global const uchar *in, global uchar *out, uint bytes, ulong at)
 *
 * called for up to BOARD_CHUNK_BYTES of a stream at once, `at` bytes behind its beginning, with one
 * work item for each 64 bytes (the 512 bits that a board's memory hands over in one clock) or part
 * of them; item g makes out[64 g] up to out[64 g + 63], as far as they are below `bytes`, and may
 * read all of `in`. Both are aligned to 4096. */
#ifndef ENGINE_BOARD_KERNEL_H
#define ENGINE_BOARD_KERNEL_H

#include <stdint.h>

#include "engine/board_config.h"
#include "engine/engine.h"

#define BOARD_KERNEL_ITEM_BYTES 64

struct board_kernel;

/* An engine that is to work in memory of a board, options->memory, in place. As engine_open();
 * DXP_EUNSUPPORTED too when it can only work in its own. */
int board_engine_open(const struct engine_options *options, struct engine **out);

/* Builds config->core_kernel of config->core_file and tries it once. As board_core_create. */
int board_kernel_create(const struct board_config *config, const char *cache_folder,
			struct board_kernel **out);
void board_kernel_destroy(struct board_kernel *k);

/* 1 .. BOARD_CHUNK_BYTES. DXP_EDEVICE: it failed; logged. */
int board_kernel_run(struct board_kernel *k, uint8_t *out, const uint8_t *in, uint64_t bytes,
		     uint64_t at);

#endif
