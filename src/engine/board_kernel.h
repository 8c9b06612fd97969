/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream core that is an OpenCL kernel, on its own engine, so that streams and the kernels of
 * hosts in board memory do not wait for each other. The kernel has this form:
 *
 * kernel void NAME(global const uchar *in, global uchar *out, uint bytes, ulong at)
 *
 * A launch processes up to BOARD_CHUNK_BYTES; `at` is their offset in the stream. Each work-item
 * handles 64 bytes, because a board's memory delivers 512 bits per clock; the last one may handle
 * fewer. Work-item g writes out[64 g] .. out[64 g + 63], below `bytes`, and may read all of `in`.
 * Both buffers are aligned to 4096 bytes. */
#ifndef ENGINE_BOARD_KERNEL_H
#define ENGINE_BOARD_KERNEL_H

#include <stdint.h>

#include "engine/board_config.h"
#include "engine/engine.h"

#define BOARD_KERNEL_ITEM_BYTES 64

struct board_kernel;

/* Opens an engine in place in a board's memory. Statuses of engine_open(); DXP_EUNSUPPORTED also if
 * the engine has its own memory. */
int board_engine_open(const struct engine_options *options, engine_opener opener,
		      struct engine **out);

/* Builds config->core_kernel and runs it once as a test. Statuses of board_core_create(). */
int board_kernel_create(const struct board_config *config, const char *cache_folder,
			engine_opener opener, struct board_kernel **out);
void board_kernel_destroy(struct board_kernel *k);

/* 1 .. BOARD_CHUNK_BYTES bytes at offset `at` of the stream. DXP_EDEVICE: the kernel failed;
 * logged. */
int board_kernel_run(struct board_kernel *k, uint8_t *out, const uint8_t *in, uint64_t bytes,
		     uint64_t at);

#endif
