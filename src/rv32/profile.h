/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the instructions of launches, and sums the counts by function and source line. The
 * functions do no I/O. */
#ifndef RV32_PROFILE_H
#define RV32_PROFILE_H

#include "rv32/core.h"
#include "rv32/image.h"

/* Executions of one instruction of the code. */
struct rv32_count {
	uint64_t warp_instructions; /* executions, counted once for each warp */
	uint64_t instructions;      /* executions, counted for each lane */
};

struct rv32_profile_row {
	const char *function; /* name, valid as long as the image; "": no function */
	uint32_t line;        /* line of the program's text; 0: none */
	struct rv32_count count;
};

/* Sums the counts of `cores` cores. counts[i] has an entry for each word of the image's code; NULL:
 * the core is skipped. Writes only rows with a count, sorted by address of the function, then by
 * line. The caller frees *out. DXP_ENOMEM. */
int rv32_profile_rows(const struct rv32_image *image, struct rv32_count *const *counts,
		      uint32_t cores, struct rv32_profile_row **out, size_t *row_count);

#endif
