/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by host and kernels. */
#ifndef KERNEL_ALLREDUCE_SUMS_H
#define KERNEL_ALLREDUCE_SUMS_H

#include <dxp/device.h>
#if defined(__riscv)
#include <dxp/rv32.h>
#endif

#define ITEMS 64 /* per xPU, in one work-group */
#define PARTS 4  /* of the numbers; one is summed while the next is computed */

/* A kernel argument, of at most 16 bytes. */
struct shape {
	dxp_u32 rank;
	dxp_u32 count; /* numbers of each xPU, a multiple of PARTS */
	dxp_u32 rounds;
	dxp_u32 group;
};

struct report {
	dxp_u32 failed; /* 0, or a negated enum dxp_status */
	dxp_u32 sums;   /* number of complete allreduces */
	struct dxp_allreduce_result results[PARTS];
};

/* Returns what xPU `rank` adds at index `i`. It depends on the previous round's `sum`, so a wrong
 * sum makes all later ones wrong. */
DXP_FN dxp_u32 contribution(dxp_u32 sum, dxp_u32 rank, dxp_u32 i, dxp_u32 round)
{
	return sum * 3 + i * (rank + 1) + round;
}

#ifndef DXP_DEVICE_OPENCL
extern const char kernel_source[];
#endif

#endif
