/* SPDX-License-Identifier: BSD-3-Clause */
/* State of a core, shared by core.c, warp.c and the lane handlers. */
#ifndef RV32_CORE_STATE_H
#define RV32_CORE_STATE_H

#include "rv32/execute.h"

struct rv32_core {
	struct rv32_memory memory; /* segments of the launch */
	/* entry i describes segment i - 1; the page table holds the index */
	struct span spans[RV32_SEGMENTS_MAX + 1];
	uint32_t index;
	uint32_t private_max;  /* bytes of private memory that each lane has */
	uint32_t warp_max;     /* warps that the core has */
	uint8_t *private_rows; /* private_max * RV32_LANES bytes for each of warp_max warps */
	/* Highest distance below RV32_PRIVATE_END at which a warp stored. The next launch clears
	 * that much. */
	uint32_t dirty[RV32_WARPS_MAX];
	uint8_t *local; /* LOCAL memory of the work-groups that run now */
	uint32_t local_stride;
	struct warp *warps;
	/* local ids x, y, z and linear of each warp's lanes */
	alignas(64) uint32_t local_id[RV32_WARPS_MAX][4][RV32_LANES];

	const struct rv32_launch *launch;
	uint32_t id_sizes[3]; /* work-group size for which local_id was computed; 0: none */
	uint32_t group_items; /* work-items of a work-group */
	/* work-groups that share a warp; 1: one work-group has 1 .. 32 warps */
	uint32_t pack;
	uint32_t warp_count; /* warps that run now */
	uint32_t running;    /* work-groups that run now */
	uint64_t group_total, group_next, group_done;
	struct rv32_trap trap;
	uint8_t payload[DXP_NAP_BYTES]; /* inline data of dxp.post */
};

/* Runs a warp until its lanes have ended, wait at a barrier, or have used up their quota of
 * backward branches. Returns false after a trap. */
bool rv32_warp_run(struct warp *w);

/* Adds the lanes of `mask`, which continue at the step with index `pc`. */
void rv32_warp_insert(struct warp *w, uint32_t pc, uint32_t mask);

/* Releases those lanes of `mask` that wait at a barrier. */
void rv32_warp_release(struct warp *w, uint32_t mask);

#endif
