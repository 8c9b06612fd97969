/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of a board: a preset, or a file that changes one (docs/guide/bridge.md, "The engine
 * `board`"). */
#ifndef ENGINE_BOARD_CONFIG_H
#define ENGINE_BOARD_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "wire/command.h"
#include "wire/limits.h"

#define BOARD_PRESET         "pac-a10" /* default */
#define BOARD_PATH_BYTES     1024
#define BOARD_WORD_BYTES     32 /* of a preset's name, with the final zero */
#define BOARD_COMPUTE_NONE   "none"
#define BOARD_COMPUTE_CHOOSE "" /* `ocl` if it is available */

struct board_config {
	char preset[BOARD_WORD_BYTES];   /* provides the values that are not set */
	uint64_t to_device, from_device; /* MB/s (10^6 bytes); 0: the copy speed of this machine */
	/* MB/s of streams through the core; 0: the same */
	uint64_t through;
	/* MB/s, shared by all readers and writers; 0: the same */
	uint64_t memory;
	uint64_t latency_ns; /* from the start of a DMA to its first byte */
	uint64_t control_ns; /* time of a controller per DMA, without moving bytes */
	/* time from the last byte of a DMA to its reported completion */
	uint64_t interrupt_ns;
	uint64_t queue; /* DMAs that a controller holds */
	uint64_t fail;  /* every n-th DMA fails; 0: none */
	uint64_t stall; /* the DMA with this number never completes; 0: all do */
	uint32_t core;
	uint32_t operand;                 /* ENGINE_CORE_ADD: added to each word */
	char core_file[BOARD_PATH_BYTES]; /* ENGINE_CORE_KERNEL: path of the source */
	char core_kernel[COMMAND_NAME_BYTES];
	char compute[FABRIC_DEVICE_BYTES]; /* an engine, or BOARD_COMPUTE_... */
};

/* A setting, as the documentation lists it. */
struct board_setting {
	const char *name;
	const char *values; /* such as "1 .. 64" or "0 .. 1000000 MB/s" */
};

/* A preset or a file; NULL: BOARD_PRESET. DXP_EINVAL: no such preset or file, or an error in it;
 * DXP_EIO: unreadable. Logged with file, line and next step. */
int board_config_load(const char *name, struct board_config *out);

/* The content of file `name`, from whose directory relative core files start. *out is written only
 * on success. DXP_EINVAL: logged. */
int board_config_parse(const char *name, const char *text, size_t bytes, struct board_config *out);

/* Returns all settings, in the documentation's order. */
const struct board_setting *board_config_settings(size_t *count);

#endif
