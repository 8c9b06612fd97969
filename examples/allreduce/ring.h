/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that the host and its kernels share. */
#ifndef ALLREDUCE_RING_H
#define ALLREDUCE_RING_H

#include <dxp/device.h>
#if defined(__riscv)
#include <dxp/rv32.h>
#endif

#define ITEMS 64 /* work-items of an xPU, in one work-group */

/* A kernel argument. It must not exceed 16 bytes, the longest value of a kernel argument. */
struct ring {
	dxp_u32 rank, ranks;
	dxp_u32 count; /* numbers of each xPU */
	dxp_u32 rounds;
};

/* Written by a kernel, read by its host. */
struct report {
	dxp_u32 failed; /* 0, or a negated enum dxp_status */
	dxp_u32 rounds; /* number of complete rounds */
};

/* Returns the number that xPU `rank` contributes at index `i` in a round. It depends on `sum`, the
 * result of the previous round, so that a wrong sum makes all later sums wrong too. */
DXP_FN dxp_u32 contribution(dxp_u32 sum, dxp_u32 rank, dxp_u32 i, dxp_u32 round)
{
	return sum * 3 + i * (rank + 1) + round;
}

#ifndef DXP_DEVICE_OPENCL
extern const char kernel_source[];
#endif

#endif
