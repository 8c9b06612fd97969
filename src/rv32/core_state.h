/* SPDX-License-Identifier: BSD-3-Clause */
/* State of a core, shared by core.c, warp.c and the lane handlers. */
#ifndef RV32_CORE_STATE_H
#define RV32_CORE_STATE_H

#include "rv32/execute.h"

struct rv32_core {
	struct rv32_memory memory;                /* segments of the launch */
	struct span spans[RV32_SEGMENTS_MAX + 1]; /* indexed by the page table */
	uint32_t index;
	uint32_t private_max;  /* bytes of each lane */
	uint32_t warp_max;     /* warps that the core has */
	uint8_t *private_rows; /* private_max * RV32_LANES bytes for each of warp_max warps */
	/* Highest distance from RV32_PRIVATE_END that a warp stored to; zeroed at each launch. */
	uint32_t dirty[RV32_WARPS_MAX];
	uint8_t *local; /* LOCAL memory of the work-groups that run */
	uint32_t local_stride;
	struct warp *warps;
	/* x, y, z, linear of each warp's lanes */
	alignas(64) uint32_t local_id[RV32_WARPS_MAX][4][RV32_LANES];

	const struct rv32_launch *launch;
	uint32_t id_sizes[3]; /* local sizes for which local_id is filled; 0: none */
	uint32_t group_items; /* work-items of a work-group */
	/* number of work-groups that share a warp; 1: one group on 1 .. 32 warps */
	uint32_t pack;
	uint32_t warp_count; /* warps that run now */
	uint32_t running;    /* work-groups that run now */
	uint64_t group_total, group_next, group_done;
	struct rv32_trap trap;
	uint8_t payload[DXP_NAP_BYTES]; /* inline data of dxp.post */
};

/* Runs a warp until its lanes are done, wait at a barrier, or have used up their quota of branches.
 * False: trapped. */
bool rv32_warp_run(struct warp *w);

/* Adds lanes that continue at step `pc`. */
void rv32_warp_insert(struct warp *w, uint32_t pc, uint32_t mask);

/* Releases the lanes of `mask` that wait at a barrier. */
void rv32_warp_release(struct warp *w, uint32_t mask);

#endif
