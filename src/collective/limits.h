/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of collectives, each with its unit and reason. */
#ifndef COLLECTIVE_LIMITS_H
#define COLLECTIVE_LIMITS_H

#include <dxp/collective.h>

/* bytes of scratch memory at each member by default. It has two halves: one receives a part of an
 * operation while the part in the other is combined. */
#define COLLECTIVE_SCRATCH     (8ull << 20)
#define COLLECTIVE_SCRATCH_MIN (64ull << 10)
/* bytes: scratch memory is a multiple of this size, so that operations of similar lengths need only
 * one allocation */
#define COLLECTIVE_SCRATCH_ROUND (64ull << 10)
/* bytes: alignment of inputs in scratch memory; the largest element has only 8 bytes */
#define COLLECTIVE_ALIGN 64
/* bytes: alignment of a kernel's buffers. OpenCL devices require 128 to 512 for memory that only
 * DMA can access. Allocations of xPUs are multiples of it, so an address rounded down is in the
 * same allocation. */
#define COLLECTIVE_KERNEL_ALIGN 512
/* children of a member of a tree: one kernel combines the contributions of all of them; a tree of
 * 64 members has 2 levels below its root */
#define COLLECTIVE_BRANCHES 8
/* bytes of one PUT of a broadcast along a chain of members. The time of such a PUT is long compared
 * with its start, but short compared with the time along the whole chain. */
#define COLLECTIVE_PIECE (1ull << 20)
/* pieces of a broadcast along a chain, at most, so that the number of commands has a bound for any
 * length */
#define COLLECTIVE_PIECES 256
/* bytes of a chunk in one segment of a ring: one segment is combined while the next one arrives */
#define COLLECTIVE_SLICE (1ull << 20)
/* steps of one operation, and also waits of all its steps; each entry takes 100 bytes at most */
#define COLLECTIVE_STEPS (1u << 22)
/* bytes: the longest broadcast, all-gather or all-to-all that sends to all members directly */
#define COLLECTIVE_SHORT (64ull << 10)
/* bytes for each member: the longest reduction for which DXP_WAY_AUTO chooses a tree. A ring sends
 * fewer bytes, but its number of commands grows with the square of the members. Source:
 * `dxp bench collective` with 2, 4 and 8 xPUs. */
#define COLLECTIVE_TREE_SHARE (128ull << 10)
/* bytes: the longest allreduce for which DXP_WAY_AUTO chooses switches. From
 * COLLECTIVE_MANY members on, it is as long as for a tree. */
#define COLLECTIVE_SWITCHED (64ull << 10)
#define COLLECTIVE_MANY     8
/* calls that become one allreduce, at most, so that the comparison of each with all others is short
 */
#define COLLECTIVE_FUSED 64

#endif
