/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts instructions of launches, and sums them by function and source line. No I/O. */
#ifndef RV32_PROFILE_H
#define RV32_PROFILE_H

#include "rv32/core.h"
#include "rv32/image.h"

/* Executions of one instruction of the code. */
struct rv32_count {
	uint64_t warp_instructions; /* once per warp */
	uint64_t instructions;      /* for each lane */
};

struct rv32_profile_row {
	const char *function; /* as long as the image; "": none */
	uint32_t line;        /* 0: none */
	struct rv32_count count;
};

/* Sums counts; counts[i] is by word of code, NULL is skipped. Rows have a count and are sorted by
 * the function's address, then line. The caller frees *out. DXP_ENOMEM. */
int rv32_profile_rows(const struct rv32_image *image, struct rv32_count *const *counts,
		      uint32_t cores, struct rv32_profile_row **out, size_t *row_count);

#endif
