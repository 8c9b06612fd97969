/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the instructions of launches, and sums the counts by function and source line. Pure. */
#ifndef RV32_PROFILE_H
#define RV32_PROFILE_H

#include "rv32/core.h"
#include "rv32/image.h"

/* Executions of one instruction of the code. */
struct rv32_count {
	uint64_t warp_instructions;
	uint64_t instructions; /* summed over lanes */
};

struct rv32_profile_row {
	const char *function; /* valid as long as the image; "": none */
	uint32_t line;        /* line of the program's text; 0: none */
	struct rv32_count count;
};

/* Sums the counts of `cores` cores, each with one entry for each word of the image's code; NULL
 * entries are skipped. Writes rows with a count, by address of the function, then by line; the
 * caller frees *out. DXP_ENOMEM. */
int rv32_profile_rows(const struct rv32_image *image, struct rv32_count *const *counts,
		      uint32_t cores, struct rv32_profile_row **out, size_t *row_count);

#endif
