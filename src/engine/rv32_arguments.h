/* SPDX-License-Identifier: BSD-3-Clause */
/* Lays out the 32-bit address space of one launch. Each buffer has a segment; overlapping ones
 * share it. Others: the program's constants, the table of values, the NIC's window. LOCAL memory
 * gets only addresses and a size. */
#ifndef ENGINE_RV32_ARGUMENTS_H
#define ENGINE_RV32_ARGUMENTS_H

#include "engine/rv32_engine.h"

#define RV32_VALUES_BYTES \
	(COMMAND_ARGS_MAX * 4 + RV32_VALUE_ALIGN + COMMAND_ARGS_MAX * COMMAND_VALUE_BYTES)

struct rv32_space_map {
	struct rv32_segment segments[COMMAND_ARGS_MAX + 3];
	uint32_t count;
	uint32_t local_bytes; /* LOCAL, with the kernel's own variables */
	void *window;         /* NULL: none */
};

/* Checks number, kinds and sizes of the arguments; fills the map and r->values. DXP_EINVAL: with
 * `text`. */
int rv32_arguments_map(struct engine_rv32 *r, const struct rv32_image *image,
		       const struct rv32_kernel *k, const struct engine_launch *l,
		       struct rv32_space_map *out, char text[ENGINE_TEXT_BYTES]);

#endif
