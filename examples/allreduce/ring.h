/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by host and kernels. */
#ifndef ALLREDUCE_RING_H
#define ALLREDUCE_RING_H

#include <dxp/device.h>
#if defined(__riscv)
#include <dxp/rv32.h>
#endif

#define ITEMS 64 /* per xPU, in one work-group */

/* A kernel argument, of at most 16 bytes. */
struct ring {
	dxp_u32 rank, ranks;
	dxp_u32 count; /* numbers of each xPU */
	dxp_u32 rounds;
};

struct report {
	dxp_u32 failed; /* 0, or a negated enum dxp_status */
	dxp_u32 rounds; /* number of complete rounds */
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
