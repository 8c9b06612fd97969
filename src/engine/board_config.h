/* SPDX-License-Identifier: BSD-3-Clause */
/* What a board is like: a preset, or a file that changes some of one (docs/bridge.md, "The engine
 * `board`"). Text in, numbers out; nothing here knows a thread. */
#ifndef ENGINE_BOARD_CONFIG_H
#define ENGINE_BOARD_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "wire/command.h"

#define BOARD_PRESET         "pac-a10" /* when nothing is said */
#define BOARD_PATH_BYTES     1024
#define BOARD_WORD_BYTES     32 /* of a preset's name */
#define BOARD_COMPUTE_NONE   "none"
#define BOARD_COMPUTE_CHOOSE "" /* `ocl` where there is one */

struct board_config {
	char preset[BOARD_WORD_BYTES];    /* on which the rest stands */
	uint64_t to_device, from_device;  /* MB/s (10^6 bytes), 0: as fast as this machine copies */
	uint64_t memory;                  /* MB/s, of all that reads and writes it; 0: as above */
	uint64_t latency_ns;              /* from the start of a DMA to its first byte */
	uint64_t interrupt_ns;            /* from its last byte to its end being told */
	uint64_t queue;                   /* DMAs that a controller holds at once */
	uint64_t fail;                    /* of so many DMAs the last fails; 0: none does */
	uint64_t stall;                   /* the one with this number never ends; 0: all do */
	uint32_t core;                    /* enum engine_core */
	uint32_t operand;                 /* of ENGINE_CORE_ADD */
	char core_file[BOARD_PATH_BYTES]; /* of ENGINE_CORE_KERNEL */
	char core_kernel[COMMAND_NAME_BYTES];
	char compute[FABRIC_DEVICE_BYTES]; /* an engine's name, BOARD_COMPUTE_... */
};

/* One setting as the documentation lists it. */
struct board_setting {
	const char *name;
	const char *values; /* "1 .. 64", "0 .. 1000000 MB/s" */
};

/* By a preset's name or else a file's; NULL: BOARD_PRESET. DXP_EINVAL: there is neither, or the
 * file says something wrong; DXP_EIO: it cannot be read. Logged with file, line and next step. */
int board_config_load(const char *name, struct board_config *out);

/* The text of a file called `name`, whose folder is where the core's file is looked for. *out is
 * written only on success. DXP_EINVAL: logged as above. */
int board_config_parse(const char *name, const char *text, size_t bytes, struct board_config *out);

/* All settings, in the order of the documentation's table. */
const struct board_setting *board_config_settings(size_t *count);

#endif
